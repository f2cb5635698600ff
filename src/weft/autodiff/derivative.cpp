#include "weft/autodiff/derivative.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "weft/autodiff/cond_rules.h"
#include "weft/autodiff/rules.h"
#include "weft/autodiff/transform.h"
#include "weft/graph/node_numbers.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// The nodes between outputs and wrt, inputs before uses, and which of them depend on wrt. Walks with a stack of its own.
class Between {
  public:
    /// `through`: one of wrt may lie below another, and ways through that count; else they are independent of each other.
    Between(std::span<const Tensor> outputs, std::span<const Tensor> wrt, bool through = false)
        : through_(through && wrt.size() > 1) {
        for (const Tensor& tensor : wrt) wanted_.insert(tensor.node());
        std::lock_guard guard(Node::lock());
        for (const Tensor& tensor : outputs) visit(tensor.node());
    }
    /// In an order in which inputs come first. One of wrt is among them where another of wrt lies below it.
    const std::vector<Tensor>& order() const { return order_; }
    /// Of a node that was met: one of outputs, or what is below them.
    std::int32_t number(const Node* node) const { return numbers_.find(node); }
    bool depends(std::int32_t number) const {
        return number >= 0 && state_[static_cast<std::size_t>(number)] == on_path;
    }
    bool depends(const Node* node) const { return depends(number(node)); }
    std::size_t size() const { return state_.size(); }
    bool wanted(const Node* node) const { return wanted_.contains(node); }
    /// ValueError if one of wrt stands below a node whose inputs are gone because it was computed.
    void refuse_cut(const char* name, std::span<const Tensor> wrt) const {
        for (const Tensor& cut : cut_) {
            for (const Tensor& tensor : wrt) {
                if (!may_come_from(*cut.node(), *tensor.node())) continue;
                throw ValueError(text(name, ": a value on the way, ", cut.node()->operation->name, " ", cut.dtype(),
                                      " ", cut.shape(),
                                      ", was computed before, and computed values let go of what they came from; take "
                                      "the derivative before asking for the value, or use grad or value_and_grad",
                                      place(cut.node()->where)));
            }
        }
    }

  private:
    enum State : char { open, off_path, on_path };

    void visit(Node* top) {
        std::vector<Node*> stack{top};
        while (!stack.empty()) {
            Node* node = stack.back();
            auto [number, fresh] = numbers_.number(node);
            if (fresh) state_.push_back(open);
            State& state = state_[static_cast<std::size_t>(number)];
            bool ends = wanted(node) && !through_;
            if (!fresh && state != open) {
                stack.pop_back();
            } else if (fresh && !ends) {
                if (node->computed && node->inputs.empty() && node->operation->arity != 0) cut_.push_back(handle(node));
                for (std::size_t i = node->inputs.size(); i-- > 0;) stack.push_back(node->inputs[i]);
            } else {
                stack.pop_back();
                bool reaches =
                    !ends && is_inexact(node->dtype) &&
                    std::any_of(node->inputs.begin(), node->inputs.end(), [&](Node* input) { return depends(input); });
                state = reaches || wanted(node) ? on_path : off_path;
                if (reaches) order_.push_back(handle(node));
            }
        }
    }

    std::unordered_set<const Node*> wanted_;
    NodeNumbers numbers_{32};
    std::vector<State> state_;
    std::vector<Tensor> order_, cut_;
    bool through_;
};

// What is said of nodes: cotangents or tangents. Of what was met on the way to wrt, by its number.
using Known = std::unordered_map<const Node*, Tensor>;
class Values {
  public:
    explicit Values(const Between& between) : between_(between), values_(between.size()) {}
    /// Empty where there is none, and of a node that was not met.
    const Tensor& operator[](const Node* node) const {
        static const Tensor none;
        std::int32_t number = between_.number(node);
        return number < 0 ? none : values_[static_cast<std::size_t>(number)];
    }
    void accumulate(const Node* node, const Tensor& more);
    void drop(const Node* node) { values_[static_cast<std::size_t>(between_.number(node))] = Tensor(); }

  private:
    const Between& between_;
    std::vector<Tensor> values_;
};

// a + b; a - y where b is -y that nobody else holds (nor computes meanwhile): the same number by one operation less.
Tensor sum_of(const Tensor& a, const Tensor& b) {
    const Node& node = *b.node();
    bool mine = node.references.load(std::memory_order_acquire) == 1 && !b.computed();
    return mine && node.operation == &negative_operation ? a - handle(node.inputs[0]) : a + b;
}

void Values::accumulate(const Node* node, const Tensor& more) {
    std::int32_t number = between_.number(node);
    if (number < 0) return;  // nobody asks for it
    Tensor& sum = values_[static_cast<std::size_t>(number)];
    sum = !sum ? more : has_results(*node) ? add_region_cotangents(sum, more) : sum_of(sum, more);
}

Tensor value_or_zero(const Values& values, const Tensor& of) {
    const Tensor& value = values[of.node()];
    return value ? value : zeros_like(of);
}

