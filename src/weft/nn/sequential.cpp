#include "weft/nn/sequential.h"

#include "weft/graph/node.h"
namespace weft::nn {

void Sequential::add(Module module, std::string name) {
    if (name.empty()) name = std::to_string(modules_.size());
    for (const auto& [other, unused] : modules_) {
        if (other == name)
            throw ValueError(text("Sequential: a module named '", name, "' is there already; names must differ"));
    }
    modules_.emplace_back(std::move(name), std::move(module));
}

Tensor Sequential::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    for (const auto& [name, module] : modules_) value = module(Operand(std::move(value), x.where));
    return value;
}

Module& Sequential::operator[](std::size_t i) { return modules_.at(i).second; }

}  // namespace weft::nn
