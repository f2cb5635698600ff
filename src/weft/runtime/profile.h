// A profile: where the time of a running program goes, by operation, by the user's line and by kernel. Between start_profile() and
// stop_profile() every step that any thread runs is timed (about 50 ns a step); WEFT_PROFILE=1 profiles a whole process and prints the
// tables when it ends. Callers: users; runtime/executor.cpp records.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct BoundStep;

struct ProfileEntry {
    std::string operation, line, kernel;  // line: "train.cpp:12", or empty
    double seconds = 0;
    std::int64_t runs = 0;
};

struct Profile {
    std::vector<ProfileEntry> entries;  // one an operation, line and kernel
    double seconds() const;
    /// The entries joined by one of their names, the longest first.
    std::vector<ProfileEntry> by(std::string ProfileEntry::*name) const;
    /// Three tables.
    std::string str() const;
};

/// What was recorded before is forgotten.
void start_profile();
Profile stop_profile();

namespace detail {
/// Whether runs are timed.
extern std::atomic<bool> profiling;
void record(const BoundStep& step, double seconds);
}  // namespace detail

}  // namespace weft
