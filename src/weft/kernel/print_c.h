// The printer of C: a Loop as the text of one kernel, in three dialects. C is there to be read, and to check other ways to run a
// loop against; OpenCL C and CUDA C are what these devices' compilers are handed.
// Always: a text depends on the loop's structure (program, types, ranks, which strides are 0 or 1, known alignments) and on index_dtype
// alone; sizes and other strides are arguments. Elementwise results have the interpreter's bits (NaN's sign and payload excepted) if the
// text is compiled without contraction: -ffp-contract=off, --fmad=false; the OpenCL text says so itself.
// Indices and alignments are not checked: whoever runs a printed kernel has done that.
// Reductions join in `reduction_lanes` lanes (the element number r goes to lane r % lanes) and then halve the lanes: the same
// bits in all dialects, for any number of threads.
// Callers: backend/opencl, backend/cuda, whoever shows a kernel; tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/kernel/loop.h"

namespace weft {

enum class Dialect : std::uint8_t { c, opencl, cuda };

inline constexpr int reduction_lanes = 64;

struct NamedLoop {
    std::string name;  // of the kernel; helpers' names end in a type's name, a kernel's must not
    Loop loop;
};

/// The kernels, and before them once whatever they need. Parameters of a kernel: the loads' arrays x0, x1, ..., the stores'
/// y0, y1, ... (each the address of the element at index 0 of every axis; in OpenCL C the address of a buffer, followed by an
/// int64, the number of that element in it; of a load that reads no memory an int64 alone, x0_first, in every dialect), then the
/// numbers of numbers_for().
/// CompileError names a function that has no program for its type, and the way out.
std::string print_c(std::span<const NamedLoop> loops, Dialect dialect);
std::string print_c(const Loop& loop, Dialect dialect, std::string_view name);

/// The sizes and strides of the loop that its kernel takes, of index_dtype each, in the order of the parameters.
std::vector<std::int64_t> numbers_for(const Loop& loop);

/// The type of sizes, strides and indices: int64 in C; in a grid's dialects, whose devices have 32-bit integers and make others of them,
/// int32 where it counts all points of the box, the threads beyond them, and all elements that an access may touch.
DType index_dtype(const Loop& loop, Dialect dialect);

/// How the OpenCL and CUDA kernels of a loop are launched: any number of groups serves (they stride over what is left).
struct Launch {
    std::int64_t groups;   // 0: there is nothing to do
    int threads_in_group;  // exactly so
};
Launch launch_for(const Loop& loop);

}  // namespace weft
