// What the emitter turns into machine code: straight-line code on vectors, one value a line, a few steps above the instructions of
// a processor. A lane is 4 or 8 bytes wide, or a truth value; narrower numbers lie in lanes of 4, extended by their sign. Always:
// operands stand before their use; nothing here knows a register or a loop.
// Callers: lowering.cpp makes it, kernel_code.cpp lays it out, the emitters of the instruction sets write it down.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu::emit {

enum class Lane : std::uint8_t { none, f32, f64, i32, i64, mask };
constexpr int width_of(Lane lane) {
    return lane == Lane::f64 || lane == Lane::i64 ? 8 : lane == Lane::f32 || lane == Lane::i32 ? 4 : 0;
}

enum class VectorOp : std::uint8_t {
    constant,    // immediate: the lane's bits
    load,        // immediate: the stream
    store,       // a to the stream `immediate`
    local_load,  // what the call `a` left in the place `immediate`
    local_store,
    outside,  // a call of Outside `immediate`; a, b, c: its local_stores
    leave,    // where a holds for any lane, the common path is left before it has stored anything
    // floating
    add,
    subtract,
    multiply,
    divide,
    square_root,
    about_inverse_root,  // 1 / sqrt(a) to 14 bits; AVX-512 alone
    fma,
    lesser,   // a < b ? a : b
    greater,  // a > b ? a : b
    round,    // immediate: Rounding
    scale,    // a * 2^b; 0 where not c, if there is one
    // bits of any lane
    bit_and,
    bit_or,
    bit_xor,
    // integers; shifts by `immediate` bits or by b's; beyond the width 0, or the sign
    int_add,
    int_subtract,
    int_multiply,
    multiply_halves,  // the low halves of the lanes of 8 bytes, to 8 bytes, unsigned
    int_lesser,
    int_greater,
    unsigned_lesser,
    unsigned_greater,
    shift_left,
    shift_right,
    shift_right_unsigned,
    shift_left_by,
    shift_right_by,
    shift_right_unsigned_by,
    // truth
    compare,      // floating; immediate: Predicate
    int_compare,  // immediate: IntPredicate
    mask_and,
    mask_and_not,  // a and not b
    mask_or,
    mask_xor,
    mask_not,
    select,  // a ? b : c
    // from the lane of a to the line's
    to_float,
    unsigned_to_float,
    to_int,  // towards zero; what the processor gives beyond the range
    to_unsigned,
    resize,  // between floats
    extend,
    extend_unsigned,
    narrow,
    half_to_float,  // bits of a float16
    float_to_half,
    round_to_half  // of a float, to what a float16 can hold
};

enum class Rounding : std::uint8_t { even, down, up, zero };  // as the processor numbers them
enum class Predicate : std::uint8_t {
    equal = 0,
    unordered = 3,
    not_equal = 4,
    less = 17,
    less_equal = 18,
    not_less = 21
};  // so too
/// As AVX-512 numbers them. AVX2 has equal and greater, signed, alone: lowering makes the others of these.
enum class IntPredicate : std::uint8_t {
    equal = 0,
    less = 1,
    less_equal = 2,
    not_equal = 4,
    greater = 6,
    is_unsigned = 8,
    apart = 16  // no bit is set in both; AVX-512 alone
};

struct Line {
    VectorOp op = VectorOp::constant;
    Lane lane = Lane::none;
    Lane from = Lane::none;  // of the operands where it is another: conversions, comparisons, stores
    bool once = false;       // the same for all elements of a row
    std::int32_t a = -1, b = -1, c = -1;
    std::uint64_t immediate = 0;

    friend bool operator==(const Line&, const Line&) = default;
};

/// How the array of a load or a store moves along the innermost axis. Joined: what is stored is joined to 64 values that wait in
/// registers, element i of the row to value i % 64, as ReduceLoops::lanes does. Folded: so too, from the neutral value on, and at the
/// row's end these are joined by halves to one element that is stored. Accumulated: joined to what the (contiguous) array holds, as
/// ReduceLoops::columns does. Past: contiguous, stored past the caches (who runs the code finishes that: past_caches.h); of several streams,
/// or beside what is folded, rows begin where a vector is aligned, else anywhere.
/// Number: of a box of one point, the store of one element; where nothing is left to a complete path it is done with what is computed once.
/// Counting: a load of no memory, as if contiguous memory of int64 held its elements' numbers; same_number: likewise, but uniform.
enum class Mode : std::uint8_t {
    contiguous,
    uniform,
    strided,
    joined,
    folded,
    accumulated,
    past,
    number,
    counting,
    same_number
};
/// Whether 64 values wait in registers.
constexpr bool in_lanes(Mode mode) { return mode == Mode::joined || mode == Mode::folded; }
inline constexpr int joined_lanes = 64;
struct StreamKind {
    DType memory = DType::float32;
    Mode mode = Mode::contiguous;
    Reduction reduction = Reduction::sum;  // of a joined stream
    bool ahead = false;     // of a contiguous load: the lines as far on as the call's rows reach are fetched, too,
    bool near = false;      // into the first-level cache (a Zen decides by what else is and by what is computed),
    bool replaced = false;  // to be written: what the kernel stores takes its place
    /// Asked for behind the store that takes the place of what was read, not behind the load: loads would wait for requests to write.
    bool asked_when_stored() const { return ahead && near && replaced; }
    friend bool operator==(const StreamKind&, const StreamKind&) = default;
};

/// A step of the block evaluator, called for one vector of elements that lie in the frame.
struct Outside {
    Step step = nullptr;
    const Function* function = nullptr;
    std::int32_t operands[3] = {-1, -1, -1};  // places
    std::int32_t result = -1;
};

class VectorCode {
  public:
    std::vector<Line> lines;
    std::vector<std::int32_t> order;   // the lines that are needed, stores as early as loads allow
    std::vector<std::int32_t> common;  // the same without what few arguments need, if that is less; else empty
    std::vector<StreamKind> streams;   // loads, then stores
    std::vector<DType> places;         // what the places of the frame hold, a vector of elements each
    std::vector<Outside> outsides;

    /// How stores are joined: none, or the last and those before it that are not as they are (folded ones alone may stand behind such).
    bool joins() const { return !streams.empty() && in_lanes(streams.back().mode); }
    bool folds() const { return !streams.empty() && streams.back().mode == Mode::folded; }
    bool accumulates() const { return !streams.empty() && streams.back().mode == Mode::accumulated; }
    const Line& line(std::int32_t number) const { return lines[static_cast<std::size_t>(number)]; }
    /// Bytes of the widest lane: how many lanes a vector has.
    int lane_bytes() const;
};

/// Writes lines, each once: an equal line is the same value.
class VectorBuilder {
  public:
    std::int32_t add(Line line);
    const Line& line(std::int32_t number) const { return code_.line(number); }
    VectorCode& code() { return code_; }
    /// From now on, lines belong to the path that serves all arguments; `rare`: truth values that leave the common one.
    void end_common(const std::vector<std::int32_t>& rare);
    /// The code, ordered, without what no store needs; the builder is empty afterwards.
    VectorCode take();

  private:
    /// Where the table holds the line's number, or -1 to put it.
    std::int32_t& numbered(const Line& line);
    void grow();

    VectorCode code_;
    std::size_t common_end_ = 0;       // lines of the common path; 0: there is one path
    std::vector<std::int32_t> table_;  // of numbers by the lines' hashes; a power of two, half empty
    std::size_t filled_ = 0;
};

}  // namespace weft::cpu::emit
