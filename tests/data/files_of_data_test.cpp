// Data sets of pictures, sounds and texts: what they hold, and what is said of files that are not as they should be.
#include <gmock/gmock.h>

#include <cstdlib>

#include "io/scratch.h"
#include "weft/base/environment.h"
#include "weft/data/batches.h"
#include "weft/data/files.h"
#include "weft/data/pictures.h"
#include "weft/data/registry.h"
#include "weft/data/resize.h"
#include "weft/data/sounds.h"
#include "weft/data/words.h"
#include "weft/found.h"
#include "weft/io/npy.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

void copy_kept(const char* name, const std::filesystem::path& to) {
    std::filesystem::create_directories(to.parent_path());
    std::filesystem::copy_file(kept(name), to);
}

TEST(PictureSets, a_folder_a_class_is_a_data_set_streamed_or_not) {
    if (!WEFT_HAVE_PNG) GTEST_SKIP() << "lacks libpng in this build";
    Scratch scratch;
    copy_kept("colour.png", scratch / "train/cat/2.png");
    copy_kept("palette.png", scratch / "train/ant/1.png");
    copy_kept("colour.png", scratch / "train/ant/0.png");
    put_file(scratch / "train/ant/notes.txt", "no picture");
    for (bool stream : {false, true}) {
        PictureOptions options;
        options.within = "train", options.stream = stream;
        Dataset set = image_folder(scratch.folder(), options);
        EXPECT_EQ(set.x.dims, (Dims{3, 3, 6, 9}));
        EXPECT_EQ(set.classes, (std::vector<std::string>{"ant", "cat"}));
        EXPECT_EQ(set.y.data<std::int64_t>()[2], 1);
        EXPECT_EQ(set.source != nullptr, stream);
        Array last = set.rows(2, 3).flat().inputs();
        EXPECT_EQ(last.dims, (Dims{1, 162}));
        EXPECT_EQ(last.data<float>()[8], 160);  // red of colour.png at x = 8
    }
    Dataset grey = image_folder(scratch / "train", {.size = {{3, 3}}, .grey = true});
    EXPECT_EQ(grey.x.dims, (Dims{3, 1, 3, 3}));
}

TEST(PictureSets, that_do_not_fit_together_are_refused) {
    if (!WEFT_HAVE_PNG) GTEST_SKIP() << "lacks libpng in this build";
    Scratch scratch;
    EXPECT_THAT(error_of([&] { (void)image_folder(scratch.folder()); }), HasSubstr("holds no pictures"));
    copy_kept("colour.png", scratch / "a/0.png");
    copy_kept("grey.png", scratch / "a/1.png");
    EXPECT_THAT(error_of([&] { (void)image_folder(scratch.folder()); }),
                HasSubstr("1.png' has shape (3, 3, 4), '" + (scratch / "a/0.png").string() + "' (3, 6, 9)"));
    put_file(scratch / "a/1.png", bytes_of_file(kept("colour.png")).substr(0, 60));
    EXPECT_THAT(error_of([&] { (void)image_folder(scratch.folder()); }), HasSubstr("1.png' is cut short or damaged"));
}

TEST(PictureSets, a_size_is_reached_by_means) {
    Array picture = Array::from(std::vector<std::uint8_t>{0, 100, 200, 100}, {1, 1, 4});
    Array half = resized(picture, 1, 2);  // weights 1/8 3/8 3/8 1/8, at the border without the one outside: over 7/8
    EXPECT_EQ(half.data<std::uint8_t>()[0], 71);   // (3 * 0 + 3 * 100 + 200) / 7
    EXPECT_EQ(half.data<std::uint8_t>()[1], 143);  // (100 + 3 * 200 + 3 * 100) / 7
    Array twice = resized(Array::from(std::vector<std::uint8_t>{0, 100}, {1, 2, 1}), 4, 1);
    EXPECT_EQ(std::vector<int>(twice.data<std::uint8_t>(), twice.data<std::uint8_t>() + 4),
              (std::vector<int>{0, 25, 75, 100}));
}

