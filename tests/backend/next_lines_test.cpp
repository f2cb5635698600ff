// What a product asks for meanwhile: every line once, whoever shares it out, and the product is the same.
#include "weft/backend/cpu/next_lines.h"

#include <map>

#include "gemm_cases.h"

namespace weft::cpu {
namespace {

std::map<std::int64_t, int> lines_taken(std::span<const ReadNext> all, std::int64_t parts, std::int64_t count,
                                        const std::byte* base) {
    std::map<std::int64_t, int> taken;
    for (std::int64_t part = 0; part < parts; ++part) {
        own::NextLines lines(all, part, parts);
        while (auto from = static_cast<const std::byte*>(lines.take(count)))
            for (std::int64_t i = 0; i < count; ++i) ++taken[(from - base) / own::line_bytes + i];
    }
    return taken;
}

TEST(NextLines, are_all_taken_by_any_number_of_parts) {
    std::vector<std::byte> memory(64 * 200);
    ReadNext all[] = {{memory.data(), 64 * 70}, {memory.data() + 64 * 100, 64 * 30 - 5}, {memory.data() + 64 * 190, 0}};
    for (std::int64_t parts : {1, 2, 3, 7, 64}) {
        std::map<std::int64_t, int> taken = lines_taken(all, parts, 1, memory.data());
        EXPECT_EQ(taken.size(), 100u) << parts;
        for (auto [line, times] : taken) EXPECT_EQ(times, 1) << line << " in " << parts;
    }
    EXPECT_GE(lines_taken(all, 3, 16, memory.data()).size(), 100u);
    EXPECT_EQ(own::NextLines().take(1), nullptr);
}

TEST(NextLines, leave_a_product_as_it_is) {
    std::vector<float> far(100000);
    ReadNext next[] = {{far.data(), 300000}, {far.data() + 90000, 40000}};
    for (Sizes s : {Sizes{64, 256, 128}, Sizes{32, 1024, 128}, Sizes{40, 33, 600}, Sizes{7, 9, 30}, Sizes{300, 4200, 5},
                    Sizes{40, 33, 2100}, Sizes{20, 300, 4}, Sizes{3, 1030, 20}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
            for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns}) {
                Sample<float> a(s.m, s.k, of_a, 1), b(s.k, s.n, of_b, 2);
                std::vector<float> plain(static_cast<std::size_t>(s.m * s.n)), told = plain;
                gemm(DType::float32, s.m, s.n, s.k, a.matrix, b.matrix, plain.data(), s.n);
                gemm(DType::float32, s.m, s.n, s.k, a.matrix, b.matrix, told.data(), s.n, false, {.next = next});
                EXPECT_EQ(plain, told) << s.m << ' ' << s.n << ' ' << s.k;
            }
}

}  // namespace
}  // namespace weft::cpu
