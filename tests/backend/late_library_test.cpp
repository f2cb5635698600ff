// Libraries that are not there when they are first needed: weft's own kernels do what they would have done.
#include "weft/backend/cpu/late_library.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "weft/check/compare.h"
#include "weft/ops/contraction.h"
#include "weft/ops/linalg.h"
#include "weft/ops/random.h"
#include "weft/ops/window.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/oracle.h"

namespace weft::cpu {
namespace {

int opened = 0;
void* not_there() { return ++opened, nullptr; }

Tensor numbers(const Dims& dims, DType dtype) {
    return random::normal(shape_of(dims), 0, 1, random::key(4)).astype(dtype).eval();
}

// A process of its own: here they may have been asked for before.
void without_libraries() {
    open_late(LateLibrary::onednn, not_there), open_late(LateLibrary::openblas, not_there);
    auto fail = [](const char* what) { std::fprintf(stderr, "%s\n", what), std::exit(1); };
    if (opened != 0) fail("opened before it was needed");
    Tensor x = numbers({2, 16, 9, 9}, DType::float32), w = numbers({16, 16, 3, 3}, DType::float32);
    std::string said = explain(conv2d(x, w)).timings();
    if (said.find("oneDNN") != said.npos || opened != 1) fail(said.c_str());
    Tensor a = numbers({600, 700}, DType::float32), b = numbers({700, 900}, DType::float32);
    Tensor square = numbers({24, 24}, DType::float64);
    if (explain(linalg::svdvals(square)).timings().find("LAPACK") != std::string::npos) fail("LAPACK");
    Tensor found = matmul(a, b), wanted = matmul(a.astype(DType::float64), b.astype(DType::float64));
    for (std::int64_t i = 0; i < 600 * 900; i += 997) {
        double difference = found.to_vector<float>()[static_cast<std::size_t>(i)] -
                            wanted.to_vector<double>()[static_cast<std::size_t>(i)];
        if (std::abs(difference) > 1e-3) fail("the product is wrong");
        if (i > 20000) break;
    }
    if (opened != 2 || is_there(LateLibrary::onednn) || symbol_of(LateLibrary::openblas, "cblas_sgemm"))
        fail("there after all");
    std::exit(0);
}

TEST(LateLibraryDeathTest, weft_does_without) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(without_libraries(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::cpu
