#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/search/workers.h"

namespace weft::search {
namespace {

constexpr int status_of_stopped = 130;

/// The new process, between fork and exec: other threads of the old one may hold locks, so only plain calls to the system are made. Signals
/// of the terminal go to the parent alone, which passes on what it wants.
[[noreturn]] void become(char* const* words, int says, pid_t parent) {
    ::setpgid(0, 0);
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    int nothing = ::open("/dev/null", O_RDONLY);
    bool good = ::getppid() == parent && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                ::dup2(says, STDOUT_FILENO) >= 0 && ::dup2(says, STDERR_FILENO) >= 0;
    if (good) ::execv(words[0], words);
    ::_exit(127);
}

/// What it said last.
std::string last_words(const std::filesystem::path& says) {
    std::string said = io::read_file(says);
    said.erase(said.find_last_not_of('\n') + 1);
    return said.substr(said.rfind('\n') + 1);
}

class Processes : public Workers {
  public:
    explicit Processes(Command command) : command_(std::move(command)) {}
    /// Kills what still runs, and waits for it.
    ~Processes() override {
        for (const Job& job : running_) ::kill(job.process, SIGKILL);
        for (const Job& job : running_) ::waitpid(job.process, nullptr, 0);
    }
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    void start(const Order& order) override {
        std::vector<std::string> words = command_(order);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        int file = ::open(order.says.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (file < 0) throw FileError(text("'", order.says.string(), "' cannot be written: ", std::strerror(errno)));
        pid_t parent = ::getpid(), process = ::fork();
        if (process == 0) become(pointers.data(), file, parent);
        int error = errno;
        ::close(file);
        if (process < 0) throw FileError(text("no other process can be started: ", std::strerror(error)));
        running_.push_back({order, process});
    }
    std::optional<Ended> ended() override {
        for (auto job = running_.begin(); job != running_.end(); ++job) {
            int status = 0;
            if (::waitpid(job->process, &status, WNOHANG) != job->process) continue;
            Order order = job->order;
            running_.erase(job);
            return result_of(order, status);
        }
        return std::nullopt;
    }
    void stop() override {
        for (const Job& job : running_) ::kill(job.process, SIGTERM);
    }
    std::size_t size() const override { return running_.size(); }

  private:
    struct Job {
        Order order;
        pid_t process;
    };

    static Ended result_of(const Order& order, int status) {
        if (!WIFEXITED(status)) return {order.trial, true, text("ended by signal ", WTERMSIG(status))};
        int code = WEXITSTATUS(status);
        if (code == 0) return {order.trial, false, ""};
        std::string said = last_words(order.says);
        return {order.trial, code == status_of_stopped, said.empty() ? text("ended with status ", code) : said};
    }

    Command command_;
    std::vector<Job> running_;
};

}  // namespace

std::unique_ptr<Workers> processes(Command command) { return std::make_unique<Processes>(std::move(command)); }

}  // namespace weft::search
