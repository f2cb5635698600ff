// Memory of a test's own whose ends are guarded: what is read or written beside it ends the program.
// Callers: tests.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace weft {

/// Memory between two pages that may not be touched.
class Guarded {
  public:
    static constexpr std::size_t room = 1 << 20, page = 4096;
    Guarded() {
        base_ = static_cast<std::byte*>(mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base_ + page, room, PROT_READ | PROT_WRITE);
    }
    ~Guarded() { munmap(base_, room + 2 * page); }
    Guarded(const Guarded&) = delete;
    /// Where so many bytes lie, against the end or the start of the room.
    std::byte* place(std::size_t bytes, bool at_end) const { return base_ + page + (at_end ? room - bytes : 0); }
    std::byte* place(const std::vector<std::byte>& bytes, bool at_end) {
        std::byte* to = place(bytes.size(), at_end);
        std::memcpy(to, bytes.data(), bytes.size());
        return to;
    }

  private:
    std::byte* base_;
};

}  // namespace weft
