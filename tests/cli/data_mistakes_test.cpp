// What is wrong in the data of a run is said before anything is learned of them, by set, row and value.
#include <gtest/gtest.h>

#include <limits>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/io/npy.h"

namespace weft {
namespace {

class DataMistakes : public testing::Test {
  protected:
    void put(const std::string& name, const std::vector<std::int64_t>& labels) {
        auto rows = static_cast<std::int64_t>(labels.size());
        Array x = Array::zeros(DType::float32, {rows, 4});
        io::save_npy(folder_ / (name + "x.npy"), x);
        io::save_npy(folder_ / (name + "y.npy"), Array::from(labels, {rows}));
    }
    static std::string set_of(const std::string& name) {
        return R"({"npy": {"x": ")" + name + R"(x.npy", "y": ")" + name + R"(y.npy"}})";
    }
    void put_experiment(const std::string& layers, const std::string& more = R"("cost": "cross_entropy")") {
        put_file(folder_ / "e.json", R"({"data": {"train": )" + set_of("train") + R"(, "valid": )" + set_of("valid") +
                                         "},\n\"model\": " + layers +
                                         R"(, "optimizer": "sgd", "stop_when": {"epochs": 1}, )" + more + "}");
    }
    /// Of a training on train and valid, which has not begun; `more` are further keys.
    std::string refused(const std::string& layers, const std::string& more = R"("cost": "cross_entropy")") {
        put_experiment(layers, more);
        Ended ended = run(folder_.folder(), {"train", "e.json", "--out", "run" + std::to_string(++runs_)});
        EXPECT_EQ(ended.status, 2) << ended.output;
        return ended.output;
    }
    Scratch folder_;
    int runs_ = 0;
};

TEST_F(DataMistakes, labels_that_the_network_has_no_score_for) {
    put("train", {0, 1, 2, 0}), put("valid", {0, 7});
    std::string said = refused(R"([{"linear": 3}])");
    EXPECT_EQ(said.find("e.json:2:"), 0u) << said;
    EXPECT_NE(said.find("cross_entropy: row 1 of 'valid' (the first is 0) has the label 7; labels are 0 to 2"),
              said.npos)
        << said;
    put("train", {0, 1, 2, 70}), put("valid", {0, 1});
    said = refused(R"([{"linear": 3}])");
    EXPECT_NE(said.find("the data have 71 classes, the last layer gives 3 scores"), said.npos) << said;
    put("train", {0, -1, 2, 0}), put("valid", {0, 1});
    EXPECT_NE(refused(R"([{"linear": 3}])").find("row 1 of 'train' (the first is 0) has the label -1"),
              std::string::npos);
    EXPECT_NE(
        refused(R"([{"linear": 1}])", R"("cost": "binary_cross_entropy")").find("has the label -1; labels are 0 to 1"),
        std::string::npos);
}

TEST_F(DataMistakes, numbers_that_are_none_unless_the_file_keeps_them) {
    put("train", {0, 1}), put("valid", {0, 1});
    Array x = Array::zeros(DType::float32, {2, 4});
    x.data<float>()[6] = std::numeric_limits<float>::quiet_NaN();
    io::save_npy(folder_ / "validx.npy", x);
    std::string said = refused(R"([{"linear": 2}])");
    EXPECT_NE(said.find("data: row 1 of 'valid', column 2 (the first is 0): x is NaN"), said.npos) << said;
    Ended kept = run(folder_.folder(), {"train", "e.json", "--out", "kept", "--quiet", "--set", "data.nan=keep"});
    EXPECT_EQ(kept.status, 0) << kept.output;
}

TEST_F(DataMistakes, a_last_batch_that_a_layer_does_not_take) {
    put("train", {0, 1, 2, 0, 1}), put("valid", {0, 1});
    std::string layers = R"([{"linear": 3}, {"batch_norm": {"name": "norm"}}])";
    std::string said = refused(layers, R"("cost": "cross_entropy", "batch_size": 4)");
    for (const char* part :
         {"the last of an epoch of 5 examples holds 1, and layer norm does not take it", "write `last: drop`"})
        EXPECT_NE(said.find(part), said.npos) << said;
    Ended dropped = run(folder_.folder(), {"train", "e.json", "--out", "dropped", "--quiet", "--set", "last=drop"});
    EXPECT_EQ(dropped.status, 0) << dropped.output;
}

TEST_F(DataMistakes, symbols_that_an_embedding_has_no_vector_for) {
    put_file(folder_ / "t.txt", "abcdefgh abcdefgh abcdefgh abcdefgh");
    put_file(folder_ / "t.json", R"({"data": {"train": {"text": {"path": "t.txt", "length": 3}}}, "model": [
{"embedding": {"count": 6, "units": 2}}, {"linear": 9}, "transpose"],
"cost": "cross_entropy", "optimizer": "sgd", "stop_when": {"epochs": 1}})");
    Ended ended = run(folder_.folder(), {"train", "t.json", "--out", "text"});
    EXPECT_EQ(ended.status, 2) << ended.output;
    for (const char* part :
         {"t.json:2:", "embedding (layer 0): row ", "holds the symbol 8, and a vector is there for 0 to 5"})
        EXPECT_NE(ended.output.find(part), std::string::npos) << ended.output;
}

TEST_F(DataMistakes, more_folds_than_rows_before_any_is_trained) {
    put("train", {0, 1, 2, 0}), put("valid", {0});
    put_experiment(R"([{"linear": 3}])");
    Ended ended = run(folder_.folder(), {"cv", "e.json", "--folds", "5", "--out", "folds"});
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_NE(ended.output.find("4 examples cannot be cut into 5 folds"), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "folds"));
}

}  // namespace
}  // namespace weft
