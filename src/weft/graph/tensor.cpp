#include "weft/graph/tensor.h"

#include "weft/graph/evaluator.h"
#include "weft/graph/node.h"
#include "weft/graph/parameter.h"

namespace weft {
namespace {

Node& checked(Node* node) {
    if (!node) throw ValueError("an empty Tensor holds nothing: give it a value first");
    return *node;
}

Literal literal_of(const Array& array) {
    return with_dtype(array.dtype, [&](auto tag) -> Literal {
        using T = typename decltype(tag)::Type;
        T value = *static_cast<const T*>(array.address());
        if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
            return Literal(static_cast<float>(value));
        else if constexpr (std::is_arithmetic_v<T>)
            return Literal(value);
        else
            return Literal(std::complex<double>(value));
    });
}

}  // namespace

Tensor::Tensor(Array array) {
    std::unique_ptr<Node> node = Node::make(Room::numbers);
    node->operation = &array_operation;
    node->dtype = array.dtype;
    node->shape = shape_of(array.dims);
    node->fill(std::move(array));
    node_ = node.release();
}

Tensor::Tensor(const Tensor& other) : node_(other.node_) {
    if (node_) node_->retain();
}

Tensor& Tensor::operator=(const Tensor& other) {
    if (other.node_) other.node_->retain();
    if (node_) node_->release();
    node_ = other.node_;
    return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
}

Tensor::~Tensor() {
    if (node_) node_->release();
}

Tensor Tensor::of_literal(Literal literal, DType dtype) { return constant(literal, dtype); }

const Shape& Tensor::shape() const { return checked(node_).shape; }
DType Tensor::dtype() const { return checked(node_).dtype; }
bool Tensor::computed() const { return checked(node_).computed.load(std::memory_order_acquire); }

const Tensor& Tensor::eval() const {
    if (!computed()) {
        Node* nodes[] = {node_};
        evaluate(nodes);
    }
    return *this;
}

Array Tensor::array() const { return eval().node_->value(); }

Literal Tensor::literal() const {
    const Array& values = eval().node_->value();
    if (values.size() != 1)
        throw ShapeError(text("item: the tensor of shape ", values.dims, " has ", values.size(), " elements, not one"));
    return literal_of(values);
}

void eval(std::span<const Tensor> tensors) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) {
        if (!tensor.computed()) nodes.push_back(tensor.node());
    }
    if (!nodes.empty()) evaluate(nodes);
}

Operand::Operand(const Parameter& parameter, std::source_location where) : tensor(parameter.value()), where(where) {}

void Operand::refuse_empty(std::source_location where) {
    throw ValueError(text("an operand is an empty Tensor, which holds nothing: give it a value first", place(where)));
}

Tensor Operand::as(DType dtype) const { return tensor ? tensor : constant(literal, dtype); }
Tensor Operand::as_tensor() const { return as(default_dtype(literal.kind)); }

template <>
std::vector<bool> Tensor::to_vector<bool>() const {
    Array values = contiguous(array());
    const bool* first = values.data<bool>();
    return std::vector<bool>(first, first + values.size());
}

}  // namespace weft
