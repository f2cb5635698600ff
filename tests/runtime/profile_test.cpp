#include "weft/runtime/profile.h"

#include <gtest/gtest.h>

#include "weft/autodiff/derivative.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/window.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

TEST(Profile, counts_every_step_by_operation_line_and_kernel) {
    Tensor x = ones({50, 50});
    x.eval();
    start_profile();
    for (int i = 0; i < 3; ++i) sum(matmul(x, x + static_cast<float>(i))).item<float>();
    Profile profile = stop_profile();
    sum(x).item<float>();  // nobody records any more
    EXPECT_GT(profile.seconds(), 0);
    std::int64_t products = 0;
    for (const ProfileEntry& entry : profile.by(&ProfileEntry::operation))
        if (entry.operation == "matmul") products = entry.runs;
    EXPECT_EQ(products, 3);
    ASSERT_FALSE(profile.by(&ProfileEntry::line).empty());
    EXPECT_NE(profile.by(&ProfileEntry::line)[0].line.find("profile_test.cpp:"), std::string::npos);
    EXPECT_NE(profile.str().find("-- by kernel"), std::string::npos);
    std::size_t before = profile.entries.size();
    EXPECT_EQ(stop_profile().entries.size(), before);
}

TEST(Profile, names_the_users_line_of_a_derivative_and_of_a_composite) {
    Tensor x = ones({8, 4});
    Tensor loss = mean(softmax(exp(x) + x));
    start_profile();
    gradient(loss, x).eval();
    Profile profile = stop_profile();
    for (const ProfileEntry& entry : profile.entries) {
        EXPECT_TRUE(entry.line.empty() || entry.line.find("profile_test.cpp:") != std::string::npos) << entry.line;
    }
}

std::vector<std::string> kernels_of(const Profile& profile) {
    std::vector<std::string> names;
    for (const ProfileEntry& entry : profile.entries) names.push_back(entry.kernel);
    return names;
}

TEST(Profile, names_kernels_that_are_gone) {
    Profile alive;
    start_profile();
    {
        Tensor w = ones({24, 16, 1, 1});
        auto f = compile([&](const Tensor& x) { return conv2d(x, w, {}, {.stride = {2, 2}}); });
        f(ones({2, 16, 14, 14})).eval();
        alive = stop_profile();
    }
    std::vector<std::string> over;  // where theirs lay
    for (std::size_t length = 16; length < 80; ++length)
        for (int i = 0; i < 8; ++i) over.emplace_back(length, '?');
    EXPECT_EQ(kernels_of(stop_profile()), kernels_of(alive));
}

}  // namespace
}  // namespace weft
