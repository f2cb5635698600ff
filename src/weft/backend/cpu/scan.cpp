#include "weft/backend/cpu/scan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/past_caches.h"
#include "weft/backend/cpu/row_joins.h"
#include "weft/backend/cpu/scan_rows.h"
#include "weft/backend/cpu/strided.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t few_most = rows_at_once, least_side_by_side = 512;
constexpr std::int64_t running_bytes = 16384;  // of lanes side by side: with what is asked for, the first-level cache
// What is asked for before it is read. 2048 x 2048 floats along the first axis, 512 lanes at a time: 1.5 ms, and 0.89, 0.79, 0.74, 0.73 so by
// 1, 2, 4, 8 rows (Zen 5); 200 x 300 x 400 11.2 and 4.6. Doubles on a Zen 4: 1.64 by 16 KB, 2.28 by 32.
constexpr std::int64_t asked_ahead = 16384;
// Bytes of a result from which on what is read is asked for ahead.
constexpr std::size_t large_bytes = std::size_t{16} << 20;

/// What is joined as it lies in memory, or widened to integers of 64 bits. Half types are computed, for vectors widen them faster than what takes
/// them one by one; so are further integers, and products of integers, 1.3 times as slow: they would take the room of all others once more.
template <class T>
inline constexpr bool goes_straight = std::is_integral_v<T> ? std::is_same_v<T, bool> ||
                                                                  std::is_same_v<T, std::uint8_t> ||
                                                                  std::is_same_v<T, std::int32_t> || sizeof(T) == 8
                                                            : std::is_same_v<Accumulator<T>, T>;

// Lanes along the axis are independent; neighbours run side by side, so that their sums do not wait for each other. Those that lie side
// by side in memory too are many, for then whole stretches of it pass by.
class StraightScan final : public PreparedLoop {
  public:
    StraightScan(const Loop& loop, std::size_t load)
        : from_(loop.loads[load].dtype), a_(*loop.scan), reduction_(loop.reductions[0]), load_(load) {
        Dims dims = loop.dims, to = loop.stores[0].strides, from = loop.loads[load].strides;
        count_ = dims.back(), stride_ = from.back(), result_stride_ = to.back();
        dims.pop_back(), to.pop_back(), from.pop_back();
        lanes_ = Box<2>(dims, {to, from});
        std::size_t width = size_of(loop.stores[0].dtype);
        std::size_t bytes = static_cast<std::size_t>(lanes_.size * count_) * width;
        large_ = bytes >= large_bytes;
        side_by_side_ = lanes_.inner(0) == 1 && lanes_.inner(1) == 1;
        past_ = side_by_side_ ? go_past_caches(bytes)
                              : large_;  // along rows that collide 2,048 squared took 1.08 through the caches
        together_ = side_by_side_ ? lanes_together(width) : few_most;
        if (a_.backwards) {
            first_ = (count_ - 1) * stride_, result_first_ = (count_ - 1) * result_stride_;
            stride_ = -stride_, result_stride_ = -result_stride_;
        }
        rows_ = way_of_rows(bytes, static_cast<std::int64_t>(width));
    }
    std::string_view by() const override { return "scan"; }

    std::size_t scratch_bytes() const override { return 0; }
    void run(const void* const* loads, void* const* stores, std::byte*) const override {
        if (count_ == 0) return;
        with_dtype(from_, [&]<class From>(TypeTag<From>) {
            // Integers and bool are widened, to 64 bits that wrap; everything else keeps its type (ops/scan.cpp).
            using Read = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t,
                                            std::conditional_t<sizeof(From) == 8, std::int64_t, From>>;
            if constexpr (!goes_straight<From>)
                return;
            else if constexpr (std::is_integral_v<From>)
                by_reduction<Read, std::int64_t>(loads[load_], stores[0]);
            else
                by_reduction<From, From>(loads[load_], stores[0]);
        });
    }

