// The cotangents of loops and conditionals, which are those of their results.
#include <algorithm>

#include "weft/autodiff/loop_rules.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

/// What stands for the cotangent of a loop or a conditional: those of its results, which are its inputs. Never computed.
struct RegionCotangentAttributes {
    std::vector<LoopResultAttributes> of;
    template <class V>
    void members(V&) {}
};
Meta infer_cotangent(const Operation&, std::span<const Tensor>, const Attributes*) { return {{}, DType::float32}; }
const Operation region_cotangent_operation{.name = "region_cotangent",
                                           .family = Family::region,
                                           .arity = -1,
                                           .doc = "The cotangents of the results of a loop or a conditional.",
                                           .infer = infer_cotangent};

}  // namespace

Tensor region_cotangent(const Tensor& result, const Tensor& cotangent) {
    RegionCotangentAttributes a{{result.node()->attributes_as<LoopResultAttributes>()}};
    return make_node(region_cotangent_operation, {cotangent}, attributes(std::move(a)), result.node()->where);
}

Tensor add_region_cotangents(const Tensor& a, const Tensor& b) {
    RegionCotangentAttributes all = a.node()->attributes_as<RegionCotangentAttributes>();
    std::vector<Tensor> cotangents;
    for (Node* input : a.node()->inputs) cotangents.push_back(handle(input));
    const auto& more = b.node()->attributes_as<RegionCotangentAttributes>().of;
    for (std::size_t i = 0; i < more.size(); ++i) {
        auto same = std::find_if(all.of.begin(), all.of.end(), [&](const LoopResultAttributes& known) {
            return known.collected == more[i].collected && known.value == more[i].value;
        });
        auto k = static_cast<std::size_t>(same - all.of.begin());
        if (k < all.of.size()) {
            cotangents[k] = cotangents[k] + input_of(b, i);
        } else {
            all.of.push_back(more[i]), cotangents.push_back(input_of(b, i));
        }
    }
    return make_node(region_cotangent_operation, cotangents, attributes(std::move(all)), a.node()->where);
}

const std::vector<LoopResultAttributes>& region_results(const Tensor& cotangent) {
    return cotangent.node()->attributes_as<RegionCotangentAttributes>().of;
}

}  // namespace weft
