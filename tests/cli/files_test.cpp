// Experiments on files: what is in them is looked at before anything is made, a trained model does without them, and a run goes on with the
// numbers with which it began.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/io/npy.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// 40 rows of 6 numbers in 3 classes, x.npy and y.npy.
void put_data(const fs::path& folder, std::int64_t rows = 40, float first = 0) {
    Array x = Array::zeros(DType::float32, {rows, 6}), y = Array::zeros(DType::int64, {rows});
    for (std::int64_t i = 0; i < rows * 6; ++i) x.data<float>()[i] = static_cast<float>(i * 7 % 11) / 11;
    for (std::int64_t i = 0; i < rows; ++i) y.data<std::int64_t>()[i] = i % 3;
    x.data<float>()[0] = first;
    io::save_npy(folder / "x.npy", x), io::save_npy(folder / "y.npy", y);
}

std::string of_files(const std::string& more = "", const std::string& data = "") {
    return text(R"({"data": {"train": {"npy": {"x": "x.npy", "y": "y.npy"}})", data,
                R"(}, "model": [{"linear": 4}, "tanh", {"linear": 3}], "cost": "cross_entropy",
"optimizer": "adam", "batch_size": 10, "stop_when": {"epochs": 2}, "seed": 1)",
                more, "}");
}

class Files : public testing::Test {
  protected:
    Files() { put_data(folder_.folder()); }
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    void write(const std::string& json) { put_file(folder_ / "e.json", json); }
    bool there(const char* name) { return fs::exists(folder_ / name); }
    Scratch folder_;
};

TEST_F(Files, tell_a_dry_run_their_shapes) {
    write(of_files());
    Ended ended = weft({"train", "e.json", "--dry-run"});
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("(batch, 4)"));
    EXPECT_THAT(ended.output, HasSubstr("the whole step"));
}

// Of each phase, before the first is trained and before a folder is made.
TEST_F(Files, of_later_phases_are_looked_at_first) {
    for (const char* wrong :
         {R"({"cost": "mse"})", R"({"optimizer": {"sgd": {"constraints": [{"match": "9.*", "max_col_norm": 1}]}}})",
          R"({"data": {"train": {"npy": {"x": "y.npy", "y": "y.npy"}}}})", R"({"data": {"prepare": [{"pca": 3}]}})",
          R"({"model": [{"linear": 2}]})"}) {
        write(of_files(text(R"(, "phases": [{"name": "a"}, )", wrong, "]")));
        Ended ended = weft({"train", "e.json", "--out", "r"});
        EXPECT_EQ(ended.status, 2) << wrong << ended.output;
        EXPECT_THAT(ended.output, HasSubstr("e.json:")) << wrong;
        EXPECT_FALSE(there("r")) << wrong;
    }
}

TEST_F(Files, that_are_damaged_are_the_experiments_mistake) {
    put_file(folder_ / "x.npy", "no array");
    write(of_files());
    Ended ended = weft({"train", "e.json", "--out", "r"});
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("e.json:1:"));
    EXPECT_FALSE(there("r"));
}

TEST_F(Files, of_training_are_not_needed_by_who_uses_the_model) {
    write(of_files());
    ASSERT_EQ(weft({"train", "e.json", "--out", "r", "--quiet"}).status, 0);
    fs::rename(folder_ / "x.npy", folder_ / "elsewhere.npy");
    Ended ended = weft({"predict", "r", "--input", "elsewhere.npy"});
    EXPECT_EQ(ended.status, 0) << ended.output;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"resume", "r"}, {"eval", "r", "--data", "train"}}) {
        ended = weft(words);
        EXPECT_EQ(ended.status, 2) << words[0];
        EXPECT_THAT(ended.output, HasSubstr("there is no file 'x.npy'")) << words[0];
    }
    EXPECT_TRUE(there("r/last"));
}

