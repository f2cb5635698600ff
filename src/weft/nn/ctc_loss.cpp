// Connectionist temporal classification (Graves et al., 2006): the forward recursion over paths, in logarithms, one step after another.
// Its derivative is that of the recursion.
#include <algorithm>

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/reduced.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// Stands for the logarithm of 0: its derivatives are numbers, and no sum of log-probabilities comes near it.
constexpr double nothing = -1e30;

struct Problem {
    Tensor log_probs;                    // (T, N, C)
    std::vector<std::int64_t> extended;  // (N, 2 S + 1): labels with blanks around
    std::vector<std::int64_t> inputs, lengths;
    std::int64_t steps, batch, classes, longest, blank;
    std::int64_t states() const { return 2 * longest + 1; }
};

[[noreturn]] void refuse(const Operand& x, std::string message) {
    throw ValueError("ctc_loss: " + message + place(x.where));
}

std::vector<std::int64_t> integers(const Operand& x, const Operand& values, const char* what) {
    Tensor tensor = values.as_tensor();
    if (!is_integer(tensor.dtype()))
        throw DTypeError(text("ctc_loss: ", what, " are ", tensor.dtype(), "; they must be integers", place(x.where)));
    if (tensor.node()->symbolic)
        refuse(x, text(what, " are not known while a function is traced; compute them outside of it"));
    return astype(ravel(tensor), DType::int64).to_vector<std::int64_t>();
}

void read_lengths(const Operand& x, const Operand& inputs, const Operand& targets, Problem& problem) {
    problem.inputs = integers(x, inputs, "input_lengths"), problem.lengths = integers(x, targets, "target_lengths");
    auto batch = static_cast<std::size_t>(problem.batch);
    if (problem.inputs.size() != batch || problem.lengths.size() != batch)
        refuse(x, text(problem.inputs.size(), " input_lengths and ", problem.lengths.size(), " target_lengths for ",
                       batch, " examples"));
    for (std::size_t i = 0; i < batch; ++i) {
        if (problem.inputs[i] < 0 || problem.inputs[i] > problem.steps)
            refuse(x,
                   text("input_lengths[", i, "] is ", problem.inputs[i], ", but there are ", problem.steps, " steps"));
        if (problem.lengths[i] < 0) refuse(x, text("target_lengths[", i, "] is ", problem.lengths[i]));
        problem.longest = std::max(problem.longest, problem.lengths[i]);
    }
}

// Labels (N, S), or one list behind the other, as lists with blanks between, in front and behind.
void read_targets(const Operand& x, const Operand& targets, Problem& problem) {
    Tensor tensor = targets.as_tensor();
    std::vector<std::int64_t> labels = integers(x, targets, "targets");
    std::int64_t width = tensor.ndim() == 2 ? known(tensor.shape()) ? tensor.shape()[1].value() : 0 : 0, total = 0;
    for (std::int64_t length : problem.lengths) total += length;
    bool fits = tensor.ndim() == 2 ? tensor.shape()[0] == Size(problem.batch) && width >= problem.longest
                                   : tensor.ndim() == 1 && static_cast<std::int64_t>(labels.size()) == total;
    if (!fits)
        throw ShapeError(text("ctc_loss: targets of shape ", tensor.shape(), " for ", problem.batch,
                              " examples with lengths up to ", problem.longest, ", ", total,
                              " in all; they must be (N, S), or one behind the other", place(x.where)));
    std::int64_t before = 0;
    for (std::int64_t n = 0; n < problem.batch; ++n) {
        std::int64_t length = problem.lengths[static_cast<std::size_t>(n)], first = width ? n * width : before;
        before += length;
        for (std::int64_t s = 0; s < problem.states(); ++s) {
            bool label = s % 2 == 1 && s / 2 < length;
            std::int64_t value = label ? labels[static_cast<std::size_t>(first + s / 2)] : problem.blank;
            if (value < 0 || value >= problem.classes)
                throw IndexError(text("ctc_loss: the label ", value, " is not one of ", problem.classes, " classes",
                                      place(x.where)));
            problem.extended.push_back(value);
        }
    }
}

// `x` moved along the states by `by`, nothing in front.
Tensor moved(const Tensor& x, std::int64_t by) {
    std::int64_t states = x.shape()[1].value();
    if (by >= states) return full(x.shape(), nothing, x.dtype());
    return pad(slice(x, {0, 0}, {x.shape()[0], states - by}), {0, by}, {0, 0}, nothing);
}

