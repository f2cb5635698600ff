// OpenCL devices, as far as printed kernels need them: buffers, programs of many kernels, launches, one after another.
// A conformance device: it shows, on a CPU (PoCL) too, that the text in the GPUs' form is right; no plan runs on it yet.
// Callers: cli/ (doctor), tests.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/kernel/print_c.h"

namespace weft::opencl {

struct DeviceInfo {
    std::string platform, name, version;
};

/// Of all platforms. DeviceError says what is missing: the loader, a platform, a device.
std::vector<DeviceInfo> devices();

class Device;

/// Memory of a device.
class Buffer {
  public:
    Buffer(const Device& device, std::size_t bytes);
    void write(std::span<const std::byte> bytes);
    std::vector<std::byte> read() const;  // waits for the launches before it

  private:
    friend class Kernels;
    const Device* device_;
    std::size_t bytes_;
    std::shared_ptr<void> memory_;
};

/// An operand of a kernel: where in a buffer its element at index 0 of every axis lies. Of a load that reads no memory: no buffer, and
/// the number that it has there.
struct Operand {
    const Buffer* buffer;
    std::int64_t first_element;
};

/// Kernels that were printed and built together: a program costs far more than a kernel in it.
class Kernels {
  public:
    /// CompileError names a file with the text, if the device's compiler refuses it.
    Kernels(const Device& device, std::span<const NamedLoop> loops);
    /// Runs the named kernel for the sizes and strides of `loop`, whose text is the same: operands are its loads, then its stores. Does not wait.
    void launch(const std::string& name, const Loop& loop, std::span<const Operand> operands) const;

  private:
    const Device* device_;
    std::shared_ptr<void> program_;
    std::map<std::string, Loop> printed_;  // by the kernel's name
};

class Device {
  public:
    /// The device of that number in devices().
    explicit Device(std::size_t number = 0);
    const DeviceInfo& info() const { return info_; }

  private:
    friend class Buffer;
    friend class Kernels;
    DeviceInfo info_;
    void* id_ = nullptr;
    std::shared_ptr<void> context_, queue_;
};

}  // namespace weft::opencl
