#include "weft/compile/loop_rows.h"

#include "weft/base/integers.h"
#include "weft/ops/contraction.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// The region once more, for other rows, node by node; gives up at the first that joins rows.
class Rows {
  public:
    Rows(const LoopAttributes& a, const std::vector<bool>& wanted, std::int64_t rows, std::int64_t count)
        : nodes_(a.step->nodes),
          made_(nodes_.size()),
          rows_(rows),
          count_(count),
          has_(nodes_.size(), false),
          number_(numbers_of(*a.step)) {
        std::vector<bool> needed = below(a, wanted);
        for (std::size_t i = 0; i < nodes_.size() && fits_; ++i) {
            made_[i] = nodes_[i];
            if (i >= a.step->inputs) {
                if (needed[i]) make(i);
                continue;
            }
            has_[i] = i < a.carried + a.sliced && begins_with_rows(nodes_[i].shape());
            fits_ = fits_ && (has_[i] || i >= a.carried);
            if (has_[i]) made_[i] = input(step_value_name, resized(nodes_[i].shape()), nodes_[i].dtype());
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) fits_ = fits_ && (!wanted[i] || has_[i]);
        for (std::size_t i = 0; i < a.carried; ++i) fits_ = fits_ && has_[at(a.step->outputs[i])];
    }
    bool fits() const { return fits_; }
    std::vector<Tensor> take() { return std::move(made_); }

  private:
    static std::vector<bool> below(const LoopAttributes& a, const std::vector<bool>& wanted) {
        std::vector<bool> needed = wanted;
        for (std::size_t i = 0; i < a.carried; ++i) needed[at(a.step->outputs[i])] = true;
        mark_below(*a.step, needed);
        return needed;
    }

    bool begins_with_rows(const Shape& shape) const { return !shape.empty() && shape[0] == Size(rows_); }
    Shape resized(Shape shape) const {
        shape[0] = count_;
        return shape;
    }

    void make(std::size_t i) {
        const Node& node = *nodes_[i].node();
        std::vector<Tensor> inputs;
        std::vector<bool> has;
        for (const Node* input : node.inputs) {
            inputs.push_back(made_[number_.at(input)]);
            has.push_back(has_[number_.at(input)]);
        }
        bool any = std::find(has.begin(), has.end(), true) != has.end();
        AttributesHandle attributes = node.attributes;
        bool spreads = node.operation == &broadcast_to_operation;
        if (!any && !(spreads && begins_with_rows(node.shape))) return;  // the same for all rows
        fits_ = begins_with_rows(node.shape) && !node.operation->alias && keeps_rows(node, has, attributes);
        if (!fits_) return;
        has_[i] = true;
        made_[i] = make_node(*node.operation, inputs, attributes, node.where);
    }

    // Whether row r of the node is made of row r of those inputs that have rows. Attributes that say how many there are say it anew.
    bool keeps_rows(const Node& node, const std::vector<bool>& has, AttributesHandle& now) const {
        auto without = [&](const Node& input) {  // broadcast along the rows
            return input.shape.size() < node.shape.size() || input.shape[0] == Size(1);
        };
        const Node& first = *node.inputs[0];
        if (node.operation->family == Family::elementwise) {
            for (std::size_t i = 0; i < has.size(); ++i)
                if (has[i] ? node.inputs[i]->shape.size() != node.shape.size() : !without(*node.inputs[i]))
                    return false;
            return true;
        }
        if (node.operation == &broadcast_to_operation) {
            now = attributes(ReshapeAttributes{resized(node.shape)});
            return has[0] ? first.shape.size() == node.shape.size() : without(first);
        }
        if (node.operation == &reshape_operation) {
            now = attributes(ReshapeAttributes{resized(node.shape)});
            return true;
        }
        if (node.operation == &slice_operation) {
            SliceAttributes a = node.attributes_as<SliceAttributes>();
            bool whole = a.start[0].value == Size(0) && a.step[0] == 1;
            a.length[0] = count_;
            now = attributes(std::move(a));
            return whole;
        }
        if (node.operation == &pad_operation) {
            PadAttributes a = node.attributes_as<PadAttributes>();
            bool whole = a.before[0].value == Size(0) && a.between[0] == 0;
            a.shape[0] = count_;
            now = attributes(std::move(a));
            return whole && has[0];
        }
        if (node.operation == &concatenate_operation)
            return node.attributes_as<ConcatenateAttributes>().axis != 0 &&
                   std::find(has.begin(), has.end(), false) == has.end();
        if (node.operation == &permute_dims_operation) return node.attributes_as<PermuteAttributes>().axes[0] == 0;
        if (node.operation == &matmul_operation)
            return has[0] && !has[1] && first.shape.size() == 2 && node.inputs[1]->shape.size() == 2;
        if (node.operation->family == Family::reduce) {
            const Axes& axes = node.attributes_as<ReduceAttributes>().axes;
            return std::find(axes.begin(), axes.end(), 0) == axes.end();
        }
        return false;
    }

    template <class A>
    static AttributesHandle attributes(A a) {
        return weft::attributes(std::move(a));
    }

    const std::vector<Tensor>& nodes_;
    std::vector<Tensor> made_;
    std::int64_t rows_, count_;
    std::vector<bool> has_;  // of each node whether it has rows
    std::unordered_map<const Node*, std::size_t> number_;
    bool fits_ = true;
};

}  // namespace

std::int64_t independent_rows(const LoopAttributes& a, const std::vector<bool>& wanted) {
    KeepPending keep;
    if (a.carried == 0 || a.step->nodes[0].ndim() == 0) return 0;
    std::int64_t rows = a.step->nodes[0].shape()[0].value();
    return rows > 1 && Rows(a, wanted, rows, rows - 1).fits() ? rows : 0;
}

std::vector<Tensor> nodes_of_rows(const LoopAttributes& a, const std::vector<bool>& wanted, std::int64_t count) {
    KeepPending keep;
    return Rows(a, wanted, a.step->nodes[0].shape()[0].value(), count).take();
}

}  // namespace weft
