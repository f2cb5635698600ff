#include "weft/autodiff/hoist.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "weft/autodiff/between.h"
#include "weft/autodiff/region.h"
#include "weft/autodiff/vmap.h"
#include "weft/base/integers.h"
#include "weft/ops/contraction.h"

namespace weft {
namespace {

using Nodes = std::unordered_set<const Node*>;

// When all of them at once are faster than each in its step. A few numbers are read faster in registers than as slices; what is collected is not
// read again, and its derivative is much shorter: so of what is sunk inner sizes may be smaller, but results only little larger than what they
// are made of, which may be all that the step collects.
struct Worth {
    std::int64_t least_inner, growth;  // growth: of columns to the inner size, at most
};
constexpr Worth hoisting{5, 64}, sinking{2, 4};
// Of more rows a product of one step is as fast a row, and its result is in cache when the step reads it.
constexpr std::int64_t most_rows = 4;
// Elements of what is kept of all steps where a step alone would not keep it; a few times what there is of all steps anyway may always be.
constexpr std::int64_t most_kept = 16 << 20, most_times = 4;

Nodes set_of(std::span<const Tensor> tensors) {
    Nodes nodes;
    for (const Tensor& x : tensors) nodes.insert(x.node());
    return nodes;
}

std::vector<Tensor> placeholders_of(const StepExpressions& step) {
    std::vector<Tensor> all = step.carry;
    all.insert(all.end(), step.x.begin(), step.x.end());
    return all;
}

std::int64_t elements_of(const Node& node) {
    Size count = element_count(node.shape);
    return count.known() ? count.value() : std::numeric_limits<std::int64_t>::max();
}

std::int64_t largest_of(std::span<const Tensor> tensors) {
    std::int64_t most = 1;
    for (const Tensor& x : tensors) most = std::max(most, elements_of(*x.node()));
    return most;
}

/// Whether so many elements a step may be kept of all, beside so many that are.
bool may_be_kept(std::int64_t elements, std::int64_t there, Size steps) {
    return (elements - 1) / most_times < there ||
           (steps.known() && elements <= most_kept / std::max<std::int64_t>(steps.value(), 1));
}

/// Whether all steps' values of the node are one node (autodiff/batching.h), about as fast as they are in a step, and at most `growth` times as
/// large as what a step reads or gives.
bool of_all_steps_at_once(const Node& node, std::int64_t largest, std::int64_t growth) {
    Family family = node.operation->family;
    bool known = node.operation == &matmul_operation ||
                 (!node.operation->alias &&
                  (family == Family::elementwise || family == Family::view || family == Family::reduce));
    return known && elements_of(node) / growth <= largest;
}

/// Whether the node multiplies rows that change from step to step (`changing`) by a matrix that does not, and all of them at once is faster.
bool pays(const Node& node, const Nodes& changing, Worth worth) {
    if (node.operation != &matmul_operation || node.shape.size() != 2) return false;
    bool left = changing.contains(node.inputs[0]), right = changing.contains(node.inputs[1]);
    if (left == right || (right && node.shape[1] != Size(1))) return false;
    Size rows = left ? node.shape[0] : Size(1), inner = node.inputs[0]->shape[1],
         columns = left ? node.shape[1] : node.shape[0];
    if (!rows.known() || !inner.known() || !columns.known() || rows.value() > most_rows) return false;
    return inner.value() >= worth.least_inner && divide_up(columns.value(), worth.growth) <= inner.value();
}

const Node* below_views(const Node* node) {
    while (node->operation->family == Family::view) node = node->inputs[0];
    return node;
}

/// The values of a step that hoist_products() takes out of it.
class Ahead {
  public:
    explicit Ahead(const StepExpressions& step) {
        std::vector<Tensor> inside = nodes_between(step.next, placeholders_of(step));
        Nodes waits = set_of(nodes_between(step.next, step.carry));
        changing_ = set_of(step.x), largest_ = largest_of(step.x), steps_ = step.length;
        for (const Tensor& x : inside)
            if (!waits.contains(x.node())) add(*x.node());
        for (const Tensor& x : inside)
            if (!products_.contains(x.node()))
                for (const Node* input : x.node()->inputs) note(input);
        for (const Tensor& x : step.next) note(x.node());
    }
    const std::vector<Tensor>& found() const { return found_; }

