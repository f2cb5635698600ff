// What a file would make of a piece of text: a cost, a stop rule, ... by its kind's name.
#pragma once

#include <string>

#include "weft/train/config.h"
#include "weft/train/registry.h"

namespace weft::train {

template <class Make>
auto made_of(const std::string& kind, const std::string& json) {
    Chosen chosen = choose(parse_config(json, "f.json"), kind);
    return chosen.make<Make>()(chosen.options);
}

}  // namespace weft::train
