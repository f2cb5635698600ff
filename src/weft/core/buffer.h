// A Buffer is memory on a device, counted by its handles and freed with the last. On the CPU it starts on a 64-byte boundary.
// Callers: core/array.h, runtime/ (arenas), io/ (memory that others own).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace weft {

class Buffer {
  public:
    /// `bytes` of uninitialised memory; OutOfMemory names the size.
    static std::shared_ptr<Buffer> allocate(std::size_t bytes);
    /// Memory that came another way; `release` is called with the last handle. `others_write`: somebody else has it, too, and may.
    static std::shared_ptr<Buffer> wrap(void* data, std::size_t bytes, std::function<void()> release,
                                        bool others_write = true);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    /// What it holds now, by a number that nothing else ever had: as long as it is the same, so are the bytes. 0: not known, others may
    /// write there at any time.
    std::uint64_t content() const { return content_.load(std::memory_order_relaxed); }
    /// Said by who writes into a buffer that somebody may have read before.
    void written();
    /// From now on others may write there at any time.
    void expose() { content_.store(0, std::memory_order_relaxed); }

    /// Bytes and buffers alive, and allocations ever made, in this process: what a test of "no allocation" asks.
    struct Count {
        std::size_t bytes, buffers, allocations;
    };
    static Count count();

  private:
    struct Made;  // what allocate() and wrap() make: a buffer and its count in one piece
    Buffer(std::byte* data, std::size_t bytes, std::uint64_t content) : data_(data), bytes_(bytes), content_(content) {}
    std::byte* data_;
    std::size_t bytes_;
    std::function<void()> release_;  // empty: ours
    std::atomic<std::uint64_t> content_;
};

using BufferHandle = std::shared_ptr<Buffer>;

}  // namespace weft
