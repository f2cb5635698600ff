#include "weft/backend/machine.h"

#include <sched.h>

#include <fstream>

#include "weft/backend/cpu/isa.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/processors.h"
#include "weft/base/thread_pool.h"
#include "weft/found.h"

namespace weft {
namespace {

/// "oneDNN (libdnnl-dev)" -> "oneDNN", "libdnnl-dev".
std::pair<std::string, std::string> split_package(const std::string& package) {
    std::size_t open = package.find(" (");
    if (open == package.npos) return {package, ""};
    return {package.substr(0, open), package.substr(open + 2, package.size() - open - 3)};
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

std::string threads_text() {
    cpu_set_t mask;
    int affinity = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
    std::string quota = "no limit";
    std::ifstream group("/sys/fs/cgroup/cpu.max");
    std::string content;
    if (std::getline(group, content)) {
        if (auto limit = quota_of_cpu_max(content)) quota = text(*limit, " processors");
    }
    return text(ThreadPool::instance().threads(), " (affinity: ", affinity, ", control group: ", quota,
                ", WEFT_THREADS: ", environment("WEFT_THREADS").value_or("not set"), ")");
}

}  // namespace

std::vector<Library> libraries() {
    std::vector<Library> all;
    auto add = [&](bool found, const char* package, const char* lost) {
        auto [name, of_system] = split_package(package);
        all.push_back({found, name, of_system, lost});
    };
#define WEFT_LIBRARY(found, package, lost) add(found != 0, package, lost);
    WEFT_FOR_EACH_LIBRARY(WEFT_LIBRARY)
#undef WEFT_LIBRARY
    return all;
}

std::vector<std::pair<std::string, std::string>> machine() {
    std::vector<std::pair<std::string, std::string>> all{
        {"weft", WEFT_VERSION " (" WEFT_BUILD_TYPE ")"},
        {"compiler", "g++ " __VERSION__},
        {"processor", processor_name()},
        {"instructions",
         text(cpu::name_of(cpu::best_isa()), ", kernels chosen as for ", cpu::name_of(cpu::processor()))},
        {"threads", threads_text()},
    };
    std::string found;
    for (const Library& library : libraries()) {
        if (library.found) found += (found.empty() ? "" : ", ") + library.name;
    }
    all.emplace_back("libraries", found.empty() ? "none but the compiler's" : found);
    return all;
}

}  // namespace weft
