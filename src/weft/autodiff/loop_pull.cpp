// The reverse mode of loops: a loop that runs the other way.
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "weft/autodiff/between.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/loop_rules.h"
#include "weft/autodiff/loop_steps.h"
#include "weft/base/integers.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/denormal.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

bool transposes_matrix(const Node& node) {
    return node.operation == &permute_dims_operation && node.shape.size() == 2 &&
           node.attributes_as<PermuteAttributes>().axes == Axes{1, 0};
}

/// The loop of one loop's cotangents, while it is written.
class Reverse {
  public:
    Reverse(const Tensor& loop, const Tensor& cotangent, const std::vector<bool>& wanted)
        : loop_(loop),
          a_(loop.node()->attributes_as<LoopAttributes>()),
          nodes_(a_.step->nodes),
          wanted_(wanted),
          number_(numbers_of(*a_.step)) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Node& node = *nodes_[i].node();
            if (node.operation == &loop_result_operation) of_loops_[result_of(node)] = i;
        }
        changes_ = depending_on_first(a_.carried + a_.sliced), of_carried_ = depending_on_first(a_.carried);
        steps_ = steps_back(a_, cotangent);
        take(cotangent);
    }

    std::vector<Tensor> cotangents() {
        differentiate();
        find_dependents();
        for (const Tensor& grad : grads_) save(grad.node());
        for (const Tensor& node : order_)
            for (Node* input : node.node()->inputs) save(input);
        write();
        return collect();
    }

  private:
    enum Kind { carried, sliced, fixed };
    Kind kind(std::size_t input) const {
        return input < a_.carried ? carried : input < a_.carried + a_.sliced ? sliced : fixed;
    }

    // Of loops that stand inside, results are told apart by what they are.
    using LoopResult = std::tuple<const Node*, bool, std::int64_t>;
    static LoopResult result_of(const Node& node) {
        const auto& a = node.attributes_as<LoopResultAttributes>();
        return {node.inputs[0], a.collected, a.value};
    }
    /// The number of a node in the region; their count: it is none of them.
    std::size_t number_of(const Node& node) const {
        auto known = number_.find(&node);
        if (known != number_.end()) return known->second;
        if (node.operation != &loop_result_operation) return nodes_.size();
        auto result = of_loops_.find(result_of(node));
        return result == of_loops_.end() ? nodes_.size() : result->second;
    }

    std::vector<bool> depending_on_first(std::size_t inputs) const {
        std::vector<bool> depends(nodes_.size(), false);
        std::fill(depends.begin(), depends.begin() + static_cast<std::ptrdiff_t>(inputs), true);
        return depends_on(*a_.step, std::move(depends));
    }

    Tensor placeholder(const Tensor& like) {
        return input(step_value_name, like.shape(), like.dtype(), loop_.node()->where);
    }

    /// Of a value of all steps those of the steps that run.
    Tensor of_steps(const Tensor& all) const {
        return steps_ == a_.length ? all : rows_from(all, first_row(a_, steps_), steps_);
    }

    // What the reverse step is given of cotangents: those of what is carried, and a slice of each result that was collected.
    void take(const Tensor& cotangent) {
        const std::vector<LoopResultAttributes>& results = region_results(cotangent);
        std::vector<Tensor> last(a_.carried);
        for (std::size_t i = 0; i < results.size(); ++i) {
            auto value = static_cast<std::size_t>(results[i].value);
            Tensor given = input_of(cotangent, i);
            if (Tensor of_last = cotangent_of_last(a_, results[i], given)) {
                last[value] = last[value] ? last[value] + of_last : of_last;
                continue;
            }
            bool trail = value < a_.carried;
            x_.push_back(placeholder(nodes_[value])), seeds_.push_back(x_.back());
            xs_.push_back(of_steps(trail ? rows_from(given, a_.reverse ? 0 : 1, a_.length) : given));
            outputs_.push_back(trail ? a_.step->output(value) : nodes_[value]);
            if (trail) begins_[value] = squeeze(rows_from(given, a_.reverse ? a_.length : Size(0), 1), {0});
        }
        for (std::size_t i = 0; i < a_.carried; ++i) {
            if (!is_inexact(nodes_[i].dtype())) continue;
            carry_.push_back(placeholder(nodes_[i]));
            init_.push_back(last[i] ? last[i] : zeros_like(input_of(loop_, i)));
            outputs_.push_back(a_.step->output(i));
            seeds_.push_back(may_fade(i) ? normal_or_zero(carry_.back()) : carry_.back());
        }
    }

    // A cotangent that each step makes smaller ends at the least denormal number, which rounding keeps; with it all steps that are left would take
    // many times as long on some processors. So it ends in 0, but where a step only adds to what is carried. A float16 is computed as a
    // float32, of which none is denormal then.
    bool may_fade(std::size_t carried) const {
        DType dtype = nodes_[carried].dtype();
        if (!is_floating(dtype) || dtype == DType::float16) return false;
        std::vector<const Node*> stack{a_.step->output(carried).node()};
        while (!stack.empty()) {
            const Node& node = *stack.back();
            stack.pop_back();
            std::size_t number = number_of(node);
            if (number == nodes_.size()) return true;
            if (!of_carried_[number] || number < a_.carried) continue;
            bool adds = node.operation == &add_operation || node.operation == &subtract_operation ||
                        node.operation->family == Family::view || node.operation->family == Family::join;
            if (!adds) return true;
            stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
        }
        return false;
    }

    void differentiate() {
        for (std::size_t i = 0; i < a_.step->inputs; ++i)
            if (is_inexact(nodes_[i].dtype()) && (kind(i) == carried || wanted_[i])) wrt_.push_back(i);
        std::vector<Tensor> at_nodes;
        for (std::size_t i : wrt_) at_nodes.push_back(nodes_[i]);
        grads_ = pullback(outputs_, seeds_, at_nodes);
    }

    void find_dependents() {
        std::vector<Tensor> from = carry_;
        from.insert(from.end(), x_.begin(), x_.end());
        order_ = nodes_between(grads_, from);
        for (const Tensor& x : from) dependent_.insert(x.node());
        for (const Tensor& x : order_) dependent_.insert(x.node());
    }

    // What the reverse step reads of the forward one is collected by that; views of it, and what only the derivative makes, are made anew.
    void save(Node* top) {
        std::vector<Node*> stack{top};
        while (!stack.empty()) {
            Node* node = stack.back();
            stack.pop_back();
            if (dependent_.contains(node) || !seen_.insert(node).second) continue;
            std::size_t i = number_of(*node);
            if (i < a_.step->inputs && kind(i) == fixed) continue;
            promise(!is_loop(*node), "the values of a loop within a loop are the region's");
            bool view = node->operation->family == Family::view;
            bool value = !has_results(*node);  // a conditional is made anew of what it reads
            if (i < a_.step->inputs || (i < nodes_.size() && changes_[i] && !view && value)) {
                x_.push_back(handle(node)), xs_.push_back(of_steps(loop_values(loop_, static_cast<std::int32_t>(i))));
                continue;
            }
            for (Node* input : node->inputs) stack.push_back(input);
        }
    }

    // The cotangent of what is the same in each step is a sum over the steps: of products of matrices one product after the loop, which is
    // faster; of sums one sum; of anything else it is carried along.
    struct Term {
        const Node* core = nullptr;         // a product or a sum; null: carried
        std::vector<const Node*> views;     // and zeros around, above it, outermost first
        std::vector<std::size_t> operands;  // of the core, among values_
        std::vector<bool> transposed;       // whether an operand is what is collected, transposed
        std::size_t carried = 0;            // among carry_
    };

    void write() {
        for (std::size_t k = 0; k < wrt_.size(); ++k)
            if (kind(wrt_[k]) == carried) next_.push_back(grads_[k]);
        for (std::size_t k = 0; k < wrt_.size(); ++k) {
            bool any = dependent_.contains(grads_[k].node());
            if (!any || kind(wrt_[k]) == carried) continue;
            if (kind(wrt_[k]) == sliced)
                of_slice_[wrt_[k]] = add_value(grads_[k]);
            else
                split(wrt_[k], grads_[k]);
        }
        made_ = make_loop({carry_, x_, next_, values_, init_, xs_, steps_, !a_.reverse, loop_.node()->where},
                          as_given(loop_));
    }

    std::size_t add_value(const Tensor& value) {
        values_.push_back(value);
        return values_.size() - 1;
    }

    void split(std::size_t input, const Tensor& grad) {
        std::vector<Tensor> stack{grad};
        while (!stack.empty()) {
            Tensor term = stack.back();
            stack.pop_back();
            const Node& node = *term.node();
            bool sum = node.operation == &add_operation && node.inputs[0]->shape == node.shape &&
                       node.inputs[1]->shape == node.shape && dependent_.contains(node.inputs[0]) &&
                       dependent_.contains(node.inputs[1]);
            if (sum)
                stack.push_back(handle(node.inputs[1])), stack.push_back(handle(node.inputs[0]));
            else
                terms_[input].push_back(term_of(term));
        }
    }

    Term term_of(const Tensor& whole) {
        Term term;
        const Node* node = whole.node();
        // What is the same in each step may be read piece by piece: the cotangent of a piece is one of all with zeros around.
        while (is_view(*node) || lays_among_zeros(*node)) term.views.push_back(node), node = node->inputs[0];
        bool product = node->operation == &matmul_operation && node->inputs[0]->shape.size() == 2 &&
                       node->inputs[1]->shape.size() == 2;
        bool sums = node->operation == &sum_operation;
        bool known =
            std::all_of(node->inputs.begin(), node->inputs.end(), [&](const Node* input) { return changes(*input); });
        if ((!product && !sums) || !known) {
            carry_sum(term, whole);
            return term;
        }
        term.core = node;
        for (Node* input : node->inputs) {
            term.transposed.push_back(product && transposes_matrix(*input));
            term.operands.push_back(add_value(handle(term.transposed.back() ? input->inputs[0] : input)));
        }
        return term;
    }

    static bool is_view(const Node& node) { return node.operation->family == Family::view && node.inputs.size() == 1; }
    // Without views and zeros that a sum takes as well, and that would be made anew in each step; but for slices, of which there is less.
    void carry_sum(Term& term, const Tensor& whole) {
        term.views.clear();
        Node* node = whole.node();
        while (dependent_.contains(node->inputs.empty() ? nullptr : node->inputs[0]) &&
               (lays_among_zeros(*node) || (is_view(*node) && node->operation != &slice_operation)))
            term.views.push_back(node), node = node->inputs[0];
        Tensor core = handle(node);
        carry_.push_back(placeholder(core)), init_.push_back(zeros(core.shape(), core.dtype()));
        next_.push_back(carry_.back() + core);
        term.carried = carry_.size() - 1;
    }

    // Whether a value of the reverse step may differ from step to step.
    bool changes(const Node& node) const {
        if (dependent_.contains(&node)) return true;
        std::vector<const Node*> stack{&node};
        while (!stack.empty()) {
            const Node* at = stack.back();
            stack.pop_back();
            if (std::size_t i = number_of(*at); i < nodes_.size()) {
                if (changes_[i]) return true;
                continue;
            }
            stack.insert(stack.end(), at->inputs.begin(), at->inputs.end());
        }
        return false;
    }

    std::vector<Tensor> collect() {
        std::vector<Tensor> all(wanted_.size());
        std::size_t k = 0;
        for (std::size_t i = 0; i < a_.carried; ++i) {
            if (!is_inexact(nodes_[i].dtype())) continue;
            auto begin = begins_.find(i);  // a trail begins with what was carried before the first step
            if (wanted_[i]) all[i] = loop_last(made_.loop, k);
            if (wanted_[i] && begin != begins_.end()) all[i] = all[i] + begin->second;
            ++k;
        }
        for (const auto& [input, value] : of_slice_) all[input] = of_all_steps(collected(value));
        for (const auto& [input, terms] : terms_)
            for (const Term& term : terms) all[input] = all[input] ? all[input] + sum_of(term) : sum_of(term);
        return all;
    }

    // Slices that no step read have no part in anything.
    Tensor of_all_steps(const Tensor& x) const {
        if (steps_ == a_.length) return x;
        Dims before(x.ndim(), 0), after(x.ndim(), 0);
        before[0] = first_row(a_, steps_).value(), after[0] = (a_.length - steps_).value() - before[0];
        return pad(x, before, after);
    }

    Tensor collected(std::size_t value) const { return loop_values(made_.loop, made_.values[value]); }

    // A matrix of each step, (T, m, n), side by side: (m, T n).
    static Tensor side_by_side(const Tensor& steps, bool transposed) {
        const Shape& s = steps.shape();
        if (transposed) return matrix_transpose(reshape(steps, {s[0] * s[1], s[2]}));
        return reshape(moveaxis(steps, 0, 1), {s[1], s[0] * s[2]});
    }

    Tensor sum_of(const Term& term) const {
        Tensor sum;
        if (!term.core) {
            sum = loop_last(made_.loop, term.carried);
        } else if (term.core->operation == &matmul_operation) {
            Tensor a = side_by_side(collected(term.operands[0]), term.transposed[0]);
            Tensor b = side_by_side(collected(term.operands[1]), !term.transposed[1]);
            sum = product_like(*term.core, a, matrix_transpose(b));
        } else {
            const ReduceAttributes& r = term.core->attributes_as<ReduceAttributes>();
            Axes axes{0};
            for (std::int64_t axis : r.axes) axes.push_back(axis + 1);
            sum = reshape(weft::sum(collected(term.operands[0]), axes), term.core->shape);
        }
        for (std::size_t i = term.views.size(); i-- > 0;)
            sum = make_node(*term.views[i]->operation, {sum}, term.views[i]->attributes, term.views[i]->where);
        return sum;
    }

    Tensor loop_;
    const LoopAttributes& a_;
    const std::vector<Tensor>& nodes_;
    const std::vector<bool>& wanted_;
    Size steps_;  // that run
    std::unordered_map<const Node*, std::size_t> number_;
    std::map<LoopResult, std::size_t> of_loops_;
    std::vector<bool> changes_,
        of_carried_;  // each node of the region: may it differ from step to step; depends it on what is carried
    std::vector<Tensor> carry_, init_, next_, x_, xs_, values_;  // of the reverse loop
    std::vector<Tensor> outputs_, seeds_, grads_, order_;        // of the derivative of one step
    std::vector<std::size_t> wrt_;
    std::unordered_set<const Node*> dependent_, seen_;  // on a cotangent; looked at by save()
    std::map<std::size_t, Tensor> begins_;              // of carried values: the cotangent of their trail's first row
    std::map<std::size_t, std::size_t> of_slice_;       // of inputs: the value that is their cotangent
    std::map<std::size_t, std::vector<Term>> terms_;
    MadeLoop made_;
};

}  // namespace

std::vector<Tensor> pull_loop(const Tensor& loop, const Tensor& cotangent, const std::vector<bool>& wanted) {
    if (loop.node()->attributes_as<LoopAttributes>().condition)
        throw NotDifferentiable(text(
            "while_loop: reverse mode (grad, vjp) would have to keep what each step computed, and "
            "nobody knows how many there will be; use scan with a length (values of steps that "
            "are too many stay as they are by where), forward mode (jvp, jacfwd), or stop_gradient of what it gives",
            place(loop.node()->where)));
    return Reverse(loop, cotangent, wanted).cotangents();
}

}  // namespace weft
