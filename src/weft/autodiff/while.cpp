#include "weft/autodiff/while.h"

#include "weft/autodiff/between.h"

namespace weft {

WhileTrace::WhileTrace(std::vector<Tensor> init, std::vector<std::string> names, std::source_location where)
    : init_(std::move(init)), names_(std::move(names)), where_(where) {
    for (const Tensor& begin : init_) carry_.push_back(input(turn_value_name, begin.shape(), begin.dtype(), where));
}

std::vector<Tensor> WhileTrace::results(const Tensor& condition, std::span<const Tensor> next) const {
    std::string given = text("while_loop: the condition must be one truth value, bool (), but is ", condition.dtype(),
                             " ", condition.shape());
    if (condition.dtype() != DType::bool_)
        throw DTypeError(text(given, "; write a comparison (x != 0)", place(where_)));
    if (condition.ndim() != 0)
        throw ShapeError(text(given, "; join the truth values of many elements by all or any", place(where_)));
    if (next.size() != carry_.size())
        throw ValueError(text("while_loop: the body gave ", next.size(), " carried values, but was given ",
                              carry_.size(), place(where_)));
    for (std::size_t i = 0; i < next.size(); ++i) {
        std::string name = i < names_.size() ? names_[i] : text("carried value ", i);
        refuse_change("while_loop", name, carry_[i], next[i], where_);
    }
    // Whether there is a further step is carried as well, behind the others.
    std::vector<Tensor> init = init_, carry = carry_, after(next.begin(), next.end());
    init.push_back(replaced({&condition, 1}, carry_, init_)[0]);
    after.push_back(replaced({&condition, 1}, carry_, next)[0]);
    carry.push_back(input(turn_value_name, {}, DType::bool_, where_));
    MadeLoop made = make_loop({.carry = carry, .next = after, .init = init, .where = where_, .condition = next.size()});
    std::vector<Tensor> last;
    for (std::size_t i = 0; i < next.size(); ++i) last.push_back(loop_last(made.loop, i));
    return last;
}

std::vector<Tensor> while_loop(const std::function<Tensor(std::span<const Tensor> carry)>& condition,
                               const std::function<std::vector<Tensor>(std::span<const Tensor> carry)>& body,
                               std::vector<Tensor> init, std::source_location where) {
    KeepPending keep;
    WhileTrace trace(std::move(init), {}, where);
    Tensor holds = condition(trace.carry());
    return trace.results(holds, body(trace.carry()));
}

}  // namespace weft
