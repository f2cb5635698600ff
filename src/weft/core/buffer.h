// A Buffer is memory on a device, counted by its handles and freed with the last. On the CPU it starts on a 64-byte boundary.
// Callers: core/array.h, runtime/ (arenas), io/ (memory that others own).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace weft {

class Buffer {
  public:
    /// `bytes` of uninitialised memory; OutOfMemory names the size.
    static std::shared_ptr<Buffer> allocate(std::size_t bytes);
    /// Memory that somebody else owns; `release` is called with the last handle.
    static std::shared_ptr<Buffer> wrap(void* data, std::size_t bytes, std::function<void()> release);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    /// Bytes and buffers alive, and allocations ever made, in this process: what a test of "no allocation" asks.
    struct Count {
        std::size_t bytes, buffers, allocations;
    };
    static Count count();

  private:
    struct Made;  // what allocate() and wrap() make: a buffer and its count in one piece
    Buffer(std::byte* data, std::size_t bytes, std::function<void()> release);
    std::byte* data_;
    std::size_t bytes_;
    std::function<void()> release_;  // empty: ours
};

using BufferHandle = std::shared_ptr<Buffer>;

}  // namespace weft
