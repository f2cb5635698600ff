// Arrays of a program as a data set of an experiment. A description holds no numbers: it says of each array its shape, its dtype and its MD5,
// and the numbers are found by these for as long as somebody holds them. So a run says what it learned from, and goes on with nothing else.
// Callers: train/, the Python package, users' programs.
#pragma once

#include <memory>
#include <vector>

#include "weft/base/json.h"
#include "weft/core/array.h"
#include "weft/data/files.h"

namespace weft::data {

using Hold = std::shared_ptr<const void>;

struct Held {
    Json description;        // {arrays: {x: {shape: [60, 4], dtype: float32, md5: ...}, y: ...}}: a set of `data:`
    std::vector<Hold> keep;  // the numbers; an Experiment that is made meanwhile keeps them, too
};

/// Inputs and targets by name, one an example along their first axes; integers in targets are class numbers, bytes in inputs are float32 in a
/// batch. The arrays are shared, and must not change. ShapeError if they do not hold as many rows, ValueError if one of both is missing.
Held hold(const NamedArrays& inputs, const NamedArrays& targets);
/// The usual one: x and y.
Held hold(const Array& x, const Array& y);

/// What is alive of the arrays that a description names, anywhere in it.
std::vector<Hold> held_in(const Json& description);

}  // namespace weft::data