// log(exp(a) + exp(b) + exp(c))
Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
    Tensor largest = stop_gradient(maximum(maximum(a, b), c));
    return largest + log(exp(a - largest) + exp(b - largest) + exp(c - largest));
}

// log of the probability of all paths of each example, (N)
Tensor log_likelihood(const Problem& p) {
    std::int64_t states = p.states();
    DType dtype = p.log_probs.dtype();
    Tensor labels = Tensor::of(p.extended, {p.batch, states});
    Tensor emitted = take_along_axis(p.log_probs, broadcast_to(expand_dims(labels, 0), {p.steps, p.batch, states}), 2);
    std::vector<std::int64_t> skips(p.extended.size()), begins(p.extended.size()), ends(p.extended.size());
    for (std::size_t i = 0; i < skips.size(); ++i) {
        auto s = static_cast<std::int64_t>(i) % states, length = p.lengths[i / static_cast<std::size_t>(states)];
        skips[i] = s >= 2 && p.extended[i] != p.blank && p.extended[i] != p.extended[i - 2];
        begins[i] = s < 2 && s <= 2 * length, ends[i] = s == 2 * length || s == 2 * length - 1;
    }
    auto mask = [&](const std::vector<std::int64_t>& values) { return Tensor::of(values, {p.batch, states}) != 0; };
    Tensor may_skip = mask(skips), lengths = Tensor::of(p.inputs, {p.batch, 1});
    // Before the first step: as if one had stood in front of the first state.
    Tensor alpha = where(Tensor::of(begins, {p.batch, states}) != 0, zeros({}, dtype), nothing);
    for (std::int64_t t = 0; t < p.steps; ++t) {
        Tensor now = reshape(slice(emitted, {t, 0, 0}, {1, p.batch, states}), {p.batch, states});
        Tensor all = t == 0 ? alpha : log_add(alpha, moved(alpha, 1), where(may_skip, moved(alpha, 2), nothing));
        alpha = where(lengths > t, maximum(all + now, nothing), alpha);
    }
    Tensor last = where(mask(ends), alpha, nothing), largest = stop_gradient(max(last, 1, true));
    Tensor found = log(sum(exp(last - largest), 1)) + squeeze(largest, {1});
    // Without a step only the empty target is spelled.
    return where(squeeze(lengths, {1}) == 0, where(Tensor::of(p.lengths, {p.batch}) == 0, zeros({}, dtype), nothing),
                 found);
}

}  // namespace

Tensor ctc_loss(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
                const Operand& target_lengths, const CtcOptions& options) {
    LineScope line(log_probs.where);
    Tensor x = log_probs.as_tensor();
    if ((x.ndim() != 2 && x.ndim() != 3) || !is_floating(x.dtype()) || !known(x.shape()))
        throw ShapeError(text("ctc_loss: log_probs are ", x.dtype(), " of shape ", x.shape(),
                              ", but must be floating numbers (T, N, C) or (T, C) of known sizes",
                              place(log_probs.where)));
    bool single = x.ndim() == 2;
    if (single) x = expand_dims(x, 1);
    Problem problem{x, {}, {}, {}, x.shape()[0].value(), x.shape()[1].value(), x.shape()[2].value(), 0, options.blank};
    if (options.blank < 0 || options.blank >= problem.classes)
        refuse(log_probs, text("blank is ", options.blank, ", not one of ", problem.classes, " classes"));
    read_lengths(log_probs, input_lengths, target_lengths, problem);
    read_targets(log_probs, targets, problem);
    Tensor likelihood = log_likelihood(problem);
    Tensor impossible = likelihood < nothing / 2;
    Tensor losses =
        where(impossible, options.zero_infinity ? 0.0 : std::numeric_limits<double>::infinity(), -likelihood);
    if (options.reduction == LossReduction::mean) {
        std::vector<std::int64_t> lengths = problem.lengths;
        for (std::int64_t& length : lengths) length = std::max<std::int64_t>(length, 1);
        return mean(losses / astype(Tensor::of(lengths, {problem.batch}), losses.dtype()));
    }
    if (options.reduction == LossReduction::sum) return sum(losses);
    return single ? squeeze(losses, {0}) : losses;
}

}  // namespace weft::nn
