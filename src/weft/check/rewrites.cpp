#include "weft/check/rewrites.h"

#include <algorithm>
#include <cmath>

#include "weft/check/compare.h"
#include "weft/graph/graph.h"
#include "weft/runtime/declared.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

// The other side's number where a rule is free to give another one.
Array excused(const Array& before, const Array& after, Assumes assumes) {
    if (assumes == Assumes::nothing || !is_floating(before.dtype)) return before;
    Array dense = contiguous(before), other = contiguous(after), result = Array::empty(before.dtype, before.dims);
    std::vector<double> values = as_doubles(dense), others = as_doubles(other);
    std::size_t bytes = size_of(before.dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
        bool free = !std::isfinite(values[i]) || (assumes == Assumes::exact && values[i] == 0);
        const void* from = (free ? other : dense).address();
        std::memcpy(static_cast<std::byte*>(result.address()) + i * bytes,
                    static_cast<const std::byte*>(from) + i * bytes, bytes);
    }
    return result;
}

std::string wrong_in(const Array& before, const Array& after, Assumes assumes) {
    if (!is_inexact(before.dtype)) return difference(before, after);
    double most = 1;
    for (double value : as_doubles(before))
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    double epsilon = 512 * epsilon_of(before.dtype);
    return difference(excused(before, after, assumes), after, epsilon * most, epsilon);
}

}  // namespace

std::vector<std::string> check_rewrites(std::span<const Tensor> tensors, const RewriteOptions& options) {
    return check_rewrites(tensors, {}, {}, options);
}

std::vector<std::string> check_rewrites(std::span<const Tensor> tensors, std::span<const Tensor> inputs,
                                        std::span<const Tensor> given, const RewriteOptions& options) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    std::vector<Rewrite> trace;
    (void)rewrite(gather(nodes), options, &trace);
    std::vector<Tensor> sides;
    for (const Rewrite& one : trace) sides.push_back(one.before), sides.push_back(one.after);
    if (!inputs.empty())
        sides = substitute(sides, inputs, given, [](std::string_view) { return std::optional<std::int64_t>(); });
    std::vector<Array> values = interpret(std::span<const Tensor>(sides));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        std::string wrong = wrong_in(values[2 * i], values[2 * i + 1], trace[i].assumes);
        if (!wrong.empty()) found.push_back(text(str(trace[i]), ": ", wrong));
    }
    return found;
}

}  // namespace weft
