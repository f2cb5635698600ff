// The ways of products that only some shapes take: halves of vectors, inner products, few columns, packed matrices, batches.
#include "backend/gemm_cases.h"
#include "effort.h"

namespace weft::cpu {
namespace {

template <class T>
std::vector<T> with_epilogue(const Sizes& s, OperandLayout of_a, bool accumulate) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, OperandLayout::rows, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * (s.n + 3)), T(0.5)), bias(static_cast<std::size_t>(s.n));
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<T>(0.01) * static_cast<T>(j);
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n + 3, accumulate, {bias.data(), true});
    return c;
}

template <class T>
void check_halves() {
    for (std::int64_t n = 2; n <= 42; ++n)
        for (Sizes s : {Sizes{17, n, 15}, Sizes{29, n, 16}, Sizes{45, n, 130}})
            for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
                for (bool accumulate : {false, true}) {
                    use_halves(false);
                    std::vector<T> whole = with_epilogue<T>(s, of_a, accumulate);
                    use_halves(true);
                    EXPECT_TRUE(same_bits(with_epilogue<T>(s, of_a, accumulate), whole))
                        << s.m << "x" << n << "x" << s.k;
                }
}

TEST(Gemm, half_a_vector_gives_the_same_bits_as_a_whole_one) {
    bool before = computes_in_halves();
    check_halves<float>();
    check_halves<double>();
    use_halves(before);
}

/// Where vectors are computed as halves tiles have fewer rows, and b is read as it lies more often.
template <class T>
void check_tiles_for_halves() {
    for (Sizes s : {Sizes{64, 64, 64}, Sizes{65, 100, 7}, Sizes{100, 80, 50}, Sizes{200, 300, 40}, Sizes{20, 130, 512},
                    Sizes{33, 4100, 3}, Sizes{130, 4100, 5}, Sizes{64, 32, 65}, Sizes{3, 200, 700}, Sizes{50, 24, 50},
                    Sizes{49, 49, 32}, Sizes{63, 20, 40}, Sizes{47, 42, 33}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
            for (bool accumulate : {false, true}) {
                use_halves(false);
                std::vector<T> whole = with_epilogue<T>(s, of_a, accumulate);
                use_halves(true);
                EXPECT_TRUE(same_bits(with_epilogue<T>(s, of_a, accumulate), whole)) << s.m << "x" << s.n << "x" << s.k;
            }
}

TEST(Gemm, tiles_for_halves_of_vectors_give_the_same_bits) {
    bool before = computes_in_halves();
    check_tiles_for_halves<float>();
    check_tiles_for_halves<double>();
    use_halves(before);
}

/// Columns of one vector, all of them or the last ones, whose tiles may have more rows than others.
template <class T>
void check_ends() {
    for (std::int64_t m : {6, 7, 12, 13, 25, 47, 300})
        for (std::int64_t n : {3, 4, 5, 7, 8, 9, 17, 20, 24, 33, 65})
            for (std::int64_t k : {9, 70, 300})
                for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns, OperandLayout::strided}) {
                    std::vector<T> first;
                    for (Isa isa : usable_isas()) {
                        InstructionSet guard(isa);
                        std::vector<T> c = with_epilogue<T>({m, n, k}, of_a, k == 70);
                        if (first.empty()) first = c;
                        EXPECT_TRUE(same_bits(c, first)) << name_of(isa) << ": " << m << "x" << n << "x" << k;
                    }
                }
}

TEST(Gemm, columns_that_end_within_a_tile_have_the_same_bits_for_every_instruction_set) {
    check_ends<float>();
    check_ends<double>();
}

/// What was chosen for other processors, with this one's instructions: how tiles are cut, what is copied and when, in which order they go by.
template <class T>
void check_processors() {
    for (Sizes s : {Sizes{64, 64, 64}, Sizes{65, 100, 7}, Sizes{100, 80, 50}, Sizes{200, 300, 40}, Sizes{20, 130, 512},
                    Sizes{33, 4100, 3}, Sizes{130, 1024, 70}, Sizes{64, 32, 65}, Sizes{3, 200, 700},
                    Sizes{300, 24, 300}, Sizes{49, 64, 1100}, Sizes{260, 200, 300}, Sizes{47, 42, 33}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns}) {
            std::vector<T> first;
            for (Processor kind : {Processor::intel, Processor::zen3, Processor::zen4, Processor::zen5}) {
                use_processor(kind);
                std::vector<T> c = with_epilogue<T>(s, of_a, true);
                if (first.empty()) first = c;
                EXPECT_TRUE(same_bits(c, first)) << name_of(kind) << ": " << s.m << "x" << s.n << "x" << s.k;
            }
        }
}

