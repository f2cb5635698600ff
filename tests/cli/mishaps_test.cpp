// What happens to runs beside their training: two processes in one folder, a full disk, a loss that is no number, a log that was cut.
#include <gtest/gtest.h>

#include <thread>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/base/error.h"
#include "weft/io/folder_lock.h"

namespace weft {
namespace {

class Mishaps : public testing::Test {
  protected:
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    /// A run of two epochs in the folder `run`, and how it ended.
    Ended trained(const std::string& lr = "0.001", const std::vector<std::string>& more = {}) {
        put_file(folder_ / "e.json",
                 R"({"data": {"train": {"digits": {"size": 40}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
            "model": [{"linear": 784}], "cost": {"mse": {"target": "input"}}, "optimizer": {"sgd": {"lr": )" +
                     lr + R"(}},
            "batch_size": 20, "stop_when": {"epochs": 2}})");
        std::vector<std::string> words{"train", "e.json", "--out", "run"};
        words.insert(words.end(), more.begin(), more.end());
        return weft(words);
    }
    Scratch folder_;
};

TEST_F(Mishaps, one_process_at_a_time_works_in_a_runs_folder) {
    ASSERT_EQ(trained().status, 0);
    {
        io::FolderLock held(folder_ / "run");
        EXPECT_THROW(io::FolderLock(folder_ / "run"), ConfigError);
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"resume", "run"}, {"train", "e.json", "--out", "run", "--resume"}}) {
            Ended ended = weft(words);
            EXPECT_EQ(ended.status, 2);
            EXPECT_NE(ended.output.find("another process is at work in 'run'"), std::string::npos) << ended.output;
        }
    }
    EXPECT_EQ(weft({"resume", "run", "--quiet"}).status, 0);
}

TEST_F(Mishaps, a_process_that_is_killed_leaves_no_lock) {
    ASSERT_EQ(trained().status, 0);
    Process program(folder_.folder(), {"train", "e.json", "--out", "long", "--set", "stop_when.epochs=1000000"});
    while (!std::filesystem::exists(folder_ / "long" / "last"))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_THROW(io::FolderLock(folder_ / "long"), ConfigError);
    program.signal(SIGKILL);
    program.wait();
    EXPECT_NO_THROW(io::FolderLock(folder_ / "long"));
}

TEST_F(Mishaps, output_that_could_not_be_written_is_a_failure) {
    EXPECT_EQ(run(folder_.folder(), {"help"}, {}, 10).status, 3);
    EXPECT_EQ(run(folder_.folder(), {"help"}).status, 0);
}

TEST_F(Mishaps, a_loss_that_is_no_number_is_said_at_the_end_and_beside_the_figures) {
    Ended ended = trained("1.0e+30", {"--quiet"});
    EXPECT_EQ(ended.status, 3) << ended.output;
    const char* said = "train.loss is not finite from epoch 1 on; try a smaller rate";
    EXPECT_NE(ended.output.find(said), std::string::npos) << ended.output;
    EXPECT_NE(weft({"monitor", "run"}).output.find(said), std::string::npos);
    EXPECT_NE(contents(folder_ / "run" / "report.html").find(said), std::string::npos);
}

TEST_F(Mishaps, a_damaged_last_line_of_the_log_is_left_out_with_a_word) {
    ASSERT_EQ(trained().status, 0);
    std::string log = contents(folder_ / "run" / "log.jsonl");
    put_file(folder_ / "run" / "log.jsonl", log + "{\"epoch\": 3, \"tra\n");
    for (const std::vector<std::string>& words : {std::vector<std::string>{"monitor", "run"},
                                                  {"plot", "run", "--out", "p.svg"},
                                                  {"diff", "run", "run"},
                                                  {"show", "run"}}) {
        Ended ended = weft(words);
        EXPECT_EQ(ended.status, 0) << words[0] << ended.output;
        EXPECT_NE(ended.output.find("the last line is cut short or damaged, and left out"), std::string::npos)
            << words[0] << ended.output;
    }
    put_file(folder_ / "run" / "log.jsonl", "{\"epo\n" + log);
    EXPECT_EQ(weft({"monitor", "run"}).status, 3);
}

}  // namespace
}  // namespace weft
