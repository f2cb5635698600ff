#include "weft/core/buffer.h"

#include <atomic>
#include <cstdlib>
#include <limits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "weft/base/error.h"

namespace weft {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector
constexpr std::size_t huge_page = std::size_t{2} << 20;
std::atomic<std::size_t> live_bytes{0}, live_buffers{0}, allocations{0};

// Large memory in large pages, where the system leaves that to programs (Linux's default): each page is asked for when it is first
// written, 512 times fewer of them, and a product of large matrices misses no addresses.
void* allocate_aligned(std::size_t bytes) {
    if (bytes < 2 * huge_page) return std::aligned_alloc(alignment, bytes ? bytes : alignment);
    void* memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (memory) (void)madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // refused: small pages serve
#endif
    return memory;
}

}  // namespace

Buffer::Buffer(std::byte* data, std::size_t bytes, std::function<void()> release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {
    live_bytes += bytes_;
    ++live_buffers;
}

BufferHandle Buffer::allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() - huge_page)
        throw OutOfMemory(text("no memory for ", bytes, " bytes"));
    std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = allocate_aligned(rounded);
    if (!memory)
        throw OutOfMemory(text("no memory for ", bytes, " bytes (", count().bytes, " are in use by weft's buffers)"));
    ++allocations;
    return BufferHandle(new Buffer(static_cast<std::byte*>(memory), bytes, {}));
}

BufferHandle Buffer::wrap(void* data, std::size_t bytes, std::function<void()> release) {
    return BufferHandle(new Buffer(
        static_cast<std::byte*>(data), bytes, release ? std::move(release) : [] {}));
}

Buffer::~Buffer() {
    live_bytes -= bytes_;
    --live_buffers;
    if (release_)
        release_();
    else
        std::free(data_);
}

Buffer::Count Buffer::count() { return {live_bytes, live_buffers, allocations}; }

}  // namespace weft