TEST(Gemm, what_is_chosen_for_other_processors_gives_the_same_bits) {
    Processor before = processor();
    bool halves = computes_in_halves();
    check_processors<float>();
    check_processors<double>();
    use_processor(before), use_halves(halves);
}

/// A batch beyond the caches asks for what comes next; each of its products is the one that stands alone.
template <class T>
void check_far_batch(std::int64_t m, std::int64_t n, std::int64_t k) {
    std::int64_t count = (1 << 21) / (m * k + k * n + m * n) / static_cast<std::int64_t>(sizeof(T)) + 2;
    Sample<T> a(count * m, k, OperandLayout::rows, 5), b(count * k, n, OperandLayout::rows, 6);
    std::vector<T> together(static_cast<std::size_t>(count * m * n)), alone = together;
    batched_gemm(dtype_of<T>, {count, m * k, k * n, m * n}, m, n, k, a.matrix, b.matrix, together.data(), n);
    for (std::int64_t i = 0; i < count; ++i) {
        Matrix of_a = a.matrix, of_b = b.matrix;
        of_a.data = static_cast<const T*>(of_a.data) + i * m * k,
        of_b.data = static_cast<const T*>(of_b.data) + i * k * n;
        gemm(dtype_of<T>, m, n, k, of_a, of_b, alone.data() + i * m * n, n);
    }
    EXPECT_TRUE(same_bits(together, alone)) << count << " of " << m << "x" << n << "x" << k;
}

TEST(Gemm, a_batch_beyond_the_caches_gives_the_bits_of_its_products) {
    for (Sizes s : {Sizes{64, 64, 32}, Sizes{5, 40, 17}, Sizes{30, 3, 9}, Sizes{70, 66, 64}}) {
        check_far_batch<float>(s.m, s.n, s.k);
        check_far_batch<double>(s.m, s.n, s.k);
    }
}

