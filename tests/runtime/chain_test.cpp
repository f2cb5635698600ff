// No walk over a graph recurses: a chain of a million operations is built, printed, differentiated, computed and let go on a stack
// of 512 KiB. The test runs itself again under that limit.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "effort.h"
#include "weft/autodiff/derivative.h"
#include "weft/graph/graph.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

constexpr int links = share_under_sanitizers == 1 ? 1'000'000 : 20'000;  // which no recursion would survive either

TEST(Chain, DISABLED_of_a_million_operations) {
    rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    ASSERT_EQ(limit.rlim_cur, rlim_t{512} * 1024);
    Tensor x = Tensor::of<double>({1, 2, 3}), slope;
    {
        KeepPending keep;
        Tensor y = x;
        for (int i = 0; i < links; ++i) y = i % 1000 == 999 ? sin(y) : -y;
        Node* outputs[] = {y.node()};
        std::string shown = str(gather(outputs));
        EXPECT_NE(shown.find(text("... ", links - 199, " more ...")), std::string::npos);
        EXPECT_LT(shown.size(), 20000u);
        Tensor loss = sum(y);
        slope = gradient(loss, x);
        Tensor wanted[] = {loss, slope};
        eval(wanted);
        EXPECT_TRUE(std::isfinite(loss.item<double>()));
        Tensor dropped = x;  // and one that is let go without having been computed
        for (int i = 0; i < links; ++i) dropped = -dropped;
    }
    double expected =
        1;  // d sin(sin(... sin(1))) by the chain rule; two turns of sign cancel between sines (999 of them do not)
    double at = 1;
    for (int i = 0; i < links; ++i) {
        if (i % 1000 == 999)
            expected *= std::cos(at), at = std::sin(at);
        else
            expected = -expected, at = -at;
    }
    EXPECT_NEAR(slope.to_vector<double>()[0], expected, 1e-9 * std::abs(expected));
}

TEST(Chain, of_a_million_operations_needs_no_deep_stack) {
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ASSERT_GT(length, 0);
    self[length] = 0;
    pid_t child = fork();
    if (child == 0) {
        rlimit limit{512 * 1024, 512 * 1024};
        setrlimit(RLIMIT_STACK, &limit);
        execl(self, self, "--gtest_filter=Chain.DISABLED_of_a_million_operations", "--gtest_also_run_disabled_tests",
              "--gtest_brief=1", "--gtest_output=", nullptr);
        _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Chain, what_waits_is_bounded_when_nobody_asks) {
    Tensor y = Tensor::of<double>({1, 2, 3});
    for (int i = 0; i < 100'000; ++i) {
        y = y + 1e-5;
        ASSERT_LE(y.node()->depth, 4097u);
    }
    EXPECT_NEAR(y.to_vector<double>()[0], 2, 1e-9);
}

}  // namespace
}  // namespace weft