  private:
    // Whole rows of memory pass by fastest: as many lanes as fit, on several threads two parts for each.
    std::int64_t lanes_together(std::size_t width) const {
        auto most = running_bytes / static_cast<std::int64_t>(width);
        std::int64_t threads = ThreadPool::instance().threads();
        if (threads == 1) return most;
        return std::clamp((lanes_.size / (2 * threads) + 63) / 64 * 64, least_side_by_side, most);
    }

    template <class From, class To>
    void by_reduction(const void* input, void* output) const {
        using A = Accumulator<To>;
        auto* from = static_cast<const From*>(input) + first_;
        auto* to = static_cast<To*>(output) + result_first_;
        bool past = past_ && input != output;
        auto rows = [&](A start, auto join) { by_rows<A>(to, from, start, join, past); };
        if constexpr (std::is_integral_v<A>)
            rows(A(0), []<class T>(T a, T b) { return joined_sum(a, b); });  // products are computed
        else
            with_running<A>(reduction_, rows);
    }

    template <class A, class From, class To, class Join>
    void by_rows(To* to, const From* from, A start, Join join, bool past) const {
        std::int64_t block = std::max(together_, block_elements / count_ / together_ * together_);
        parallel_blocks(lanes_.size, block, [&](std::int64_t low, std::int64_t high) {
            lanes_.walk(low, high, [&](const std::array<std::int64_t, 2>& at, std::int64_t lanes) {
                if (short_rows()) return each_lane<A>(to + at[0], from + at[1], lanes, start, join);
                for (std::int64_t lane = 0; lane < lanes; lane += together_) {
                    To* result = to + at[0] + lane * lanes_.inner(0);
                    const From* x = from + at[1] + lane * lanes_.inner(1);
                    std::int64_t few = std::min(together_, lanes - lane);
                    if (few == 1) {
                        one_lane<A>(result, x, start, join);
                        continue;
                    }
                    if (eight_rows<A>(result, x, few, start, join, past)) continue;
                    if (side_by_side_ && few <= few_most)
                        columns<A, 2>(result, x, few, start, join);
                    else if (side_by_side_)
                        few_lanes<A, true>(result, x, few, start, join, past);
                    else if (std::abs(stride_) == 1 && std::abs(result_stride_) == 1)
                        std::is_integral_v<A>&& few == few_most
                            ? few_rows<A, std::is_integral_v<A> ? few_most : 0>(result, x, few, start, join, past)
                            : few_rows<A, 0>(result, x, few, start, join, past);
                    else
                        few_lanes<A, false>(result, x, few, start, join, false);
                }
            });
            if (past) finish_past_caches();
        });
    }

    template <class T>
    static void put(const T* from, std::int64_t count, T* to, bool past) {
        past ? copy_past_caches(from, count, to) : (void)std::copy_n(from, count, to);
    }

    // A lane alone: what is running stays in a register. Inlined, so that short rows, one after the other, are one loop.
    template <class A, class From, class To, class Join>
    __attribute__((always_inline)) void one_lane(To* to, const From* from, A running, Join join) const {
        if (stride_ == 1 && result_stride_ == 1 && !a_.exclusive) {
            const std::int64_t count = count_;  // which what is stored does not change
            for (std::int64_t i = 0; i < count; ++i) {
                running = join(running, static_cast<A>(from[i]));
                to[i] = static_cast<To>(running);
            }
            return;
        }
        for (std::int64_t i = 0; i < count_; ++i, to += result_stride_, from += stride_) {
            A next = join(running, static_cast<A>(*from));
            *to = static_cast<To>(a_.exclusive ? running : next);
            running = next;
        }
    }

