// Large memory, page by page: as large pages where the system has such at hand, and asked for before it is written, by all threads.
// Most of what a program's first result takes beyond arithmetic are pages: 1.4 us for one of 4 KB, 180 us for one of 2 MB.
// None of these functions fails: a system that knows nothing of the sort gives small pages, one by one. Callers: core/buffer.cpp, graph/node_memory.cpp,
// compile/binding.cpp, runtime/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

constexpr std::size_t large_page = std::size_t{2} << 20;

/// Bytes of memory that the system has free in pieces of a large page or more, by the text of Linux's /proc/buddyinfo.
std::size_t free_in_large_pages(std::string_view buddyinfo);

/// How many bytes, from a large page's boundary on, to take for `bytes`: whole large pages, unless much of the last would be empty.
std::size_t in_large_pages(std::size_t bytes);

/// The whole large pages of this memory, which begins with one, shall be such, if the system need not make room for them first.
void want_large_pages(void* memory, std::size_t bytes);

/// Pages that are all zeros, and not in memory yet; null where the system gives none. For unmap_pages.
void* map_pages(std::size_t bytes);
void unmap_pages(void* memory, std::size_t bytes);

/// The whole pages within this memory, which was mapped here, go back to the system; what they held is lost, the addresses stay.
void return_pages(void* memory, std::size_t bytes);

/// Memory of a large page or more, not initialised, on a large page's boundary; null where there is none. What is given back is kept, up
/// to 64 MB of it, for who asks for as much: its pages need not be asked for again.
void* take_large(std::size_t bytes);
void give_large(void* memory, std::size_t bytes);
/// What is kept.
std::size_t kept_bytes();

/// Brings memory that holds nothing yet into large pages, if it is to be such, one page after the other, and leaves it to small ones from the first
/// that came late on: a large page is made in 0.2 ms, but where the system of a virtual machine must get it from its host, it has been seen
/// to take 4.5, six times as long as small ones. For a second nobody is given large pages then. `late`: microseconds.
void bring_large_pages(void* memory, std::size_t bytes, std::int64_t late = 1200);

/// The next so many bytes that the C library gives out are brought into large pages, if the system has such at hand; and memory of up to 16 MB that
/// is given back to it stays in the process, for what is taken next, and up to 32 MB at the heap's end; that holds from then on for all of the
/// process. For who takes megabytes in small blocks and large tables that soon go, one after the other. A hint, to glibc alone; of less than a
/// large page nothing.
void ready_heap(std::size_t bytes);

/// Brings pages into memory by all threads; what they hold stays. Two threads that write to a new large page would both make one.
void touch_pages(void* memory, std::size_t bytes);

}  // namespace weft
