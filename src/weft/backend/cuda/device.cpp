#include "weft/backend/cuda/device.h"

#include <algorithm>

#include "weft/backend/bounds.h"
#include "weft/backend/cuda/nvrtc.h"
#include "weft/base/error.h"
#include "weft/base/shared_library.h"

namespace weft::cuda {
namespace {

// The few functions of CUDA's driver interface that weft uses, with the versions of their symbols that the interface names.
using Result = int;  // CUresult; 0: done
using DeviceNumber = int;
using Address = unsigned long long;
using Context = struct CudaContext*;
using Module = struct CudaModule*;
using FunctionObject = struct CudaFunction*;
using Stream = struct CudaStream*;
constexpr Result out_of_memory = 2, no_device = 100;
constexpr int capability_major = 75, capability_minor = 76;  // attributes

// clang-format off
#define WEFT_CUDA_FUNCTIONS(X)                                                                        \
    X(Init, "cuInit", Result(unsigned))                                                               \
    X(GetErrorString, "cuGetErrorString", Result(Result, const char**))                               \
    X(DeviceGetCount, "cuDeviceGetCount", Result(int*))                                               \
    X(DeviceGet, "cuDeviceGet", Result(DeviceNumber*, int))                                           \
    X(DeviceGetName, "cuDeviceGetName", Result(char*, int, DeviceNumber))                             \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", Result(int*, int, DeviceNumber))                    \
    X(PrimaryRetain, "cuDevicePrimaryCtxRetain", Result(Context*, DeviceNumber))                      \
    X(PrimaryRelease, "cuDevicePrimaryCtxRelease_v2", Result(DeviceNumber))                           \
    X(SetCurrent, "cuCtxSetCurrent", Result(Context))                                                 \
    X(MemAlloc, "cuMemAlloc_v2", Result(Address*, std::size_t))                                       \
    X(MemFree, "cuMemFree_v2", Result(Address))                                                       \
    X(CopyToDevice, "cuMemcpyHtoD_v2", Result(Address, const void*, std::size_t))                     \
    X(CopyToHost, "cuMemcpyDtoH_v2", Result(void*, Address, std::size_t))                             \
    X(ModuleLoadData, "cuModuleLoadData", Result(Module*, const void*))                               \
    X(ModuleUnload, "cuModuleUnload", Result(Module))                                                 \
    X(ModuleGetFunction, "cuModuleGetFunction", Result(FunctionObject*, Module, const char*))         \
    X(LaunchKernel, "cuLaunchKernel", Result(FunctionObject, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**))
// clang-format on

struct Driver {
    SharedLibrary library;
    std::string missing;
    template <class F>
    using Pointer = F*;
#define WEFT_DECLARE(name, symbol, ...) Pointer<__VA_ARGS__> name = nullptr;
    WEFT_CUDA_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE

    Driver() : library(names()) {
        if (!library.open()) {
            missing = text("CUDA: the driver libcuda.so.1 cannot be opened (", library.why(),
                           "); it comes with NVIDIA's driver for the GPU");
            return;
        }
#define WEFT_FIND(name, symbol, ...)                    \
    if (!library.find(symbol, name) && missing.empty()) \
        missing = "CUDA: the driver has no function " symbol "; it is too old";
        WEFT_CUDA_FUNCTIONS(WEFT_FIND)
#undef WEFT_FIND
        if (!missing.empty()) return;
        Result result = Init(0);
        if (result != 0) missing = text("CUDA: the driver does not start: ", said(result));
    }
    std::string said(Result result) const {
        const char* words = nullptr;
        if (GetErrorString(result, &words) != 0 || !words) return text("error ", result);
        return text(words, " (error ", result, ")");
    }
    static std::span<const std::string> names() {
        static const std::string names[] = {"libcuda.so.1"};
        return names;
    }
};

const Driver& driver() {
    static const Driver& opened = *new Driver;  // for the life of the process
    if (!opened.missing.empty()) throw DeviceError(opened.missing);
    return opened;
}

void check(Result result, const char* call) {
    if (result == 0) return;
    if (result == out_of_memory) throw OutOfMemory(text("CUDA: ", call, ": the device is out of memory"));
    throw DeviceError(text("CUDA: ", call, " failed: ", driver().said(result)));
}

DeviceInfo info_of(int number) {
    DeviceNumber device = 0;
    check(driver().DeviceGet(&device, number), "cuDeviceGet");
    char name[256] = {};
    check(driver().DeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    int major = 0, minor = 0;
    check(driver().DeviceGetAttribute(&major, capability_major, device), "cuDeviceGetAttribute");
    check(driver().DeviceGetAttribute(&minor, capability_minor, device), "cuDeviceGetAttribute");
    return {name, text("compute_", major, minor)};
}

}  // namespace

std::vector<DeviceInfo> devices() {
    int count = 0;
    Result result = driver().DeviceGetCount(&count);
    if (result == no_device || (result == 0 && count == 0)) throw DeviceError("CUDA: there is a driver but no device");
    check(result, "cuDeviceGetCount");
    std::vector<DeviceInfo> infos;
    for (int number = 0; number < count; ++number) infos.push_back(info_of(number));
    return infos;
}

Device::Device(std::size_t number) {
    std::vector<DeviceInfo> found = devices();
    if (number >= found.size())
        throw DeviceError(
            text("CUDA: there is no device ", number, "; the ", found.size(), " found are counted from 0"));
    info_ = found[number];
    DeviceNumber device = 0;
    check(driver().DeviceGet(&device, static_cast<int>(number)), "cuDeviceGet");
    Context context = nullptr;
    check(driver().PrimaryRetain(&context, device), "cuDevicePrimaryCtxRetain");
    context_ = {static_cast<void*>(context), [device](void*) { driver().PrimaryRelease(device); }};
    check(driver().SetCurrent(context), "cuCtxSetCurrent");
}

Buffer::Buffer(const Device&, std::size_t bytes) : bytes_(bytes) {
    Address address = 0;
    check(driver().MemAlloc(&address, std::max<std::size_t>(bytes, 1)), "cuMemAlloc");
    address_ = {new std::uint64_t(address), [](const std::uint64_t* given) {
                    driver().MemFree(*given);
                    delete given;
                }};
}

void Buffer::write(std::span<const std::byte> bytes) {
    promise(bytes.size() <= bytes_, "what is written to a device's buffer fits into it");
    if (!bytes.empty()) check(driver().CopyToDevice(*address_, bytes.data(), bytes.size()), "cuMemcpyHtoD");
}

std::vector<std::byte> Buffer::read() const {
    std::vector<std::byte> bytes(bytes_);
    if (!bytes.empty()) check(driver().CopyToHost(bytes.data(), *address_, bytes_), "cuMemcpyDtoH");
    return bytes;
}

Kernels::Kernels(const Device& device, std::span<const NamedLoop> loops) {
    for (const NamedLoop& named : loops) printed_.emplace(named.name, named.loop);
    std::string ptx = compile_cuda(print_c(loops, Dialect::cuda), device.info().architecture);
    Module module = nullptr;
    check(driver().ModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
    module_ = {static_cast<void*>(module), [](void* given) { driver().ModuleUnload(static_cast<Module>(given)); }};
}

void Kernels::launch(const std::string& name, const Loop& loop, std::span<const Operand> operands) const {
    promise(operands.size() == loop.loads.size() + loop.stores.size(), "a kernel is launched with all its operands");
    auto printed = printed_.find(name);
    promise(printed != printed_.end(), "a kernel is launched that was printed");
    promise_launches(printed->second, loop, Dialect::cuda);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Access& access = i < loop.loads.size() ? loop.loads[i] : loop.stores[i - loop.loads.size()];
        promise_within(access, loop.dims, operands[i].first_element,
                       operands[i].buffer ? operands[i].buffer->bytes_ : 0);
    }
    Launch how = launch_for(loop);
    if (how.groups == 0) return;
    FunctionObject function = nullptr;
    check(driver().ModuleGetFunction(&function, static_cast<Module>(module_.get()), name.c_str()),
          "cuModuleGetFunction");
    std::vector<std::int64_t> values;  // addresses; of what reads no memory its first number
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Access& access = i < loop.loads.size() ? loop.loads[i] : loop.stores[i - loop.loads.size()];
        std::int64_t first = operands[i].first_element;
        if (operands[i].buffer)
            first = static_cast<std::int64_t>(*operands[i].buffer->address_) +
                    first * static_cast<std::int64_t>(size_of(access.dtype));
        values.push_back(first);
    }
    std::vector<void*> arguments;
    for (std::int64_t& value : values) arguments.push_back(&value);
    std::vector<std::int64_t> numbers = numbers_for(loop);
    std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());  // a parameter is as many bytes as its type has
    bool is_narrow = index_dtype(loop, Dialect::cuda) == DType::int32;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        arguments.push_back(is_narrow ? static_cast<void*>(&narrow[i]) : static_cast<void*>(&numbers[i]));
    check(
        driver().LaunchKernel(function, static_cast<unsigned>(how.groups), 1, 1,
                              static_cast<unsigned>(how.threads_in_group), 1, 1, 0, nullptr, arguments.data(), nullptr),
        "cuLaunchKernel");
}

}  // namespace weft::cuda
