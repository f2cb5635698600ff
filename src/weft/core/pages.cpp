#include "weft/core/pages.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <mutex>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "weft/base/thread_pool.h"

namespace weft {
namespace {

// From here on large pages are wanted even if the system must make room for them, which has been seen to take 150 ms: as long as 100 MB
// take in small pages.
constexpr std::size_t at_any_price = 16 * large_page;

constexpr std::size_t page_bytes_at_most = std::size_t{64} << 10;

std::size_t page_bytes() {
#if defined(__linux__)
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
#else
    return page_bytes_at_most;
#endif
}

std::int64_t milliseconds() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

// Until when large pages are not asked for, by milliseconds().
std::atomic<std::int64_t> late_until{0};
constexpr std::int64_t late_for = 1000;

// Of this thread: others that take the processor meanwhile make no page late.
[[maybe_unused]] std::int64_t microseconds_computed() {
#if defined(__linux__)
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
#else
    return 0;
#endif
}

// Reading the file takes 10 us, so what it said holds for a tenth of a second, less what was taken since.
std::int64_t large_pages_at_hand(std::size_t taking) {
    static std::atomic<std::int64_t> read_at{0}, left{0};
    std::int64_t now = milliseconds();
    if (now < late_until.load(std::memory_order_relaxed)) return 0;
    std::int64_t before = read_at.load(std::memory_order_relaxed);
    if (before == 0 || now - before >= 100) {
        char text[8192];
        std::size_t count = 0;
        if (auto* file = std::fopen("/proc/buddyinfo", "re")) {
            count = std::fread(text, 1, sizeof text, file);
            std::fclose(file);
        }
        left.store(static_cast<std::int64_t>(free_in_large_pages({text, count})), std::memory_order_relaxed);
        read_at.store(now, std::memory_order_relaxed);
    }
    return left.fetch_sub(static_cast<std::int64_t>(taking), std::memory_order_relaxed);
}

constexpr std::size_t most_kept = std::size_t{64} << 20;

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
constexpr bool maps = true;
#else
constexpr bool maps = false;  // what is allocated, a sanitizer can watch
#endif

/// Pieces that were given back, the latest last.
class Kept {
  public:
    static Kept& instance() {
        static auto* kept = new Kept;  // never gone: memory is given back until the very end
        return *kept;
    }
    void* take(std::size_t bytes) {
        std::lock_guard lock(mutex_);
        auto at = std::find_if(pieces_.rbegin(), pieces_.rend(), [&](const Piece& p) { return p.bytes == bytes; });
        if (at == pieces_.rend()) return nullptr;
        void* memory = at->memory;
        bytes_ -= bytes;
        pieces_.erase(std::next(at).base());
        return memory;
    }
    void give(void* memory, std::size_t bytes) {
        if (bytes > most_kept / 2) return unmap_pages(memory, bytes);  // it would drive out all others
        std::lock_guard lock(mutex_);
        pieces_.push_back({memory, bytes});
        bytes_ += bytes;
        drop_beyond(most_kept);
    }
    void drop() {
        std::lock_guard lock(mutex_);
        drop_beyond(0);
    }
    std::size_t bytes() {
        std::lock_guard lock(mutex_);
        return bytes_;
    }

  private:
    struct Piece {
        void* memory;
        std::size_t bytes;
    };
    void drop_beyond(std::size_t most) {
        std::size_t dropped = 0;
        for (; bytes_ > most; ++dropped) {
            unmap_pages(pieces_[dropped].memory, pieces_[dropped].bytes);
            bytes_ -= pieces_[dropped].bytes;
        }
        pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(dropped));
    }
    std::mutex mutex_;
    std::vector<Piece> pieces_;
    std::size_t bytes_ = 0;
};

}  // namespace

// "Node 0, zone   Normal  10319   6509 ...": how many free pieces there are of 1, 2, 4 ... pages.
std::size_t free_in_large_pages(std::string_view buddyinfo) {
    std::size_t all = 0;
    while (!buddyinfo.empty()) {
        std::string_view line = buddyinfo.substr(0, buddyinfo.find('\n'));
        buddyinfo.remove_prefix(std::min(buddyinfo.size(), line.size() + 1));
        std::size_t zone = line.find("zone ");
        if (zone == line.npos) continue;
        line.remove_prefix(zone + 5);
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
        line.remove_prefix(std::min(line.size(), line.find(' ')));  // its name
        for (std::size_t piece = page_bytes();; piece *= 2) {
            line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
            std::size_t count = 0;
            auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
            if (error != std::errc()) break;
            if (piece >= large_page) all += count * piece;
            line.remove_prefix(static_cast<std::size_t>(end - line.data()));
        }
    }
    return all;
}

