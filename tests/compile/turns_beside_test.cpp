// Turns of rows whose last part is done beside the first of the next, on any processor: the bits are those of one part after the other.
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/backend/cpu/compiler.h"
#include "weft/backend/cpu/emit/kernel_cache.h"
#include "weft/backend/cpu/isa.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// The processor's, which does it so; counts the kernels of two parts.
class Beside final : public cpu::Compiler {
  public:
    explicit Beside(bool fetches) : fetches_(fetches) {}
    Turns turns() const override { return Turns::beside; }
    bool fetches_results(const Layout&, bool much) const override { return fetches_ && much; }
    std::unique_ptr<Kernel> stored_reduction(const Loop* map, const Loop& reduction, const Loop* behind,
                                             bool turns) const override {
        auto kernel = cpu::Compiler::stored_reduction(map, reduction, behind, turns);
        made += kernel && turns ? 1 : 0;
        return kernel;
    }
    mutable int made = 0;

  private:
    bool fetches_;
};

/// Whatever goes where; returns how many kernels there were of two parts.
int expect_bits_beside(const std::vector<Tensor>& outputs) {
    int made = 0;
    for (bool fetches : {true, false}) {
        Beside compiler(fetches);
        expect_bits_in_blocks(outputs, compiler);
        made += compiler.made;
    }
    return made;
}

Tensor moved(const Tensor& x) { return x - max(x, -1, true); }
Tensor log_softmax(const Tensor& x) { return moved(x) - log(sum(exp(moved(x)), -1, true)); }
Tensor normed(const Tensor& x) {
    Tensor moved = x - mean(x, -1, true);
    return moved * rsqrt(mean(square(moved), -1, true) + 1e-5f);
}

class Kinds : public testing::TestWithParam<Dims> {};

TEST_P(Kinds, have_the_bits_of_one_part_after_the_other) {
    const Dims& dims = GetParam();
    Tensor x = numbers("rows", dims), y = numbers("others", dims), d = numbers("doubles", dims, DType::float64);
    int made = expect_bits_beside({softmax(x)}) + expect_bits_beside({x / sum(square(x), -1, true)});
    for (const Tensor& output : {softmax(d), log_softmax(x), normed(x), x * (y - sum(x * y, -1, true)),
                                 normed(x) * numbers("weight", {dims.back()}), gradient(sum(softmax(x) * y), x),
                                 astype(softmax(x), DType::float16), x - min(y, -1, true)})
        (void)expect_bits_beside({output});
    bool machine_code = cpu::emit::emits() && cpu::best_isa() == cpu::Isa::avx512;
    EXPECT_GE(made, machine_code ? 4 : 0) << dims;
}

INSTANTIATE_TEST_SUITE_P(TurnsBeside, Kinds,
                         testing::Values(Dims{600, 1024}, Dims{517, 300}, Dims{2001, 130}, Dims{331, 1500},
                                         Dims{7, 211, 257}, Dims{1300, 100}, Dims{3000, 65}));

// Past the caches where rows fill vectors; rows that do not are left to kernels that can.
TEST(TurnsBeside, large_results) {
    for (const Dims& dims : {Dims{4096, 1024}, Dims{4099, 1024}, Dims{4200, 1000}, Dims{3, 1399, 1024}}) {
        Beside compiler(false);
        expect_bits_in_blocks({normed(numbers("large", dims))}, compiler);
        bool machine_code = cpu::emit::emits() && cpu::best_isa() == cpu::Isa::avx512;
        EXPECT_TRUE(compiler.made > 0 || !machine_code || dims.back() != 1024) << dims;
        EXPECT_TRUE(compiler.made == 0 || dims.back() == 1024) << dims;
    }
}

TEST(TurnsBeside, numbers_that_are_none) {
    Tensor x = rows_with_none(300, 500);
    expect_bits_beside({softmax(x)});
    expect_bits_beside({x - max(x, 1, true)});
}

// Of which several results, or columns, are wanted: what is no map of rows at the end is none.
TEST(TurnsBeside, what_else_rows_come_to) {
    Tensor x = numbers("more", {301, 700}), weights = exp(moved(x)), total = sum(weights, 1, true);
    expect_bits_beside({weights / total, sum(weights, 1), max(x, 1)});
    expect_bits_beside({matrix_transpose(weights / total)});
    expect_bits_beside({softmax(matrix_transpose(numbers("turned", {700, 301})))});
    expect_bits_beside({softmax(normed(x)), normed(softmax(x) + softmax(exp(x)))});
}

}  // namespace
}  // namespace weft
