#include "weft/graph/node_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "weft/core/pages.h"

namespace weft {
namespace {

constexpr std::size_t chunk_bytes = 64 << 10, header_bytes = 64;
constexpr std::uint32_t places = (chunk_bytes - header_bytes) / node_place;
constexpr std::size_t first_region = 2 * chunk_bytes;

// Sanitizers see whose memory is whose only where each node has its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

struct Region;
// At the front of each chunk, which begins at a multiple of its size.
struct Chunk {
    std::atomic<std::uint32_t> alive;  // places that hold a node, or are not filled yet
    Region* region;
    Chunk* next;  // of those that are free
};
static_assert(sizeof(Chunk) <= header_bytes);

/// Chunks side by side.
struct Region {
    std::byte* memory;
    std::size_t bytes;
    std::size_t free = 0;  // chunks
    Chunk* first = nullptr;
    std::size_t chunks() const { return bytes / chunk_bytes; }
};

class Regions {
  public:
    static Regions& instance() {
        static auto* regions = new Regions;  // never gone: nodes are given back until the very end
        return *regions;
    }
    Chunk* take() {
        std::lock_guard lock(mutex_);
        auto has_free = [](const auto& region) { return region->free > 0; };
        auto at = std::find_if(regions_.begin(), regions_.end(), has_free);
        if (at == regions_.end()) at = add();
        Region& region = **at;
        --region.free;
        Chunk* chunk = region.first;
        region.first = chunk->next;
        chunk->alive.store(places, std::memory_order_relaxed);
        return chunk;
    }
    void give(Chunk* chunk) {
        std::lock_guard lock(mutex_);
        Region& region = *chunk->region;
        chunk->next = std::exchange(region.first, chunk);
        // The first stays, for programs of common size.
        if (++region.free == region.chunks() && &region != regions_[0].get()) remove(region);
    }
    std::size_t bytes() {
        std::lock_guard lock(mutex_);
        return bytes_;
    }

  private:
    using Iterator = std::vector<std::unique_ptr<Region>>::iterator;
    /// Each as large as all before, up to a large page. With the third a program is large enough for its compilation, which takes several
    /// times as much in tables and kernels, to spend an eighth of its time on small pages. (Of smaller ones it takes some hundred, which are there
    /// sooner than a large one for which the system of a virtual machine has to ask its host.)
    Iterator add() {
        std::size_t bytes = std::clamp(bytes_, first_region, large_page);
        if (bytes_ > first_region) ready_heap(std::clamp(4 * bytes, large_page, 4 * large_page));
        auto region = std::make_unique<Region>();
        regions_.reserve(regions_.size() + 1);  // what could fail below would lose the memory
        void* memory = bytes == large_page ? take_large(bytes) : std::aligned_alloc(chunk_bytes, bytes);
        if (!memory) throw std::bad_alloc();
        if (bytes == large_page) bring_large_pages(memory, bytes);
        region->memory = static_cast<std::byte*>(memory), region->bytes = bytes;
        for (std::size_t i = region->chunks(); i-- > 0;) {
            auto* chunk = new (region->memory + i * chunk_bytes) Chunk{{0}, region.get(), region->first};
            region->first = chunk, ++region->free;
        }
        bytes_ += bytes;
        regions_.push_back(std::move(region));
        return std::prev(regions_.end());
    }
    void remove(Region& region) {
        bytes_ -= region.bytes;
        region.bytes == large_page ? give_large(region.memory, region.bytes) : std::free(region.memory);
        std::erase_if(regions_, [&](const auto& one) { return one.get() == &region; });
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Region>> regions_;
    std::size_t bytes_ = 0;
};

void let_go(Chunk* chunk, std::uint32_t count) {
    if (chunk->alive.fetch_sub(count, std::memory_order_acq_rel) == count) Regions::instance().give(chunk);
}

/// The chunk that a thread fills, and places of computed nodes that it keeps, each with the address of the next.
struct Mine {
    Chunk* chunk = nullptr;
    std::uint32_t next = places;
    std::uint32_t kept_count = 0, keeps = 0;
    void** kept = nullptr;
};
thread_local constinit Mine mine;
constexpr std::uint32_t most_kept = pooled ? 64 : 0;

/// Made with the first place that a thread asks for.
struct AtExit {
    AtExit() { mine.keeps = most_kept; }
    ~AtExit() {
        if (mine.next < places) let_go(mine.chunk, places - mine.next);
        while (mine.kept) ::operator delete(std::exchange(mine.kept, static_cast<void**>(*mine.kept)));
        mine = {};
    }
};

void at_exit() {
    thread_local AtExit once;
    (void)once;
}

void fill_another() {
    at_exit();
    mine.chunk = Regions::instance().take(), mine.next = 0;
}

}  // namespace

void* take_node_place() {
    if (!pooled) return ::operator new(node_place);
    if (mine.next == places) fill_another();
    return reinterpret_cast<std::byte*>(mine.chunk) + header_bytes + node_place * mine.next++;
}

void give_node_place(void* place) {
    if (!pooled) return ::operator delete(place);
    auto address = reinterpret_cast<std::uintptr_t>(place);
    let_go(reinterpret_cast<Chunk*>(address / chunk_bytes * chunk_bytes), 1);
}

void* take_computed_place(std::size_t bytes) {
    if (!mine.kept) {
        if (mine.keeps == 0) at_exit();
        return ::operator new(bytes);
    }
    --mine.kept_count;
    return std::exchange(mine.kept, static_cast<void**>(*mine.kept));
}

void give_computed_place(void* place) {
    if (mine.kept_count >= mine.keeps) return ::operator delete(place);
    ++mine.kept_count;
    mine.kept = new (place) void*(mine.kept);
}

std::size_t node_memory_bytes() { return Regions::instance().bytes(); }

}  // namespace weft
