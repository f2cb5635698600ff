// The printed C, compiled by this machine's compiler into one shared object: judged by the interpreter, to the bit.
#include "weft/kernel/print_c.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "backend/kernel_cases.h"
#include "must_fail.h"
#include "weft/backend/cpu/block_evaluator.h"
#include "weft/backend/refused_text.h"
#include "weft/core/buffer.h"
#include "weft/kernel/c_dialect.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

bool has_compiler() { return std::system("cc --version >/dev/null 2>&1") == 0; }

/// A shared object of the kernels, each called through a function "call_<name>" of one form.
class CompiledC {
  public:
    using Call = void (*)(const void* const* loads, void* const* stores, const std::int64_t* numbers);

    CompiledC(const std::vector<NamedLoop>& loops, const char* options) {
        char pattern[] = "/tmp/weft-print-c-XXXXXX";
        folder_ = mkdtemp(pattern);
        std::string source = (folder_ / "kernels.c").string(), object = (folder_ / "kernels.so").string();
        std::ofstream file(source);
        file << print_c(loops, Dialect::c);
        for (const NamedLoop& named : loops) file << caller(named);
        file.close();
        std::string command =
            text("cc ", options, " -w -ffp-contract=off -fPIC -shared -o ", object, " ", source, " -lm");
        if (std::system(command.c_str()) == 0) handle_ = dlopen(object.c_str(), RTLD_NOW);
    }
    ~CompiledC() {
        if (handle_) dlclose(handle_);
        fs::remove_all(folder_);
    }
    bool made() const { return handle_ != nullptr; }
    Call call(const std::string& name) const {
        return reinterpret_cast<Call>(dlsym(handle_, ("call_" + name).c_str()));
    }

  private:
    static std::string caller(const NamedLoop& named) {
        std::string arguments;
        auto add = [&](const char* array, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                arguments += text(arguments.empty() ? "" : ", ", array, "[", i, "]");
        };
        for (std::size_t i = 0; i < named.loop.loads.size(); ++i) {
            const Access& load = named.loop.loads[i];
            if (load.source == Source::memory)
                arguments += text(i ? ", " : "", "loads[", i, "]");
            else
                arguments += text(i ? ", " : "", "(int64_t)loads[", i, "] / ", size_of(load.dtype));
        }
        add("stores", named.loop.stores.size());
        add("numbers", numbers_for(named.loop).size());
        return text("\nvoid call_", named.name,
                    "(const void* const* loads, void* const* stores, const int64_t* numbers)\n{\n    ", named.name, "(",
                    arguments, ");\n}\n");
    }

    fs::path folder_;
    void* handle_ = nullptr;
};

/// In buffers as plans allocate them.
Stored run(const CompiledC& compiled, const KernelCase& at) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<const void*> loads;
    std::vector<void*> stores;
    auto address = [&](const Memory& memory) -> void* {
        if (memory.bytes.empty()) return reinterpret_cast<void*>(memory.first);
        buffers.push_back(Buffer::allocate(memory.bytes.size()));
        std::copy(memory.bytes.begin(), memory.bytes.end(), buffers.back()->data());
        return buffers.back()->data() + memory.first;
    };
    for (const Memory& memory : at.loads) loads.push_back(address(memory));
    std::size_t first = buffers.size();
    for (const Memory& memory : at.stores) stores.push_back(address(memory));
    compiled.call(at.kernel)(loads.data(), stores.data(), numbers_for(at.loop).data());
    Stored stored;
    for (std::size_t i = first; i < buffers.size(); ++i)
        stored.emplace_back(buffers[i]->data(), buffers[i]->data() + buffers[i]->bytes());
    return stored;
}

