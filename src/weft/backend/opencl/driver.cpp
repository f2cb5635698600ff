#include "weft/backend/opencl/driver.h"

#include <optional>

#include "weft/base/error.h"

namespace weft::opencl {
namespace {

/// Opened once for the life of the process: platforms start threads, and do not bear being closed.
struct Opened {
    SharedLibrary library;
    Driver driver;
    std::string missing;

    Opened() : library(names()) {
        if (!library.open()) {
            missing = text("OpenCL: the library libOpenCL.so.1 cannot be opened (", library.why(),
                           "); install an OpenCL loader and a device's driver (Debian: ocl-icd-libopencl1, and "
                           "pocl-opencl-icd for "
                           "the CPU)");
            return;
        }
#define WEFT_FIND(name, ...)                                       \
    if (!library.find("cl" #name, driver.name) && missing.empty()) \
        missing = "OpenCL: libOpenCL.so.1 has no function cl" #name "; it is older than OpenCL 1.2";
        WEFT_OPENCL_FUNCTIONS(WEFT_FIND)
#undef WEFT_FIND
    }
    static std::span<const std::string> names() {
        static const std::string names[] = {"libOpenCL.so.1", "libOpenCL.so"};
        return names;
    }
};

}  // namespace

const Driver& driver() {
    static const Opened& opened = *new Opened;
    if (!opened.missing.empty()) throw DeviceError(opened.missing);
    return opened.driver;
}

void check(Status status, const char* call) {
    using namespace constant;
    if (status == 0) return;
    if (status == out_of_device_memory || status == out_of_resources || status == out_of_host_memory)
        throw OutOfMemory(text("OpenCL: ", call, ": the device is out of memory (status ", status, ")"));
    throw DeviceError(text("OpenCL: ", call, " failed with status ", status));
}

}  // namespace weft::opencl
