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

void* allocate_aligned(std::size_t bytes) {
    if (bytes >= large_page) return take_large(bytes);
    return std::aligned_alloc(alignment, bytes ? (bytes + alignment - 1) / alignment * alignment : alignment);
}

}  // namespace

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
    else if (bytes_ >= large_page)
        give_large(data_, bytes_);
    else
        std::free(data_);
}

Buffer::Count Buffer::count() { return {live_bytes, live_buffers, allocations}; }

}  // namespace weft
