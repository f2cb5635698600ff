// Arithmetic inside ${...}: numbers, names of variables, + - * / // % **, parentheses, and a few functions, with Python's precedence and
// Python's meaning: / gives a number, // and % round down, integers stay integers. Nothing else can be said, so nothing can be run.
// Caller: train/variables.cpp.
#pragma once

#include <functional>
#include <string_view>

#include "weft/base/json.h"

namespace weft::train {

/// The value of a variable; throws if there is none.
using Lookup = std::function<Json(std::string_view name)>;

/// What the expression comes to: a name alone may stand for any value, arithmetic takes and gives numbers. ValueError says what is
/// wrong, without the place; what `lookup` throws passes through.
Json evaluate(std::string_view expression, const Lookup& lookup);

/// Whether a word can be the name of a variable: letters, digits and _, no digit first; not `env`.
bool is_variable_name(std::string_view word);

}  // namespace weft::train
