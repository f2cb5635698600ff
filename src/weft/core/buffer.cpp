#include "weft/core/buffer.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "weft/base/error.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector

// Memory of one size, for small values: what a thread lets go of waits for its next value. A build for the address sanitizer, which
// watches what the system gives, keeps nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t small_block = 0, kept_lately = 0;
#else
constexpr std::size_t small_block = 256, kept_lately = large_page;
#endif
constexpr std::size_t block_header = 128;  // before a small value stands its buffer, so that both come and go as one

std::size_t whole_lines(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Memory of the sizes that a thread let go of lately, for its next values of just these: aligned memory of the system's allocator, asked for
/// and given back, takes 0.3 us, a product of 16 x 16 by 16 x 16 floats 0.1; of some 100 KB it may go back to the system, which clears its pages
/// for the next value. At most 8 MB.
class Lately {
  public:
    /// Null: there is none.
    void* take(std::size_t bytes) {
        Size& size = of(bytes);
        if (size.bytes != bytes || size.count == 0) return nullptr;
        kept_ -= bytes;
        return size.blocks[--size.count];
    }
    /// Whether it was kept, for which all others of more than `any_number` bytes may have to go.
    bool keep(void* block, std::size_t bytes) {
        Size& size = of(bytes);
        if (size.bytes != bytes) {
            clear(size);
            size.bytes = bytes;
        }
        if (size.count == most_of_size) return false;
        if (bytes > any_number && kept_ + bytes > most_kept_lately)
            for (Size& other : sizes_)
                if (other.bytes > any_number) clear(other);
        kept_ += bytes;
        size.blocks[size.count++] = block;
        return true;
    }
    void clear() {
        for (Size& size : sizes_) clear(size);
    }

  private:
    static constexpr std::size_t sizes = 16, most_of_size = 4, any_number = std::size_t{64} << 10,
                                 most_kept_lately = 2 * sizes * most_of_size * any_number;
    struct Size {
        std::size_t bytes = 0, count = 0;
        void* blocks[most_of_size];
    };
    void clear(Size& size) {
        kept_ -= size.count * size.bytes;
        while (size.count > 0) std::free(size.blocks[--size.count]);
    }
    Size& of(std::size_t bytes) { return sizes_[(bytes / alignment * 0x9E3779B97F4A7C15u >> 32) % sizes]; }
    Size sizes_[sizes];
    std::size_t kept_ = 0;
};

/// What one thread has of buffers: its part of the counts, which it alone writes (a count that all share costs more than a small value
/// itself), and memory that waits. A buffer may end on another thread than it began: parts wrap around zero, their sum is right.
class Local {
  public:
    /// This thread's; after its end, when statics go, the one that all threads then share.
    static Local& mine() { return here ? *here : begin(); }

    void count(std::size_t bytes, std::size_t buffers, std::size_t allocations) {
        add(bytes_, bytes), add(buffers_, buffers), add(allocations_, allocations);
    }
    /// A place of `block_header` and `small_block` bytes.
    void* take_block() {
        return waiting_count_ > 0 ? waiting_[--waiting_count_]
                                  : std::aligned_alloc(alignment, block_header + small_block);
    }
    void give_block(void* block) {
        if (waiting_count_ == keeps_) return std::free(block);
        waiting_[waiting_count_++] = block;
    }
    /// Memory for more than a block holds.
    void* take(std::size_t bytes) {
        bytes = whole_lines(bytes);
        void* kept = bytes <= kept_lately && !shared_ ? lately_.take(bytes) : nullptr;
        return kept ? kept : std::aligned_alloc(alignment, bytes);
    }
    void give(void* block, std::size_t bytes) {
        bytes = whole_lines(bytes);
        if (bytes > kept_lately || shared_ || !lately_.keep(block, bytes)) std::free(block);
    }
    static Buffer::Count sum();
    /// A number that no thread was ever given: of a stretch that is this thread's own.
    std::uint64_t next_content();

  private:
    struct All;
    using Part = std::atomic<std::size_t>;

    void add(Part& part, std::size_t more) {
        if (shared_)
            part.fetch_add(more, std::memory_order_relaxed);
        else
            part.store(part.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    static Local& begin();
    void end();

    static thread_local constinit Local* here;
    static constexpr std::size_t most_waiting = 64;
    Part bytes_{0}, buffers_{0}, allocations_{0};
    bool shared_ = false;
    void* waiting_[most_waiting];
    std::size_t waiting_count_ = 0, keeps_ = small_block > 0 ? most_waiting : 0;
    Lately lately_;
    std::uint64_t content_ = 0, content_end_ = 0;
    Local *next_ = nullptr, *before_ = nullptr;  // guarded by All's mutex
};

thread_local constinit Local* Local::here = nullptr;

/// The parts of all threads, behind that of threads that have ended. Never destroyed: buffers may outlive statics.
struct Local::All {
    std::mutex mutex;
    Local ended;
    All() { ended.shared_ = true, ended.keeps_ = 0; }
    static All& get() {
        static All* all = new All;
        return *all;
    }
};

Buffer::Count Local::sum() {
    All& all = All::get();
    std::lock_guard guard(all.mutex);
    Buffer::Count sum{};
    for (Local* local = &all.ended; local; local = local->next_) {
        sum.bytes += local->bytes_.load(std::memory_order_relaxed);
        sum.buffers += local->buffers_.load(std::memory_order_relaxed);
        sum.allocations += local->allocations_.load(std::memory_order_relaxed);
    }
    return sum;
}

std::uint64_t Local::next_content() {
    constexpr std::uint64_t stretch = 1 << 16;
    static std::atomic<std::uint64_t> given{1};
    if (shared_) return given.fetch_add(1, std::memory_order_relaxed);
    if (content_ == content_end_) {
        content_ = given.fetch_add(stretch, std::memory_order_relaxed);
        content_end_ = content_ + stretch;
    }
    return content_++;
}

Local& Local::begin() {
    struct Owner {
        Local local;
        ~Owner() { local.end(); }
    };
    thread_local Owner owner;
    All& all = All::get();
    std::lock_guard guard(all.mutex);
    Local& mine = owner.local;
    mine.next_ = all.ended.next_, mine.before_ = &all.ended;
    if (mine.next_) mine.next_->before_ = &mine;
    all.ended.next_ = &mine;
    here = &mine;
    return mine;
}

void Local::end() {
    while (waiting_count_ > 0) std::free(waiting_[--waiting_count_]);
    lately_.clear();
    All& all = All::get();
    std::lock_guard guard(all.mutex);
    all.ended.count(bytes_, buffers_, allocations_);
    before_->next_ = next_;
    if (next_) next_->before_ = before_;
    here = &all.ended;
}

/// Gives std::allocate_shared the front of a block; the block goes back with the last that knows of the buffer.
template <class T>
struct InBlock {
    using value_type = T;
    void* block;
    explicit InBlock(void* block) : block(block) {}
    template <class U>
    InBlock(const InBlock<U>& other) : block(other.block) {}
    T* allocate(std::size_t) {
        static_assert(sizeof(T) <= block_header && alignof(T) <= alignment);
        return static_cast<T*>(block);
    }
    void deallocate(T* place, std::size_t) { Local::mine().give_block(place); }
    template <class U>
    bool operator==(const InBlock<U>& other) const {
        return block == other.block;
    }
};

[[noreturn]] void refuse(std::size_t bytes) {
    throw OutOfMemory(
        text("no memory for ", bytes, " bytes (", Buffer::count().bytes, " are in use by weft's buffers)"));
}

}  // namespace

struct Buffer::Made : Buffer {
    Made(std::byte* data, std::size_t bytes, std::uint64_t content) : Buffer(data, bytes, content) {}
    /// Behind its buffer.
    static BufferHandle in_block(std::size_t bytes, Local& mine);
    static BufferHandle on_its_own(std::size_t bytes, Local& mine);
};

void Buffer::written() {
    if (content() != 0) content_.store(Local::mine().next_content(), std::memory_order_relaxed);
}

BufferHandle Buffer::Made::in_block(std::size_t bytes, Local& mine) {
    void* block = mine.take_block();
    if (!block) refuse(bytes);
    std::byte* data = static_cast<std::byte*>(block) + block_header;
    return std::allocate_shared<Made>(InBlock<Made>(block), data, bytes, mine.next_content());
}

BufferHandle Buffer::Made::on_its_own(std::size_t bytes, Local& mine) {
    void* memory = bytes >= large_page ? take_large(bytes) : mine.take(bytes);
    if (!memory) refuse(bytes);
    return std::make_shared<Made>(static_cast<std::byte*>(memory), bytes, mine.next_content());
}

BufferHandle Buffer::allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() - 2 * large_page)
        throw OutOfMemory(text("no memory for ", bytes, " bytes"));
    Local& mine = Local::mine();
    BufferHandle made = bytes <= small_block ? Made::in_block(bytes, mine) : Made::on_its_own(bytes, mine);
    mine.count(bytes, 1, 1);
    return made;
}

BufferHandle Buffer::wrap(void* data, std::size_t bytes, std::function<void()> release, bool others_write) {
    Local& mine = Local::mine();
    BufferHandle made = std::make_shared<Made>(static_cast<std::byte*>(data), bytes, mine.next_content());
    made->release_ = release ? std::move(release) : [] {};
    if (others_write) made->expose();
    mine.count(bytes, 1, 0);
    return made;
}

Buffer::~Buffer() {
    Local& mine = Local::mine();
    mine.count(-bytes_, -std::size_t{1}, 0);
    if (release_)
        release_();
    else if (bytes_ >= large_page)
        give_large(data_, bytes_);
    else if (bytes_ > small_block)
        mine.give(data_, bytes_);
}

Buffer::Count Buffer::count() { return Local::sum(); }

}  // namespace weft
