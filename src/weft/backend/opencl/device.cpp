#include "weft/backend/opencl/device.h"

#include "weft/backend/bounds.h"
#include "weft/backend/opencl/driver.h"
#include "weft/backend/refused_text.h"
#include "weft/base/error.h"

namespace weft::opencl {
namespace {

struct Found {
    DeviceInfo info;
    DeviceId id;
};

/// A name asked of a platform or device: first its length, then itself.
template <class Ask>
std::string asked(const Ask& ask, const char* call) {
    std::size_t length = 0;
    check(ask(0, nullptr, &length), call);
    std::string answer(length, '\0');
    check(ask(length, answer.data(), nullptr), call);
    while (!answer.empty() && (answer.back() == '\0' || answer.back() == ' ')) answer.pop_back();
    return answer;
}

std::vector<Found> find_devices() {
    const Driver& cl = driver();
    std::uint32_t count = 0;
    Status status = cl.GetPlatformIDs(0, nullptr, &count);
    if (status == constant::no_platform || (status == 0 && count == 0)) {
        throw DeviceError(
            "OpenCL: there is a loader but no platform; install a device's driver (Debian: pocl-opencl-icd for the "
            "CPU)");
    }
    check(status, "clGetPlatformIDs");
    std::vector<Platform> platforms(count);
    check(cl.GetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    std::vector<Found> found;
    for (Platform platform : platforms) {
        std::string name =
            asked([&](auto... how) { return cl.GetPlatformInfo(platform, constant::platform_name, how...); },
                  "clGetPlatformInfo");
        std::uint32_t devices = 0;
        if (cl.GetDeviceIDs(platform, constant::all_devices, 0, nullptr, &devices) != 0) continue;
        std::vector<DeviceId> ids(devices);
        check(cl.GetDeviceIDs(platform, constant::all_devices, devices, ids.data(), nullptr), "clGetDeviceIDs");
        for (DeviceId id : ids) {
            auto ask = [&](std::uint32_t what) {
                return asked([&](auto... how) { return cl.GetDeviceInfo(id, what, how...); }, "clGetDeviceInfo");
            };
            found.push_back({{name, ask(constant::device_name), ask(constant::device_version)}, id});
        }
    }
    if (found.empty())
        throw DeviceError(text("OpenCL: ", platforms.size(), " platforms, but no device on any of them"));
    return found;
}

/// A handle that is given back when nobody holds it any more.
template <class Handle>
std::shared_ptr<void> held(Handle handle, Status (*release)(Handle)) {
    return {static_cast<void*>(handle), [release](void* given) { release(static_cast<Handle>(given)); }};
}
template <class Handle>
Handle as(const std::shared_ptr<void>& held) {
    return static_cast<Handle>(held.get());
}

/// Division and square root are rounded as IEEE 754 says, where the device can and has to be told.
std::string build_options(DeviceId id) {
    std::uint64_t config = 0;
    check(driver().GetDeviceInfo(id, constant::single_fp_config, sizeof config, &config, nullptr), "clGetDeviceInfo");
    return config & constant::correctly_rounded_divide_sqrt ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
}

}  // namespace

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> infos;
    for (Found& found : find_devices()) infos.push_back(std::move(found.info));
    return infos;
}

Device::Device(std::size_t number) {
    std::vector<Found> found = find_devices();
    if (number >= found.size())
        throw DeviceError(
            text("OpenCL: there is no device ", number, "; the ", found.size(), " found are counted from 0"));
    info_ = found[number].info;
    DeviceId id = found[number].id;
    id_ = id;
    const Driver& cl = driver();
    Status status = 0;
    Context context = cl.CreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    context_ = held(context, cl.ReleaseContext);
    Queue queue = cl.CreateCommandQueue(context, id, 0, &status);
    check(status, "clCreateCommandQueue");
    queue_ = held(queue, cl.ReleaseCommandQueue);
}

Buffer::Buffer(const Device& device, std::size_t bytes) : device_(&device), bytes_(bytes) {
    Status status = 0;
    Memory memory = driver().CreateBuffer(as<Context>(device.context_), constant::memory_read_write,
                                          std::max<std::size_t>(bytes, 1), nullptr, &status);
    check(status, "clCreateBuffer");
    memory_ = held(memory, driver().ReleaseMemObject);
}

void Buffer::write(std::span<const std::byte> bytes) {
    promise(bytes.size() <= bytes_, "what is written to a device's buffer fits into it");
    if (bytes.empty()) return;
    check(driver().EnqueueWriteBuffer(as<Queue>(device_->queue_), as<Memory>(memory_), 1, 0, bytes.size(), bytes.data(),
                                      0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
}

std::vector<std::byte> Buffer::read() const {
    std::vector<std::byte> bytes(bytes_);
    if (bytes.empty()) return bytes;
    check(driver().EnqueueReadBuffer(as<Queue>(device_->queue_), as<Memory>(memory_), 1, 0, bytes_, bytes.data(), 0,
                                     nullptr, nullptr),
          "clEnqueueReadBuffer");
    return bytes;
}

Kernels::Kernels(const Device& device, std::span<const NamedLoop> loops) : device_(&device) {
    const Driver& cl = driver();
    std::string printed = print_c(loops, Dialect::opencl);
    for (const NamedLoop& named : loops) printed_.emplace(named.name, named.loop);
    const char* lines = printed.c_str();
    std::size_t length = printed.size();
    Status status = 0;
    ProgramObject program = cl.CreateProgramWithSource(as<Context>(device.context_), 1, &lines, &length, &status);
    check(status, "clCreateProgramWithSource");
    program_ = held(program, cl.ReleaseProgram);
    auto id = static_cast<DeviceId>(device.id_);
    if (cl.BuildProgram(program, 1, &id, build_options(id).c_str(), nullptr, nullptr) != 0) {
        std::string said =
            asked([&](auto... how) { return cl.GetProgramBuildInfo(program, id, constant::build_log, how...); },
                  "clGetProgramBuildInfo");
        throw refused_text(text("the OpenCL device ", device.info().name), printed, said, ".cl");
    }
}

void Kernels::launch(const std::string& name, const Loop& loop, std::span<const Operand> operands) const {
    promise(operands.size() == loop.loads.size() + loop.stores.size(), "a kernel is launched with all its operands");
    auto printed = printed_.find(name);
    promise(printed != printed_.end(), "a kernel is launched that was printed");
    promise_launches(printed->second, loop, Dialect::opencl);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Access& access = i < loop.loads.size() ? loop.loads[i] : loop.stores[i - loop.loads.size()];
        promise_within(access, loop.dims, operands[i].first_element,
                       operands[i].buffer ? operands[i].buffer->bytes_ : 0);
    }
    Launch how = launch_for(loop);
    if (how.groups == 0) return;
    const Driver& cl = driver();
    Status status = 0;
    KernelObject kernel = cl.CreateKernel(as<ProgramObject>(program_), name.c_str(), &status);
    check(status, "clCreateKernel");
    auto holder = held(kernel, cl.ReleaseKernel);
    std::uint32_t number = 0;
    auto argument = [&](const void* value, std::size_t size) {
        check(cl.SetKernelArg(kernel, number++, size, value), "clSetKernelArg");
    };
    for (const Operand& operand : operands) {
        if (operand.buffer) {
            auto memory = as<Memory>(operand.buffer->memory_);
            argument(&memory, sizeof memory);
        }
        argument(&operand.first_element, sizeof operand.first_element);
    }
    bool narrow = index_dtype(loop, Dialect::opencl) == DType::int32;
    for (std::int64_t value : numbers_for(loop)) {
        auto half = static_cast<std::int32_t>(value);
        narrow ? argument(&half, sizeof half) : argument(&value, sizeof value);
    }
    auto threads = static_cast<std::size_t>(how.threads_in_group), all = static_cast<std::size_t>(how.groups) * threads;
    check(cl.EnqueueNDRangeKernel(as<Queue>(device_->queue_), kernel, 1, nullptr, &all, &threads, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
}

}  // namespace weft::opencl