TEST(Cifar10, binary_files_are_read) {
    constexpr std::size_t record = 3073;
    Scratch scratch;
    std::string bytes(10000 * record, '\0');
    bytes[record] = 9, bytes[record + 1 + 1024] = 77;  // the second picture: a truck whose first green value is 77
    put_file(scratch / "test_batch.bin", bytes);
    Dataset set = cifar10(false, scratch.folder());
    EXPECT_EQ(set.x.dims, (Dims{10000, 3, 32, 32}));
    EXPECT_EQ(set.y.data<std::int64_t>()[1], 9);
    EXPECT_EQ(set.rows(1, 2).inputs().data<float>()[1024], 77);
    put_file(scratch / "data_batch_1.bin", "");
    EXPECT_THAT(error_of([&] { (void)cifar10(true, scratch.folder()); }), HasSubstr("holds 1 of the 5 files"));
    bytes[0] = 10;
    put_file(scratch / "test_batch.bin", bytes);
    EXPECT_THAT(error_of([&] { (void)cifar10(false, scratch.folder()); }), HasSubstr("picture 0 has the label 10"));
    put_file(scratch / "test_batch.bin", bytes.substr(1));
    EXPECT_THAT(error_of([&] { (void)cifar10(false, scratch.folder()); }),
                HasSubstr("holds 30729999 bytes; a file of CIFAR-10"));
}

TEST(Sounds, names_are_taken_apart_by_a_pattern) {
    NamePattern pattern("{label}_{speaker}_{index}");
    auto words = pattern.match("7_jack_31");
    ASSERT_TRUE(words);
    EXPECT_EQ(words->at("label") + words->at("speaker") + words->at("index"), "7jack31");
    EXPECT_FALSE(pattern.match("7_jack") || pattern.match("_jack_3"));
    EXPECT_EQ(NamePattern("a-*-{label}.x").match("a-b-c.x")->at("label"), "c");
    auto refusal = [](const char* bad) { return error_of<ValueError>([&] { (void)NamePattern(bad); }); };
    EXPECT_THAT(refusal("{a}{b}"), HasSubstr("two words with nothing between"));
    EXPECT_THAT(refusal("{a}_{a}"), HasSubstr("a word twice"));
    EXPECT_THAT(refusal("{a"), HasSubstr("without a word and }"));
}

Array saw() {
    Array samples = Array::empty(float32, {40});
    for (int i = 0; i < 40; ++i) samples.data<float>()[i] = static_cast<float>((i * 37 % 101) / 101.0 - 0.5);
    return samples;
}

TEST(Sounds, features_are_numpys) {
    Array power = log_power(saw(), 16, 8), mel = log_mel(saw(), 16, 8, 4, 8000);
    EXPECT_EQ(power.dims, (Dims{4, 9}));
    EXPECT_EQ(mel.dims, (Dims{4, 4}));
    const double numpy_power[] = {-2.53043291, -1.91306857, -1.12968798},
                 numpy_mel[] = {-2.03952815, -2.10640232, -1.54514767, 1.03836842};
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(power.data<float>()[3 * 9 + i], numpy_power[i], 1e-6);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(mel.data<float>()[4 + i], numpy_mel[i], 1e-6);
    EXPECT_THAT(error_of<ValueError>([] { (void)log_power(saw(), 41, 8); }),
                HasSubstr("40 samples do not fill a window of 41"));
}