  private:
    // Inputs come before their uses.
    void add(const Node& node) {
        changing_.insert(&node);
        bool light = of_all_steps_at_once(node, largest_, hoisting.growth), reads_product = false;
        for (const Node* input : node.inputs) {
            light &= !changing_.contains(input) || input->operation->family == Family::leaf || light_.contains(input);
            reads_product |= products_.contains(input) &&
                             (node.operation->family == Family::view ||
                              (node.operation->family == Family::elementwise && input->shape == node.shape));
        }
        if (!light) return;
        light_.insert(&node);
        bool fits = may_be_kept(elements_of(node), largest_, steps_);
        if (fits && (reads_product || pays(node, changing_, hoisting))) products_.insert(&node);
    }
    // Views stay in the step: slices of an array are read where they lie.
    void note(const Node* read) {
        if (!products_.contains(read)) return;
        const Node* node = below_views(read);
        if (noted_.insert(node).second) found_.push_back(handle(const_cast<Node*>(node)));
    }

    Nodes changing_, light_, products_, noted_;  // products: and what is made of them alone
    std::vector<Tensor> found_;
    std::int64_t largest_ = 1;
    Size steps_ = 0;
};

/// Leaves out the slices that a step does not read any more.
void drop_unread(StepExpressions& step) {
    std::vector<Tensor> outputs = step.next;
    outputs.insert(outputs.end(), step.y.begin(), step.y.end());
    Nodes read = set_of(outputs);
    for (const Tensor& node : nodes_between(outputs, step.x))
        read.insert(node.node()->inputs.begin(), node.node()->inputs.end());
    std::vector<Tensor> x, xs;
    for (std::size_t i = 0; i < step.x.size(); ++i)
        if (read.contains(step.x[i].node())) x.push_back(step.x[i]), xs.push_back(step.xs[i]);
    step.x = std::move(x), step.xs = std::move(xs);
}

}  // namespace

void hoist_products(StepExpressions& step) {
    std::vector<Tensor> found = Ahead(step).found();
    if (found.empty()) return;
    std::vector<Tensor> of_all = of_all_examples(found, step.x, step.xs, step.length), slices;
    for (const Tensor& x : found) slices.push_back(input(step_value_name, x.shape(), x.dtype(), x.node()->where));
    step.next = replaced(step.next, found, slices);
    step.y = replaced(step.y, found, slices);
    step.x.insert(step.x.end(), slices.begin(), slices.end());
    step.xs.insert(step.xs.end(), of_all.begin(), of_all.end());
    drop_unread(step);
}

SunkProducts::SunkProducts(const StepExpressions& step) : sunk_(step.y.size()), length_(step.length) {
    std::vector<Tensor> placeholders = placeholders_of(step);
    Nodes there = set_of(nodes_between(step.next, placeholders)), changing = set_of(placeholders), noted;
    there.insert(changing.begin(), changing.end());
    std::int64_t largest = std::max(largest_of(placeholders), largest_of(step.y));
    for (std::size_t i = 0; i < step.y.size(); ++i) {
        std::vector<Tensor> inside = nodes_between({&step.y[i], 1}, placeholders), reads;
        bool any = false, all = true;
        std::int64_t kept = 0;
        for (const Tensor& x : inside) {
            changing.insert(x.node());
            if (there.contains(x.node())) continue;
            all &= of_all_steps_at_once(*x.node(), largest, sinking.growth);
            bool product = pays(*x.node(), changing, sinking);
            if (product) kept = std::max(kept, elements_of(*x.node()));
            any |= product;
            for (Node* input : x.node()->inputs)
                if (there.contains(input)) reads.push_back(handle(input));
        }
        kept = std::max(kept, largest_of(reads));
        sunk_[i] = any && all && may_be_kept(kept, elements_of(*step.y[i].node()), step.length);
        if (!sunk_[i]) continue;
        y_.push_back(step.y[i]);
        for (const Tensor& x : reads)
            if (noted.insert(x.node()).second) reads_.push_back(x);
    }
}

std::vector<Tensor> SunkProducts::results(std::span<const Tensor> reads) const {
    return of_all_examples(y_, reads_, reads, length_);
}

}  // namespace weft
