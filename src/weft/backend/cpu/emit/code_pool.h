// Memory for machine code, never writable and executable at the same address: the pages of one anonymous file, mapped once for writing
// and once for running. Pieces are handed out in 64-byte grains and come back when their owner goes; any thread may ask.
// A system that forbids executable memory makes no pieces: add() gives null, and says why once on stderr.
// Callers: kernel_cache.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace weft::cpu::emit {

class CodePool {
  public:
    static CodePool& instance();
    CodePool() = default;
    ~CodePool();
    CodePool(const CodePool&) = delete;
    CodePool& operator=(const CodePool&) = delete;

    /// A copy of the code that can be called, on a 64-byte boundary; gone with the last owner, of which the pool must be none.
    /// Null where the system gives no executable memory.
    std::shared_ptr<const void> add(std::span<const std::uint8_t> code);

    /// Bytes mapped for running, and bytes of them in use.
    std::size_t mapped_bytes() const;
    std::size_t used_bytes() const;

  private:
    struct Hole {
        std::size_t offset, size;
    };
    struct Segment {
        std::uint8_t* writable = nullptr;
        std::uint8_t* executable = nullptr;
        std::size_t size = 0;
        long process = 0;         // a fork shares the pages, so it writes to none of its parent's
        std::vector<Hole> holes;  // by offset; neighbours merged
    };
    struct Place {
        Segment* segment;
        std::size_t offset;
    };

    Place take(std::size_t size);
    void give_back(Segment* segment, std::size_t offset, std::size_t size);
    Segment* map(std::size_t least);

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Segment>> segments_;
    std::size_t mapped_ = 0, used_ = 0;
    bool refused_ = false;
};

}  // namespace weft::cpu::emit
