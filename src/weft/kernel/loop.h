// A Loop is a Program run over every point of a box of indices: what a kernel computes, before any device has seen it.
// The first `dims.size() - reduced` axes are kept, the last `reduced` are reduced away. Loads and stores say how each index moves
// through memory. Callers: compile/ makes Loops, backend/ runs them, the interpreter judges them.
#pragma once

#include <optional>
#include <source_location>
#include <vector>

#include "weft/core/shape.h"
#include "weft/kernel/program.h"
#include "weft/kernel/reduction.h"

namespace weft {

/// One coordinate of a load that is read from memory, or of a scatter's store: what another load of the loop, of integers, reads at the
/// point. It counts along an axis of the array, from its end where it is negative; an index outside the axis is an IndexError before
/// anything is written.
struct Pointer {
    std::int32_t load = -1;             // the integers' number among the loop's loads
    std::int64_t size = 0, stride = 0;  // of the axis: elements along it, and elements that a step along it moves
    std::int64_t axis = 0;              // its number, the operation's name, and the user's line, for the error
    std::string_view operation = "gather";
    std::source_location where = {};
};

/// Where the values of a load come from. From its place in the box alone, without memory: `counting` gives the number of the element
/// that memory would hold (int64), `random` that number's word of a stream of random bits. What stands where a load's address would is
/// then the number at index 0 of every axis (number_address).
enum class Source : std::uint8_t { memory, counting, random };

/// Random bits: word n of the stream is word n % 4 of philox({n / 4 low, n / 4 high, 0, stream}, key) (core/philox.h); number n of
/// uint64 is the words 2n (its low half) and 2n + 1.
struct Drawn {
    std::int32_t key = -1;    // the load (uint32, the same at every point) that the first word of the key is
    std::int64_t stride = 1;  // elements from there to the second
    std::uint32_t stream = 0;
};

/// One array that a loop reads or writes: its type and, for every axis of the loop, how many elements a step moves (0: the same
/// element again; negative: backwards). An output of a reduction has strides for the kept axes alone.
/// The memory's type may differ from the program's: half types are loaded to float32 and rounded when stored; no other cast.
/// A load, and the store of a scatter, may move by indices as well: to strides times the point, each pointer adds its own.
struct Access {
    DType dtype = DType::float32;
    Dims strides;
    std::vector<Pointer> pointers = {};
    Source source = Source::memory;
    Drawn drawn = {};
    std::int64_t numbers = 0;  // of counting: all that come up lie in [0, numbers); 0: nothing is known
    /// A hint: the loop is one of several that pass through an array of so many bytes, block after block along the outermost axis;
    /// nobody comes back to a block soon. 0: nothing is known.
    std::size_t passes = 0;
    /// As `passes`: bytes from where one block begins to where the next one does. 0: nothing is known.
    std::int64_t next = 0;
    /// A hint, of a load: what the loop stores takes its place.
    bool replaced = false;
    /// As `passes`: what is read a call later is so near that a first-level cache has room for it beside what is read now.
    bool soon = false;
    /// A fact: the address of the element at index 0 of every axis is a multiple of so many bytes, a power of two and no less than the
    /// element's. Addresses that break it are refused (kernel/address_facts.h). 0: nothing is known.
    std::size_t alignment = 0;

    /// Whether it reads memory, and its strides say all about where.
    bool plain() const { return source == Source::memory && pointers.empty(); }
};

/// What stands for the address of a load that reads no memory: whoever moves it by strides in bytes moves the number.
inline const void* number_address(std::int64_t number, DType dtype) {
    return reinterpret_cast<const void*>(number * static_cast<std::int64_t>(size_of(dtype)));
}
inline std::int64_t number_at(const void* address, DType dtype) {
    return reinterpret_cast<std::int64_t>(address) / static_cast<std::int64_t>(size_of(dtype));
}

/// Running results: what is joined along the last axis, the only one that is reduced, is stored at every point of it. Joined one value
/// after another, from the identity on, in the type of the values: the order is part of the meaning.
struct Scan {
    bool exclusive = false;  // what is stored joins the values before the point, not its own
    bool backwards = false;  // from the last point to the first
};

struct Loop {
    Program program;
    Dims dims;  // the box; may be empty (one point) and may hold zeros (no point)
    std::size_t reduced = 0;
    std::vector<Access> loads;          // one an input of the program
    std::vector<Access> stores;         // one an output of the program
    std::vector<Reduction> reductions;  // one an output for a reduction (even over no axes); empty for a map
    std::optional<Scan> scan = {};      // of one output, a sum or a product; its store has strides for all axes
    /// A map of one output whose store moves by indices: each value, in the type of memory, is joined onto what the store holds there,
    /// one point after another in row-major order of the box. Points that differ along an axis along which the store moves by its
    /// stride never meet: of all its steps, those of indices too, each leads beyond what the shorter ones reach.
    std::optional<ScatterMode> scatter = {};

    bool reduces() const { return !reductions.empty(); }
    /// Whether a load or store moves by indices.
    bool indexed() const;
};

/// The elements that an access may touch, counted from the one at index 0 of every axis; none in a box without points. Of numbers that
/// no memory holds likewise those that may come up.
struct Extent {
    std::int64_t first = 0, last = -1;
    bool empty() const { return last < first; }
};
/// IndexError: this index lies outside the pointer's axis. It knows the user's line.
[[noreturn]] void refuse_index(const Pointer& pointer, std::int64_t index);

/// InternalError if a place does not fit 64 bits. `dims` may have more axes than the access (those of a reduction).
Extent extent_of(const Access& access, const Dims& dims);

/// Of every load whether anything reads its memory: the program, a pointer, random bits as their key. The array that a scatter changes
/// stands among the loads and is not.
std::vector<bool> loads_read(const Loop& loop);

/// Throws InternalError that names the breach: counts, sizes, strides, types of memory, types that a reduction does not join,
/// places beyond 64 bits, points of a box that are stored at one place, alignments that no address has.
void verify(const Loop& loop);
/// Content: equal loops, and only these, hash alike.
Hash128 hash_of(const Loop& loop);
/// The accesses, one line each: types, strides, and what is known of them, the elements that they may touch and their alignment.
std::string accesses_text(const Loop& loop);
/// The box, the accesses and the program, one line each.
std::ostream& operator<<(std::ostream& out, const Loop& loop);

}  // namespace weft
