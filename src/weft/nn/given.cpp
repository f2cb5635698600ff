#include "weft/nn/given.h"

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

thread_local Given* innermost = nullptr;

}  // namespace

Given::Given(std::vector<std::pair<std::string, Tensor>> values, Tensor lengths, Size time)
    : values_(std::move(values)),
      lengths_(std::move(lengths)),
      time_(std::move(time)),
      outer_(std::exchange(innermost, this)) {}
Given::~Given() { innermost = outer_; }

bool Given::has(std::string_view name) {
    if (!innermost) return false;
    for (const auto& [known, value] : innermost->values_)
        if (known == name) return true;
    return false;
}

const Tensor& Given::named(std::string_view name) {
    if (innermost) {
        for (const auto& [known, value] : innermost->values_)
            if (known == name) return value;
    }
    throw ValueError(text("the network takes '", name, "', which these data do not have"));
}

Tensor Given::lengths_for(const Tensor& value) {
    bool padded = innermost && innermost->lengths_ && value.ndim() > 1 && value.shape()[1] == innermost->time_;
    return padded ? innermost->lengths_ : Tensor();
}

Tensor filled(const Tensor& lengths, const Size& time) { return expand_dims(iota(time), 0) < expand_dims(lengths, 1); }

}  // namespace weft::nn
