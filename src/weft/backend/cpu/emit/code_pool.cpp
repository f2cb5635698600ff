#include "weft/backend/cpu/emit/code_pool.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#endif

#include "weft/base/error.h"

namespace weft::cpu::emit {
namespace {

constexpr std::size_t grain = 64, page = 4096, segment_bytes = std::size_t{1} << 20;

#if defined(__linux__)
int anonymous_file() {
#if defined(MFD_EXEC)
    int file = memfd_create("weft-code", MFD_CLOEXEC | MFD_EXEC);
    if (file >= 0 || errno != EINVAL) return file;
#endif
    return memfd_create("weft-code", MFD_CLOEXEC);
}

/// The pages of one file at two addresses; false leaves errno.
bool map_twice(std::size_t size, std::uint8_t*& writable, std::uint8_t*& executable) {
    int file = anonymous_file();
    if (file < 0) return false;
    void* write = MAP_FAILED;
    void* run = MAP_FAILED;
    if (ftruncate(file, static_cast<off_t>(size)) == 0) {
        write = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (write != MAP_FAILED) run = mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    }
    int reason = errno;
    close(file);
    if (run == MAP_FAILED && write != MAP_FAILED) munmap(write, size);
    errno = reason;
    writable = static_cast<std::uint8_t*>(write);
    executable = static_cast<std::uint8_t*>(run);
    return run != MAP_FAILED;
}
void unmap(void* address, std::size_t size) { munmap(address, size); }

// The memory is a file to the system, so a process whose files must stay small (ulimit -f) takes it in smaller pieces.
std::size_t segment_step() {
    struct rlimit limit {};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= segment_bytes) return segment_bytes;
    return std::max<std::size_t>(limit.rlim_cur / page * page, page);
}
#else
std::size_t segment_step() { return segment_bytes; }
bool map_twice(std::size_t, std::uint8_t*&, std::uint8_t*&) { return errno = ENOSYS, false; }
void unmap(void*, std::size_t) {}
#endif

}  // namespace

CodePool& CodePool::instance() {
    static auto* pool = new CodePool;  // never gone: kernels may outlive every other static
    return *pool;
}

CodePool::~CodePool() {
    for (auto& segment : segments_) {
        unmap(segment->writable, segment->size);
        unmap(segment->executable, segment->size);
    }
}

std::shared_ptr<const void> CodePool::add(std::span<const std::uint8_t> code) {
    std::size_t size = (std::max<std::size_t>(code.size(), 1) + grain - 1) / grain * grain;
    Place place = take(size);
    if (!place.segment) return nullptr;
    // The piece is this caller's alone: nobody runs it before the address is handed out.
    std::memcpy(place.segment->writable + place.offset, code.data(), code.size());
    return {place.segment->executable + place.offset,
            [this, place, size](const void*) { give_back(place.segment, place.offset, size); }};
}

CodePool::Place CodePool::take(std::size_t size) {
    std::lock_guard lock(mutex_);
    auto from = [&](Segment& segment) -> Place {
        auto hole =
            std::find_if(segment.holes.begin(), segment.holes.end(), [&](const Hole& h) { return h.size >= size; });
        if (hole == segment.holes.end()) return {nullptr, 0};
        std::size_t offset = hole->offset;
        hole->offset += size, hole->size -= size;
        if (hole->size == 0) segment.holes.erase(hole);
        used_ += size;
        return {&segment, offset};
    };
    for (auto& segment : segments_) {
        if (segment->process != getpid()) continue;
        if (Place place = from(*segment); place.segment) return place;
    }
    Segment* fresh = map(size);
    return fresh ? from(*fresh) : Place{nullptr, 0};
}

CodePool::Segment* CodePool::map(std::size_t least) {
    if (refused_) return nullptr;
    auto segment = std::make_unique<Segment>();
    std::size_t step = segment_step();
    segment->size = (least + step - 1) / step * step;
    if (!map_twice(segment->size, segment->writable, segment->executable)) {
        refused_ = true;
        std::cerr << text("weft: this system gives no memory for machine code (", std::strerror(errno),
                          "); loops run on the block evaluator, slower. WEFT_EMITTER=off says that this is known.\n");
        return nullptr;
    }
    segment->process = getpid();
    segment->holes.push_back({0, segment->size});
    mapped_ += segment->size;
    segments_.push_back(std::move(segment));
    return segments_.back().get();
}

void CodePool::give_back(Segment* segment, std::size_t offset, std::size_t size) {
    std::lock_guard lock(mutex_);
    auto& holes = segment->holes;
    auto next = std::lower_bound(holes.begin(), holes.end(), offset,
                                 [](const Hole& hole, std::size_t place) { return hole.offset < place; });
    auto hole = holes.insert(next, {offset, size});
    if (hole + 1 != holes.end() && hole->offset + hole->size == (hole + 1)->offset) {
        hole->size += (hole + 1)->size;
        holes.erase(hole + 1);
    }
    if (hole != holes.begin() && (hole - 1)->offset + (hole - 1)->size == hole->offset) {
        (hole - 1)->size += hole->size;
        holes.erase(hole);
    }
    used_ -= size;
}

std::size_t CodePool::mapped_bytes() const {
    std::lock_guard lock(mutex_);
    return mapped_;
}
std::size_t CodePool::used_bytes() const {
    std::lock_guard lock(mutex_);
    return used_;
}

}  // namespace weft::cpu::emit
