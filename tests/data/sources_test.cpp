#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "effort.h"
#include "io/scratch.h"
#include "weft/base/environment.h"
#include "weft/base/md5.h"
#include "weft/data/batches.h"
#include "weft/data/describe.h"
#include "weft/data/fetch.h"
#include "weft/data/files.h"
#include "weft/data/mnist.h"
#include "weft/data/pictures.h"
#include "weft/data/registry.h"
#include "weft/found.h"
#include "weft/io/npy.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

Dataset load(const std::string& description) { return ChosenSource(parse_json(description, "f")).load(); }
std::string refusal(const std::string& description) {
    return error_of<ConfigError>([&] { (void)ChosenSource(parse_json(description, "f")); });
}

TEST(Sources, list_themselves) {
    std::vector<std::string> names;
    for (const Source& source : sources()) {
        names.push_back(source.name);
        EXPECT_FALSE(source.doc.empty());
        for (const Option& option : source.options)
            EXPECT_FALSE(option.doc.empty()) << source.name << " " << option.name;
    }
    EXPECT_THAT(names, testing::IsSupersetOf({"digits", "mnist", "npy", "csv"}));
    EXPECT_THAT(help_on(source_named("digits").options),
                HasSubstr("size   how many pictures (integer; default 10000)"));
}

TEST(Sources, digits_are_chosen_by_name) {
    Dataset set = load(R"({"digits": {"split": "valid", "size": 12, "seed": 3}})");
    EXPECT_EQ(set.x.dims, (Dims{12, 28, 28}));
    EXPECT_EQ(set.classes.size(), 10u);
    EXPECT_EQ(ChosenSource(parse_json("\"digits\"")).options().at("size").as_integer(), 10000);
}

TEST(Sources, mistakes_are_refused_before_data_are_touched) {
    EXPECT_EQ(refusal(R"({"digit": {}})"), "f:1:2: there is no data set named 'digit'; did you mean 'digits'?");
    EXPECT_THAT(refusal(R"({"digits": {"sizes": 3}})"),
                HasSubstr("f:1:13: unknown key 'sizes' in digits; did you mean 'size'?"));
    EXPECT_THAT(refusal(R"({"digits": {"split": "tset"}})"),
                HasSubstr("f:1:22: 'tset' is not known; did you mean 'test'?"));
    EXPECT_THAT(refusal(R"({"digits": {"size": 0}})"), HasSubstr("f:1:21: digits: the size is at least 1"));
    EXPECT_THAT(refusal(R"({"mnist": {"range": [3, 1]}})"), HasSubstr("f:1:21: [3, 1] is no range"));
    EXPECT_THAT(refusal(R"({"mnist": {"range": [3]}})"), HasSubstr("a range is two integers"));
    EXPECT_THAT(refusal(R"({"npy": {"x": "a.npy"}})"), HasSubstr("f:1:9: npy needs the key 'y'"));
    EXPECT_THAT(refusal(R"({"digits": {}, "mnist": {}})"), HasSubstr("expected the name of a data set"));
    EXPECT_THAT(
        refusal("3"),
        HasSubstr("f:1:1: expected the name of a data set, alone or with its options below it, found the integer 3"));
}

TEST(Sources, npy_files_are_a_data_set) {
    Scratch scratch;
    io::save_npy(scratch / "x.npy", Array::zeros(float32, {6, 3}));
    io::save_npy(scratch / "y.npy", Array::from(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}, {6}));
    std::string folder = scratch.folder().string();
    Dataset set =
        load(text(R"({"npy": {"x": ")", folder, R"(/x.npy", "y": ")", folder, R"(/y.npy", "range": [1, 6]}})"));
    EXPECT_EQ(set.size(), 5);
    EXPECT_EQ(set.y.dtype, int64);
    EXPECT_EQ(set.y.data<std::int64_t>()[1], 2);
    EXPECT_EQ(set.classes, (std::vector<std::string>{"0", "1", "2"}));
    io::save_npy(scratch / "y.npy", Array::zeros(int64, {7}));
    EXPECT_THAT(error_of<ShapeError>([&] { (void)npy(scratch / "x.npy", scratch / "y.npy"); }),
                HasSubstr("do not hold as many rows"));
}