/// `known`: cotangents that are said, in the place of what comes from above; empty ones go no further.
std::vector<Tensor> pull_all(const Between& between, std::span<const Tensor> outputs,
                             std::span<const Tensor> cotangents, std::span<const Tensor> wrt, const Known& known = {}) {
    Values values(between);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (between.depends(outputs[i].node())) values.accumulate(outputs[i].node(), cotangents[i]);
    }
    const std::vector<Tensor>& order = between.order();
    for (std::size_t k = order.size(); k-- > 0;) {
        const Node* node = order[k].node();
        Tensor cotangent = values[node];
        if (!cotangent) continue;
        if (auto said = known.find(node); said != known.end()) {
            if (!said->second) continue;
            cotangent = said->second;
        }
        if (!between.wanted(node)) values.drop(node);
        std::vector<bool> wanted;
        for (Node* input : node->inputs) wanted.push_back(between.depends(input));
        LineScope line(node->where);
        std::vector<Tensor> pulled = pull(order[k], cotangent, wanted);
        for (std::size_t i = 0; i < pulled.size(); ++i) {
            if (pulled[i]) values.accumulate(node->inputs[i], pulled[i]);
        }
    }
    std::vector<Tensor> results;
    for (const Tensor& tensor : wrt) {
        auto said = known.find(tensor.node());
        results.push_back(said != known.end() && said->second ? said->second : value_or_zero(values, tensor));
    }
    return results;
}

void refuse_pairs(const char* name, std::span<const Tensor> values, std::span<const Tensor> directions) {
    if (values.size() != directions.size())
        throw ValueError(text(name, ": ", values.size(), " values but ", directions.size(), " directions"));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i].shape() == directions[i].shape()) || values[i].dtype() != directions[i].dtype()) {
            throw ShapeError(text(name, ": value ", i, " is ", values[i].dtype(), " ", values[i].shape(),
                                  ", its direction ", directions[i].dtype(), " ", directions[i].shape()));
        }
    }
}

}  // namespace

Tensor fresh(const Tensor& x) {
    // A node of its own over the same value: gradients stop at it, whatever x is.
    const Operation& same = x.dtype() == DType::bool_ ? stop_gradient_operation : positive_operation;
    Tensor made = make_node(same, {x}, nullptr, x.node()->where);
    // An identity from the start: what was computed from x before does not come from this node.
    made.node()->origin.identify();
    return made;
}

std::vector<Tensor> pullback(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                             std::span<const Tensor> wrt) {
    KeepPending keep;
    refuse_pairs("pullback", outputs, cotangents);
    Between between(outputs, wrt);
    between.refuse_cut("pullback", wrt);
    return pull_all(between, outputs, cotangents, wrt);
}

std::vector<Tensor> pushforward(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                std::span<const Tensor> tangents) {
    KeepPending keep;
    refuse_pairs("pushforward", wrt, tangents);
    Between between(outputs, wrt);
    between.refuse_cut("pushforward", wrt);
    Values values(between);
    for (std::size_t i = 0; i < wrt.size(); ++i) values.accumulate(wrt[i].node(), tangents[i]);
    for (const Tensor& tensor : between.order()) {
        std::vector<Tensor> incoming;
        bool any = false;
        for (Node* input : tensor.node()->inputs) {
            incoming.push_back(values[input]);
            any |= static_cast<bool>(incoming.back());
        }
        if (!any) continue;
        LineScope line(tensor.node()->where);
        if (Tensor tangent = push(tensor, incoming)) values.accumulate(tensor.node(), tangent);
    }
    std::vector<Tensor> results;
    for (const Tensor& tensor : outputs) results.push_back(value_or_zero(values, tensor));
    return results;
}

namespace {

void refuse_loss(const Tensor& loss) {
    if (loss.ndim() != 0)
        throw ShapeError(
            text("gradient: the loss must be one number (0-d), not shape ", loss.shape(), "; sum or average it"));
    if (is_complex(loss.dtype()))
        throw DTypeError(text("gradient: the loss must be real, not ", loss.dtype(),
                              "; take its real part or its absolute value, or, of a holomorphic function, its pullback "
                              "(in Python grad(f, holomorphic=True))"));
    if (!is_floating(loss.dtype())) throw DTypeError(text("gradient: the loss must be floating, not ", loss.dtype()));
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& loss, std::span<const Tensor> wrt) { return gradient(loss, wrt, {}); }

std::vector<Tensor> gradient(const Tensor& loss, std::span<const Tensor> wrt, std::span<const KnownGradient> known) {
    KeepPending keep;
    if (loss) refuse_loss(loss);
    for (const Tensor& tensor : wrt) {
        if (!is_inexact(tensor.dtype()))
            throw DTypeError(text("gradient: there is no derivative with respect to a ", tensor.dtype(),
                                  " tensor; convert it to a floating type first"));
    }
    std::vector<Tensor> outputs, seeds;
    Known said;
    for (const auto& [of, cotangent] : known) {
        said[of.node()] = cotangent;
        if (!cotangent) continue;
        outputs.push_back(of);
        seeds.push_back(cotangent);
    }
    refuse_pairs("gradient: a known one", outputs, seeds);
    if (loss) {
        outputs.push_back(loss);
        seeds.push_back(ones_like(loss));
    }
    Between between(outputs, wrt, true);
    between.refuse_cut("gradient", wrt);
    return pull_all(between, outputs, seeds, wrt, said);
}

std::vector<Tensor> gradient(const Tensor& loss, std::initializer_list<Tensor> wrt) {
    return gradient(loss, std::span<const Tensor>(wrt.begin(), wrt.size()));
}

Tensor gradient(const Tensor& loss, const Tensor& wrt) { return gradient(loss, {wrt})[0]; }

Tensor detail::pull_one(const Tensor& output, const Tensor& cotangent, const Tensor& wrt) {
    return pullback({&output, 1}, {&cotangent, 1}, {&wrt, 1})[0];
}

Tensor detail::push_one(const Tensor& output, const Tensor& wrt, const Tensor& tangent) {
    return pushforward({&output, 1}, {&wrt, 1}, {&tangent, 1})[0];
}

}  // namespace weft