/// So many lanes, number p in lane p % wide, by fused multiply-adds; then joined by halves.
template <class T, int wide = 64>
T inner_product_in_lanes(const T* a, const T* b, std::int64_t k) {
    T lanes[wide] = {};
    for (std::int64_t p = 0; p < k; ++p) lanes[p % wide] = std::fma(a[p], b[p], lanes[p % wide]);
    for (int half = wide / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

template <class T>
void check_inner_products() {
    for (std::int64_t m : {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 64, 70, 130}) {
        for (std::int64_t k :
             {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 24, 25, 33, 48, 49, 57, 63, 64, 65, 100, 128, 131, 700}) {
            Sample<T> a(m, k, OperandLayout::rows, 1), b(k, 1, OperandLayout::rows, 2);
            std::vector<T> rows, vector, c(static_cast<std::size_t>(m)), turned = c;
            for (double value : a.values) rows.push_back(static_cast<T>(value));
            for (double value : b.values) vector.push_back(static_cast<T>(value));
            GemmProblem<T> column{.m = m, .n = 1, .k = k};
            column.a = rows.data(), column.a_row = k, column.a_column = 1;
            column.b = vector.data(), column.b_row = 1, column.b_column = 1;
            column.c = c.data(), column.c_row = 1;
            GemmProblem<T> row{.m = 1, .n = m, .k = k};
            row.a = vector.data(), row.a_row = k, row.a_column = 1;
            row.b = rows.data(), row.b_row = 1, row.b_column = k;
            row.c = turned.data(), row.c_row = m;
            for (Isa isa : usable_isas()) {
                InstructionSet guard(isa);
                std::vector<OperandOf<T>> scratch(static_cast<std::size_t>(own_gemm_scratch<T>(m, m, k)));
                own_gemm(column, scratch.data());
                own_gemm(row, scratch.data());
                for (std::int64_t i = 0; i < m; ++i) {
                    T expected = inner_product_in_lanes(rows.data() + i * k, vector.data(), k);
                    ASSERT_EQ(c[i], expected) << name_of(isa) << ", row " << i << " of " << m << " x " << k;
                    ASSERT_EQ(turned[i], expected) << name_of(isa) << ", column " << i << " of " << m << " x " << k;
                }
            }
        }
    }
}

TEST(Gemm, inner_products_are_joined_in_lanes_on_every_instruction_set) {
    check_inner_products<float>();
    check_inner_products<double>();
}

/// Few columns (and, turned, few rows) are such products too, of lanes of 64 bytes, where k is long enough.
template <class T>
void check_few_columns() {
    for (std::int64_t n : {2, 3, 4}) {
        for (std::int64_t m : {4, 5, 17, 70, 121, 300}) {
            for (std::int64_t k : {15, 16, 17, 31, 32, 64, 65, 100, 128, 129, 700, 3000}) {
                Sample<T> a(m, k, OperandLayout::rows, 1);
                for (OperandLayout layout : {OperandLayout::rows, OperandLayout::columns}) {
                    Sample<T> b(k, n, layout, 2);
                    std::vector<T> c(static_cast<std::size_t>(m * n)), turned = c;
                    GemmProblem<T> columns{.m = m, .n = n, .k = k};
                    columns.a = static_cast<const T*>(a.matrix.data), columns.a_row = k, columns.a_column = 1;
                    columns.b = static_cast<const T*>(b.matrix.data);
                    columns.b_row = b.matrix.row_stride, columns.b_column = b.matrix.column_stride;
                    columns.c = c.data(), columns.c_row = n;
                    GemmProblem<T> rows{.m = n, .n = m, .k = k};
                    rows.a = columns.b, rows.a_row = columns.b_column, rows.a_column = columns.b_row;
                    rows.b = columns.a, rows.b_row = 1, rows.b_column = k;
                    rows.c = turned.data(), rows.c_row = m;
                    for (Isa isa : usable_isas()) {
                        InstructionSet guard(isa);
                        std::vector<OperandOf<T>> scratch(static_cast<std::size_t>(
                            std::max(own_gemm_scratch<T>(m, n, k), own_gemm_scratch<T>(n, m, k))));
                        own_gemm(columns, scratch.data());
                        own_gemm(rows, scratch.data());
                        bool both[] = {own_gemm_by_dots(columns), own_gemm_by_dots(rows)};
                        bool room = layout == OperandLayout::columns || m >= 70;  // to copy the columns
                        ASSERT_EQ(both[0] && room, room && n <= 4 && k >= 16) << m << "x" << n << "x" << k;
                        for (std::int64_t i = 0; i < m * n; ++i) {
                            std::vector<T> row(a.values.begin() + i / n * k, a.values.begin() + (i / n + 1) * k),
                                column;
                            for (std::int64_t p = 0; p < k; ++p)
                                column.push_back(static_cast<T>(b.values[p * n + i % n]));
                            T expected = inner_product_in_lanes<T, 64 / sizeof(T)>(row.data(), column.data(), k);
                            T of_columns = both[0] ? c[i] : expected;
                            T of_rows = both[1] ? turned[i % n * m + i / n] : expected;
                            ASSERT_EQ(of_columns, expected) << name_of(isa) << ", " << m << "x" << n << "x" << k;
                            ASSERT_EQ(of_rows, expected) << name_of(isa) << ", turned, " << m << "x" << n << "x" << k;
                        }
                    }
                }
            }
        }
    }
}

/// Columns of a wider matrix, which are copied one behind the other.
template <class T>
void check_columns_of_wider() {
    for (std::int64_t n : {2, 3, 4})
        for (std::int64_t k : {16, 100, 257}) {
            Sample<T> a(20, k, OperandLayout::rows, 1), b(k, n + 2, OperandLayout::rows, 2);
            std::vector<T> alone, c(static_cast<std::size_t>(20 * n)), expected = c;
            for (std::int64_t p = 0; p < k; ++p)
                for (std::int64_t j = 0; j < n; ++j)
                    alone.push_back(static_cast<T>(b.values[static_cast<std::size_t>(p * (n + 2) + j)]));
            gemm(dtype_of<T>, 20, n, k, a.matrix, {alone.data(), n, 1}, expected.data(), n);
            gemm(dtype_of<T>, 20, n, k, a.matrix, b.matrix, c.data(), n);
            EXPECT_TRUE(same_bits(c, expected)) << n << " columns, k = " << k;
        }
}

/// One row, of any columns: as many sums side by side as there are vectors, each in the order of k.
template <class T>
void check_one_row() {
    for (std::int64_t k : {1, 17, 300})
        for (std::int64_t n = 5; n < 1000; n += n < 40 ? 1 : n < 150 ? 9 : 130) {
            Sample<T> a(1, k, OperandLayout::rows, 1), b(k, n, OperandLayout::rows, 2);
            const auto* from_b = static_cast<const T*>(b.matrix.data);
            for (Isa isa : usable_isas()) {
                InstructionSet guard(isa);
                std::vector<T> c(static_cast<std::size_t>(n) + 1, T(-7));
                gemm(dtype_of<T>, 1, n, k, a.matrix, b.matrix, c.data(), n, true);
                ASSERT_EQ(c.back(), T(-7)) << name_of(isa) << ", " << n << " columns, k = " << k;
                for (std::int64_t j = 0; j < n; ++j)
                    ASSERT_EQ(c[static_cast<std::size_t>(j)],
                              chain_of(static_cast<const T*>(a.matrix.data), 1, from_b + j, n, k, T(-7)))
                        << name_of(isa) << ", column " << j << " of " << n << ", k = " << k;
            }
        }
}

TEST(Gemm, one_row_is_one_chain_for_each_column) {
    check_one_row<float>();
    check_one_row<double>();
}

TEST(Gemm, few_columns_or_rows_are_inner_products) {
    check_columns_of_wider<float>();
    check_columns_of_wider<double>();
    check_few_columns<float>();
    check_few_columns<double>();
}

TEST(Gemm, scratch_given_or_not_or_for_fewer_threads_changes_nothing) {
    Threads guard(3);
    for (const Sizes& s : larger_sizes)
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
            for (int threads : {1, 2, 3}) {
                std::size_t bytes = gemm_scratch_bytes(float32, s.m, s.n, s.k, 1, threads);
                std::vector<std::byte> memory(bytes + 64);
                void* aligned =
                    reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
                auto with = product<float>(s, of_a, OperandLayout::columns, {aligned, bytes});
                EXPECT_TRUE(same_bits(with, product<float>(s, of_a, OperandLayout::columns)))
                    << s.m << "x" << s.n << "x" << s.k << ", for " << threads << " threads";
            }
}

// B itself is not there any more: blocks of rows of one product read what was packed, and give the bits of the whole.
template <class T>
void check_packed(const Sizes& s, OperandLayout of_b) {
    if (s.k == 0 || own_gemm_pieces(s.m, s.n, s.k) > 1) return;
    Sample<T> a(s.m, s.k, OperandLayout::rows, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> packed(static_cast<std::size_t>(own_gemm_packed<T>(s.n, s.k)));
    gemm_pack(dtype_of<T>, s.n, s.k, b.matrix, packed.data());
    std::vector<T> whole(static_cast<std::size_t>(s.m * s.n)), blocks = whole;
    std::int64_t few = std::min(s.m, s.n);
    bool dots = few == 1 || (few <= 4 && s.k >= 16);  // joined in lanes when they are not packed
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, whole.data(), s.n);
    for (std::int64_t first = 0; first < s.m; first += 7) {
        Matrix rows = a.matrix;
        rows.data = static_cast<const T*>(rows.data) + first * rows.row_stride;
        gemm(dtype_of<T>, std::min<std::int64_t>(7, s.m - first), s.n, s.k, rows,
             {nullptr, b.matrix.row_stride, b.matrix.column_stride, packed.data()}, blocks.data() + first * s.n, s.n);
    }
    for (std::size_t i = 0; i < whole.size(); ++i)
        ASSERT_NEAR(whole[i], blocks[i], dots ? 1e-4 : 0) << s.m << "x" << s.n << "x" << s.k << " at " << i;
}

TEST(Gemm, blocks_of_rows_share_a_packed_matrix) {
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        for (const Sizes& s : all_sizes)
            for (OperandLayout of_b : all_layouts) check_packed<float>(s, of_b), check_packed<double>(s, of_b);
    }
}

template <class T>
void check_batch(const Sizes& s, std::int64_t count, std::int64_t a_items, std::int64_t b_items) {
    const double half_unit = std::is_same_v<T, BFloat16> ? 0x1p-8 : 0;
    Sample<T> a(a_items * s.m, s.k, OperandLayout::rows, 5), b(b_items * s.k, s.n, OperandLayout::rows, 6);
    std::vector<T> c(static_cast<std::size_t>(count * s.m * s.n)), one(static_cast<std::size_t>(s.m * s.n));
    Batch batch{count, a_items == 1 ? 0 : s.m * s.k, b_items == 1 ? 0 : s.k * s.n, s.m * s.n};
    batched_gemm(dtype_of<T>, batch, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t row = 0; row < s.m; ++row)
            for (std::int64_t column = 0; column < s.n; ++column) {
                double sum = 0;
                for (std::int64_t k = 0; k < s.k; ++k)
                    sum += a.values[((a_items == 1 ? 0 : i) * s.m + row) * s.k + k] *
                           b.values[((b_items == 1 ? 0 : i) * s.k + k) * s.n + column];
                ASSERT_NEAR(static_cast<double>(c[(i * s.m + row) * s.n + column]), sum,
                            std::numeric_limits<Sum<T>>::epsilon() * static_cast<double>(s.k * s.k) +
                                std::abs(sum) * half_unit);
            }
}

// The fewest rows that gemm_fewest_rows names have the bits that they have among all; one fewer need not: it says so, where few rows or few results are
// summed in another way.
template <class T>
void check_fewest_rows(const Sizes& s, std::int64_t fewest) {
    ASSERT_EQ(gemm_fewest_rows(dtype_of<T>, s.m, s.n, s.k), fewest);
    for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns}) {
        std::vector<T> all = product<T>(s, OperandLayout::rows, of_b);
        bool other = false;
        for (std::int64_t rows : {fewest - 1, fewest, fewest + 3}) {
            Sample<T> a(s.m, s.k, OperandLayout::rows, 3), b(s.k, s.n, of_b, 4);  // the first rows of the same
            std::vector<T> part(static_cast<std::size_t>(rows * s.n));
            gemm(dtype_of<T>, rows, s.n, s.k, a.matrix, b.matrix, part.data(), s.n);
            std::vector<T> of_all(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(part.size()));
            bool same = same_bits(part, of_all);
            EXPECT_TRUE(same || rows < fewest) << rows << " of " << s.m << "x" << s.n << "x" << s.k;
            other |= !same;
        }
        EXPECT_TRUE(other || of_b == OperandLayout::rows) << s.m << "x" << s.n << "x" << s.k;
    }
}

