// Where things lie in the machine code of a kernel.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "weft/backend/cpu/emit/lowering.h"
#include "weft/backend/cpu/emit/writer.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft::cpu::emit {
namespace {

KernelPlan error_function_of_doubles() {
    ProgramBuilder builder;
    builder.output(erf(builder.input(DType::float64)));
    StreamKind contiguous{.memory = DType::float64, .mode = Mode::contiguous};
    auto code = lower(builder.take(), {&contiguous, 1}, {&contiguous, 1}, Isa::avx512);
    PlanOptions avx512{.vector_bytes = 64, .registers = {31, 6}, .masks_are_vectors = false, .joining = {0, 1}};
    return *plan_kernel(std::move(*code), avx512);
}

/// Where eight words alike follow each other for the first time; the end, if they do nowhere.
std::size_t first_whole_constant(const std::vector<std::uint8_t>& code) {
    for (std::size_t at = 0; at + 64 <= code.size(); at += 8) {
        std::uint64_t words[8];
        std::memcpy(words, code.data() + at, sizeof words);
        if (words[0] != 0 && std::all_of(words, words + 8, [&](std::uint64_t word) { return word == words[0]; }))
            return at;
    }
    return code.size();
}

TEST(Writer, constants_of_whole_vectors_begin_lines_wherever_code_is_written) {
    if (std::find(usable_isas().begin(), usable_isas().end(), Isa::avx512) == usable_isas().end())
        GTEST_SKIP() << "needs AVX-512";
    KernelPlan plan = error_function_of_doubles();
    std::vector<std::vector<std::uint8_t>> held;  // so that memory lies elsewhere each time
    for (std::size_t bytes : {16, 48, 80, 112, 144, 272}) {
        held.emplace_back(bytes);
        held.push_back(write_kernel(plan, Isa::avx512));
        std::size_t first = first_whole_constant(held.back());
        ASSERT_LT(first, held.back().size());
        EXPECT_EQ(first % 64, 0u);
    }
}

}  // namespace
}  // namespace weft::cpu::emit

#endif
