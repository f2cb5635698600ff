#include "weft/autodiff/loop_steps.h"

#include <algorithm>

#include "weft/autodiff/between.h"
#include "weft/autodiff/loop_rules.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// Looks for rows beside zeros; at so many nodes, for a gradient may be a sum of thousands.
class BesideZeros {
  public:
    std::optional<Rows> find(const Node& x, std::size_t axis) {
        if (nodes_-- <= 0 || !x.shape[axis].known()) return {};
        if (lays_among_zeros(x)) return of_pad(x, axis);
        if (x.operation == &slice_operation) return of_slice(x, axis);
        if (x.operation == &reshape_operation) return of_reshape(x, axis);
        if (x.operation == &permute_dims_operation)
            return find(*x.inputs[0], static_cast<std::size_t>(x.attributes_as<PermuteAttributes>().axes[axis]));
        if (x.operation == &add_operation) return of_sum(x, axis);
        if (x.operation == &astype_operation || x.operation == &negative_operation) return find(*x.inputs[0], axis);
        return {};
    }

  private:
    std::optional<Rows> of_pad(const Node& x, std::size_t axis) {
        const PadAttributes& a = x.attributes_as<PadAttributes>();
        const Node& inside = *x.inputs[0];
        Size before = a.before[axis].value, size = inside.shape[axis];
        if (a.between[axis] != 0 || !before.known() || !size.known()) return {};
        Rows rows = find(inside, axis).value_or(Rows{0, size.value()});
        return Rows{rows.first + before.value(), rows.end + before.value()};
    }
    std::optional<Rows> of_slice(const Node& x, std::size_t axis) {
        const SliceAttributes& a = x.attributes_as<SliceAttributes>();
        Size start = a.start[axis].value;
        if (a.step[axis] != 1 || !start.known()) return {};
        std::optional<Rows> rows = find(*x.inputs[0], axis);
        if (!rows) return {};
        auto inside = [&](std::int64_t row) {
            return std::clamp<std::int64_t>(row - start.value(), 0, x.shape[axis].value());
        };
        return Rows{inside(rows->first), inside(rows->end)};
    }
    // An axis that stays: as many elements lie before it, and it is as long.
    std::optional<Rows> of_reshape(const Node& x, std::size_t axis) {
        const Node& from = *x.inputs[0];
        Size before = 1, passed = 1;
        for (std::size_t i = 0; i < axis; ++i) before = before * x.shape[i];
        for (std::size_t i = 0; i < from.shape.size(); passed = passed * from.shape[i++])
            if (passed == before && from.shape[i] == x.shape[axis]) return find(from, i);
        return {};
    }
    std::optional<Rows> of_sum(const Node& x, std::size_t axis) {
        Rows all{x.shape[axis].value(), 0};
        for (const Node* term : x.inputs) {
            std::optional<Rows> rows;
            if (term->shape == x.shape) rows = find(*term, axis);
            if (!rows) return {};
            if (rows->first < rows->end) all = {std::min(all.first, rows->first), std::max(all.end, rows->end)};
        }
        return all.first < all.end ? all : Rows{};
    }

    int nodes_ = 128;
};

}  // namespace

bool lays_among_zeros(const Node& node) {
    return node.operation == &pad_operation && node.attributes_as<PadAttributes>().value.as<double>() == 0;
}

std::optional<Rows> rows_beside_zeros(const Node& x, std::size_t axis) { return BesideZeros().find(x, axis); }

std::int64_t steps_of_rows(const LoopAttributes& loop, const LoopResultAttributes& result, Rows rows) {
    if (rows.first >= rows.end) return 0;
    if (loop.reverse) return loop.length.value() - rows.first;
    bool trail =
        static_cast<std::size_t>(result.value) < loop.carried;  // whose first row was there before the first step
    return trail ? rows.end - 1 : rows.end;
}

Size first_row(const LoopAttributes& loop, Size steps) { return loop.reverse ? loop.length - steps : Size(0); }

Tensor rows_from(const Tensor& x, Size first, Size count) {
    Shape start(x.ndim(), 0), length = x.shape();
    start[0] = first, length[0] = count;
    return slice(x, start, length);
}

Size steps_back(const LoopAttributes& loop, const Tensor& cotangent) {
    if (!loop.length.known()) return loop.length;
    std::int64_t steps = 1, all = loop.length.value();
    const std::vector<LoopResultAttributes>& results = region_results(cotangent);
    for (std::size_t i = 0; i < results.size() && steps < all; ++i) {
        std::optional<Rows> rows;
        if (results[i].collected) rows = rows_beside_zeros(*cotangent.node()->inputs[i], 0);
        steps = rows ? std::max(steps, steps_of_rows(loop, results[i], *rows)) : all;
    }
    return std::min(steps, all);
}

Tensor cotangent_of_last(const LoopAttributes& loop, const LoopResultAttributes& result, const Tensor& cotangent) {
    if (!result.collected) return cotangent;
    if (static_cast<std::size_t>(result.value) >= loop.carried || !loop.length.known()) return {};
    std::int64_t last = loop.reverse ? 0 : loop.length.value();
    std::optional<Rows> rows = rows_beside_zeros(*cotangent.node(), 0);
    bool alone = rows && rows->first == last && rows->end == last + 1;
    return alone ? squeeze(rows_from(cotangent, last, 1), {0}) : Tensor();
}

Tensor first_steps(const Tensor& loop, std::int64_t steps) {
    LoopAttributes a = loop_of(loop);
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < loop.node()->inputs.size(); ++i) {
        bool slices = i >= a.carried && i < a.carried + a.sliced;
        inputs.push_back(slices ? rows_from(input_of(loop, i), first_row(a, steps), steps) : input_of(loop, i));
    }
    a.length = steps, a.images.clear();
    return make_node(loop_operation, inputs, attributes(std::move(a)), loop.node()->where);
}

Tensor of_one_step(const Tensor& result) {
    const auto& r = result.node()->attributes_as<LoopResultAttributes>();
    Tensor loop = input_of(result);
    const LoopAttributes& a = loop_of(loop);
    std::vector<Tensor> from(a.step->nodes.begin(),
                             a.step->nodes.begin() + static_cast<std::ptrdiff_t>(a.step->inputs)),
        to;
    for (std::size_t i = 0; i < a.step->inputs; ++i) {
        bool slices = i >= a.carried && i < a.carried + a.sliced;
        to.push_back(slices ? reshape(input_of(loop, i), from[i].shape()) : input_of(loop, i));
    }
    auto value = static_cast<std::size_t>(r.value);
    bool after = value < a.carried;
    Tensor inside = after ? a.step->output(value) : a.step->nodes[value], found = replaced({&inside, 1}, from, to)[0];
    if (!r.collected) return found;
    found = expand_dims(found, 0);
    if (!after) return found;
    Tensor before = expand_dims(input_of(loop, value), 0);
    return a.reverse ? concatenate({found, before}, 0) : concatenate({before, found}, 0);
}

}  // namespace weft
