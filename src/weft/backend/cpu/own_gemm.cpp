#include "weft/backend/cpu/own_gemm.h"

#include "weft/backend/cpu/small_products.h"

namespace weft::cpu {
namespace {

using namespace own;

template <class T>
std::int64_t padded_columns(std::int64_t n) {
    return divide_up(n, kernels<T>().most_columns) * kernels<T>().most_columns;
}

/// Where the cut that begins at this row (k) and column of b lies in packed memory.
template <class T>
std::int64_t packed_at(std::int64_t n, std::int64_t all_k, std::int64_t k, std::int64_t column) {
    return column * operands<T>(all_k) + operands<T>(k) * padded_columns<T>(std::min(most_width, n - column));
}

// From so many bytes of b on a Zen 4 is asked for what comes next, and reads longer parts of rows: 1 x 4096 by 4096 x 4096 23.9 to 28.8 GB/s, so in
// parts of 1,024 columns 22.2 to 23.9; asked for into the first-level cache it lost a tenth.
constexpr std::size_t far_bytes = std::size_t{24} << 20;
constexpr std::int64_t bytes_ahead = 1024;

/// Such a product in whole rows of b, not in strips of a tile's columns, each of whose rows is in a page of its own (1 x 2048 by 2048 x 2048: 430
/// to 200 us); whether it was one.
template <class T>
bool multiply_few_rows(const GemmProblem<T>& p) {
    if constexpr (ProductOf<T>::together > 1) {
        return false;
    } else {
        if (!has_few_rows(p)) return false;
        bool far = is_zen4() && static_cast<std::size_t>(p.n * p.k) * sizeof(T) >= far_bytes;
        // Even parts of whole lines, for threads to share.
        std::int64_t parts = divide_up(p.n, far ? 4096 : 1024), work = p.m * p.n * p.k;
        bool shared = work > serial_work && ThreadPool::instance().threads() > 1;
        if (shared) parts = std::max(parts, std::min<std::int64_t>(8, p.n / 64));
        std::int64_t each = divide_up(divide_up(p.n, parts), 16) * 16;
        auto part = [&](std::int64_t i) {
            std::int64_t first = i * each, last = std::min(p.n, first + each);
            GemmTile<T> tile{};
            tile.a = p.a, tile.a_row = p.a_row, tile.a_column = p.a_column;
            tile.b = p.b + first, tile.b_row = p.b_row;
            tile.c = p.c + first, tile.c_row = p.c_row;
            tile.k = p.k, tile.rows = static_cast<int>(p.m), tile.columns = static_cast<int>(last - first);
            tile.accumulate = p.accumulate;
            tile.bias = p.bias ? p.bias + first : nullptr, tile.relu = p.relu;
            tile.fetch_step = far ? bytes_ahead / static_cast<std::int64_t>(sizeof(T)) : 0;
            kernels<T>().few_rows(tile);
        };
        std::int64_t count = divide_up(p.n, each);
        if (shared)
            parallel_for(count, part);
        else
            for (std::int64_t i = 0; i < count; ++i) part(i);
        return true;
    }
}

/// Cuts a product of any size into Multiplications that share one scratch. What was packed before was cut by most_depth.
template <class T>
void multiply_in_cuts(const GemmProblem<T>& p, const Copies<T>& copies) {
    if (multiply_few_rows(p)) return;
    for (std::int64_t column = 0; column < p.n; column += most_width)
        for (std::int64_t k = 0; k < p.k; k += most_depth)
            for (std::int64_t row = 0; row < p.m; row += most_width) {
                GemmProblem<T> cut = p;
                cut.m = std::min(most_width, p.m - row);
                cut.n = std::min(most_width, p.n - column);
                cut.k = std::min(most_depth, p.k - k);
                cut.a += row * p.a_row + k * p.a_column;
                cut.b += k * p.b_row + column * p.b_column;
                cut.c += row * p.c_row + column;
                if (p.packed_b) cut.packed_b += packed_at<T>(p.n, p.k, k, column);
                cut.accumulate = p.accumulate || k > 0;
                bool last = k + cut.k == p.k;
                cut.bias = last && p.bias ? p.bias + column : nullptr;
                cut.relu = last && p.relu;
                if (row > 0 || column > 0 || k > 0) cut.next = {};  // the first has asked for it
                Multiplication<T>(cut, copies).run();
            }
}

template <class T>
void finish(const GemmProblem<T>& p, std::int64_t i, std::int64_t j, SumOf<T> sum) {
    SumOf<T>& to = p.c[i * p.c_row + j];
    if (p.accumulate) sum = to + sum;
    if (p.bias) sum += p.bias[j];
    to = p.relu && sum < 0 ? SumOf<T>(0) : sum;
}

constexpr std::int64_t most_dots = 120;  // rows at a time, whatever of them are joined together
/// Whether a product of few columns (or, the other way round, rows) is made of inner products: those that a tile of vectors would leave mostly
/// empty, long enough to be worth their joining. By sizes alone: the bits of a sum depend on it.
bool few_dots(std::int64_t few, std::int64_t k) { return few == 1 || (few <= most_dot_columns && k >= 16); }

/// Inner products of rows of a matrix with a few vectors, `step` elements apart.
template <class T>
void multiply_by_dots(const GemmProblem<T>& p, bool of_a, const T* vectors, std::int64_t step) {
    std::int64_t count = of_a ? p.m : p.n, few = of_a ? p.n : p.m, row = of_a ? p.a_row : p.b_column;
    std::int64_t in_block = few == 1 ? 64 : most_dots;
    const T* rows = of_a ? p.a : p.b;
    bool plain = !p.accumulate && !p.bias && !p.relu, as_they_are = plain && (of_a ? p.c_row == few : few == 1);
    auto block = [&](std::int64_t index) {
        std::int64_t first = index * in_block, here = std::min(in_block, count - first);
        SumOf<T> sums[most_dot_columns * most_dots];
        SumOf<T>* to = sums;
        if (as_they_are) to = p.c + first * few;
        kernels<T>().dots(to, rows + first * row, row, vectors, step, static_cast<int>(few), p.k,
                          static_cast<int>(here));
        if (as_they_are) return;
        for (std::int64_t j = 0; j < few; ++j)
            for (std::int64_t i = 0; i < here; ++i) {
                std::int64_t to_row = of_a ? first + i : j, to_column = of_a ? j : first + i;
                plain ? (void)(p.c[to_row * p.c_row + to_column] = sums[i * few + j])
                      : finish(p, to_row, to_column, sums[i * few + j]);
            }
    };
    if (count * few * p.k > serial_work) return parallel_for(divide_up(count, in_block), block);
    for (std::int64_t index = 0; index < divide_up(count, in_block); ++index) block(index);
}

template <class T>
bool few_rows_by_dots(const GemmProblem<T>& p) {
    return p.m <= p.n && few_dots(p.m, p.k) && p.b_row == 1 && p.a_column == 1;
}

/// Columns of a matrix one behind the other, all of them in one pass (a vector by 10,000 x 2, x 3: 0.2 and 0.34 of the time).
template <int columns, class T>
void turn_columns(const GemmProblem<T>& p, T* to) {
    const T* from = p.b;
    const std::int64_t count = p.k, row = p.b_row;
    if (row == columns) {  // which vectors can be made of
        for (std::int64_t k = 0; k < count; ++k)
            for (int j = 0; j < columns; ++j) to[j * count + k] = from[k * columns + j];
        return;
    }
    for (std::int64_t k = 0; k < count; ++k)
        for (int j = 0; j < columns; ++j) to[j * count + k] = from[k * row + j];
}

/// Rows of a with few columns of b, or columns of b with few rows of a, where both lie in one piece; few columns that do not are copied.
template <class T>
void multiply_few(const GemmProblem<T>& p, T* scratch) {
    if (few_rows_by_dots(p)) return multiply_by_dots(p, false, p.a, p.a_row);
    if (p.b_row == 1) return multiply_by_dots(p, true, p.b, p.b_column);
    if (p.b_column == 1 && p.n == 2)
        turn_columns<2>(p, scratch);
    else if (p.b_column == 1 && p.n == 3)
        turn_columns<3>(p, scratch);
    else if (p.b_column == 1 && p.n == 4)
        turn_columns<4>(p, scratch);
    else
        for (std::int64_t j = 0; j < p.n; ++j)
            for (std::int64_t k = 0; k < p.k; ++k) scratch[j * p.k + k] = p.b[k * p.b_row + j * p.b_column];
    multiply_by_dots<T>(p, true, scratch, p.k);
}

/// Pieces into which a long k is cut for a small c, which alone would occupy few threads and few registers.
constexpr std::int64_t most_in_pieces = 64 * 1024;
std::int64_t pieces_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return m * n <= most_in_pieces && k >= 2048 && k >= 4 * std::max(m, n) ? std::min<std::int64_t>(16, k / 512) : 1;
}

/// The most numbers of k that one of them has.
template <class T>
std::int64_t piece_of(std::int64_t k, std::int64_t pieces) {
    return divide_up(k, pieces) + deep<T>() - 1;
}

template <class T>
void multiply_in_pieces(const GemmProblem<T>& p, std::int64_t pieces, OperandOf<T>* scratch) {
    using Sum = SumOf<T>;
    static_assert(sizeof(Sum) == sizeof(OperandOf<T>), "both lie in the same scratch memory");
    std::int64_t each = p.m * p.n, most = piece_of<T>(p.k, pieces), rest_each = copied_operands<T>(p.m, most, 1);
    auto* partial = reinterpret_cast<Sum*>(scratch);
    OperandOf<T>* rest = scratch + pieces * each;
    parallel_for(pieces, [&](std::int64_t piece) {
        GemmProblem<T> part = p;
        std::int64_t k = begin_of_k<T>(piece, pieces, p.k);
        part.k = begin_of_k<T>(piece + 1, pieces, p.k) - k;
        part.a += k * p.a_column;
        part.b += k * p.b_row;
        part.c = partial + piece * each;
        part.c_row = p.n;
        part.accumulate = false;
        part.bias = nullptr;
        part.relu = false;
        part.next = {};
        multiply_in_cuts(part, {rest + piece * rest_each, p.m, most, 1});
    });
    constexpr std::int64_t some = 16;  // rows
    bool plain = !p.accumulate && !p.bias && !p.relu;
    parallel_for(divide_up(p.m, some), [&](std::int64_t block) {
        for (std::int64_t i = block * some; i < std::min(p.m, (block + 1) * some); ++i) {
            Sum* sums = partial + i * p.n;
            for (std::int64_t piece = 1; piece < pieces; ++piece)
                kernels<T>().add(sums, partial + piece * each + i * p.n, p.n);
            if (plain) std::copy_n(sums, p.n, p.c + i * p.c_row);
            for (std::int64_t j = 0; j < p.n && !plain; ++j) finish(p, i, j, sums[j]);
        }
    });
}

/// Sums so short that a tile begins and ends for longer than it multiplies.
template <class T>
bool has_short_sums(const GemmProblem<T>& p) {
    constexpr std::int64_t least_rows = 16;
    return kernels<T>().short_sums && p.k <= most_short && p.m >= least_rows && p.b_column == 1;
}

template <class T>
void multiply_short(const GemmProblem<T>& p, int threads) {
    constexpr std::int64_t some = 1 << 15;  // elements of the result for which another thread is worth being asked
    std::int64_t rows = threads == 1 ? p.m : std::max<std::int64_t>(1, some / p.n);
    parallel_for(divide_up(p.m, rows), [&](std::int64_t block) {
        std::int64_t first = block * rows;
        kernels<T>().short_sums({.a = p.a + first * p.a_row,
                                 .a_row = p.a_row,
                                 .a_column = p.a_column,
                                 .b = p.b,
                                 .b_row = p.b_row,
                                 .c = p.c + first * p.c_row,
                                 .c_row = p.c_row,
                                 .k = p.k,
                                 .rows = static_cast<int>(std::min(rows, p.m - first)),
                                 .columns = static_cast<int>(p.n),
                                 .accumulate = p.accumulate,
                                 .bias = p.bias,
                                 .relu = p.relu,
                                 .fetch = nullptr,
                                 .fetch_step = 0});
    });
}

}  // namespace

