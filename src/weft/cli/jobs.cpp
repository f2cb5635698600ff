#include "weft/cli/jobs.h"

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

namespace weft::cli {
namespace {

std::string this_program() {
    std::error_code error;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) throw FileError(text("the program does not find itself: ", error.message()));
    return program.string();
}

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

}  // namespace

Jobs::~Jobs() {
    for (const Job& job : running_) ::kill(job.process, SIGKILL);
    for (const Job& job : running_) ::waitpid(job.process, nullptr, 0);
}

void Jobs::start(std::int64_t id, std::vector<std::string> words, const std::filesystem::path& says) {
    words.insert(words.begin(), this_program());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    int file = ::open(says.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) throw FileError(text("'", says.string(), "' cannot be written: ", std::strerror(errno)));
    pid_t parent = ::getpid(), process = ::fork();
    if (process == 0) become(pointers.data(), file, parent);
    int error = errno;
    ::close(file);
    if (process < 0) throw FileError(text("no other process can be started: ", std::strerror(error)));
    running_.push_back({id, process});
}

std::optional<Jobs::Ended> Jobs::ended() {
    for (auto job = running_.begin(); job != running_.end(); ++job) {
        int status = 0;
        if (::waitpid(job->process, &status, WNOHANG) != job->process) continue;
        Ended result{job->id, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
        running_.erase(job);
        return result;
    }
    return std::nullopt;
}

void Jobs::stop() {
    for (const Job& job : running_) ::kill(job.process, SIGTERM);
}

}  // namespace weft::cli
