// The OpenCL text, built and run by whatever device there is (PoCL on a CPU): judged by the interpreter, to the bit.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "backend/device_cases.h"
#include "must_fail.h"
#include "weft/backend/opencl/device.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

struct Api {
    using Device = opencl::Device;
    using Buffer = opencl::Buffer;
    using Operand = opencl::Operand;
    using Kernels = opencl::Kernels;
};

/// PoCL keeps what it compiles: for the tests in a folder that goes with them.
class OpenCl : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        char pattern[] = "/tmp/weft-opencl-XXXXXX";
        cache_ = mkdtemp(pattern);
        setenv("POCL_CACHE_DIR", cache_.c_str(), 1);
    }
    static void TearDownTestSuite() { fs::remove_all(cache_); }
    void SetUp() override {
        try {
            device_.emplace();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    void expect_right(const std::vector<KernelCase>& cases) const { expect_right_on<Api>(*device_, cases); }

    std::optional<opencl::Device> device_;
    static inline fs::path cache_;
};

TEST_F(OpenCl, opcodes_have_the_interpreters_bits) { expect_right(opcode_cases()); }
TEST_F(OpenCl, functions_have_the_interpreters_bits) { expect_right(function_cases()); }
TEST_F(OpenCl, random_maps_have_the_interpreters_bits) { expect_right(random_map_cases(30)); }
TEST_F(OpenCl, scans_have_the_interpreters_bits) { expect_right(scan_kernel_cases(30)); }
TEST_F(OpenCl, scatters_have_the_interpreters_bits) { expect_right(scatter_kernel_cases(30)); }
TEST_F(OpenCl, reductions_join_in_lanes) { expect_right(reduction_cases()); }

TEST_F(OpenCl, random_reductions_join_in_lanes) { expect_right(random_reduction_cases(20)); }

TEST_F(OpenCl, indices_of_64_bits_give_the_same) { expect_right(wide_cases()); }

TEST_F(OpenCl, a_kernel_is_refused_sizes_that_its_indices_do_not_count) {
    KernelCase narrow = random_map_cases(1)[0], wide = wide_cases()[0];
    wide.kernel = narrow.kernel;
    NamedLoop printed{narrow.kernel, narrow.loop};
    opencl::Kernels kernels(*device_, {&printed, 1});
    EXPECT_THROW(run_on<Api>(*device_, kernels, wide), InternalError);
}

TEST_F(OpenCl, an_operand_beyond_its_buffer_is_refused) {
    Random random(1);
    ProgramBuilder builder;
    builder.output(-builder.input(DType::int8));
    KernelCase at = flat_case(random, "negative", builder.take(), 10);
    at.loads[0].bytes.resize(9);
    EXPECT_THROW(expect_right({at}), InternalError);
}

TEST_F(OpenCl, a_device_that_is_not_there_is_named) {
    std::size_t found = opencl::devices().size();
    EXPECT_PLAIN_MESSAGE(DeviceError,
                         text("OpenCL: there is no device ", found, "; the ", found, " found are counted from 0"),
                         opencl::Device(found));
}

}  // namespace
}  // namespace weft
