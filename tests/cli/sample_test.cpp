// weft sample from outside: pictures, and numbers as data were before they were prepared.
#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/io/npy.h"

namespace weft {
namespace {

constexpr const char* encoder = R"({
"data": {"train": {"digits": {"size": 60}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": [{"variational": 3}, {"linear": 784}], "cost": {"bernoulli": {"target": "input", "numbers": "sum"}},
"optimizer": {"sgd": {"lr": 0.001}}, "stop_when": {"epochs": 1}})";

TEST(SampleCommand, writes_a_sheet_or_numbers_and_refuses_what_it_cannot_write) {
    Scratch folder;
    auto weft = [&](const std::vector<std::string>& words) { return run(folder.folder(), words); };
    put_file(folder / "v.json", encoder);
    ASSERT_EQ(weft({"train", "v.json", "--out", "run", "--quiet"}).status, 0);
    ASSERT_EQ(weft({"sample", "run", "--count", "12"}).status, 0);
    EXPECT_GT(std::filesystem::file_size(folder / "run/samples.png"), 100u);
    if (Ended numbers = weft({"sample", "run", "--count", "12", "--out", "s.npy"}); numbers.status == 0) {
        Array samples = io::load_npy(folder / "s.npy");
        EXPECT_EQ(samples.dims, (Dims{12, 28, 28}));
        const float* first = samples.data<float>();
        float greatest = *std::max_element(first, first + samples.size());
        EXPECT_GT(greatest, 60);  // of 255, not of 1
        EXPECT_LE(greatest, 255);
    } else {
        ADD_FAILURE() << numbers.output;
    }
    for (const std::vector<std::string>& words : {std::vector<std::string>{"sample", "run", "--out", "s.gif"},
                                                  {"sample", "run", "--count", "0"},
                                                  {"sample", "nothing"},
                                                  {"sample", "run", "--walk", "x"},
                                                  {"sample", "run", "--temperature", "warm"},
                                                  {"sample", "run", "--temperature", "-1"}})
        EXPECT_EQ(weft(words).status, 2);
}

constexpr const char* writer = R"({
"data": {"train": {"text": {"path": "abc.txt", "length": 8}}},
"model": [{"embedding": {"count": 3, "units": 8}}, {"LAYER": 16}, {"linear": 3}, "transpose"], "cost": "cross_entropy",
"optimizer": {"adam": {"lr": 0.05}}, "batch_size": 10, "stop_when": {"epochs": 4}, "monitor": {"on": ["train"]}})";

TEST(SampleCommand, a_model_of_texts_writes_what_it_has_learned_to_come_next) {
    Scratch folder;
    auto weft = [&](const std::vector<std::string>& words) { return run(folder.folder(), words); };
    std::string cycle;
    for (int i = 0; i < 600; ++i) cycle += "abc";
    put_file(folder / "abc.txt", cycle);
    for (const char* layer : {"lstm", "gru"}) {
        std::string description = writer;
        put_file(folder / "w.json", description.replace(description.find("LAYER"), 5, layer));
        ASSERT_EQ(weft({"train", "w.json", "--out", layer, "--quiet"}).status, 0);
        Ended written = weft({"sample", layer, "--count", "12", "--temperature", "0.1", "--prompt", "ab"});
        EXPECT_EQ(written.output, "abcabcabcabcab\n") << layer;
        EXPECT_NE(contents(folder / layer / "report.html").find("<h2>What it writes</h2>"), std::string::npos);
    }
    EXPECT_EQ(weft({"sample", "lstm", "--count", "20", "--seed", "4", "--out", "s.txt"}).status, 0);
    EXPECT_EQ(contents(folder / "s.txt").size(), 21u);
    EXPECT_EQ(weft({"sample", "lstm", "--count", "20", "--seed", "4"}).output, contents(folder / "s.txt"));
    EXPECT_NE(weft({"sample", "lstm", "--prompt", "abd"}).output.find("'d', which the run's text had not"),
              std::string::npos);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"sample", "lstm", "--prompt", "abd"},
                                                  {"sample", "lstm", "--walk", "3"},
                                                  {"sample", "lstm", "--temperature", "0"}})
        EXPECT_EQ(weft(words).status, 2);
}

/// The report of a run of one epoch.
std::string report_of(const std::string& model, const std::string& cost) {
    Scratch folder;
    put_file(
        folder / "e.json",
        R"({"data": {"train": {"digits": {"size": 60}}, "prepare": [{"scale": [0, 1]}, "flatten"]}, "optimizer": "adam", "model": )" +
            model + R"(, "cost": )" + cost + R"(, "batch_size": 20, "stop_when": {"epochs": 1}})");
    Ended ended = run(folder.folder(), {"train", "e.json", "--out", "r", "--quiet"});
    EXPECT_EQ(ended.status, 0) << ended.output;
    return contents(folder / "r" / "report.html");
}

