// weft doctor: what was found, what was not, what that costs, and how to mend it.

#include <filesystem>
#include <iostream>

#include "weft/backend/cuda/device.h"
#include "weft/backend/cuda/nvrtc.h"
#include "weft/backend/machine.h"
#include "weft/backend/opencl/device.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/found.h"
#include "weft/io/parquet.h"

namespace weft::cli {
namespace {

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
        if (!library.package.empty()) packages += " " + library.package;
        std::cout << "without " << library.name << ": " << library.lost << "\n";
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