TEST_F(Files, whose_numbers_are_others_do_not_go_on_with_a_run) {
    write(of_files());
    ASSERT_EQ(weft({"train", "e.json", "--out", "r", "--quiet"}).status, 0);
    EXPECT_EQ(weft({"resume", "r"}).status, 0);
    for (bool fewer : {true, false}) {
        put_data(folder_.folder(), fewer ? 30 : 40, fewer ? 0 : 5);
        Ended ended = weft({"resume", "r"});
        EXPECT_EQ(ended.status, 2);
        EXPECT_THAT(ended.output,
                    HasSubstr(fewer ? "30 examples where there were 40" : "40 examples, but other numbers"));
    }
}

TEST_F(Files, of_texts_go_on_with_what_is_carried_or_are_refused) {
    put_file(folder_ / "t.txt", std::string(200, 'a') + std::string(200, 'b'));
    auto refused = [&](const char* lanes, const char* more, const char* data = R"(, "shuffle": false)") {
        write(text(R"({"data": {"train": {"text": {"path": "t.txt", "length": 8, "lanes": )", lanes, "}}", data,
                   R"(}, "model": [{"embedding": {"count": 2, "units": 3}}, {"gru": {"units": 3, "carry": true}},
{"linear": 2}, "transpose"], "cost": "cross_entropy", "stop_when": {"epochs": 1}, )",
                   more, "}"));
        Ended ended = weft({"train", "e.json", "--out", "r"});
        EXPECT_EQ(ended.status, 2) << ended.output;
        EXPECT_THAT(ended.output, HasSubstr(": carry: ")) << more;
        EXPECT_FALSE(there("r"));
        return ended.output;
    };
    const char* four = R"("optimizer": "adam", "batch_size": 4)";
    EXPECT_THAT(refused("4", four, ""), HasSubstr("`shuffle: false`"));
    EXPECT_THAT(refused("8", four), HasSubstr("8 `lanes` and a batch 4 rows"));
    EXPECT_THAT(refused("4", R"("optimizer": "lbfgs", "batch_size": 4)"), HasSubstr("lbfgs evaluates a batch several"));
}

TEST_F(Files, of_other_sets_are_judged_each_by_its_name) {
    std::string both = R"(, "others": {"noisy": {"npy": {"x": "x.npy", "y": "y.npy", "range": [0, 20]}},
                                       "late": {"npy": {"x": "x.npy", "y": "y.npy", "range": [20, 40]}}})";
    write(of_files(R"(, "keep_best": {"of": "late.loss"})", both));
    Ended ended = weft({"train", "e.json", "--out", "r"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    for (const char* figure : {"noisy.loss", "late.error"})
        EXPECT_THAT(contents(folder_ / "r/log.jsonl"), HasSubstr(figure));
    EXPECT_THAT(weft({"eval", "r", "--data", "noisy"}).output, HasSubstr("noisy.loss"));
    for (const char* name : {"train", "of two"}) {
        write(of_files("", text(R"(, "others": {")", name, R"(": "digits"})")));
        ended = weft({"train", "e.json", "--out", "s"});
        EXPECT_EQ(ended.status, 2) << name;
        EXPECT_THAT(ended.output, HasSubstr(text("others: '", name, "'")));
    }
}

TEST_F(Files, and_folders_say_what_is_in_them) {
    fs::create_directories(folder_ / "pictures/cat");
    for (const char* name : {"pictures/cat/a.png", "pictures/cat/b.png", "pictures/list.txt"})
        put_file(folder_ / name, "");
    EXPECT_EQ(weft({"data", "info", "pictures"}).output, "*.txt  1 file\ncat/*.png  2 files\n");
    put_file(folder_ / "t.csv", "1,2\n3\n");
    for (const auto& [name, said] : {std::pair("t.csv", "t.csv':2:1: the row has 1 field"),
                                     {"none.csv", "no such file"},
                                     {"digit", "did you mean 'digits'"}}) {
        Ended ended = weft({"data", "info", name});
        EXPECT_EQ(ended.status, 2) << name;
        EXPECT_THAT(ended.output, HasSubstr(said));
    }
}

}  // namespace
}  // namespace weft
