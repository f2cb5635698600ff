// Runs the weft program as its users do, in a folder, and gives back its exit status and what it printed. Caller: tests/cli.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weft {

inline std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

class Process {
  public:
    /// Starts it; `settings` are of its environment, as "WEFT_THREADS=1"; no file that it writes may have more than `most_bytes`.
    Process(const std::filesystem::path& folder, std::vector<std::string> words,
            const std::vector<std::string>& settings = {}, rlim_t most_bytes = RLIM_INFINITY)
        : out_(folder / (".out" + std::to_string(counter()++))) {
        words.insert(words.begin(), WEFT_BINARY_DIR "/weft");
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ != 0) return;
        int out = ::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ::dup2(out, 1);
        ::dup2(out, 2);
        for (const std::string& setting : settings) ::putenv(const_cast<char*>(setting.c_str()));
        struct rlimit limit {
            most_bytes, most_bytes
        };
        ::setrlimit(RLIMIT_FSIZE, &limit);
        if (::chdir(folder.c_str()) == 0) ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    void signal(int number) { ::kill(pid_, number); }
    /// The exit status, or -1 - signal.
    int wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1 - WTERMSIG(status);
    }
    std::string output() const { return contents(out_); }

  private:
    static int& counter() {
        static int count = 0;
        return count;
    }
    std::filesystem::path out_;
    pid_t pid_ = 0;
};

struct Ended {
    int status;
    std::string output;
};
inline Ended run(const std::filesystem::path& folder, const std::vector<std::string>& words,
                 const std::vector<std::string>& settings = {}, rlim_t most_bytes = RLIM_INFINITY) {
    Process program(folder, words, settings, most_bytes);
    int status = program.wait();
    return {status, program.output()};
}

}  // namespace weft