TEST(Sources, npy_rows_are_read_when_a_batch_wants_them) {
    Scratch scratch;
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back(i);
    io::save_npy(scratch / "x.npy", Array::from(values, {10, 2}));
    io::save_npy(scratch / "y.npy", Array::zeros(int64, {10}));
    Dataset whole = npy(scratch / "x.npy", scratch / "y.npy"), stream = npy(scratch / "x.npy", scratch / "y.npy", true);
    EXPECT_TRUE(stream.source && !stream.x.buffer);
    for (auto [x, y] : stream.rows(3, 8).batches(5, {.shuffle = 1, .prefetch = 2, .readers = 2})) {
        Array wanted = whole.rows(3, 8).batches(5, {.shuffle = 1}).at(0).x;
        EXPECT_EQ(std::vector<double>(x.data<double>(), x.data<double>() + 10),
                  std::vector<double>(wanted.data<double>(), wanted.data<double>() + 10));
    }
    std::string bytes = bytes_of_file(scratch / "x.npy");
    put_file(scratch / "x.npy", bytes.substr(0, bytes.size() - 1));
    EXPECT_THAT(error_of([&] { (void)npy(scratch / "x.npy", scratch / "y.npy", true); }), HasSubstr("is cut short"));
    std::filesystem::remove(scratch / "x.npy");
    std::filesystem::copy_file(kept("fortran_big.npy"), scratch / "x.npy");
    EXPECT_THAT(error_of([&] { (void)npy(scratch / "x.npy", scratch / "y.npy", true); }),
                HasSubstr("it is column-major"));
}

