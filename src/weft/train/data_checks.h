// What is wrong with the values of a data set, and not with its shapes, is said before anything is learned of them, by set, row and value:
// labels that the network has no score for, symbols that it has no vector for, numbers that are none. Caller: train/trainer_data.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weft/base/json.h"
#include "weft/data/dataset.h"
#include "weft/train/parts.h"

namespace weft::train {

/// What a cost of class numbers takes.
struct LabelRule {
    std::string cost;
    Position where;                            // of the cost
    std::string target;                        // a field, "input"; "" is y
    std::int64_t classes = 0;                  // labels are 0 .. classes - 1
    std::optional<std::int64_t> missing = {};  // and this one, of examples that are left out
};

/// Labels in memory, those of padding apart. ConfigError names the set, the row and the value; or the type, if it is none of integers.
void check_labels(const LabelRule& rule, const std::string& set_name, const data::Dataset& set);

/// An embedding of integers that the data give.
struct SymbolRule {
    std::string layer;
    Position where;
    Shape takes;  // (batch, ...)
    std::int64_t count = 0;
};

/// Of integers in memory, where data have one input of them, in the shape that the embedding takes. ConfigError names the greatest.
void check_symbols(const SymbolRule& rule, const std::string& set_name, const data::Dataset& set);

/// That no number of an example in memory is NaN, nor one of y that a cost wants and does not leave out. ConfigError names row and column.
void check_numbers(const std::vector<CostTerm>& costs, const std::string& set_name, const data::Dataset& set);

}  // namespace weft::train
