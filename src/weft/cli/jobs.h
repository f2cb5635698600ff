// Other processes of this program, at work beside it: `weft train` once for each trial. They end with the process that started them, also
// if that is killed, so none goes on writing where the next one writes. Caller: cli/search.cpp.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

class Jobs {
  public:
    struct Ended {
        std::int64_t id = 0;
        int status = 0;  // of its exit; that of a signal is negative
    };
    Jobs() = default;
    /// Kills what still runs, and waits for it.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Starts `weft words...`; what it says goes into a file. FileError if there can be no other process.
    void start(std::int64_t id, std::vector<std::string> words, const std::filesystem::path& says);
    /// One that has ended; nothing if all are at work. Does not wait.
    std::optional<Ended> ended();
    /// Asks all to stop, with a checkpoint.
    void stop();
    std::size_t size() const { return running_.size(); }

  private:
    struct Job {
        std::int64_t id;
        pid_t process;
    };
    std::vector<Job> running_;
};

}  // namespace weft::cli