void expect_right(const std::vector<KernelCase>& cases, const char* options) {
    if (!has_compiler()) GTEST_SKIP() << "no C compiler (cc) on this machine";
    CompiledC compiled(kernels_of(cases), options);
    ASSERT_TRUE(compiled.made());
    for (const KernelCase& at : cases) {
        expect_stored(at, expected_of(at), run(compiled, at));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PrintedC, opcodes_have_the_interpreters_bits) { expect_right(opcode_cases(), "-std=c99 -O1"); }
TEST(PrintedC, functions_have_the_interpreters_bits) { expect_right(function_cases(), "-std=c99 -O1"); }
TEST(PrintedC, random_maps_have_the_interpreters_bits) { expect_right(random_map_cases(300), "-std=c99 -O1"); }
TEST(PrintedC, scans_have_the_interpreters_bits) { expect_right(scan_kernel_cases(150), "-std=c99 -O1"); }
TEST(PrintedC, scatters_have_the_interpreters_bits) { expect_right(scatter_kernel_cases(150), "-std=c99 -O1"); }
TEST(PrintedC, reductions_join_in_lanes) { expect_right(reduction_cases(), "-std=c99 -O1"); }

TEST(PrintedC, random_reductions_join_in_lanes) { expect_right(random_reduction_cases(150), "-std=c99 -O1"); }

/// Rows up to the block evaluator's chunk are joined alike there and in print (its rule is held by its own tests); beyond, and along
/// outer axes, it joins in blocks of its own.
TEST(PrintedC, rows_have_the_block_evaluators_bits) {
    int compared = 0;
    for (const KernelCase& at : reduction_cases()) {
        bool rows = at.kernel.starts_with("inner_of_") && at.loop.dims[1] > 0 && at.loop.dims[1] <= 16384;
        if (!rows) continue;
        KernelCase copy = at;
        std::vector<const void*> loads;
        std::vector<void*> stores;
        for (Memory& memory : copy.loads) loads.push_back(memory.data());
        for (Memory& memory : copy.stores) stores.push_back(memory.data());
        BlockKernel kernel(at.loop);
        auto scratch = Buffer::allocate(kernel.scratch_bytes());
        kernel.run(loads.data(), stores.data(), scratch->data());
        Stored printed = expected_of(at);
        for (std::size_t i = 0; i < printed.size(); ++i, ++compared)
            ASSERT_EQ(difference(at.loop.stores[i].dtype, printed[i], copy.stores[i].bytes, true), -1)
                << at.kernel << ", store " << i << ", rows of " << at.loop.dims[1];
    }
    EXPECT_GT(compared, 300);
}

/// A lane holds n / 64 numbers, and six halvings join the lanes: so many roundings of at most half a unit of the sum of magnitudes
/// (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), against the interpreter's sums in long double.
TEST(PrintedC, sums_are_as_accurate_as_their_tree) {
    Random random(5);
    for (std::int64_t row : {1, 64, 1000, 50000}) {
        ProgramBuilder builder;
        Scalar x = builder.input(DType::float32);
        builder.output(x), builder.output(abs(x));
        Loop loop{.program = builder.take(),
                  .dims = {4, row},
                  .reduced = 1,
                  .loads = {{DType::float32, {row, 1}}},
                  .stores = {{DType::float32, {1}}, {DType::float32, {1}}},
                  .reductions = {Reduction::sum, Reduction::sum}};
        KernelCase at = case_of(random, "sums", std::move(loop), false);
        Stored printed = expected_of(at), exact = interpreted(at);
        for (std::size_t i = 0; i < 4; ++i) {
            float sums[3];
            std::memcpy(&sums[0], printed[0].data() + 4 * i, 4);
            std::memcpy(&sums[1], exact[0].data() + 4 * i, 4);
            std::memcpy(&sums[2], exact[1].data() + 4 * i, 4);
            double roundings = static_cast<double>((row + 63) / 64 - 1 + 6 + 1);  // the last: the interpreter's own
            EXPECT_NEAR(sums[0], sums[1], roundings * 0x1p-24 * 1.001 * static_cast<double>(sums[2])) << row;
        }
    }
}

/// Halves rounded down and doubled, integers read backwards; or sums of squares along rows.
Loop sample(bool reduced) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), y = builder.input(DType::int32);
    builder.output(reduced ? x * x : 2 * floor(x));
    if (!reduced) builder.output(y + 1);
    Loop loop{.program = builder.take(),
              .dims = {3, 5},
              .reduced = reduced ? 1u : 0u,
              .loads = {{DType::float16, {5, 1}}, {DType::int32, {0, -1}}},
              .stores = {{DType::float32, {5, 1}}, {DType::int32, {5, 1}}},
              .reductions = {}};
    if (reduced) loop.stores = {{DType::float32, {1}}}, loop.reductions = {Reduction::sum};
    return loop;
}