template <class T>
bool own_gemm_by_dots(const GemmProblem<T>& p) {
    if (ProductOf<T>::together > 1 || p.a_column != 1) return false;
    return few_rows_by_dots(p) || (few_dots(p.n, p.k) && (p.b_row == 1 || p.n > 1));
}

template <class T>
std::int64_t own_gemm_scratch(std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
    // Few columns are copied where a would be.
    std::int64_t few_columns = ProductOf<T>::together == 1 && few_dots(n, k) ? n * k : 0;
    std::int64_t pieces = pieces_of(m, n, k);
    std::int64_t others = pieces > 1 ? pieces * (m * n + copied_operands<T>(m, piece_of<T>(k, pieces), 1))
                                     : copied_operands<T>(m, k, threads);
    return std::max(others, few_columns);
}

template <class T>
void own_gemm(const GemmProblem<T>& p, OperandOf<T>* scratch, int threads) {
    if (p.m == 0 || p.n == 0) return;
    if (p.k == 0) {
        for (std::int64_t i = 0; i < p.m; ++i)
            for (std::int64_t j = 0; j < p.n; ++j) finish(p, i, j, SumOf<T>(0));
        return;
    }
    Copies<T> copies(scratch, p.m, p.k, threads);
    if (p.packed_b) return multiply_in_cuts(p, copies);
    if constexpr (ProductOf<T>::together == 1)
        if (own_gemm_by_dots(p)) return multiply_few(p, scratch);
    if constexpr (ProductOf<T>::together == 1)
        if (has_short_sums(p)) return multiply_short(p, threads);
    if (SmallProducts<T> small(p); small) return small.multiply(p);
    std::int64_t pieces = pieces_of(p.m, p.n, p.k);
    if (pieces > 1) return multiply_in_pieces(p, pieces, scratch);
    multiply_in_cuts(p, copies);
}

