// weft monitor, plot, diff and serve, from outside: what they print and write is what the logs hold.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "cli/program.h"
#include "io/scratch.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* config = R"({"data": {"train": "digits", "prepare": ["flatten"]}, "model": [{"linear": 10}],
  "cost": "cross_entropy", "optimizer": {"sgd": {"lr": )";

/// A run as its folder tells it: two epochs, and the end.
void make_run(const fs::path& folder, const char* lr, const char* second, bool ended = true) {
    fs::create_directories(folder);
    std::ofstream(folder / "config.yaml") << config << lr << "}}}";
    std::ofstream log(folder / "log.jsonl");
    log << R"({"epoch": 1, "step": 6, "examples": 600, "seconds": 0.1, "train.loss": 2.0, "valid.error": 0.5, "lr": 0.1})"
        << "\n"
        << R"({"step": 9, "examples": 900, "train.loss": 1.5})"
        << "\n"
        << R"({"epoch": 2, "step": 12, "examples": 1200, "seconds": 0.2, "train.loss": )" << second
        << R"(, "valid.error": 0.25, "lr": 0.1})"
        << "\n";
    if (ended)
        log << R"({"final": true, "epoch": 2, "step": 12, "examples": 1200, "seconds": 0.3, "valid.error": 0.25})"
            << "\n";
}

class Compare : public testing::Test {
  protected:
    void SetUp() override {
        make_run(folder_.folder() / "a", "0.1", "1.0");
        make_run(folder_.folder() / "b", "0.2", "\"NaN\"");
    }
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    Scratch folder_;
};

TEST_F(Compare, monitor_prints_lines_with_tabs_where_a_program_reads) {
    EXPECT_EQ(
        weft({"monitor", "a"}).output,
        "run\tepoch\ttrain.loss\tvalid.error\tlr\na\t1\t2\t50.00%\t0.1\na\t2\t1\t25.00%\t0.1\na\tkept 2\t\t25.00%\t\n");
    std::string both = weft({"monitor", "a", "b", "--channel", "train.*"}).output;
    EXPECT_EQ(both.find("b: train.loss is not finite from epoch 2 on"), 0u) << both;
    EXPECT_EQ(both.substr(both.find('\n') + 1),
              "run\tepoch\ttrain.loss\na\t1\t2\na\t2\t1\na\tkept 2\t\nb\t1\t2\nb\t2\tnan\nb\tkept 2\t\n");
    Ended none = weft({"monitor", "a", "--channel", "valid.eror"});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.output, "--channel valid.eror: no figure is called so; did you mean 'valid.error'?\n");
    EXPECT_EQ(weft({"monitor", "c"}).status, 2);
}

TEST_F(Compare, plot_writes_a_file_of_the_kind_that_its_name_says) {
    EXPECT_EQ(weft({"plot", "a", "b", "--out", "p.svg"}).output, "p.svg\n");
    std::string svg = contents(folder_.folder() / "p.svg");
    for (const char* part : {"<svg xmlns='http://www.w3.org/2000/svg'", ">a train<", ">b valid<", ">loss<", ">error<"})
        EXPECT_NE(svg.find(part), std::string::npos) << part;
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(weft({"plot", "a", "--out", "p.png"}).status, 0);
    EXPECT_EQ(contents(folder_.folder() / "p.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(weft({"plot", "a", "--out", "p.html"}).status, 0);
    std::string page = contents(folder_.folder() / "p.html");
    EXPECT_NE(page.find("<div class=chart"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos);
    EXPECT_EQ(weft({"plot", "a", "--out", "p.gif"}).output,
              "a plot, p.gif: expected a name that ends with .svg, .png or .html\n");
    EXPECT_EQ(weft({"plot", "a"}).status, 2);
}

TEST_F(Compare, diff_shows_keys_figures_and_where_the_logs_part) {
    Ended ended = weft({"diff", "a", "b"});
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.output,
              "\ta\tb\noptimizer.sgd.lr\t0.1\t0.2\n\n\ta\tb\tdifference\nepoch\t2\t2\t0\nstep\t12\t12\t0\n"
              "valid.error\t0.25\t0.25\t0\n\nthe logs part in epoch 2: train.loss 1.0 and \"NaN\"\n");
    EXPECT_EQ(weft({"diff", "a", "a"}).output.substr(0, 32), "the configurations are the same\n");
    EXPECT_EQ(weft({"diff", "a"}).status, 2);
}

/// What a server says on a connection.
std::string asked(int port, const std::string& request) {
    int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::send(connection, request.data(), request.size(), 0) > 0) {
        char buffer[4096];
        for (ssize_t count; (count = ::recv(connection, buffer, sizeof buffer, 0)) > 0;)
            answer.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(connection);
    return answer;
}

TEST_F(Compare, serve_shows_what_the_log_holds_now_to_this_machine_alone) {
    make_run(folder_.folder() / "a", "0.1", "1.0", false);
    Process server(folder_.folder(), {"serve", "a", "--port", "0"});
    std::string said;
    for (int i = 0; i < 1000 && said.find('\n') == said.npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        said = server.output();
    }
    ASSERT_EQ(said.substr(0, 17), "http://127.0.0.1:");
    int port = std::stoi(said.substr(17));
    auto get = [&](const std::string& path, const std::string& host) {
        return asked(port, "GET " + path + " HTTP/1.1\r\nHost: " + host + ":1\r\n\r\n");
    };
    std::string page = get("/", "127.0.0.1");
    EXPECT_EQ(page.substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_NE(page.find("connect-src 'self'"), std::string::npos);
    EXPECT_NE(page.find("epoch 2"), std::string::npos);
    EXPECT_EQ(page.find("ended"), std::string::npos);
    EXPECT_EQ(page.find("http://"), std::string::npos);
    make_run(folder_.folder() / "a", "0.1", "1.0");
    EXPECT_NE(get("/content", "localhost").find("ended; the model of epoch 2"), std::string::npos);
    EXPECT_EQ(get("/", "elsewhere.example").substr(0, 12), "HTTP/1.1 403");
    EXPECT_EQ(get("/../a/config.yaml", "127.0.0.1").substr(0, 12), "HTTP/1.1 404");
    EXPECT_EQ(asked(port, "POST / HTTP/1.1\r\n\r\n").substr(0, 12), "HTTP/1.1 405");
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
}

}  // namespace
}  // namespace weft
