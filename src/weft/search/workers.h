// Who trains the trials of a search: other processes, or this one, a trial at a time. Callers: search/search.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/json.h"

namespace weft::search {

/// What reports say they were made on, a name and a value each (backend/machine.h).
using Environment = std::vector<std::pair<std::string, std::string>>;

/// What is to be done: the experiment in `file` trained in `run`, from where it stands to its end.
struct Order {
    std::int64_t trial = 0;
    std::filesystem::path file, run, says;  // says: where a process writes what it has to say
    std::int64_t threads = 1;
};

/// What became of it.
struct Ended {
    std::int64_t trial = 0;
    bool stopped =
        false;  // before its end, by a signal or because it was asked to; with a checkpoint, it goes on from there
    std::string error;  // why it is of no use; of what was stopped, by what
};

class Workers {
  public:
    virtual ~Workers() = default;
    virtual void start(const Order& order) = 0;
    /// One that has ended; nothing if all are at work. Does not wait.
    virtual std::optional<Ended> ended() = 0;
    /// Asks all to stop, with a checkpoint.
    virtual void stop() = 0;
    virtual std::size_t size() const = 0;
};

/// How another program is called that carries out an order: its words, the program first. It ends with 0, with 130 if it was asked to stop
/// and can go on, else with anything; the last line it says tells why.
using Command = std::function<std::vector<std::string>(const Order&)>;

/// Processes beside this one, which end with it, also if it is killed: none goes on writing where the next one writes.
std::unique_ptr<Workers> processes(Command command);

/// This process: start() returns when the trial has ended.
std::unique_ptr<Workers> here(Environment environment, std::function<bool()> stop);

}  // namespace weft::search