    // Lanes one after the other; the number of elements of the shortest known beforehand, so that no loop begins and ends for them.
    // A function of its own, as others below at the beginning of a line of the cache: elsewhere the loop may take 1.8 times as long.
    template <class A, std::int64_t known = 2, class From, class To, class Join>
    __attribute__((noinline, aligned(64))) void each_lane(To* to, const From* from, std::int64_t lanes, A start,
                                                          Join join) const {
        const std::int64_t apart = lanes_.inner(0), from_apart = lanes_.inner(1);
        if constexpr (std::is_floating_point_v<A> && known < few_most)
            if (count_ > known && count_ <= few_most) return each_lane<A, known + 1>(to, from, lanes, start, join);
        if (std::is_floating_point_v<A> && count_ == known && stride_ == 1 && result_stride_ == 1 && !a_.exclusive) {
            for (; lanes > 0; --lanes, to += apart, from += from_apart) {
                A running = start;
#pragma GCC unroll 8
                for (std::int64_t i = 0; i < known; ++i)
                    to[i] = static_cast<To>(running = join(running, static_cast<A>(from[i])));
            }
        }
        for (; lanes > 0; --lanes, to += apart, from += from_apart) one_lane<A>(to, from, start, join);
    }

    // Rows so short that a processor looks ahead to the next ones while sums of this one wait for each other (100,000 of 10 floats: 2.7 to 0.4 ms).
    bool short_rows() const { return !side_by_side_ && count_ <= 32; }

    // How rows of memory, eight at a time, are read and stored where they do not push each other out of the first-level cache, and in which order memory
    // gives them soonest. On a Zen 4 (of the time of pieces that go past the caches, or through them unasked): rows of up to 2 KB that lie behind each other
    // 0.27 to 0.8 from 16 MB on, 0.22 to 0.9 from 6 MB on; longer ones as they lie through the caches, where a processor sees eight that come, 0.4 to 0.85.
    // On an Intel floats as they lie 0.6 to 0.92 of pieces past the caches, doubles 1.06 to 1.5.
    enum class Rows { one_by_one, in_pieces, straight, asking, behind_past };

    Rows way_of_rows(std::size_t bytes, std::int64_t width) const {
        constexpr std::size_t least_asking = std::size_t{4} << 20;
        constexpr std::int64_t least_row = 256;  // of shorter ones a processor sees what comes
        std::int64_t row = count_ * width;
        bool collide = lanes_.inner(0) * width % 1024 == 0 || lanes_.inner(1) * width % 1024 == 0;
        bool behind = lanes_.inner(0) == count_ && lanes_.inner(1) == count_ && row <= most_behind;
        if (side_by_side_ || std::abs(stride_) != 1 || stride_ != result_stride_) return Rows::one_by_one;
        if (collide) return Rows::in_pieces;
        if (is_no_zen()) return past_ && width == 8 ? Rows::in_pieces : Rows::straight;
        if (past_) return behind ? Rows::behind_past : Rows::straight;
        return behind && row >= least_row && bytes >= least_asking ? Rows::asking : Rows::straight;
    }

    template <class A, class From, class To, class Join>
    bool eight_rows(To* to, const From* from, std::int64_t few, A start, Join join, bool past) const {
        if constexpr (std::is_floating_point_v<From> && std::is_same_v<From, To> && std::is_same_v<A, To>) {
            if (few != rows_at_once || rows_ == Rows::one_by_one) return false;
            stride_ < 0 ? eight_rows<true>(to, from, start, join, past)
                        : eight_rows<false>(to, from, start, join, past);
            return true;
        }
        return (void)to, (void)from, (void)few, (void)start, (void)join, (void)past, false;
    }
    template <bool backwards, class T, class Join>
    void eight_rows(T* to, const T* from, T start, Join join, bool past) const {
        EightRows<T, Join, backwards> rows(start, join, a_.exclusive);
        EightFrom<T> in{from, lanes_.inner(1)};
        EightTo<T> out{to, lanes_.inner(0)};
        if (rows_ == Rows::in_pieces)
            join_in_pieces(rows, in, out, past);
        else if (rows_ == Rows::behind_past && past)
            rows.join_past(from, to, count_);
        else if (rows_ == Rows::asking)
            rows.join_asking(in, out, count_);
        else
            rows.join(in, out, count_);
    }