TEST(Report, shows_what_a_model_gives_back_makes_up_and_puts_where) {
    auto has = [](const std::string& page, const char* part) { return page.find(part) != page.npos; };
    std::string coder = report_of(R"([{"linear": {"units": 9, "name": "a"}}, "sigmoid", {"tied": "a"}])",
                                  R"({"bernoulli": {"target": "input"}})");
    EXPECT_TRUE(has(coder, "<h2>Reconstructions") && !has(coder, "<h2>Samples") && !has(coder, "<h2>Where it puts"));
    std::string machine = report_of(R"({"rbm": {"units": 9, "chains": 5}})", R"("of_layers")");
    EXPECT_TRUE(has(machine, "<h2>Reconstructions") && has(machine, "<h2>Samples") &&
                has(machine, "<h2>Where it puts"));
    std::string pairs = report_of(R"([{"linear": 2}])", R"({"contrastive": {"margin": 1}})");
    EXPECT_TRUE(has(pairs, "<h2>Where it puts") && !has(pairs, "<h2>Reconstructions") && !has(pairs, "<h2>Samples"));
    std::string classes = report_of(R"([{"linear": 10}])", R"("cross_entropy")");
    EXPECT_TRUE(has(classes, "<h2>Confusion") && !has(classes, "<h2>Reconstructions") &&
                !has(classes, "<h2>Where it puts"));
}

// 20 examples of float64, whose labels are 0, 1, 2, 0, ...
void put_doubles(const std::filesystem::path& folder) {
    Array x = Array::empty(DType::float64, {20, 1, 4, 4}), y = Array::empty(DType::int64, {20});
    for (std::int64_t i = 0; i < x.size(); ++i) x.data<double>()[i] = static_cast<double>(i * 7 % 31) / 31;
    for (std::int64_t i = 0; i < 20; ++i) y.data<std::int64_t>()[i] = i % 3;
    io::save_npy(folder / "x.npy", x), io::save_npy(folder / "y.npy", y);
}

TEST(Report, of_data_in_double_precision_shows_what_that_of_float32_shows) {
    Scratch folder;
    put_doubles(folder.folder());
    auto page_of = [&](const std::string& model, const std::string& cost) {
        put_file(
            folder / "d.json",
            R"({"data": {"train": {"npy": {"x": "x.npy", "y": "y.npy"}}}, "optimizer": "sgd", "stop_when": {"epochs": 1}, "model": )" +
                model + R"(, "cost": )" + cost + "}");
        std::filesystem::remove_all(folder / "r");
        Ended ended = run(folder.folder(), {"train", "d.json", "--out", "r", "--quiet"});
        EXPECT_EQ(ended.status, 0) << ended.output;
        EXPECT_EQ(ended.output, "");
        return contents(folder / "r" / "report.html");
    };
    std::string classes = page_of(R"(["flatten", {"linear": 3}])", R"("cross_entropy")");
    for (const char* part : {"<h2>Confusion", "<h2>Examples", "<h2>First layer"})
        EXPECT_NE(classes.find(part), classes.npos) << part;
    std::string coder =
        page_of(R"(["flatten", {"variational": 2}, {"linear": 16}])", R"({"mse": {"target": "input"}})");
    for (const char* part : {"<h2>Samples", "<h2>Reconstructions"}) EXPECT_NE(coder.find(part), coder.npos) << part;
    std::string pairs = page_of(R"(["flatten", {"linear": 2}])", R"({"contrastive": {"margin": 1}})");
    EXPECT_NE(pairs.find("<h2>Where it puts"), pairs.npos);
}

TEST(Report, that_cannot_be_made_leaves_the_run_as_it_ended_and_says_why) {
    Scratch folder;
    put_doubles(folder.folder());
    put_file(folder / "d.json",
             R"({"data": {"train": {"npy": {"x": "x.npy", "y": "y.npy"}}}, "model": ["flatten", {"linear": 3}],
                 "cost": "cross_entropy", "optimizer": "sgd", "stop_when": {"epochs": 1}})");
    ASSERT_EQ(run(folder.folder(), {"train", "d.json", "--out", "r", "--quiet"}).status, 0);
    put_file(folder / "x.npy", "no longer an array");
    Ended shown = run(folder.folder(), {"show", "r"});
    EXPECT_EQ(shown.status, 0) << shown.output;
    EXPECT_NE(shown.output.find("the report shows nothing of the model and of 'train': "), shown.output.npos)
        << shown.output;
    std::string page = contents(folder / "r" / "report.html");
    EXPECT_NE(page.find("shows nothing of the model"), page.npos);
    EXPECT_NE(page.find("<h2>Learning"), page.npos);
}

}  // namespace
}  // namespace weft
