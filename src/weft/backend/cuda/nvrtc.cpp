#include "weft/backend/cuda/nvrtc.h"

#include <array>
#include <vector>

#include "weft/backend/refused_text.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/shared_library.h"

namespace weft::cuda {
namespace {

using Result = int;  // nvrtcResult; 0: done
using ProgramObject = struct NvrtcProgram*;

// clang-format off
#define WEFT_NVRTC_FUNCTIONS(X)                                                                         \
    X(Version, Result(int*, int*))                                                                      \
    X(GetErrorString, const char*(Result))                                                              \
    X(CreateProgram, Result(ProgramObject*, const char*, const char*, int, const char* const*, const char* const*)) \
    X(DestroyProgram, Result(ProgramObject*))                                                           \
    X(CompileProgram, Result(ProgramObject, int, const char* const*))                                   \
    X(GetPTXSize, Result(ProgramObject, std::size_t*))                                                  \
    X(GetPTX, Result(ProgramObject, char*))                                                             \
    X(GetProgramLogSize, Result(ProgramObject, std::size_t*))                                           \
    X(GetProgramLog, Result(ProgramObject, char*))
// clang-format on

struct Nvrtc {
    SharedLibrary library;
    std::string missing;
    template <class F>
    using Pointer = F*;
#define WEFT_DECLARE(name, ...) Pointer<__VA_ARGS__> name = nullptr;
    WEFT_NVRTC_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE

    Nvrtc() : library(names()) {
        if (!library.open()) {
            missing = text("NVRTC, CUDA's compiler, is not on this machine (", library.why(),
                           "); install CUDA's nvrtc package (Debian: libnvrtc12), or name CUDA's folder in CUDA_HOME");
            return;
        }
#define WEFT_FIND(name, ...)                                   \
    if (!library.find("nvrtc" #name, name) && missing.empty()) \
        missing = "NVRTC: the library that was found has no function nvrtc" #name;
        WEFT_NVRTC_FUNCTIONS(WEFT_FIND)
#undef WEFT_FIND
    }
    static std::vector<std::string> names() {
        std::vector<std::string> names;
        if (auto home = environment("CUDA_HOME")) names = {*home + "/lib64/libnvrtc.so", *home + "/lib/libnvrtc.so"};
        for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                 "/usr/local/cuda/lib64/libnvrtc.so"})
            names.emplace_back(name);
        return names;
    }
};

/// Kept for the life of the process: compilers leave threads and caches behind.
const Nvrtc& nvrtc() {
    static const Nvrtc& opened = *new Nvrtc;
    if (!opened.missing.empty()) throw DeviceError(opened.missing);
    return opened;
}

void check_compiler(Result result, const char* call) {
    if (result != 0) throw DeviceError(text("NVRTC: ", call, " failed: ", nvrtc().GetErrorString(result)));
}

struct Program {
    ProgramObject object = nullptr;
    ~Program() {
        if (object) nvrtc().DestroyProgram(&object);
    }
};

std::string log_of(ProgramObject program) {
    std::size_t size = 0;
    check_compiler(nvrtc().GetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check_compiler(nvrtc().GetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    return log;
}

}  // namespace

std::string compile_cuda(const std::string& printed, const std::string& architecture) {
    const Nvrtc& compiler = nvrtc();
    Program program;
    check_compiler(compiler.CreateProgram(&program.object, printed.c_str(), "weft.cu", 0, nullptr, nullptr),
                   "nvrtcCreateProgram");
    std::string target = "--gpu-architecture=" + architecture;
    std::array<const char*, 5> options{target.c_str(), "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                       "--ftz=false"};
    if (compiler.CompileProgram(program.object, static_cast<int>(options.size()), options.data()) != 0)
        throw refused_text(text("NVRTC ", nvrtc_version(), " for ", architecture), printed, log_of(program.object),
                           ".cu");
    std::size_t size = 0;
    check_compiler(compiler.GetPTXSize(program.object, &size), "nvrtcGetPTXSize");
    std::string ptx(size, '\0');
    check_compiler(compiler.GetPTX(program.object, ptx.data()), "nvrtcGetPTX");
    return ptx;
}

std::string nvrtc_version() {
    int major = 0, minor = 0;
    check_compiler(nvrtc().Version(&major, &minor), "nvrtcVersion");
    return text(major, ".", minor);
}

}  // namespace weft::cuda