    // Rows that lie a power of two apart, in two arrays that do too, would push each other out of the first-level cache: what is stored has a place of its
    // own, and what is read, but on a Zen 4, where eight doubles' rows find theirs (1,024 columns: 0.65 to 0.7 of the time).
    template <class T, class Join, bool backwards>
    void join_in_pieces(EightRows<T, Join, backwards>& rows, EightFrom<T> from, EightTo<T> to, bool past) const {
        constexpr std::int64_t piece = 64, step = backwards ? -piece : piece;
        T in[rows_at_once][piece], out[rows_at_once][piece];
        const bool copies = is_no_zen();
        for (std::int64_t first = 0; first < count_; first += piece, from.at += step, to.at += step) {
            std::int64_t count = std::min(piece, count_ - first), last = backwards ? count - 1 : 0;
            for (std::int64_t k = 0; k < rows_at_once && copies; ++k)
                std::copy_n(from.at - last + k * from.row, count, in[k]);
            rows.join(copies ? EightFrom<T>{in[0] + last, piece} : from, {out[0] + last, piece}, count);
            for (std::int64_t k = 0; k < rows_at_once; ++k) put(out[k], count, to.at - last + k * to.row, past);
        }
    }

    // Of what is no floating number, or stored the other way than it is read: a piece of each row at a time in a place of its own. Where their number is
    // known beforehand, what is running stays in registers (1,000 x 1,000 of int32 0.53 of the time).
    template <class A, std::int64_t known, class From, class To, class Join>
    void few_rows(To* to, const From* from, std::int64_t few, A start, Join join, bool past) const {
        const std::int64_t lanes = known ? known : few;
        constexpr std::int64_t piece = 64;
        From in[few_most][piece];
        To out[few_most][piece];
        A running[few_most];
        std::fill_n(running, lanes, start);
        for (std::int64_t first = 0; first < count_; first += piece) {
            std::int64_t count = std::min(piece, count_ - first);
            // Where the piece begins in memory, if the axis runs backwards its last element.
            std::int64_t at = stride_ > 0 ? first : 1 - first - count;
            std::int64_t to_at = result_stride_ > 0 ? first : 1 - first - count;
            for (std::int64_t k = 0; k < lanes; ++k) std::copy_n(from + k * lanes_.inner(1) + at, count, in[k]);
            for (std::int64_t i = 0; i < count; ++i) {
                std::int64_t x = stride_ > 0 ? i : count - 1 - i, y = result_stride_ > 0 ? i : count - 1 - i;
                for (std::int64_t k = 0; k < lanes; ++k) {
                    A next = join(running[k], static_cast<A>(in[k][x]));
                    out[k][y] = static_cast<To>(a_.exclusive ? running[k] : next);
                    running[k] = next;
                }
            }
            for (std::int64_t k = 0; k < lanes; ++k) put(out[k], count, to + k * lanes_.inner(0) + to_at, past);
        }
    }

    // Few columns: what is running stays in registers, or each row would wait for the one before to be stored and loaded again.
    template <class A, std::int64_t known, class From, class To, class Join>
    void columns(To* to, const From* from, std::int64_t lanes, A start, Join join) const {
        if constexpr (known < few_most)
            if (lanes > known) return columns<A, known + 1>(to, from, lanes, start, join);
        A running[known];
        std::fill_n(running, known, start);
        const bool before = a_.exclusive;
        const std::int64_t count = count_, step = stride_, to_step = result_stride_;
        for (std::int64_t i = 0; i < count; ++i, to += to_step, from += step)
#pragma GCC unroll 8
            for (std::int64_t k = 0; k < known; ++k) {
                A next = join(running[k], static_cast<A>(from[k]));
                to[k] = static_cast<To>(before ? running[k] : next);
                running[k] = next;
            }
    }

    template <class From>
    std::int64_t rows_ahead(std::int64_t lanes) const {
        auto bytes = lanes * static_cast<std::int64_t>(sizeof(From));
        return large_ ? std::max<std::int64_t>(1, asked_ahead / bytes) : 0;
    }
    template <class From>
    static void fetch(const From* from, std::int64_t lanes) {
        constexpr auto line = static_cast<std::int64_t>(64 / sizeof(From));
        for (std::int64_t k = 0; k < lanes; k += line) __builtin_prefetch(from + k);
    }

