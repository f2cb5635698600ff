#include "weft/train/operation_count.h"

#include <unordered_set>

#include "weft/graph/node.h"
#include "weft/ops/window.h"
#include "weft/train/builder.h"
#include "weft/train/stand_ins.h"

namespace weft::train {
namespace {

double elements(const Node& node) {
    double count = 1;
    for (Size size : node.shape) count *= size.known() ? static_cast<double>(size.value()) : 1;
    return count;
}

/// Each number of y, or of its gradient, meets each weight of one output channel.
double of_convolution(const Node& node) {
    const Node *first = node.inputs[0], *second = node.inputs[1];
    const Node *y = &node, *weight = second;
    switch (node.attributes_as<WindowAttributes>().kind) {
        case WindowKind::convolution:
            break;
        case WindowKind::convolution_input_gradient:
            y = first;
            break;
        case WindowKind::convolution_weight_gradient:
            y = second, weight = &node;
            break;
        default:
            return elements(*first);  // a pool reads each number about once
    }
    return 2 * elements(*y) * elements(*weight) / std::max(1.0, static_cast<double>(weight->shape[0].value()));
}

double of_node(const Node& node) {
    switch (node.operation->family) {
        case Family::elementwise:
            return elements(node);
        case Family::reduce:
        case Family::scan:
            return elements(*node.inputs[0]);
        case Family::contraction:
            return 2 * elements(node) * static_cast<double>(node.inputs[0]->shape.back().value());
        case Family::window:
            return of_convolution(node);
        default:
            return 0;
    }
}

}  // namespace

double operations(std::span<const Tensor> results) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> open;
    auto visit = [&](const Node* node) {
        if (!node->computed && seen.insert(node).second) open.push_back(node);
    };
    for (const Tensor& tensor : results) visit(tensor.node());
    double total = 0;
    while (!open.empty()) {
        const Node* node = open.back();
        open.pop_back();
        total += of_node(*node);
        for (const Node* input : node->inputs) visit(input);
    }
    return total;
}

double forward_operations(const nn::Module& module, const LayerPlace& place) {
    Shape shape{Size(1)};
    for (std::int64_t size : place.input) shape.push_back(size);
    Tensor x = input("x", shape, place.dtype);
    nn::Given given = place.builder->feed.given(place.builder->feed.stand_ins(Size(1)));
    StandIns cells;
    const Tensor results[] = {module(x)};
    return operations(results);
}

}  // namespace weft::train
