#include "weft/core/buffer.h"

#include <atomic>
#include <cstdlib>
#include <limits>

#include "weft/base/error.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector
std::atomic<std::size_t> live_bytes{0}, live_buffers{0}, allocations{0};

// Memory of one size, for small values: what a thread lets go of waits for its next value. A build for the address sanitizer, which
// watches what the system gives, keeps nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t small_block = 0;
#else
constexpr std::size_t small_block = 256;
#endif

class SmallBlocks {
  public:
    ~SmallBlocks() {
        while (count_ > 0) std::free(waiting_[--count_]);
        count_ = most;  // the thread ends: what still comes is not kept
    }
    static SmallBlocks& mine() {
        thread_local SmallBlocks blocks;
        return blocks;
    }
    void* take() {
        return count_ > 0 && count_ < most ? waiting_[--count_] : std::aligned_alloc(alignment, small_block);
    }
    void give(void* block) {
        if (count_ + 1 >= most) return std::free(block);
        waiting_[count_++] = block;
    }

  private:
    static constexpr std::size_t most = 64;
    void* waiting_[most];
    std::size_t count_ = 0;
};

void* allocate_aligned(std::size_t bytes) {
    if (bytes >= large_page) return take_large(bytes);
    if (bytes <= small_block) return SmallBlocks::mine().take();
    return std::aligned_alloc(alignment, bytes ? (bytes + alignment - 1) / alignment * alignment : alignment);
}

}  // namespace

struct Buffer::Made : Buffer {
    Made(std::byte* data, std::size_t bytes, std::function<void()> release) : Buffer(data, bytes, std::move(release)) {}
};

Buffer::Buffer(std::byte* data, std::size_t bytes, std::function<void()> release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {
    live_bytes += bytes_;
    ++live_buffers;
}

BufferHandle Buffer::allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() - 2 * large_page)
        throw OutOfMemory(text("no memory for ", bytes, " bytes"));
    void* memory = allocate_aligned(bytes);
    if (!memory)
        throw OutOfMemory(text("no memory for ", bytes, " bytes (", count().bytes, " are in use by weft's buffers)"));
    ++allocations;
    return std::make_shared<Made>(static_cast<std::byte*>(memory), bytes, std::function<void()>());
}

BufferHandle Buffer::wrap(void* data, std::size_t bytes, std::function<void()> release) {
    return std::make_shared<Made>(
        static_cast<std::byte*>(data), bytes, release ? std::move(release) : [] {});
}

Buffer::~Buffer() {
    live_bytes -= bytes_;
    --live_buffers;
    if (release_)
        release_();
    else if (bytes_ >= large_page)
        give_large(data_, bytes_);
    else if (bytes_ <= small_block)
        SmallBlocks::mine().give(data_);
    else
        std::free(data_);
}

Buffer::Count Buffer::count() { return {live_bytes, live_buffers, allocations}; }

}  // namespace weft