std::size_t in_large_pages(std::size_t bytes) {
    std::size_t whole = (bytes + large_page - 1) / large_page * large_page;
    return whole - bytes <= whole / 4 ? whole : bytes;
}

void want_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    std::size_t whole = bytes / large_page * large_page;
    auto wanted = static_cast<std::int64_t>(whole);
    if (whole == 0 || (bytes < at_any_price && large_pages_at_hand(whole) < 4 * wanted)) return;
    (void)madvise(memory, whole, MADV_HUGEPAGE);  // refused: small pages serve
#endif
}

void bring_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes,
                       [[maybe_unused]] std::int64_t late) {
#if defined(__linux__) && defined(MADV_NOHUGEPAGE)
    auto* first = static_cast<volatile std::byte*>(memory);
    for (std::size_t at = 0; at + large_page <= bytes; at += large_page) {
        std::int64_t start = microseconds_computed();
        first[at] = std::byte{};
        if (microseconds_computed() - start < late) continue;
        late_until.store(milliseconds() + late_for, std::memory_order_relaxed);
        std::size_t rest = bytes / large_page * large_page - at - large_page;
        if (rest > 0) (void)madvise(static_cast<std::byte*>(memory) + at + large_page, rest, MADV_NOHUGEPAGE);
        return;
    }
#endif
}

void* map_pages([[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    if (bytes > std::numeric_limits<std::size_t>::max() - 2 * large_page) return nullptr;
    // More than was asked for, to begin with a large page's boundary; what is beside that goes back.
    void* all = mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* first = static_cast<std::byte*>(all);
    std::size_t before = (large_page - reinterpret_cast<std::uintptr_t>(all) % large_page) % large_page;
    std::size_t kept = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
    if (before > 0) munmap(first, before);
    if (before + kept < bytes + large_page) munmap(first + before + kept, bytes + large_page - before - kept);
    return first + before;
#else
    return nullptr;
#endif
}

void unmap_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    munmap(memory, (bytes + page_bytes() - 1) / page_bytes() * page_bytes());
#endif
}

void* take_large(std::size_t bytes) {
    if (!maps) return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    bytes = in_large_pages(bytes);
    if (void* memory = Kept::instance().take(bytes)) return memory;
    void* memory = map_pages(bytes);
    if (!memory) {
        Kept::instance().drop();
        memory = map_pages(bytes);
    }
    if (memory) want_large_pages(memory, bytes);
    return memory;
}

void give_large(void* memory, std::size_t bytes) {
    if (maps)
        Kept::instance().give(memory, in_large_pages(bytes));
    else
        std::free(memory);
}

// glibc gives each block above a bound a mapping of its own, which goes back with it; at first 128 KB, and from then on as much as was given back
// so (mallopt(3), M_MMAP_THRESHOLD). What is below lies one after the other, from where the heap ends.
void ready_heap([[maybe_unused]] std::size_t bytes) {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    constexpr std::size_t most = std::size_t{16} << 20;
    auto taken_and_given = [](std::size_t size, auto between) {
        void* volatile block = std::malloc(size);  // volatile: or the compiler leaves both out
        if (block) between(reinterpret_cast<std::uintptr_t>(block));
        std::free(block);
    };
    bytes = std::min(bytes / large_page * large_page, most - large_page);
    if (bytes == 0) return;  // a small program leaves the heap as it is
    static std::once_flag once;
    std::call_once(once, [&] { taken_and_given(most, [](std::uintptr_t) {}); });
    taken_and_given(bytes + large_page, [&](std::uintptr_t block) {
        auto* first = reinterpret_cast<void*>((block + large_page - 1) / large_page * large_page);
        want_large_pages(first, bytes);
        bring_large_pages(first, bytes);
    });
#endif
}

std::size_t kept_bytes() { return Kept::instance().bytes(); }

void return_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    auto first = (reinterpret_cast<std::uintptr_t>(memory) + page_bytes() - 1) / page_bytes() * page_bytes();
    auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page_bytes() * page_bytes();
    if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
#endif
}

void touch_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    auto first = reinterpret_cast<std::uintptr_t>(memory) / page_bytes() * page_bytes();
    std::uintptr_t end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    auto blocks = static_cast<std::int64_t>((end + large_page - 1) / large_page - first / large_page);
    parallel_for(blocks, [&](std::int64_t block) {
        std::uintptr_t from = std::max(first, (first / large_page + static_cast<std::uintptr_t>(block)) * large_page);
        std::uintptr_t to = std::min(end, (from / large_page + 1) * large_page);
        (void)madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);  // an older system: when written
    });
#endif
}

}  // namespace weft
