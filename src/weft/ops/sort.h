// Order along an axis. NaN stands last, ascending and descending alike; equal elements keep their order. Complex numbers are
// ordered by real part, then imaginary part, as NumPy's. Callers: everyone.
#pragma once

#include <utility>

#include "weft/graph/operation.h"

namespace weft {

/// The positions (int64) that put x in order along the axis. Always stable, whatever `stable` asks for.
Tensor argsort(const Operand& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
Tensor sort(const Operand& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
/// The elements that stand in places [first, first + count) of the axis, of known size, once it is sorted: selected, not sorted. Where
/// any element is NaN, they are.
Tensor sorted_part(const Operand& x, std::int64_t first, std::int64_t count, std::int64_t axis = -1);
/// The k largest (smallest) along the axis, best first, and their positions; of equal ones the first. ValueError if there are
/// fewer than k.
std::pair<Tensor, Tensor> topk(const Operand& x, std::int64_t k, std::int64_t axis = -1, bool largest = true);
/// Where each value would be inserted into `sorted` (1-d, ascending) so that it stays in order: before equal ones, or behind
/// them with `right`. int64.
Tensor searchsorted(const Operand& sorted, const Operand& values, bool right = false);

/// Of the sorted elements `wanted`, from `first` on; -1: all. nan_spreads: where any element is NaN, all that are wanted are.
struct SortAttributes {
    std::int64_t axis = 0;
    bool descending = false;
    std::int64_t first = 0, wanted = -1;
    bool nan_spreads = false;
    template <class V>
    void members(V& visit) {
        visit("axis", axis), visit("descending", descending), visit("first", first), visit("wanted", wanted);
        visit("nan_spreads", nan_spreads);
    }
};
/// Only the first `first` positions are wanted; -1: all.
struct ArgsortAttributes {
    std::int64_t axis = 0;
    bool descending = false;
    std::int64_t first = -1;
    template <class V>
    void members(V& visit) {
        visit("axis", axis), visit("descending", descending), visit("first", first);
    }
};
struct SearchAttributes {
    bool right = false;
    template <class V>
    void members(V& visit) {
        visit("right", right);
    }
};
/// How many positions there are along an axis of that size; ValueError if fewer than are wanted, for whoever first knows the size.
std::int64_t wanted_positions(const ArgsortAttributes& a, std::int64_t size);
extern const Operation sort_operation, argsort_operation, searchsorted_operation;

}  // namespace weft
