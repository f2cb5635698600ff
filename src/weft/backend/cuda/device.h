// CUDA devices, as far as printed kernels need them: buffers, modules of many kernels, launches, one after another.
// The driver (libcuda.so.1) is opened at run time. It shows that the text computes on a GPU what the CPU does; no plan runs on it yet.
// Callers: cli/ (doctor), tests.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/kernel/print_c.h"

namespace weft::cuda {

struct DeviceInfo {
    std::string name;
    std::string architecture;  // "compute_90"
};

/// DeviceError says what is missing: the driver, or a device.
std::vector<DeviceInfo> devices();

class Device {
  public:
    /// The device of that number in devices(); current on this thread from now on.
    explicit Device(std::size_t number = 0);
    const DeviceInfo& info() const { return info_; }

  private:
    DeviceInfo info_;
    std::shared_ptr<void> context_;
};

/// Memory of a device.
class Buffer {
  public:
    Buffer(const Device& device, std::size_t bytes);
    void write(std::span<const std::byte> bytes);
    std::vector<std::byte> read() const;  // waits for the launches before it

  private:
    friend class Kernels;
    std::size_t bytes_;
    std::shared_ptr<const std::uint64_t> address_;
};

/// An operand of a kernel: where in a buffer its element at index 0 of every axis lies. Of a load that reads no memory: no buffer, and
/// the number that it has there.
struct Operand {
    const Buffer* buffer;
    std::int64_t first_element;
};

/// Kernels that were printed and compiled together.
class Kernels {
  public:
    /// Errors of compile_cuda(); DeviceError if the driver refuses what NVRTC made.
    Kernels(const Device& device, std::span<const NamedLoop> loops);
    /// Runs the named kernel for the sizes and strides of `loop`, whose text is the same: operands are its loads, then its stores. Does not wait.
    void launch(const std::string& name, const Loop& loop, std::span<const Operand> operands) const;

  private:
    std::shared_ptr<void> module_;
    std::map<std::string, Loop> printed_;  // by the kernel's name
};

}  // namespace weft::cuda
