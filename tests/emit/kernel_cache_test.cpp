// What emitted kernels cost beside their time: memory that comes back, one compilation for all sizes, and what happens where there
// is no emitter.
#include "weft/backend/cpu/emit/kernel_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "emit/emitter_cases.h"
#include "weft/backend/cpu/emit/code_pool.h"
#include "weft/backend/cpu/isa.h"
#include "weft/compile/device.h"
#include "weft/core/buffer.h"
#include "weft/found.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

using namespace cpu::emit;

/// Asked without making a kernel, so that the pool is still empty where that matters.
bool emits() { return WEFT_HAVE_XBYAK && emission() != Emission::off && cpu::name_of(cpu::best_isa()) != "baseline"; }

Program scaled_sum(double factor) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), y = builder.input(DType::float32);
    builder.output(x * factor + exp(y));
    return builder.take();
}

Loop loop_of(Program program, Dims dims, Dims strides) {
    Access access{DType::float32, strides};
    return {
        .program = std::move(program), .dims = dims, .loads = {access, access}, .stores = {access}, .reductions = {}};
}

std::shared_ptr<const CompiledKernel> kernel_of(double factor) {
    StreamKind kind{DType::float32, Mode::contiguous};
    StreamKind loads[] = {kind, kind}, stores[] = {kind};
    return kernel_for(scaled_sum(factor), loads, stores, cpu::best_isa());
}

TEST(KernelCache, ten_thousand_kernels_of_four_threads_leave_no_memory_behind) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    auto make = [](int first) {
        for (int i = 0; i < (share_under_sanitizers > 1 ? 500 : 2500); ++i) {
            auto kernel = kernel_of(first + i * 4);
            float x[3] = {1, 2, 3}, y[3] = {0, 0, 0}, z[3];
            std::int64_t words[] = {3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
            const void* arrays[] = {x, y, z};
            for (std::size_t k = 0; k < 3; ++k) words[Arguments{3}.base(k)] = reinterpret_cast<std::int64_t>(arrays[k]);
            (*kernel)(words);
            ASSERT_EQ(z[2], 3.f * static_cast<float>(first + i * 4) + 1.f);
        }
    };
    std::size_t used = CodePool::instance().used_bytes();
    for (int round = 0; round < 2; ++round) {
        std::size_t mapped = CodePool::instance().mapped_bytes();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back(make, i);
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(CodePool::instance().used_bytes(), used);
        EXPECT_TRUE(round == 0 || CodePool::instance().mapped_bytes() == mapped);
    }
    EXPECT_LE(CodePool::instance().mapped_bytes(), std::size_t{4} << 20);
}

TEST(KernelCache, kernels_made_while_others_run_do_not_disturb_them) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    auto kernel = kernel_of(0.5);
    std::thread maker([] {
        for (int i = 0; i < 500; ++i) EXPECT_TRUE(kernel_of(1e6 + i));
    });
    for (int i = 0; i < 2000; ++i) {
        float x[3] = {1, 2, 3}, y[3] = {0, 0, 0}, z[3];
        const void* arrays[] = {x, y, z};
        std::int64_t words[11] = {3, 1};
        for (std::size_t k = 0; k < 3; ++k) words[Arguments{3}.base(k)] = reinterpret_cast<std::int64_t>(arrays[k]);
        (*kernel)(words);
        ASSERT_EQ(z[0], 1.5f);
    }
    maker.join();
}

TEST(KernelCache, those_who_ask_for_the_same_at_once_share_one) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    for (int round = 0; round < 50; ++round) {
        std::size_t compiled = compiled_count();
        std::shared_ptr<const CompiledKernel> kernels[4];
        std::vector<std::thread> threads;
        for (auto& kernel : kernels) threads.emplace_back([&kernel, round] { kernel = kernel_of(2e6 + round); });
        for (std::thread& thread : threads) thread.join();
        for (auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
        EXPECT_TRUE(kernels[0]);
        EXPECT_EQ(compiled_count(), compiled + 1);
    }
}

TEST(KernelCache, another_size_compiles_nothing) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    auto first = cpu_compiler().loop(loop_of(scaled_sum(0.125), {100}, {1}));
    std::size_t compiled = compiled_count();
    for (std::int64_t size : {7, 1000, 4097}) {
        auto other = cpu_compiler().loop(loop_of(scaled_sum(0.125), {size}, {1}));
        auto matrix = cpu_compiler().loop(loop_of(scaled_sum(0.125), {size, 5}, {9, 1}));
        EXPECT_EQ(other->by(), "emitter");
    }
    EXPECT_EQ(compiled_count(), compiled);
}

