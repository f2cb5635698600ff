// Costs that ask for no target: penalties on parameters, by name, and what the network's layers add themselves.
#include "weft/base/error.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/optim/optimizer.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

std::vector<Json> groups_in(const Json& options) {
    const Json* groups = options.find("groups");
    return groups ? groups->items() : std::vector<Json>{};
}

/// Of a parameter: that of the first group whose glob matches its name. Else penalties are on weights, not on biases and other
/// vectors, as is usual.
double factor_of(const Parameter& parameter, const Json& options) {
    for (const Json& group : groups_in(options)) {
        if (optim::glob_match(group.at("match").as_string(), parameter.name())) return group.at("factor").as_number();
    }
    return parameter.shape().size() >= 2 ? options.at("factor").as_number() : 0;
}

template <class F>
Part<MakeCost> penalty(const char* name, const char* doc, F of_weight) {
    auto make = [of_weight](const Json& o) {
        CostTerm term;
        term.of_parameters = [of_weight, o](std::span<const Parameter> parameters) -> Tensor {
            Tensor total(0.0f);
            for (const Parameter& parameter : parameters) {
                double factor = factor_of(parameter, o);
                if (factor == 0) continue;
                Tensor one = of_weight(parameter.value());
                total = total + (factor == 1 ? one : one * factor);
            }
            return total;
        };
        for (const Json& group : groups_in(o)) term.globs.push_back(group.at("match"));
        return term;
    };
    Option size{"factor", Json(), "times the penalty", true, Json::Kind::number};
    size.least = 0;
    Option own{"factor", Json(), "in place of the penalty's", true, Json::Kind::number};
    own.least = 0;
    Option groups{"groups", Json(), "parameters with factors of their own: [{match: \"0.*\", factor: 0.001}]", false,
                  Json::Kind::array};
    groups.brief = true;
    groups.keys = {{"match", Json(), "names, as in *.bias", true, Json::Kind::string}, own};
    return {{name, doc, {size, groups}, "factor"}, make};
}

}  // namespace

std::vector<Part<MakeCost>> penalties() {
    return {
        penalty("weight_decay",
                "factor / 2 times the sum of squares of all weights (what an optimizer's weight_decay amounts to)",
                [](const Tensor& w) { return 0.5f * sum(w * w); }),
        penalty("l1_penalty", "factor times the sum of |w| over all weights",
                [](const Tensor& w) { return sum(abs(w)); }),
        {{"of_layers", "nothing but what layers add themselves, as rbm and variational do"},
         [](const Json&) {
             CostTerm term;
             term.of_layers = true;
             return term;
         }},
    };
}

}  // namespace weft::train
