// The CUDA text: compiled by NVRTC where that is installed (no GPU is needed), run where there is a GPU, judged by the interpreter.
#include <gmock/gmock.h>

#include "backend/device_cases.h"
#include "weft/backend/cuda/device.h"
#include "weft/backend/cuda/nvrtc.h"

namespace weft {
namespace {

struct Cuda {
    using Device = cuda::Device;
    using Buffer = cuda::Buffer;
    using Operand = cuda::Operand;
    using Kernels = cuda::Kernels;
};

class CudaText : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        try {
            cuda::nvrtc_version();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    /// Every kernel is an entry of what the compiler made.
    static void expect_compiled(const std::vector<KernelCase>& cases) {
        std::vector<NamedLoop> loops = kernels_of(cases);
        std::string ptx = cuda::compile_cuda(print_c(loops, Dialect::cuda), GetParam());
        for (const NamedLoop& named : loops)
            EXPECT_NE(ptx.find(text(".entry ", named.name, "(")), ptx.npos) << named.name;
        EXPECT_EQ(ptx.find("fma.rn.ftz"), ptx.npos);
    }
};

TEST_P(CudaText, of_opcodes_compiles) { expect_compiled(opcode_cases()); }
TEST_P(CudaText, of_functions_compiles) { expect_compiled(function_cases()); }
TEST_P(CudaText, of_random_maps_compiles) { expect_compiled(random_map_cases(30)); }
TEST_P(CudaText, of_scans_compiles) { expect_compiled(scan_kernel_cases(20)); }
TEST_P(CudaText, of_scatters_compiles) { expect_compiled(scatter_kernel_cases(20)); }
TEST_P(CudaText, of_reductions_compiles) { expect_compiled(reduction_cases()); }

TEST_P(CudaText, of_random_reductions_compiles) { expect_compiled(random_reduction_cases(20)); }

TEST_P(CudaText, with_indices_of_64_bits_compiles) { expect_compiled(wide_cases()); }
TEST_P(CudaText, with_known_alignments_compiles) {
    std::vector<KernelCase> cases = random_map_cases(8);
    for (KernelCase& at : cases)
        for (auto* accesses : {&at.loop.loads, &at.loop.stores})
            for (Access& access : *accesses)
                if (access.source == Source::memory) access.alignment = 64;
    expect_compiled(cases);
}

INSTANTIATE_TEST_SUITE_P(Architectures, CudaText, testing::Values("compute_80", "compute_90"),
                         [](const auto& info) { return std::string(info.param); });

class CudaDevice : public testing::Test {
  protected:
    void SetUp() override {
        try {
            cuda::nvrtc_version();
            device_.emplace();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    void expect_right(const std::vector<KernelCase>& cases) const { expect_right_on<Cuda>(*device_, cases); }

    std::optional<cuda::Device> device_;
};

TEST_F(CudaDevice, opcodes_have_the_interpreters_bits) { expect_right(opcode_cases()); }
TEST_F(CudaDevice, functions_have_the_interpreters_bits) { expect_right(function_cases()); }
TEST_F(CudaDevice, random_maps_have_the_interpreters_bits) { expect_right(random_map_cases(30)); }
TEST_F(CudaDevice, scans_have_the_interpreters_bits) { expect_right(scan_kernel_cases(30)); }
TEST_F(CudaDevice, scatters_have_the_interpreters_bits) { expect_right(scatter_kernel_cases(30)); }
TEST_F(CudaDevice, reductions_join_in_lanes) { expect_right(reduction_cases()); }

TEST_F(CudaDevice, indices_of_64_bits_give_the_same) { expect_right(wide_cases()); }

TEST_F(CudaDevice, random_reductions_join_in_lanes) { expect_right(random_reduction_cases(20)); }

}  // namespace
}  // namespace weft