TEST(Sounds, the_spoken_digits_are_read) {
    if (!environment("WEFT_DATA")) GTEST_SKIP() << "lacks WEFT_DATA, the folder that holds fsdd.tar.gz";
    if (!WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks zlib in this build";
    Scratch cache;  // nothing is left in the user's own
    std::optional<std::string> before = environment("WEFT_CACHE");
    ::setenv("WEFT_CACHE", cache.folder().c_str(), 1);
    Dataset test = ChosenSource(parse_json(R"({"wav": {"path": "fsdd.tar.gz", "pattern": "{label}_{speaker}_{index}",
        "where": {"index": [0, 4]}, "length": 4000, "features": "mel"}})"))
                       .load();
    before ? ::setenv("WEFT_CACHE", before->c_str(), 1) : ::unsetenv("WEFT_CACHE");
    EXPECT_EQ(test.x.dims, (Dims{300, 30, 40}));  // 10 digits, 6 speakers, 5 each; (4000 - 256) / 128 + 1 frames
    EXPECT_EQ(test.classes.size(), 10u);
    EXPECT_EQ(test.y.data<std::int64_t>()[299], 9);
}

TEST(Texts, y_is_one_symbol_ahead_and_lanes_go_on_in_the_next_batch) {
    Scratch scratch;
    std::string whole;
    for (int i = 0; i < 26; ++i) whole.push_back(static_cast<char>('a' + i));
    put_file(scratch / "t.txt", whole);
    Dataset set = text_windows(scratch / "t.txt", TextPart::train, {.length = 3, .parts = {1, 0, 0}, .lanes = 2});
    EXPECT_EQ(set.x.dims, (Dims{8, 3}));  // two stretches of 13, four windows each
    EXPECT_EQ(set.classes.size(), 26u);
    auto row = [&](const Array& a, int i) {
        std::string letters;
        for (int k = 0; k < 3; ++k) letters += set.classes[static_cast<std::size_t>(a.data<std::int64_t>()[3 * i + k])];
        return letters;
    };
    EXPECT_EQ(row(set.x, 0) + row(set.y, 0), "abcbcd");
    EXPECT_EQ(row(set.x, 1), "nop");
    EXPECT_EQ(row(set.x, 2) + row(set.x, 3), "defqrs");  // where rows 0 and 1 ended
}

TEST(Texts, numbers_come_from_the_training_part_alone) {
    Scratch scratch;
    put_file(scratch / "t.txt", "to be or not to be that is new new");
    TextOptions options{.words = true, .length = 2, .parts = {0.6, 0.4, 0}};
    Dataset train = text_windows(scratch / "t.txt", TextPart::train, options);
    EXPECT_EQ(train.classes, (std::vector<std::string>{"be", "to", "not", "or", "<unknown>"}));
    Dataset valid = text_windows(scratch / "t.txt", TextPart::valid, options);
    EXPECT_EQ(valid.x.data<std::int64_t>()[0], 4);
    EXPECT_EQ(valid.classes, train.classes);
    options.most = 2;
    EXPECT_EQ(text_windows(scratch / "t.txt", TextPart::train, options).classes.size(), 3u);
    EXPECT_THAT(error_of([&] { (void)text_windows(scratch / "t.txt", TextPart::test, options); }),
                HasSubstr("this part of it has 0 symbols, too few for a window of 2"));
    put_file(scratch / "t.txt", "ab\xff");
    EXPECT_THAT(error_of([&] { (void)text_windows(scratch / "t.txt", TextPart::train); }), HasSubstr("see byte 2"));
    options.parts = {0.9, 0.9, 0};
    EXPECT_THAT(error_of<ValueError>([&] { (void)text_windows(kept("make.py"), TextPart::train, options); }),
                HasSubstr("1 together at most"));
}

