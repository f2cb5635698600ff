// weft doctor: what was found, what was not, what that costs, and how to mend it.
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "weft/backend/cpu/isa.h"
#include "weft/backend/cuda/device.h"
#include "weft/backend/cuda/nvrtc.h"
#include "weft/backend/opencl/device.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/processors.h"
#include "weft/base/thread_pool.h"
#include "weft/cli/commands.h"
#include "weft/cli/machine.h"
#include "weft/found.h"
#include "weft/io/parquet.h"

namespace weft::cli {
namespace {

struct Library {
    bool found;
    std::string package, lost;
};

std::vector<Library> libraries() {
#define WEFT_LIBRARY(found, package, lost) {found != 0, package, lost},
    return {WEFT_FOR_EACH_LIBRARY(WEFT_LIBRARY)};
#undef WEFT_LIBRARY
}

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

void print_data() {
    std::optional<std::string> folder = environment("WEFT_DATA");
    if (!folder) {
        std::cout << "data            WEFT_DATA is not set; digits needs no files, mnist looks for $WEFT_DATA/mnist\n";
        return;
    }
    bool there = std::filesystem::is_directory(*folder);
    std::cout << "data            WEFT_DATA=" << *folder << (there ? "" : "  (there is no such folder)") << "\n";
    std::error_code error;
    if (there) {
        bool mnist = std::filesystem::is_directory(std::filesystem::path(*folder) / "mnist", error);
        std::cout << "                mnist: "
                  << (mnist ? "found" : "not found; it is the folder mnist/ with its four IDX files") << "\n";
    }
}

/// What is asked for, or why it is not there.
template <class F>
std::string found_or_why(F find) {
    try {
        return find();
    } catch (const Error& error) {
        return text("none (", error.what(), ")");
    }
}

void print_devices() {
    std::cout << "devices         cpu; on OpenCL's and CUDA's this version of weft runs its tests alone\n";
    std::cout << "opencl          " << found_or_why([] {
        std::string all;
        for (const opencl::DeviceInfo& at : opencl::devices())
            all += text(all.empty() ? "" : "; ", at.name, " (", at.platform, ", ", at.version, ")");
        return all;
    }) << "\n";
    std::cout << "cuda            " << found_or_why([] {
        std::string all;
        for (const cuda::DeviceInfo& at : cuda::devices())
            all += text(all.empty() ? "" : "; ", at.name, " (", at.architecture, ")");
        return all;
    }) << "\n";
    std::cout << "nvrtc           " << found_or_why([] { return cuda::nvrtc_version(); }) << "\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine() {
    std::vector<std::pair<std::string, std::string>> all{
        {"weft", WEFT_VERSION " (" WEFT_BUILD_TYPE ")"},
        {"compiler", "g++ " __VERSION__},
        {"processor", processor_name()},
        {"instructions", std::string(cpu::name_of(cpu::best_isa()))},
        {"threads", threads_text()},
    };
    std::string found;
    for (const Library& library : libraries()) {
        if (library.found) found += (found.empty() ? "" : ", ") + split_package(library.package).first;
    }
    all.emplace_back("libraries", found.empty() ? "none but the compiler's" : found);
    return all;
}

int doctor(const Arguments&) {
    for (const auto& [name, value] : machine())
        std::cout << name << std::string(16 - name.size(), ' ') << value << "\n";
    print_devices();
    std::cout << "parquet         " << found_or_why([] { return io::parquet_library(); }) << "\n";
    print_data();
    std::string packages;
    bool lacks = false;
    for (const Library& library : libraries()) {
        if (library.found) continue;
        lacks = true;
        auto [name, package] = split_package(library.package);
        if (!package.empty()) packages += " " + package;
        std::cout << "without " << name << ": " << library.lost << "\n";
    }
    bool refused = std::string_view(WEFT_WITH_LIBRARIES) != "ON";
    if (refused)
        std::cout << "This build was told to use no libraries (WEFT_LIBRARIES=" WEFT_WITH_LIBRARIES
                     "); build with -DWEFT_LIBRARIES=ON.\n";
    if (!packages.empty())
        std::cout << "To get them on Debian or Ubuntu: apt-get install" << packages << ", then build again.\n";
    else if (!lacks)
        std::cout << "Nothing is missing.\n";
    return done;
}

}  // namespace weft::cli