// Of 32 bytes, or as many of a whole one as the elements fill.
TEST(KernelCache, a_long_program_is_compiled_once_for_each_number_of_vectors_up_to_four) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    for (DType type : {DType::float32, DType::float64}) {
        ProgramBuilder builder;
        Scalar x = builder.input(type), y = builder.input(type);
        for (int i = 0; i < 100; ++i) y = x - y * (1 + i);
        builder.output(y);
        Program chain = builder.take();
        std::size_t compiled = compiled_count();
        std::vector<std::unique_ptr<Kernel>> kernels;
        std::set<std::int64_t> vectors;
        for (std::int64_t size : {3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 47, 48, 63, 64, 999}) {
            Loop loop = loop_of(chain, {size}, {1});
            for (auto* accesses : {&loop.loads, &loop.stores})
                for (Access& access : *accesses) access.dtype = type;
            kernels.push_back(cpu_compiler().loop(std::move(loop)));
            std::int64_t bytes = size * static_cast<std::int64_t>(size_of(type));
            bool long_ones = cpu::best_isa() == cpu::Isa::avx512;
            vectors.insert(long_ones && bytes <= 32 ? 0
                                                    : std::clamp<std::int64_t>(bytes / (long_ones ? 64 : 32), 1, 4));
            EXPECT_EQ(compiled_count(), compiled + vectors.size()) << type << ", " << size;
        }
    }
}

TEST(KernelCache, a_kernel_that_nobody_needs_is_unloaded) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    std::size_t alive = alive_count();
    auto kernel = kernel_of(0.375);
    EXPECT_EQ(alive_count(), alive + 1);
    kernel.reset();
    EXPECT_EQ(alive_count(), alive);
}

TEST(KernelCache, the_emitter_may_be_switched_off) {
    Emitting off(Emission::off);
    EXPECT_EQ(cpu_compiler().loop(loop_of(scaled_sum(2), {100}, {1}))->by(), "block evaluator");
}

/// Runs a loop over {1, 2, 3} and {0, 0, 0}; whether x * 2 + exp(y) came out, and who ran it.
bool runs_right_by(std::string_view by) {
    auto kernel = cpu_compiler().loop(loop_of(scaled_sum(2), {3}, {1}));
    float x[3] = {1, 2, 3}, y[3] = {0, 0, 0}, z[3] = {};
    void* operands[] = {x, y, z};
    auto scratch = Buffer::allocate(kernel->scratch_bytes());
    kernel->run(operands, static_cast<std::byte*>(scratch->data()));
    return kernel->by() == by && z[0] == 3 && z[1] == 5 && z[2] == 7;
}

// A process of its own each, for both are decided once in a process.
TEST(KernelCacheDeathTest, the_environment_switches_the_emitter_off) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            setenv("WEFT_EMITTER", "off", 1);
            std::exit(runs_right_by("block evaluator") ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// From now on the system refuses files in memory, as some hardened ones do.
bool refuse_memory_files() {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(KernelCacheDeathTest, without_executable_memory_the_block_evaluator_runs_and_it_is_said_once) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            if (!refuse_memory_files()) std::exit(0);  // this system lets nobody filter: nothing can be shown
            bool right = runs_right_by("block evaluator") && runs_right_by("block evaluator");
            std::fputs("end\n", stderr);
            std::exit(right ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^(weft: this system gives no memory for machine code \\(.*\\).*\n)?end\n$");
}
#endif

TEST(KernelCache, loops_of_one_byte_values_run_where_lanes_are_as_narrow) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    for (DType dtype : {DType::int8, DType::uint8, DType::bool_, DType::int16, DType::float32}) {
        ProgramBuilder builder;
        Scalar x = builder.input(dtype), y = builder.input(dtype);
        builder.output(select(x == y, x, y));
        Access access{dtype, {1}};
        Loop loop{
            .program = builder.take(), .dims = {100}, .loads = {access, access}, .stores = {access}, .reductions = {}};
        EXPECT_EQ(cpu_compiler().loop(loop)->by(), size_of(dtype) == 1 ? "block evaluator" : "emitter") << dtype;
    }
}

TEST(KernelCache, equal_kernels_are_compiled_once_however_their_arrays_are_aligned) {
    if (!emits()) GTEST_SKIP() << no_emitter;
    Loop loop = loop_of(scaled_sum(7531), {100}, {1}), aligned = loop;
    aligned.loads[1].alignment = 16, aligned.stores[0].alignment = 64;
    auto first = cpu_compiler().loop(loop);
    std::size_t before = compiled_count();
    auto second = cpu_compiler().loop(aligned);
    EXPECT_EQ(second->by(), "emitter");
    EXPECT_EQ(compiled_count(), before);
}

}  // namespace
}  // namespace weft
