#include "weft/autodiff/vmap.h"

#include <unordered_map>

#include "weft/autodiff/batching.h"
#include "weft/autodiff/between.h"
#include "weft/autodiff/loop_rules.h"
#include "weft/ops/creation.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Nodes of one example -> of all. What is not in it is the same for all examples.
using Batched = std::unordered_map<const Node*, Tensor>;

Tensor for_all(const Tensor& of_one, const Batched& known, Size size) {
    const Node& node = *of_one.node();
    std::vector<Tensor> inputs;
    std::vector<bool> batched;
    for (Node* input : node.inputs) {
        auto at = known.find(input);
        batched.push_back(at != known.end());
        inputs.push_back(batched.back() ? at->second : handle(input));
    }
    Tensor result = batched_node(of_one, {inputs, batched, size});
    promise(has_results(node) || (result.dtype() == node.dtype && result.ndim() == node.shape.size() + 1),
            "a rule of vmap keeps the dtype and adds one axis");
    return result;
}

Batched batched_between(std::span<const Tensor> of_one, std::span<const Tensor> leaves, std::span<const Tensor> of_all,
                        Size size) {
    Batched known;
    for (std::size_t i = 0; i < leaves.size(); ++i) known[leaves[i].node()] = of_all[i];
    for (const Tensor& node : nodes_between(of_one, leaves)) known[node.node()] = for_all(node, known, size);
    return known;
}

std::string name_of(const std::vector<std::string>& names, std::size_t i) {
    return i < names.size() ? names[i] : text("argument ", i);
}

Tensor moved_from_front(const Tensor& x, std::int64_t axis) { return axis == 0 ? x : moveaxis(x, 0, axis); }

}  // namespace

std::vector<Tensor> of_all_examples(std::span<const Tensor> of_one, std::span<const Tensor> leaves,
                                    std::span<const Tensor> of_all, Size size) {
    KeepPending keep;
    Batched known = batched_between(of_one, leaves, of_all, size);
    std::vector<Tensor> results;
    for (const Tensor& one : of_one) {
        auto at = known.find(one.node());
        results.push_back(at == known.end() ? one : at->second);
    }
    return results;
}

Vmap::Vmap(std::span<const Tensor> arguments, std::span<const ExampleAxis> axes, std::vector<std::string> names)
    : examples_(arguments.begin(), arguments.end()) {
    if (axes.size() != arguments.size())
        throw ValueError(text("vmap: in_axes has ", axes.size(), " entries for ", arguments.size(), " arguments"));
    std::size_t first = arguments.size();
    std::int64_t first_axis = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!axes[i]) continue;
        const Shape& whole = arguments[i].shape();
        std::int64_t axis = normalize_axis(*axes[i], whole.size(), text("vmap: in_axes of ", name_of(names, i)));
        Size size = whole[static_cast<std::size_t>(axis)];
        if (first == arguments.size()) {
            first = i, first_axis = axis, size_ = size;
        } else if (!may_equal(size, size_)) {
            throw ValueError(text("vmap: ", name_of(names, first), " has ", size_, " examples (axis ", first_axis,
                                  " of shape ", arguments[first].shape(), "), but ", name_of(names, i), " has ", size,
                                  " (axis ", axis, " of shape ", whole,
                                  "); give in_axes None to what is the same for all examples"));
        }
        Shape one = whole;
        one.erase(static_cast<std::size_t>(axis));
        examples_[i] = input(mapped_name, one, arguments[i].dtype(), arguments[i].node()->where);
        placeholders_.push_back(examples_[i]);
        values_.push_back(axis == 0 ? arguments[i] : moveaxis(arguments[i], axis, 0));
    }
    if (placeholders_.empty())
        throw ValueError("vmap: in_axes maps no argument, so there is no number of examples; give an axis to one");
}

std::vector<Tensor> Vmap::results(std::span<const Tensor> of_one, std::span<const ExampleAxis> axes) const {
    KeepPending keep;
    if (axes.size() != of_one.size())
        throw ValueError(text("vmap: out_axes has ", axes.size(), " entries for ", of_one.size(), " results"));
    Batched known = batched_between(of_one, placeholders_, values_, size_);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < of_one.size(); ++i) {
        auto at = known.find(of_one[i].node());
        bool differs = at != known.end();
        if (!axes[i]) {
            if (differs)
                throw ValueError(text("vmap: out_axes is None for result ", i, ", ", of_one[i].dtype(), " ",
                                      of_one[i].shape(),
                                      ", which differs between examples; give it an axis, or reduce over them"));
            results.push_back(of_one[i]);
            continue;
        }
        Shape whole = of_one[i].shape();
        std::int64_t axis = normalize_axis(*axes[i], whole.size() + 1, text("vmap: out_axes of result ", i));
        whole.insert(0, size_);
        results.push_back(moved_from_front(differs ? at->second : broadcast_to(of_one[i], whole), axis));
    }
    return results;
}

namespace {

// One-hot tensors of the shape of x, one an element, stacked.
Tensor basis_of(const Tensor& x) {
    std::int64_t count = x.size().value();
    Shape shape = x.shape();
    shape.insert(0, count);
    return reshape(eye(count, count, 0, x.dtype()), shape);
}

// What `f` makes of each one-hot tensor of the shape of `like`, stacked.
template <class F>
std::vector<Tensor> over_basis(const Tensor& like, F f) {
    KeepPending keep;
    Tensor basis[] = {basis_of(like)};
    ExampleAxis front = 0;
    Vmap map(basis, {&front, 1});
    std::vector<Tensor> of_one = f(map.examples()[0]);
    std::vector<ExampleAxis> axes(of_one.size(), 0);
    return map.results(of_one, axes);
}

void refuse_exact(const Tensor& output) {
    if (!is_inexact(output.dtype()))
        throw DTypeError(text("jacobian: the result must be floating, not ", output.dtype(), " ", output.shape()));
}

Shape joined(const Shape& a, const Shape& b) {
    Shape shape = a;
    for (Size size : b) shape.push_back(size);
    return shape;
}

}  // namespace

std::vector<Tensor> jacobian(const Tensor& output, std::span<const Tensor> wrt) {
    refuse_exact(output);
    std::vector<Tensor> rows = over_basis(output, [&](const Tensor& cotangent) {
        Tensor outputs[] = {output}, cotangents[] = {cotangent};
        return pullback(outputs, cotangents, wrt);
    });
    for (std::size_t i = 0; i < wrt.size(); ++i) rows[i] = reshape(rows[i], joined(output.shape(), wrt[i].shape()));
    return rows;
}

std::vector<Tensor> forward_jacobian(const Tensor& output, std::span<const Tensor> wrt) {
    refuse_exact(output);
    std::vector<Tensor> results;
    for (const Tensor& x : wrt) {
        Tensor columns = over_basis(x, [&](const Tensor& tangent) {
            Tensor outputs[] = {output}, at[] = {x}, tangents[] = {tangent};
            return pushforward(outputs, at, tangents);
        })[0];
        auto last = static_cast<std::int64_t>(columns.ndim()) - 1;
        results.push_back(reshape(moveaxis(columns, 0, last), joined(output.shape(), x.shape())));
    }
    return results;
}

}  // namespace weft