    template <class T>
    void join_rows(const T* from, T* running, T* to, std::int64_t lanes, bool past) const {
        RunningRows rows{count_, lanes, stride_, result_stride_, rows_ahead<T>(lanes), a_.exclusive, past};
        const RowJoins<T>& joins = row_joins<T>();
        (reduction_ == Reduction::sum ? joins.sum : joins.product)(from, running, to, rows);
    }

    template <class A, bool side_by_side, class From, class To, class Join>
    __attribute__((aligned(64))) void few_lanes(To* to, const From* from, std::int64_t lanes, A start, Join join,
                                                bool past) const {
        static_assert(sizeof(A) >= 4);
        alignas(64) A running[side_by_side ? running_bytes / sizeof(A) : few_most];
        std::fill_n(running, lanes, start);
        if constexpr (side_by_side && has_row_joins<A> && std::is_same_v<From, A> && std::is_same_v<To, A>)
            return join_rows(from, running, to, lanes, past);
        std::int64_t to_step = side_by_side ? 1 : lanes_.inner(0), from_step = side_by_side ? 1 : lanes_.inner(1);
        const std::int64_t ahead = side_by_side ? rows_ahead<From>(lanes) : 0;
        for (std::int64_t i = 0; i < count_; ++i, to += result_stride_, from += stride_) {
            if (ahead > 0 && i + ahead < count_) fetch(from + ahead * stride_, lanes);
            if constexpr (side_by_side && std::is_same_v<A, To>) {
                if (past) {
                    if (a_.exclusive) copy_past_caches(running, lanes, to);
                    for (std::int64_t k = 0; k < lanes; ++k) running[k] = join(running[k], static_cast<A>(from[k]));
                    if (!a_.exclusive) copy_past_caches(running, lanes, to);
                    continue;
                }
            }
            if (a_.exclusive) {
                for (std::int64_t k = 0; k < lanes; ++k) {
                    to[k * to_step] = static_cast<To>(running[k]);
                    running[k] = join(running[k], static_cast<A>(from[k * from_step]));
                }
            } else {
                for (std::int64_t k = 0; k < lanes; ++k) {
                    running[k] = join(running[k], static_cast<A>(from[k * from_step]));
                    to[k * to_step] = static_cast<To>(running[k]);
                }
            }
        }
    }

    DType from_;
    Scan a_;
    Reduction reduction_;
    std::size_t load_;
    std::int64_t count_, stride_, result_stride_, first_ = 0, result_first_ = 0, together_;
    Box<2> lanes_;
    bool large_, past_, side_by_side_;
    Rows rows_;
};

}  // namespace

namespace {

/// The load whose memory goes straight into the sums; none: values are computed.
std::optional<std::size_t> straight_load(const Loop& loop) {
    const std::vector<Instruction>& code = loop.program.code;
    DType stored = loop.stores[0].dtype;
    bool wide = stored == DType::int64 || stored == DType::uint64;
    const Instruction* value = &code[static_cast<std::size_t>(loop.program.outputs[0])];
    if (wide && value->opcode == Opcode::cast) value = &code[static_cast<std::size_t>(value->a)];
    if (value->opcode != Opcode::input) return std::nullopt;
    auto load = static_cast<std::size_t>(value->a);
    DType from = loop.loads[load].dtype;
    bool whole = is_integer(from) || from == DType::bool_;
    bool straight = with_dtype(from, []<class From>(TypeTag<From>) { return goes_straight<From>; });
    bool sums = loop.reductions[0] == Reduction::sum;
    bool fits = loop.loads[load].plain() && straight && (whole ? wide && sums : from == stored);
    return fits ? std::optional(load) : std::nullopt;
}

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_scan(const Loop& loop, bool emitted) {
    if (auto load = straight_load(loop)) return std::make_unique<StraightScan>(loop, *load);
    return prepare_computed_scan(loop, emitted);
}

}  // namespace weft::cpu
