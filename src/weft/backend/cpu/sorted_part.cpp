// Some neighbouring elements of a sorted lane: medians, quantiles. They are selected, which takes a few passes over the keys.
#include <limits>

#include "weft/backend/cpu/sort_lanes.h"

namespace weft::cpu {
namespace {

class SortedPart final : public Kernel {
  public:
    SortedPart(const SortAttributes& a, const Layout& input, const Layout& output)
        : dtype_(input.dtype),
          a_(a),
          lanes_(a.axis, input, output,
                 Words::bytes(is_complex(dtype_) ? arrays_to_order(dtype_) : 2,
                              input.dims[static_cast<std::size_t>(a.axis)])) {}
    std::size_t scratch_bytes() const override { return lanes_.scratch_bytes(); }
    std::string_view by() const override { return "selection"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (a_.wanted == 0) return;
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            lanes_.run_one_by_one(scratch, [&](std::int64_t result, std::int64_t input, std::byte* memory) {
                part_of_lane(static_cast<T*>(operands[1]) + result, static_cast<const T*>(operands[0]) + input,
                             Words{memory, lanes_.count});
            });
        });
    }

  private:
    template <class T>
    void part_of_lane(T* to, const T* from, const Words& words) const {
        if constexpr (kind_complex<T>) {
            auto* order = words.array<std::uint64_t>(1);
            write_order(order, from, lanes_.stride, a_.descending, words);
            for (std::int64_t i = 0; i < a_.wanted; ++i)
                to[i * lanes_.result_stride] = from[static_cast<std::int64_t>(order[a_.first + i]) * lanes_.stride];
        } else {
            select(to, from, words.array<KeyOf<T>>(0), words.array<KeyOf<T>>(1));
        }
    }
    template <class T, class Key>
    void select(T* to, const T* from, Key* keys, Key* spare) const {
        std::int64_t count = lanes_.count;
        MetNumbers met = write_keys(keys, from, lanes_.stride, count, a_.descending);
        if constexpr (!std::is_integral_v<T>)
            if (met.nan && a_.nan_spreads) {
                for (std::int64_t i = 0; i < a_.wanted; ++i)
                    to[i * lanes_.result_stride] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
                return;
            }
        Key zero{};
        std::int64_t before_zero = 0;
        if (met.minus_zero) {
            T number{};
            write_keys(&zero, &number, 1, 1, a_.descending);
            for (std::int64_t i = 0; i < count; ++i) before_zero += keys[i] < zero;
        }
        Key* found = keys_of_places(keys, spare, count, a_.first, a_.first + a_.wanted);
        if constexpr (!std::is_integral_v<T>)
            if (met.nan || met.minus_zero) return write_special(to, from, found, zero, before_zero, met);
        write_numbers(to, found, lanes_.result_stride, a_.wanted, a_.descending);
    }
    /// What keys do not tell apart, zeros of either sign and each NaN, in the order in which they stood.
    template <class T, class Key>
    void write_special(T* to, const T* from, Key* found, Key zero, std::int64_t before_zero, MetNumbers met) const {
        constexpr Key nan = static_cast<Key>(~Key{0});
        std::int64_t nans = lanes_.count;
        for (std::int64_t i = 0; met.nan && i < lanes_.count; ++i)
            nans -= from[i * lanes_.stride] != from[i * lanes_.stride];
        for (std::int64_t i = 0; i < a_.wanted; ++i) {
            T& here = to[i * lanes_.result_stride];
            Key key = found[i];
            if (key == nan && met.nan)
                here = standing(from, a_.first + i - nans, [](T x) { return x != x; });
            else if (key == zero && met.minus_zero)
                here = standing(from, a_.first + i - before_zero, [](T x) { return x == T{}; });
            else
                write_numbers(&here, &key, 1, 1, a_.descending);
        }
    }
    /// The element in this place among those that are such.
    template <class T, class Such>
    T standing(const T* from, std::int64_t place, Such such) const {
        for (;; from += lanes_.stride)
            if (such(*from) && place-- == 0) return *from;
    }

    DType dtype_;
    SortAttributes a_;
    SortedLanes lanes_;
};

}  // namespace

std::unique_ptr<Kernel> sorted_part_kernel(const SortAttributes& a, const Layout& input, const Layout& output) {
    return std::make_unique<SortedPart>(a, input, output);
}

}  // namespace weft::cpu
