// Compiled kernels by content: a program, how its arrays move along the innermost axis, and the instruction set. Sizes and strides
// are arguments of the code, so another size compiles nothing. A kernel lives as long as somebody holds it; any thread may ask.
// Callers: emitted_kernel.cpp, tests.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "weft/backend/cpu/emit/kernel_plan.h"
#include "weft/backend/cpu/emit/lowering.h"

namespace weft::cpu::emit {

struct CompiledKernel {
    std::shared_ptr<const void> code;
    std::size_t streams = 0, bytes = 0;
    int lanes = 0, unroll = 0, spills = 0;
    std::size_t calls = 0;  // of the block evaluator's loops, each for one vector

    using Entry = void (*)(std::int64_t* arguments);
    Entry entry() const { return reinterpret_cast<Entry>(const_cast<void*>(code.get())); }
    void operator()(std::int64_t* arguments) const { entry()(arguments); }
};

/// What tests vary; by default what is best for the instruction set.
struct EmitOptions {
    int unroll = 0;                       // vectors side by side; 0: as registers allow
    int registers = 1000;                 // of the vector bank at most; at least 5
    bool half = false;                    // vectors of 32 bytes, also where the instruction set has longer ones
    int most = 4;                         // vectors side by side where unroll is 0
    bool masked = masks_what_vanishes();  // see lower()
    bool long_rows = false;               // see PlanOptions
};

/// Null where the emitter has no code for it: no xbyak in this build, an instruction set without an emitter, complex numbers, no
/// executable memory, or the emitter switched off. `elements`: it is for so many. Few do not fill vectors side by side, nor a few long vectors,
/// which some processors compute as two; of a long program the code is then another than for many.
std::shared_ptr<const CompiledKernel> kernel_for(const Program& program, std::span<const StreamKind> loads,
                                                 std::span<const StreamKind> stores, Isa isa,
                                                 std::int64_t elements = std::numeric_limits<std::int64_t>::max());
/// The same, of what joins rows of so many elements.
std::shared_ptr<const CompiledKernel> kernel_for_rows(const Program& program, std::span<const StreamKind> loads,
                                                      std::span<const StreamKind> stores, Isa isa, std::int64_t length);
/// The same, of what is accumulated along rows of so many columns: as many vectors side by side as these are, or a part of them.
std::shared_ptr<const CompiledKernel> kernel_for_columns(const Program& program, std::span<const StreamKind> loads,
                                                         std::span<const StreamKind> stores, Isa isa,
                                                         std::int64_t columns);
/// The same as the first, compiled anew.
std::shared_ptr<const CompiledKernel> compile_kernel(const Program& program, std::span<const StreamKind> loads,
                                                     std::span<const StreamKind> stores, Isa isa,
                                                     const EmitOptions& options = {});

/// Which loops become machine code: none; all, but maps of few elements only once they run again (emitted_kernel.h); all, at once.
/// The environment variable WEFT_EMITTER says so when the process begins ("on" if it is not set), use_emission() later.
enum class Emission : std::uint8_t { off, on, always };
Emission emission();
void use_emission(Emission choice);
/// Whether there may be machine code at all: for the instruction set in use, unless Emission says otherwise.
bool emits();

/// Kernels compiled by kernel_for so far, and those that are alive.
std::size_t compiled_count();
std::size_t alive_count();

}  // namespace weft::cpu::emit