/// From the comment above the kernel on.
std::string kernel_alone(const std::string& text) { return text.substr(text.rfind("\n//") + 1); }

TEST(PrintedC, reads_like_c) {
    EXPECT_EQ(kernel_alone(print_c(sample(false), Dialect::c, "rounded")),
              R"(// rounded: for every (i, j) of a box of n_i * n_j.
void rounded(const float16_bits* x0, const int32_t* x1,
             float* y0, int32_t* y1,
             int64_t n_i, int64_t n_j,
             int64_t x0_i,
             int64_t x1_j,
             int64_t y0_i,
             int64_t y1_i)
{
    for (int64_t i = 0; i < n_i; ++i) {
        for (int64_t j = 0; j < n_j; ++j) {
            const float v0 = float16_to_float32(x0[i * x0_i + j]);
            const int32_t v1 = x1[j * x1_j];
            const float v2 = floorf(v0);
            const float v4 = 2.0f * v2;
            const int32_t v6 = (int32_t)((uint32_t)v1 + (uint32_t)1);
            y0[i * y0_i + j] = v4;
            y1[i * y1_i + j] = v6;
        }
    }
}
)");
}

/// Doubled numbers added where integers say, row after row.
Loop sample_scatter() {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32);
    (void)builder.input(DType::int64);
    builder.output(x + x);
    Loop loop{.program = builder.take(),
              .dims = {3, 5},
              .loads = {{DType::float32, {5, 1}}, {DType::int64, {1, 0}}},
              .stores = {{DType::float16, {0, 1}, {{1, 4, 5, 0, "scatter"}}}},
              .reductions = {}};
    loop.scatter = ScatterMode::add;
    return loop;
}

TEST(PrintedC, a_scatter_on_a_grid_gives_what_may_meet_to_one_thread) {
    EXPECT_EQ(kernel_alone(print_c(sample_scatter(), Dialect::cuda, "spread")),
              R"(// spread: for every (i, j) of a box of n_i * n_j, in this order: add where indices say.
extern "C" __global__ void spread(const float* x0, const int64_t* x1,
                                  float16_bits* y0,
                                  int32_t n_i, int32_t n_j,
                                  int32_t x0_i,
                                  int32_t y0_size0, int32_t y0_step0)
{
    for (int32_t point = (int32_t)blockIdx.x * blockDim.x + threadIdx.x; point < n_j; point += (int32_t)gridDim.x * blockDim.x) {
        const int32_t j = point;
        for (int32_t i = 0; i < n_i; ++i) {
            const float v0 = x0[i * x0_i + j];
            const float v1 = v0 + v0;
            int32_t y0_at0 = (int32_t)x1[i];
            if (y0_at0 < 0) y0_at0 += y0_size0;
            const float16_bits stored = float32_to_float16(v1);
            const float update = float16_to_float32(stored);
            const float old = float16_to_float32(y0[j + y0_at0 * y0_step0]);
            const float sum = update + old;
            y0[j + y0_at0 * y0_step0] = float32_to_float16(sum);
        }
    }
}
)");
}

/// The text with the words of a dialect in the place of another's.
std::string in_words_of(std::string printed, const DialectWords& from, const DialectWords& to) {
    auto replace = [&](std::string_view words, std::string_view others) {
        std::string word = filled(words, {{'I', "int32_t"}}), by = filled(others, {{'I', "int32_t"}});
        for (std::size_t at = printed.find(word); at != printed.npos; at = printed.find(word, at + by.size()))
            printed.replace(at, word.size(), by);
    };
    replace(from.group, to.group), replace(from.groups, to.groups), replace(from.lane, to.lane);
    replace(from.barrier, to.barrier), replace(from.local, to.local);
    return printed;
}

