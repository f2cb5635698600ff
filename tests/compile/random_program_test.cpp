#include "random_program.h"

#include <gtest/gtest.h>

#include "effort.h"
#include "weft/check/compare.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

// A few results of a random program, planned and run, against each computed operation by operation by the interpreter.
void check_program(std::uint64_t seed, int steps) {
    RandomProgram program(seed);
    std::vector<Tensor> inputs;
    for (const Dims& dims : {Dims{3, 4}, Dims{4}, Dims{}, Dims{1, 4}, Dims{2, 3, 1}}) {
        inputs.emplace_back(laid_out(small_integers(dims, program.draw()),
                                     all_forms[static_cast<std::size_t>(program.draw().below(5))]));
    }
    std::vector<Tensor> all = program.run(inputs, steps), wanted{all.back()};
    for (int i = 0; i < 3; ++i) wanted.push_back(program.any());
    std::vector<Array> expected = interpret(std::span<const Tensor>(wanted));
    eval(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        // The sign of a zero that a minimum or maximum gives depends on the order of joining; every other bit is the oracle's.
        ASSERT_EQ(difference(expected[i], wanted[i].array(), 0, 0), "")
            << "seed " << seed << " steps " << steps << " result " << i;
    }
}

TEST(Partition, random_programs_give_the_oracles_bits_however_they_are_fused) {
    for (std::uint64_t seed = 0; seed < cases(3000, 20000); ++seed) {
        ASSERT_NO_THROW(check_program(seed, 4 + static_cast<int>(seed % 24))) << "seed " << seed;
        if (HasFailure()) return;
    }
}

TEST(Partition, long_random_programs_too) {
    for (std::uint64_t seed = 0; seed < cases(60); ++seed) {
        ASSERT_NO_THROW(check_program(100000 + seed, 400)) << "seed " << seed;
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace weft