TEST(Sources, of_sequences_say_the_shape_of_an_example_before_they_are_read) {
    Scratch scratch;
    put_file(scratch / "t.txt", "0123456789");
    std::string path = (scratch / "t.txt").string();
    auto sample = [&](const std::string& name, const std::string& options) {
        return ChosenSource(parse_json(text(R"({")", name, R"(": {"path": ")", path, "\"", options, "}}"), "f"))
            .sample();
    };
    Dataset windows = sample("text", R"(, "length": 3)");
    EXPECT_EQ(windows.x.dims, (Dims{1, 3}));
    Dataset read = text_windows(path, TextPart::train, {.length = 3});
    EXPECT_EQ(windows.example(), read.example());
    EXPECT_EQ(windows.x_dtype(), read.x_dtype());
    Array silence = Array::zeros(float32, {1000});
    EXPECT_EQ(sample("wav", R"(, "length": 1000)").x.dims, (Dims{1, 1000}));
    EXPECT_EQ(sample("wav", R"(, "length": 1000, "features": "mel")").example(),
              log_mel(silence, 256, 128, 40, 8000).dims);
    EXPECT_EQ(sample("wav", R"(, "length": 1000, "features": "spectrum", "hop": 99)").example(),
              log_power(silence, 256, 99).dims);
}

TEST(Sources, of_files_are_looked_at_for_a_sample_and_read_once) {
    Scratch scratch;
    Array x = Array::zeros(float32, {5, 2, 3}), y = Array::zeros(DType::int64, {5});
    io::save_npy(scratch / "x.npy", x), io::save_npy(scratch / "y.npy", y);
    auto chosen = [&](const char* stream) {
        return ChosenSource(parse_json(text(R"({"npy": {"x": ")", (scratch / "x.npy").string(), R"(", "y": ")",
                                            (scratch / "y.npy").string(), R"(", "stream": )", stream, "}}"),
                                       "f"));
    };
    for (const char* stream : {"false", "true"}) {
        ChosenSource source = chosen(stream);
        Dataset one = source.sample();
        EXPECT_EQ(one.x.dims, (Dims{1, 2, 3}));
        EXPECT_FALSE(one.source) << "a sample is in memory";
        EXPECT_EQ(source.load().x.dims, x.dims);
    }
    ChosenSource source = chosen("false");
    std::filesystem::remove(scratch / "x.npy");
    EXPECT_THAT(error_of<ConfigError>([&] { (void)source.sample(); }), HasSubstr("f:1:15: there is no file"));
    FilesUnchecked unchecked;
    ChosenSource without_files = chosen("false");
    EXPECT_THAT(error_of<ConfigError>([&] { (void)without_files.load(); }), HasSubstr("f:1:2: '"));
}

TEST(Npz, arrays_are_chosen_by_name) {
    EXPECT_THAT(error_of<ConfigError>([] { (void)npz(kept("stored.npz"), "aa", "b"); }),
                HasSubstr("did you mean 'a'?"));
    Dataset set = npz(kept("stored.npz"), "a", "b");
    EXPECT_EQ(set.x.dims, (Dims{2, 3}));
    EXPECT_EQ(set.y.data<std::int64_t>()[1], 1);
}

TEST(Sources, of_files_are_refused_before_they_are_read) {
    auto refusal = [](const std::string& json) {
        return error_of<ConfigError>([&] { (void)ChosenSource(parse_json(json, "f")); });
    };
    EXPECT_THAT(refusal(R"({"images": {"path": "/none"}})"), HasSubstr("f:1:21: there is no '/none'"));
    EXPECT_THAT(refusal(R"({"images": {"path": "/", "size": [3]}})"), HasSubstr("f:1:34: a size is [height, width]"));
    EXPECT_THAT(refusal(R"({"wav": {"path": "/", "pattern": "x"}})"),
                HasSubstr("f:1:34: wav: the pattern has no {label}"));
    EXPECT_THAT(refusal(R"({"wav": {"path": "/", "where": {"index": [0, 4]}}})"),
                HasSubstr("f:1:33: wav: the pattern has no {index}"));
    EXPECT_THAT(refusal(R"({"wav": {"path": "/", "where": {"label": 3}}})"), HasSubstr("a range of integers"));
    EXPECT_THAT(refusal(R"({"text": {"path": "/", "parts": [1, 1, 1]}})"), HasSubstr("1 together at most"));
    EXPECT_THAT(refusal(R"({"npz": {"path": "/none"}})"), HasSubstr("there is no file '/none'"));
}

}  // namespace
}  // namespace weft::data
