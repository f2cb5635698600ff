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
                                                  {"sample", "run", "--walk", "x"}})
        EXPECT_EQ(weft(words).status, 2);
}

}  // namespace
}  // namespace weft