template <class T>
void own_gemm_items(const GemmProblem<T>& first, const ItemStrides& strides, std::int64_t begin, std::int64_t end,
                    OperandOf<T>* scratch) {
    bool dots = first.k > 0 && ProductOf<T>::together == 1 && own_gemm_by_dots(first);
    SmallProducts<T> small(first);
    bool in_tiles = small && !dots && first.k > 0 && !has_short_sums(first);
    for (std::int64_t i = begin; i < end; ++i) {
        GemmProblem<T> item = first;
        item.a += i * strides.a, item.b += i * strides.b, item.c += i * strides.c;
        if (strides.far && i + 1 < strides.count) {
            if (strides.a == first.m * first.k) item.next_a = item.a + strides.a;
            if (strides.b == first.k * first.n) item.next_b = item.b + strides.b;
            if (strides.c == first.m * first.n) item.next_c = item.c + strides.c;
        }
        in_tiles ? small.multiply(item) : own_gemm(item, scratch);
    }
}

namespace {

template <class T>
class PreparedGemm final : public SmallGemm {
  public:
    explicit PreparedGemm(const GemmProblem<T>& p)
        : problem_(p), small_(p), by_dots_(own_gemm_by_dots(p)), of_a_(!few_rows_by_dots(p)) {}
    bool prepared() const {
        if (problem_.m * problem_.n * problem_.k > serial_work) return false;
        return by_dots_ ? !of_a_ || problem_.b_row == 1 : small_ && !has_short_sums(problem_);
    }
    void run(const void* a, const void* b, void* c, std::span<const ReadNext> next) const override {
        GemmProblem<T> p = problem_;
        p.a = static_cast<const T*>(a), p.b = static_cast<const T*>(b), p.c = static_cast<T*>(c), p.next = next;
        if (!by_dots_) return small_.multiply(p);
        of_a_ ? multiply_by_dots(p, true, p.b, p.b_column) : multiply_by_dots(p, false, p.a, p.a_row);
    }

