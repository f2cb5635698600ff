// weft predict from outside: its answers are those that weft eval counts, in every form, from every kind of file.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/data/digits.h"
#include "weft/io/idx.h"
#include "weft/io/npy.h"

namespace weft {
namespace {

constexpr const char* classifier = R"({
"data": {"train": {"digits": {"size": 300}}, "test": {"digits": {"split": "test", "size": 60}}, "prepare": ["standardize", "flatten"]},
"model": [{"dropout": 0.2}, {"linear": 10}], "cost": "cross_entropy", "optimizer": {"sgd": {"lr": 0.05}},
"batch_size": 50, "stop_when": {"epochs": 2}})";
constexpr const char* quantities =
    R"({"data": {"train": {"csv": {"path": "t.csv", "labels": false}}, "prepare": [{"scale": [0, 1]}]},
"model": [{"linear": {"units": 1, "init": "zeros"}}], "cost": "mse", "optimizer": {"sgd": {"lr": 0.1}}, "stop_when": {"epochs": 1}})";

using Table = std::vector<std::vector<std::string>>;
Table table_in(const std::string& text, char between) {
    Table rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        rows.emplace_back();
        std::istringstream fields(line);
        for (std::string word; std::getline(fields, word, between);) rows.back().push_back(word);
    }
    return rows;
}

class Predict : public testing::Test {
  protected:
    void SetUp() override {
        put_file(folder_ / "c.json", classifier);
        test_ = data::digits_split(data::Split::test, 60, 1);
        io::save_npy(folder_ / "x.npy", test_.x);
        Ended trained = weft({"train", "c.json", "--out", "run", "--quiet"});
        ASSERT_EQ(trained.status, 0) << trained.output;
    }
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    std::string refused(const std::vector<std::string>& words) {
        Ended ended = weft(words);
        EXPECT_EQ(ended.status, 2) << ended.output;
        return ended.output;
    }
    Scratch folder_;
    data::Dataset test_;
};

TEST_F(Predict, answers_are_those_that_eval_counts_and_probabilities_are_the_outputs_softmax) {
    Ended ended = weft({"predict", "run", "--input", "x.npy", "--output", "p.csv"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    Table table = table_in(contents(folder_ / "p.csv"), ',');
    ASSERT_EQ(table.size(), 61u);
    EXPECT_EQ(table[0][0], "class");
    EXPECT_EQ(table[0][10], "p_9");
    EXPECT_EQ(weft({"predict", "run", "--input", "x.npy", "--output", "o.npy"}).status, 0);
    Array outputs = io::load_npy(folder_ / "o.npy");
    ASSERT_EQ(outputs.dims, (Dims{60, 10}));
    int wrong = 0;
    for (std::size_t row = 0; row < 60; ++row) {
        const float* scores = outputs.data<float>() + 10 * row;
        wrong += std::stoll(table[row + 1][0]) != test_.y.data<std::int64_t>()[row];
        EXPECT_EQ(std::stoll(table[row + 1][0]), std::max_element(scores, scores + 10) - scores);
        double sum = 0;
        for (int c = 0; c < 10; ++c) sum += std::exp(static_cast<double>(scores[c]));
        for (std::size_t c = 0; c < 10; ++c)
            EXPECT_NEAR(std::stod(table[row + 1][c + 1]), std::exp(static_cast<double>(scores[c])) / sum, 1e-6);
    }
    EXPECT_NE(weft({"eval", "run"}).output.find(text("(", wrong, " of 60)")), std::string::npos) << wrong;
}

TEST_F(Predict, every_kind_of_file_and_form_of_example_gives_the_same_lines) {
    std::string lines = weft({"predict", "run", "--input", "x.npy"}).output;
    EXPECT_EQ(table_in(lines, '\t').size(), 60u);
    EXPECT_EQ(table_in(lines, '\t')[0].size(), 11u);
    io::save_idx(folder_ / "x-ubyte", test_.x);
    io::save_npy(folder_ / "flat.npy", test_.flat().inputs());
    std::string rows;
    Array numbers = test_.flat().inputs();
    for (std::int64_t i = 0; i < numbers.size(); ++i)
        rows += text(numbers.data<float>()[i], i % 784 == 783 ? "\n" : ",");
    put_file(folder_ / "x.csv", rows);
    for (const char* name : {"x-ubyte", "flat.npy", "x.csv"})
        EXPECT_EQ(weft({"predict", "run", "--input", name}).output, lines) << name;
}

TEST_F(Predict, what_does_not_fit_is_one_message_and_nothing_is_written) {
    io::save_npy(folder_ / "small.npy", Array::zeros(float32, {5, 12}));
    EXPECT_EQ(refused({"predict", "run", "--input", "small.npy", "--output", "p.csv"}),
              "'small.npy' has shape (5, 12); the run takes examples of shape (28, 28), as an array of shape "
              "(n, 28, 28) or (n, 784)\n");
    EXPECT_EQ(refused({"predict", "run", "--input", "x.npy", "--output", "p.txt"}),
              "--output p.txt: expected a name that ends with .npy or .csv\n");
    EXPECT_EQ(refused({"predict", "run", "--input", "x.npy", "--output", "./x.npy"}),
              "--output ./x.npy would replace the examples; give it another name\n");
    io::save_npy(folder_ / "empty.npy", Array::zeros(float32, {0, 784}));
    EXPECT_NE(refused({"predict", "run", "--input", "empty.npy"}).find("no example is in it"), std::string::npos);
    EXPECT_EQ(refused({"predict", "run", "--input", "x.npy", "--output", "none/p.csv"}),
              "--output none/p.csv: there is no such folder\n");
    EXPECT_NE(refused({"predict", "run", "--input", "none.npy"}).find("'none.npy' cannot be read"), std::string::npos);
    EXPECT_NE(refused({"predict", "run", "--input", "c.json"}).find("c.json"), std::string::npos);
    EXPECT_NE(refused({"predict", "run"}).find("--input FILE is missing"), std::string::npos);
    EXPECT_NE(refused({"predict", "none", "--input", "x.npy"}).find("holds no run"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "p.csv"));
}

TEST_F(Predict, without_classes_the_numbers_are_all_that_is_said) {
    put_file(folder_ / "t.csv", "1,2,3\n3,5,8\n2,2,4\n");
    put_file(folder_ / "q.json", quantities);
    Ended trained = weft({"train", "q.json", "--out", "q", "--quiet"});
    ASSERT_EQ(trained.status, 0) << trained.output;
    put_file(folder_ / "n.csv", "1,2\n3,5\n");
    Table table = table_in(weft({"predict", "q", "--input", "n.csv"}).output, '\t');
    ASSERT_EQ(table.size(), 2u);
    EXPECT_EQ(table[0].size(), 1u);
    EXPECT_GT(std::stod(table[1][0]), std::stod(table[0][0]));
    EXPECT_EQ(weft({"predict", "q", "--input", "n.csv", "--output", "p.csv"}).status, 0);
    EXPECT_EQ(contents(folder_ / "p.csv").substr(0, 9), "output_0\n");
}

}  // namespace
}  // namespace weft