TEST(Gemm, fewest_rows_are_summed_as_all_are) {
    Threads one(1);
    check_fewest_rows<float>({20, 70, 300}, 5);
    check_fewest_rows<float>({600, 40, 2100}, 526);
    if (share_under_sanitizers == 1) {
        check_fewest_rows<float>({150, 500, 2048}, 132);
        check_fewest_rows<double>({700, 100, 2560}, 641);
    }
    EXPECT_EQ(gemm_fewest_rows(DType::float32, 3, 70, 300), 3);
    EXPECT_EQ(gemm_fewest_rows(DType::int32, 40, 70, 3000), 1);
    EXPECT_EQ(gemm_fewest_rows(DType::complex64, 40, 70, 300), 9);
}

TEST(Gemm, a_batch_is_its_items) {
    Threads guard(2);
    for (const Sizes& s : {Sizes{3, 4, 5}, Sizes{1, 7, 9}, Sizes{64, 32, 64}, Sizes{200, 170, 130}})
        for (std::int64_t count : {0, 1, 2, 17}) {
            if (s.m == 200 && count > 2) continue;
            check_batch<float>(s, count, count, count);
            check_batch<float>(s, count, count, 1);
            check_batch<double>(s, count, 1, count);
            check_batch<BFloat16>(Sizes{2, 3, 1}, count, 1, 1);
        }
}

}  // namespace
}  // namespace weft::cpu