  private:
    GemmProblem<T> problem_;
    SmallProducts<T> small_;
    bool by_dots_, of_a_;
};

}  // namespace

template <class T>
std::unique_ptr<SmallGemm> own_small_gemm(const GemmProblem<T>& p) {
    if (p.m == 0 || p.n == 0 || p.k == 0) return nullptr;
    auto made = std::make_unique<PreparedGemm<T>>(p);
    return made->prepared() ? std::move(made) : nullptr;
}
template std::unique_ptr<SmallGemm> own_small_gemm(const GemmProblem<float>&);
template std::unique_ptr<SmallGemm> own_small_gemm(const GemmProblem<double>&);

template <class T>
bool own_gemm_better_turned(const GemmProblem<T>& p) {
    if constexpr (ProductOf<T>::together > 1) return false;
    return !own_gemm_by_dots(p) && better_turned(p);
}

std::int64_t own_gemm_pieces(std::int64_t m, std::int64_t n, std::int64_t k) { return pieces_of(m, n, k); }
std::int64_t own_gemm_fewest_in_pieces(std::int64_t m, std::int64_t n, std::int64_t k) {
    if (n == 0 || pieces_of(m, n, k) == pieces_of(1, n, k)) return 1;
    return std::min(most_in_pieces / n, k / 4) + 1;
}

