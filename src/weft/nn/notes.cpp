#include "weft/nn/notes.h"

#include "weft/graph/node.h"

namespace weft::nn {
namespace {

thread_local Notes* listening = nullptr;

}  // namespace

Notes::Notes() : outer_(std::exchange(listening, this)) {}
Notes::~Notes() { listening = outer_; }
Notes* Notes::current() { return listening; }

void add_cost(std::string_view name, const Tensor& value, AddedCost::Part part) {
    if (value.ndim() != 0)
        throw ShapeError(text("add_cost: '", name, "' has shape ", value.shape(),
                              ", but a cost is a single number; take its mean over the batch"));
    if (listening) listening->costs.push_back({std::string(name), value, part});
}

}  // namespace weft::nn
