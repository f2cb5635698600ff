#include "weft/graph/parameter.h"

#include <mutex>

#include "weft/graph/node.h"

namespace weft {
namespace {

thread_local CellObserver* observer = nullptr;

// What others may write at any time is copied: a parameter changes when it is set, and at no other time.
Tensor own(const Tensor& value) {
    if (!value.computed() || value.array().buffer->content() != 0) return value;
    const Array from = value.array();
    Array copy = Array::empty(from.dtype, from.dims);
    copy_elements(from, copy);
    return Tensor(copy);
}

}  // namespace

CellObserver::CellObserver() : outer_(observer) { observer = this; }
CellObserver::~CellObserver() { observer = outer_; }
CellObserver* CellObserver::current() { return observer; }

Parameter::Parameter() : Parameter(Tensor(0.0f)) {}

Parameter::Parameter(const Tensor& value, std::string name, bool trainable) : cell_(std::make_shared<Cell>()) {
    cell_->name = std::move(name);
    cell_->value = own(value);
    cell_->trainable = trainable;
}

Tensor Parameter::value() const {
    if (observer) return observer->read(cell_);
    const Tensor& value =
        cell_->value.eval();  // a leaf, so that an expression written over it can tell whose value it is
    std::lock_guard guard(Node::lock());
    value.node()->belongs_to(cell_);
    return value;
}

void Parameter::set(const Tensor& value, std::source_location where) {
    if (!(value.shape() == shape())) {
        throw ShapeError(text("set: the parameter '", name(), "' has shape ", shape(), ", the new value ",
                              value.shape(), place(where)));
    }
    if (value.dtype() != dtype()) {
        throw DTypeError(text("set: the parameter '", name(), "' holds ", dtype(), ", the new value ", value.dtype(),
                              "; convert it with astype", place(where)));
    }
    if (!observer && value.node()->symbolic && !value.computed()) {
        throw ValueError(text(
            "set: the parameter '", name(),
            "' is given a value that is not known here: it depends on an example of vmap, a step of scan or "
            "while_loop, a branch of cond, or on a declared input; return it from the function, and set it outside",
            place(where)));
    }
    if (observer)
        observer->write(cell_, value);
    else
        cell_->value = own(value);
}

}  // namespace weft
