// What a terminal shows while a run goes on, and that a pipe gets plain lines.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

#include "cli/program.h"
#include "io/scratch.h"

namespace weft {
namespace {

constexpr const char* long_run = R"({"data": {"train": {"digits": {"size": 5000}}, "prepare": ["flatten"]},
"model": [{"linear": 300}, "relu", {"linear": 10}], "cost": "cross_entropy", "optimizer": {"sgd": {"lr": 0.0001}},
"batch_size": 2, "stop_when": {"epochs": 3}})";

/// All that the program writes to a terminal of so many columns.
std::string on_terminal(const std::filesystem::path& folder, unsigned short columns) {
    winsize size{24, columns, 0, 0};
    int terminal = -1;
    pid_t process = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (process == 0) {
        bool there = ::chdir(folder.c_str()) == 0;
        const char* program = WEFT_BINARY_DIR "/weft";
        if (there) ::execl(program, program, "train", "e.json", "--out", "run", "--threads", "1", nullptr);
        ::_exit(127);
    }
    std::string all;
    char bytes[4096];
    for (ssize_t count; (count = ::read(terminal, bytes, sizeof bytes)) > 0;) all.append(bytes, std::size_t(count));
    int status = 0;
    ::waitpid(process, &status, 0);
    ::close(terminal);
    EXPECT_EQ(status, 0);
    return all;
}

/// What stood in the line that the bar is drawn in, time after time.
std::vector<std::string> bars(const std::string& output) {
    std::string plain = std::regex_replace(output, std::regex("\x1b\\[[0-9;]*[mK]"), "");
    std::vector<std::string> all;
    for (std::size_t at = 0; at < plain.size();) {
        std::size_t end = std::min(plain.find_first_of("\r\n", at), plain.size());
        std::string line = plain.substr(at, end - at);
        if (line.find("% ") != std::string::npos && line.find("loss ") != std::string::npos &&
            line.find("..") != line.npos)
            all.push_back(line);
        at = end + 1;
    }
    return all;
}

TEST(Terminal, shows_a_bar_with_the_rate_and_the_time_left_in_one_line) {
    Scratch wide, narrow;
    for (const Scratch* folder : {&wide, &narrow}) put_file(*folder / "e.json", long_run);
    std::vector<std::string> shown = bars(on_terminal(wide.folder(), 120));
    ASSERT_FALSE(shown.empty());
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [](const std::string& line) {
        return std::regex_search(line, std::regex(" examples/s  [0-9]+ s left, [0-9]+ s to the end$"));
    })) << shown.back();
    for (const std::string& line : bars(on_terminal(narrow.folder(), 50))) EXPECT_LT(line.size(), 50u) << line;
}

TEST(Terminal, the_table_has_the_figure_by_which_the_best_model_is_kept) {
    Scratch folder;
    put_file(folder / "e.json", R"({"data": {"train": {"digits": {"size": 60}}, "valid": {"digits": {"size": 60}},
"prepare": ["flatten"]}, "model": [{"linear": 10}], "cost": "cross_entropy", "optimizer": "sgd", "stop_when": {"epochs": 1},
"monitor": {"channels": ["loss", "error", "accuracy", "f1", "perplexity", "precision", "recall"]}, "keep_best": {"of": "valid.f1"}})");
    std::string output = run(folder.folder(), {"train", "e.json", "--out", "run", "--threads", "1"}).output;
    EXPECT_TRUE(std::regex_search(
        output,
        std::regex(
            "\n epoch +train.loss +train.error +train.accuracy +train.f1 +train.perplexity +valid.f1 +examples/s")))
        << output;
    EXPECT_NE(output.find("valid.f1 0."), output.npos) << output;  // of the model that was kept
}

TEST(Terminal, a_pipe_gets_lines_alone) {
    Scratch folder;
    put_file(folder / "e.json", long_run);
    std::string output = run(folder.folder(), {"train", "e.json", "--out", "run", "--threads", "1"}).output;
    EXPECT_EQ(output.find('\r'), std::string::npos);
    EXPECT_EQ(output.find('\x1b'), std::string::npos);
    EXPECT_EQ(output.find(" left"), std::string::npos);
}

}  // namespace
}  // namespace weft
