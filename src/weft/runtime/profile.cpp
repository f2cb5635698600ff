#include "weft/runtime/profile.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <tuple>

#include "weft/base/environment.h"
#include "weft/compile/binding.h"
#include "weft/graph/operation.h"

namespace weft {
namespace {

struct Recorder {
    // Lines by file and number: a location of its own stands for each place in the source. A name of its own: kernels may be gone when it is read.
    using Key = std::tuple<const Operation*, const char*, std::uint32_t, std::string>;
    struct Sum {
        double seconds = 0;
        std::int64_t runs = 0;
    };
    std::mutex mutex;
    std::map<Key, Sum, std::less<>> sums;
    static Recorder& get() {
        static Recorder* recorder = new Recorder;  // outlives whatever runs at the end of the process
        return *recorder;
    }
};

const bool profiles_all = [] {
    if (!environment("WEFT_PROFILE")) return false;
    start_profile();
    std::atexit([] { std::cerr << stop_profile().str(); });
    return true;
}();

std::string table(const Profile& profile, const char* title, std::string ProfileEntry::*name) {
    std::ostringstream out;
    double total = profile.seconds();
    out << "-- by " << title << '\n' << std::fixed;
    for (const ProfileEntry& entry : profile.by(name)) {
        out << std::setw(11) << std::setprecision(3) << entry.seconds * 1e3 << " ms  " << std::setw(5)
            << std::setprecision(1) << (total > 0 ? 100 * entry.seconds / total : 0) << " %  " << std::setw(9)
            << entry.runs << " runs  " << (entry.*name) << '\n';
    }
    return out.str();
}

}  // namespace

namespace detail {

std::atomic<bool> profiling{false};

void record(const BoundStep& step, double seconds) {
    Recorder& recorder = Recorder::get();
    std::lock_guard lock(recorder.mutex);
    std::tuple seen{step.operation, step.where.file_name(), step.where.line(), step.kernel->by()};
    auto found = recorder.sums.find(seen);  // without a copy of the name
    if (found == recorder.sums.end()) found = recorder.sums.try_emplace(Recorder::Key(seen)).first;
    found->second.seconds += seconds;
    ++found->second.runs;
}

}  // namespace detail

void start_profile() {
    Recorder& recorder = Recorder::get();
    std::lock_guard lock(recorder.mutex);
    recorder.sums.clear();
    detail::profiling = true;
}

Profile stop_profile() {
    detail::profiling = false;
    Recorder& recorder = Recorder::get();
    std::lock_guard lock(recorder.mutex);
    Profile profile;
    for (const auto& [key, sum] : recorder.sums) {
        const auto& [operation, file, line, by] = key;
        profile.entries.push_back({std::string(operation ? operation->name : "copy"),
                                   line ? text(file, ":", line) : std::string(), by, sum.seconds, sum.runs});
    }
    return profile;
}

double Profile::seconds() const {
    double total = 0;
    for (const ProfileEntry& entry : entries) total += entry.seconds;
    return total;
}

std::vector<ProfileEntry> Profile::by(std::string ProfileEntry::*name) const {
    std::map<std::string, ProfileEntry> joined;
    for (const ProfileEntry& entry : entries) {
        ProfileEntry& sum = joined[entry.*name];
        sum.*name = entry.*name;
        sum.seconds += entry.seconds, sum.runs += entry.runs;
    }
    std::vector<ProfileEntry> sorted;
    for (auto& [_, entry] : joined) sorted.push_back(std::move(entry));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const ProfileEntry& a, const ProfileEntry& b) { return a.seconds > b.seconds; });
    return sorted;
}

std::string Profile::str() const {
    return table(*this, "operation", &ProfileEntry::operation) + table(*this, "line", &ProfileEntry::line) +
           table(*this, "kernel", &ProfileEntry::kernel);
}

}  // namespace weft
