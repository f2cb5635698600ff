// The few functions, types and constants of OpenCL 1.2 that weft uses, declared here and found in libOpenCL.so.1 at run time: so
// weft is built without OpenCL's headers, everywhere alike, and runs where the library is missing.
// Names and values are those of the Khronos specification. Callers: backend/opencl/device.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/base/shared_library.h"

namespace weft::opencl {

using Status = std::int32_t;  // 0: done
using Platform = struct PlatformHandle*;
using DeviceId = struct DeviceHandle*;
using Context = struct ContextHandle*;
using Queue = struct QueueHandle*;
using Memory = struct MemoryHandle*;
using ProgramObject = struct ProgramHandle*;
using KernelObject = struct KernelHandle*;
using Event = struct EventHandle*;

namespace constant {
inline constexpr std::uint32_t platform_name = 0x0902, device_name = 0x102B, device_version = 0x102F,
                               single_fp_config = 0x101B, build_log = 0x1183;
inline constexpr std::uint64_t all_devices = 0xFFFFFFFF, memory_read_write = 1, correctly_rounded_divide_sqrt = 1 << 7;
inline constexpr Status out_of_device_memory = -4, out_of_resources = -5, out_of_host_memory = -6, no_platform = -1001,
                        no_device = -1;
}  // namespace constant

// clang-format off
#define WEFT_OPENCL_FUNCTIONS(X)                                                                                                     \
    X(GetPlatformIDs, Status(std::uint32_t, Platform*, std::uint32_t*))                                                              \
    X(GetPlatformInfo, Status(Platform, std::uint32_t, std::size_t, void*, std::size_t*))                                            \
    X(GetDeviceIDs, Status(Platform, std::uint64_t, std::uint32_t, DeviceId*, std::uint32_t*))                                       \
    X(GetDeviceInfo, Status(DeviceId, std::uint32_t, std::size_t, void*, std::size_t*))                                              \
    X(CreateContext, Context(const std::intptr_t*, std::uint32_t, const DeviceId*, void*, void*, Status*))                           \
    X(ReleaseContext, Status(Context))                                                                                               \
    X(CreateCommandQueue, Queue(Context, DeviceId, std::uint64_t, Status*))                                                          \
    X(ReleaseCommandQueue, Status(Queue))                                                                                            \
    X(CreateBuffer, Memory(Context, std::uint64_t, std::size_t, void*, Status*))                                                     \
    X(ReleaseMemObject, Status(Memory))                                                                                              \
    X(EnqueueWriteBuffer, Status(Queue, Memory, std::uint32_t, std::size_t, std::size_t, const void*, std::uint32_t, const Event*, Event*)) \
    X(EnqueueReadBuffer, Status(Queue, Memory, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t, const Event*, Event*)) \
    X(CreateProgramWithSource, ProgramObject(Context, std::uint32_t, const char**, const std::size_t*, Status*))                     \
    X(BuildProgram, Status(ProgramObject, std::uint32_t, const DeviceId*, const char*, void*, void*))                                \
    X(GetProgramBuildInfo, Status(ProgramObject, DeviceId, std::uint32_t, std::size_t, void*, std::size_t*))                         \
    X(ReleaseProgram, Status(ProgramObject))                                                                                         \
    X(CreateKernel, KernelObject(ProgramObject, const char*, Status*))                                                               \
    X(ReleaseKernel, Status(KernelObject))                                                                                           \
    X(SetKernelArg, Status(KernelObject, std::uint32_t, std::size_t, const void*))                                                   \
    X(EnqueueNDRangeKernel, Status(Queue, KernelObject, std::uint32_t, const std::size_t*, const std::size_t*, const std::size_t*, std::uint32_t, const Event*, Event*)) \
    X(Finish, Status(Queue))
// clang-format on

struct Driver {
    template <class F>
    using Pointer = F*;
#define WEFT_DECLARE(name, ...) Pointer<__VA_ARGS__> name = nullptr;
    WEFT_OPENCL_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE
};

/// Opened when first asked for, and kept. DeviceError says why OpenCL cannot be used, and what to install.
const Driver& driver();

/// Throws DeviceError (or OutOfMemory) that names the call, unless it is done.
void check(Status status, const char* call);

}  // namespace weft::opencl
