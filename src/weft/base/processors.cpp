#include "weft/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "weft/base/environment.h"
#include "weft/base/error.h"

namespace weft {
namespace {

int affinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));  // more than 1,024 processors
}

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream all;
    if (file) all << file.rdbuf();
    return all.str();
}

std::optional<double> quota_version_1(const std::string& folder) {
    std::string content = content_of(folder + "/cpu.cfs_quota_us") + " " + content_of(folder + "/cpu.cfs_period_us");
    return quota_of_cpu_max(content);  // no quota is -1 there, which is no grant either
}

/// The least quota of a group and its ancestors: each may have one of its own.
template <class Read>
double least_quota(const std::string& root, std::string path, Read read) {
    double least = INFINITY;
    for (;;) {
        if (std::optional<double> quota = read(root + path)) least = std::min(least, *quota);
        if (path.empty()) return least;
        path.erase(path.find_last_of('/'));
    }
}

double group_quota() {
    std::ifstream groups("/proc/self/cgroup");  // lines "id:controllers:/path"; version 2 is "0::/path"
    double least = INFINITY;
    for (std::string line; std::getline(groups, line);) {
        std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string path = line.substr(second + 1);
        if (path == "/" || path.empty() || path[0] != '/') path.clear();
        if (controllers == ",,")
            least = std::min(least, least_quota("/sys/fs/cgroup", path, [](const std::string& folder) {
                                 return quota_of_cpu_max(content_of(folder + "/cpu.max"));
                             }));
        if (controllers.find(",cpu,") != std::string::npos)
            least = std::min(least, least_quota("/sys/fs/cgroup/cpu", path, quota_version_1));
    }
    return least;
}

}  // namespace

std::optional<double> quota_of_cpu_max(std::string_view content) {
    std::istringstream stream{std::string(content)};
    double quota = 0, period = 0;
    if (!(stream >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

int threads_from_text(std::string_view value) {
    int threads = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    if (error != std::errc() || end != value.data() + value.size() || threads < 1)
        throw ValueError(text("WEFT_THREADS is '", value, "', but must be a whole number of at least 1"));
    return threads;
}

int usable_processors() {
    double usable = std::min<double>(affinity(), std::ceil(group_quota()));
    if (auto wanted = environment("WEFT_THREADS")) usable = std::min<double>(usable, threads_from_text(*wanted));
    return std::max(1, static_cast<int>(usable));
}

}  // namespace weft
