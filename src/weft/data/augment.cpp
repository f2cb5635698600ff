#include "weft/data/augment.h"

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/registry.h"

namespace weft::data {

Augmentation::Augmentation(const Json& steps) {
    if (steps.is_null()) return;
    for (const Json& description : steps.items()) {
        auto [name, argument] = named(description, "a step of augmentation");
        Position where = description.is_object() ? description.members()[0].where : description.where();
        if (argument.is_null()) argument.set_where(where);
        const AugmenterKind* chosen = nullptr;
        std::vector<std::string_view> names;
        for (const AugmenterKind& kind : augmenter_kinds()) {
            names.push_back(kind.name);
            if (kind.name == name) chosen = &kind;
        }
        if (!chosen)
            throw ConfigError(
                text(where, "there is no step of augmentation named '", name, "'", did_you_mean(name, names)));
        steps_.push_back({name, chosen->make(complete(argument, chosen->options, name)), where});
    }
}

void Augmentation::check_input(const Named& named, const Dataset& input) {
    if (input.x_dtype() != DType::float32)
        throw ConfigError(
            text(named.where, named.name, ": examples are ", input.x_dtype(), "; augmentation is for float32"));
    try {
        named.step->check(input.example());
    } catch (const ShapeError& error) {
        throw ConfigError(text(named.where, named.name, ": ", error.what()));
    }
}

void Augmentation::check(const Dataset& set) const {
    for (const Named& named : steps_) {
        check_input(named, set);
        for (const Field& field : set.fields)
            if (!field.target) check_input(named, field.data);
    }
}

void Augmentation::apply(float* numbers, const Dims& example, std::uint64_t seed, std::int64_t epoch, std::int64_t row,
                         std::uint64_t input) const {
    std::uint64_t key = CounterRandom(seed, static_cast<std::uint64_t>(epoch)).at(static_cast<std::uint64_t>(row));
    if (input) key = CounterRandom(key, 0).at(input);
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].step->apply(numbers, example, CounterRandom(key, i));
}

}  // namespace weft::data