TEST(Sources, a_table_is_a_data_set) {
    Scratch scratch;
    put_file(scratch / "t.csv", "a,kind,b\n1,0,2\n3,2,4\n");
    std::string path = (scratch / "t.csv").string();
    Dataset set = load(text(R"({"csv": {"path": ")", path, R"(", "target": "kind"}})"));
    EXPECT_EQ(set.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(set.x.data<float>()[3], 4);
    EXPECT_EQ(set.y.data<std::int64_t>()[1], 2);
    Dataset quantities = load(text(R"({"csv": {"path": ")", path, R"(", "labels": false, "target": [-1, 0]}})"));
    EXPECT_EQ(quantities.y.dims, (Dims{2, 2}));
    EXPECT_EQ(quantities.y.data<float>()[0], 2);
    EXPECT_THAT(error_of<ConfigError>([&] { (void)csv(path, {.target = {"kin"}}); }),
                HasSubstr("did you mean 'kind'?"));
    put_file(scratch / "t.csv", "a,b\n1,0.5\n");
    EXPECT_THAT(error_of([&] { (void)csv(path); }), HasSubstr("0.5 is no class number"));
}

TEST(Sources, a_set_is_described_in_a_few_lines) {
    Dataset set =
        arrays(Array::from(std::vector<float>{1, 2, 3, 6}, {2, 2}), Array::from(std::vector<std::int64_t>{1, 1}, {2}));
    set.classes = {"no", "yes"};
    EXPECT_EQ(describe(set),
              "examples  2\nx         float32 of shape (2,), from 1 to 6, mean 3\ny         int64 of shape ()\nclasses "
              "  2: no (0) yes (2)\n");
}

TEST(Sources, a_program_adds_its_own) {
    static int calls = 0;
    add_source({"mine", "my own", {{"n", 3, "rows"}}, [](const Json& options) {
                    ++calls;
                    return arrays(Array::zeros(float32, {options.at("n").as_integer(), 2}),
                                  Array::zeros(int64, {options.at("n").as_integer()}));
                }});
    EXPECT_EQ(load(R"({"mine": {"n": 5}})").size(), 5);
    EXPECT_EQ(calls, 1);
    EXPECT_THROW(add_source({"mine", "again", {}, {}}), ValueError);
}

class WithoutData : public testing::Test {
  protected:
    void SetUp() override {
        if (auto value = environment("WEFT_DATA")) old_ = *value;
        if (auto value = environment("WEFT_CACHE")) old_cache_ = *value;
        ::unsetenv("WEFT_DATA");
        ::setenv("WEFT_CACHE", cache_.folder().c_str(), 1);
    }
    void TearDown() override {
        if (!old_.empty()) ::setenv("WEFT_DATA", old_.c_str(), 1);
        ::unsetenv("WEFT_CACHE");
        if (!old_cache_.empty()) ::setenv("WEFT_CACHE", old_cache_.c_str(), 1);
    }
    Scratch cache_;
    std::string old_, old_cache_;
};

TEST_F(WithoutData, mnist_says_what_to_set) {
    EXPECT_THAT(error_of([] { (void)mnist(); }), HasSubstr("the environment variable WEFT_DATA is not set"));
    Scratch scratch;
    EXPECT_THAT(error_of([&] { (void)mnist({.folder = scratch.folder()}); }),
                HasSubstr("train-labels-idx1-ubyte.gz' is missing; set WEFT_DATA"));
    put_file(scratch / "train-labels-idx1-ubyte", std::string("\0\0\x08\1\0\0\0\2ab", 10));
    EXPECT_THAT(error_of([&] { (void)mnist({.folder = scratch.folder()}); }),
                HasSubstr("is not the published file: the MD5"));
}

TEST_F(WithoutData, cifar10_says_what_to_get) {
    EXPECT_THAT(error_of([] { (void)cifar10(true); }), HasSubstr("`weft data get cifar10` fetches the published file"));
}

TEST_F(WithoutData, what_was_fetched_is_found_and_checked) {
    Scratch scratch;
    put_file(scratch / "origin", "words");
    PublishedFile file{"set/words.txt", "file://" + (scratch / "origin").string(), md5("words")};
    std::string wrong = error_of([&] { (void)fetch({file.path, file.url, md5("other")}, fetched_folder()); });
    if (wrong.find("neither curl nor wget") != wrong.npos) GTEST_SKIP() << "lacks curl or wget";
    EXPECT_THAT(wrong, HasSubstr("what came is not the published file, whose MD5 is"));
    EXPECT_TRUE(fetch(file, fetched_folder()));
    EXPECT_FALSE(fetch(file, fetched_folder()));
    EXPECT_EQ(bytes_of_file(find_data("set/words.txt")), "words");
    file.url = "http://127.0.0.1:9/none", file.path = "other";
    EXPECT_THAT(error_of([&] { (void)fetch(file, fetched_folder()); }),
                HasSubstr("(is there a network?). By hand: get it elsewhere"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(fetched_folder()), {}), 1);  // nothing half is left
    EXPECT_THAT(error_of<ConfigError>([] { (void)published_set("cifar"); }), HasSubstr("did you mean 'cifar10'?"));
}

TEST(Mnist, is_read_from_the_published_files) {
    if (!environment("WEFT_DATA")) GTEST_SKIP() << "lacks WEFT_DATA, the folder that holds mnist/";
    if (!WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks zlib in this build";
    Dataset part = ChosenSource(parse_json(R"({"mnist": {"split": "test", "range": [0, 100]}})")).load();
    EXPECT_EQ(part.x.dims, (Dims{100, 28, 28}));
    EXPECT_EQ(part.y.data<std::int64_t>()[0], 7);
    EXPECT_THAT(error_of<ConfigError>([] { (void)load(R"({"mnist": {"split": "test", "range": [0, 10001]}})"); }),
                HasSubstr("f:1:38: the range ends at row 10001, the data have 10000"));
    if (share_under_sanitizers > 1) return;  // the other files are read by the same code, six times as long
    DataSplits set = mnist();
    EXPECT_EQ(set.train.x.dims, (Dims{50000, 784}));
    EXPECT_EQ(set.valid.size(), 10000);
    EXPECT_EQ(set.test.size(), 10000);
    std::vector<std::int64_t> first(set.train.y.data<std::int64_t>(), set.train.y.data<std::int64_t>() + 8);
    EXPECT_EQ(first, (std::vector<std::int64_t>{5, 0, 4, 1, 9, 2, 1, 3}));
    double sum = 0, count = 0;
    for (auto [x, y] : mnist({.valid = 0}).train.batches(1000)) {
        for (std::int64_t i = 0; i < x.size(); ++i) sum += x.data<float>()[i];
        count += static_cast<double>(x.size());
    }
    EXPECT_NEAR(sum / count, 0.1307, 0.00005);  // the published mean
}

}  // namespace
}  // namespace weft::data
