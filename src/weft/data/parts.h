// Arrays of a file as the inputs and targets of a data set: the same for files of arrays and for tables. Private.
// Callers: data/files.cpp, data/tables.cpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/data/dataset.h"

namespace weft::data {

/// An input by its name: x of a data set, and what is known of it.
using InputPart = std::pair<std::string, Dataset>;
struct TargetPart {
    std::string name;
    Array values;
    std::vector<std::string> classes = {};  // empty: numbers, where values are class numbers
};

/// Any real numbers. DTypeError for others.
Array as_float32(const Array& numbers);
/// Floats that are class numbers, as int64. FileError names the row of one that is none.
Array class_numbers(const Array& values, const std::string& name);
/// Bytes in x are float32 in a batch.
Dataset input_of(const Array& x);
/// What is to be learned; class numbers may also be floats without a fraction, and stand in a column.
Array target_of(const Array& y, std::optional<bool> labels, const std::string& name);
/// The first input and target are x and y, the others fields.
Dataset of_parts(std::vector<InputPart> inputs, std::vector<TargetPart> targets, const std::string& name);

}  // namespace weft::data