TEST(PrintedC, a_reduction_on_a_grid_is_one_text_in_two_sets_of_words) {
    auto body = [](const std::string& printed) { return printed.substr(printed.find("y0_lanes[64];")); };
    std::string opencl = body(print_c(sample(true), Dialect::opencl, "squares")),
                cuda = body(print_c(sample(true), Dialect::cuda, "squares"));
    EXPECT_EQ(in_words_of(opencl, words_of(Dialect::opencl), words_of(Dialect::cuda)), cuda);
    EXPECT_EQ(body(kernel_alone(cuda)), R"(y0_lanes[64];
    const int lane = (int)threadIdx.x;
    const int32_t results = n_i, elements = n_j;
    for (int32_t result = (int32_t)blockIdx.x; result < results; result += (int32_t)gridDim.x) {
        const int32_t i = result;
        for (int32_t r = lane; r < elements; r += 64) {
            const int32_t j = r;
            const float v0 = float16_to_float32(x0[i * x0_i + j]);
            const float v1 = v0 * v0;
            y0_lanes[lane] = r == lane ? v1 : y0_lanes[lane] + v1;
        }
        __syncthreads();
        for (int step = 32; step > 0; step /= 2) {
            if (lane < step && lane + step < elements) {
                y0_lanes[lane] = y0_lanes[lane] + y0_lanes[lane + step];
            }
            __syncthreads();
        }
        if (lane == 0) {
            y0[i] = elements == 0 ? 0.0f : y0_lanes[0];
        }
        __syncthreads();  // before the lanes are used again
    }
}
)");
}

TEST(PrintedC, the_text_depends_on_structure_alone) {
    Loop loop = sample(false), larger = loop;
    larger.dims = {30, 7};
    larger.loads[0].strides = {70, 1};
    for (Dialect dialect : {Dialect::c, Dialect::opencl, Dialect::cuda})
        EXPECT_EQ(print_c(loop, dialect, "k"), print_c(larger, dialect, "k"));
    EXPECT_EQ(numbers_for(larger), (std::vector<std::int64_t>{30, 7, 70, -1, 5, 5}));
}

/// Sums along rows of one number, read again and again: a box of any size, in no memory.
Loop sums_of_a_number(const Dims& dims, std::int64_t stride) {
    ProgramBuilder builder;
    builder.output(builder.input(DType::float32));
    Dims still(dims.size(), 0), kept;
    still[0] = stride;
    for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) kept.push_back(1);
    return {.program = builder.take(),
            .dims = dims,
            .reduced = 1,
            .loads = {{DType::float32, still}},
            .stores = {{DType::float32, kept}},
            .reductions = {Reduction::sum}};
}

TEST(PrintedC, a_grid_counts_in_32_bits_where_these_count_all_points_and_elements) {
    constexpr std::int64_t most = 2147483647 - 65535 * 256;  // a thread adds that many to the number of its last point
    auto bits = [](const Dims& dims, std::int64_t stride = 0) {
        DType cuda = index_dtype(sums_of_a_number(dims, stride), Dialect::cuda);
        EXPECT_EQ(cuda, index_dtype(sums_of_a_number(dims, stride), Dialect::opencl));
        EXPECT_EQ(index_dtype(sums_of_a_number(dims, stride), Dialect::c), DType::int64);
        return 8 * size_of(cuda);
    };
    EXPECT_EQ(bits({most}), 32u);
    EXPECT_EQ(bits({most + 1}), 64u);
    EXPECT_EQ(bits({std::int64_t{1} << 33}), 64u);
    EXPECT_EQ(bits({70000, 2}, 30000), 32u);
    EXPECT_EQ(bits({70000, 2}, 31000), 64u) << "elements beyond 2^31";
    EXPECT_EQ(bits({70000, 2}, -31000), 64u) << "elements before -2^31";
    EXPECT_EQ(bits({1, 2}, std::int64_t{1} << 32), 64u) << "a stride that nothing moves by is an argument, too";
    EXPECT_EQ(bits({65536, 65536, 0}), 64u) << "a box of no points, whose first axes are counted";
}

