#include "weft/train/layer_options.h"

#include "weft/base/error.h"

namespace weft::train {

const Option& init_option() {
    static const Option made = [] {
        Option option{"init", Json(), "of the weights; PyTorch's if left out"};
        option.also = "init";
        return option;
    }();
    return made;
}

const Option& bias_init_option() {
    static const Option made = [] {
        Option option{"bias_init", Json(),
                      "of what is added; 0 where `init` is given, and PyTorch's if both are left out"};
        option.also = "init";
        return option;
    }();
    return made;
}

const Option& bias_option() {
    static const Option made{"bias", true, "whether something is added"};
    return made;
}

void initialise(Parameter& parameter, const Json& init, std::uint64_t seed) {
    Chosen chosen = choose(init, "init");
    parameter.set(chosen.make<MakeInit>()(chosen.options, dims_of(parameter.shape()), seed));
}

Option per_axis(const char* name, Json fallback, const char* doc, bool required) {
    Option option{name, std::move(fallback), text(doc, ": an integer, or one for each axis"), false, Json::Kind::null};
    option.required = required;
    option.several = true;
    option.least = 0, option.most = 1e9;
    return option;
}

nn::PerAxis axes_of(const Json& value, int spatial) {
    if (value.is_integer()) return value.as_integer();
    if (static_cast<int>(value.items().size()) != spatial) {
        value.refuse(text("expected an integer, or a list of ", spatial, ", found ", value.describe()));
    }
    Dims dims;
    for (const Json& item : value.items()) dims.push_back(item.as_integer());
    return dims;
}

std::optional<nn::PerAxis> maybe_axes(const Json& value, int spatial) {
    if (value.is_null()) return std::nullopt;
    return axes_of(value, spatial);
}

}  // namespace weft::train