template <class T>
std::int64_t own_gemm_packed(std::int64_t n, std::int64_t k) {
    return padded_columns<T>(n) * operands<T>(k);
}

template <class T>
void pack_own_gemm(const GemmProblem<T>& p, OperandOf<T>* to) {
    const GemmKernels<T>& kernel = kernels<T>();
    std::int64_t panels = divide_up(p.n, kernel.most_columns), cuts = divide_up(p.k, most_depth);
    parallel_for(panels * cuts, [&](std::int64_t index) {
        std::int64_t column = index / cuts * kernel.most_columns, k = index % cuts * most_depth;
        std::int64_t depth_here = std::min(most_depth, p.k - k), begin = column / most_width * most_width;
        kernel.pack_b(to + packed_at<T>(p.n, p.k, k, begin) + (column - begin) * operands<T>(depth_here),
                      p.b + k * p.b_row + column * p.b_column, p.b_row, p.b_column,
                      static_cast<int>(std::min<std::int64_t>(kernel.most_columns, p.n - column)), depth_here);
    });
}

#define WEFT_OWN_GEMM(T)                                                                                \
    template void own_gemm(const GemmProblem<T>&, OperandOf<T>*, int);                                  \
    template void own_gemm_items(const GemmProblem<T>&, const ItemStrides&, std::int64_t, std::int64_t, \
                                 OperandOf<T>*);                                                        \
    template bool own_gemm_by_dots(const GemmProblem<T>&);                                              \
    template bool own_gemm_better_turned(const GemmProblem<T>&);                                        \
    template std::int64_t own_gemm_scratch<T>(std::int64_t, std::int64_t, std::int64_t, int);           \
    template void pack_own_gemm(const GemmProblem<T>&, OperandOf<T>*);                                  \
    template std::int64_t own_gemm_packed<T>(std::int64_t, std::int64_t);
WEFT_OWN_GEMM(float)
WEFT_OWN_GEMM(double)
WEFT_OWN_GEMM(RoundedFloat)
WEFT_OWN_GEMM(FloatOfParts<2>)
WEFT_OWN_GEMM(FloatOfParts<3>)
#undef WEFT_OWN_GEMM

}  // namespace weft::cpu