TEST(PrintedC, a_box_beyond_32_bits_is_counted_in_64) {
    Loop large = sums_of_a_number({std::int64_t{1} << 33}, 0), small = sums_of_a_number({1 << 20}, 0);
    for (Dialect dialect : {Dialect::opencl, Dialect::cuda}) {
        std::string wide = print_c(large, dialect, "k"), narrow = print_c(small, dialect, "k");
        EXPECT_NE(wide.find("int64_t n_i"), wide.npos) << wide;
        EXPECT_NE(wide.find("for (int64_t r = lane; r < elements; r += 64)"), wide.npos) << wide;
        EXPECT_EQ(wide.find("int32_t"), wide.npos) << wide;
        EXPECT_NE(narrow.find("int32_t n_i"), narrow.npos) << narrow;
        EXPECT_NE(narrow.find("for (int32_t r = lane; r < elements; r += 64)"), narrow.npos) << narrow;
    }
    EXPECT_EQ(print_c(large, Dialect::c, "k"), print_c(small, Dialect::c, "k"));
}

TEST(PrintedC, a_known_alignment_is_said_where_the_dialect_has_words_for_it) {
    Loop loop = sample(false);
    loop.loads[0].alignment = 64, loop.stores[1].alignment = 16;
    for (Dialect dialect : {Dialect::c, Dialect::cuda}) {
        std::string printed = print_c(loop, dialect, "k");
        EXPECT_NE(printed.find("    x0 = (const float16_bits*)__builtin_assume_aligned(x0, 64);\n"
                               "    y1 = (int32_t*)__builtin_assume_aligned(y1, 16);\n"),
                  printed.npos)
            << printed;
    }
    EXPECT_EQ(print_c(loop, Dialect::opencl, "k"), print_c(sample(false), Dialect::opencl, "k"));
}

/// Vectorised, so that a promise is an access that an address which breaks it would not survive.
TEST(PrintedC, aligned_kernels_have_the_interpreters_bits) {
    if (!has_compiler()) GTEST_SKIP() << "no C compiler (cc) on this machine";
    std::vector<KernelCase> cases, aligned;
    Random random(3);
    for (DType dtype : {DType::float32, DType::float64, DType::int32, DType::int8}) {
        ProgramBuilder builder;
        Scalar x = builder.input(dtype), y = builder.input(dtype);
        builder.output(x * y + x), builder.output(x - y);
        cases.push_back(flat_case(random, text("aligned_", dtype, "_"), builder.take(), 1003));
        aligned.push_back(cases.back());
        for (auto* accesses : {&aligned.back().loop.loads, &aligned.back().loop.stores})
            for (Access& access : *accesses) access.alignment = 64;
    }
    CompiledC compiled(kernels_of(aligned), "-std=c99 -O3");
    ASSERT_TRUE(compiled.made());
    for (std::size_t i = 0; i < cases.size(); ++i)
        expect_stored(cases[i], expected_of(cases[i]), run(compiled, aligned[i]));
}

TEST(PrintedC, a_function_that_is_no_program_is_refused_by_name) {
    ProgramBuilder builder;
    builder.output(sin(builder.input(DType::complex64)));
    Loop loop{.program = builder.take(),
              .dims = {},
              .loads = {{DType::complex64, {}}},
              .stores = {{DType::complex64, {}}},
              .reductions = {}};
    EXPECT_PLAIN_MESSAGE(
        CompileError,
        "the function sin of complex64 is not a program of weft's own, so it cannot be printed as OpenCL C; "
        "compute this part on the CPU",
        print_c(loop, Dialect::opencl, "k"));
}

TEST(RefusedText, goes_to_a_file_that_the_message_names) {
    CompileError error = refused_text("the compiler", "some text", "no", ".cl");
    std::string message = error.what(),
                start = "the compiler refused a kernel that weft printed; its text and the compiler's words are in ",
                end = ". Run this on the CPU, and please report it with that file.";
    ASSERT_EQ(message.substr(0, start.size()), start);
    ASSERT_EQ(message.substr(message.size() - end.size()), end);
    std::string path = message.substr(start.size(), message.size() - start.size() - end.size());
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "some text\n/* The compiler said:\nno\n*/\n");
    fs::remove(path);
}

}  // namespace
}  // namespace weft
