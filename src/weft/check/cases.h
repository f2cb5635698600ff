// The calls by which an operation is checked: those that its record states as samples, or, of an elementwise record, calls of every
// kind of shape that broadcasting knows. Callers: check/, tests/ops (which hands the same cases to NumPy).
#pragma once

#include <vector>

#include "weft/check/draw.h"

namespace weft {

/// Which shapes: `sizes` around the edges of blocks; `layouts` of several axes, which may lie in different ways; `few`: one of each kind.
enum class Shapes : std::uint8_t { sizes, layouts, few };
std::vector<Sample> samples_of(const Operation& operation, Shapes shapes);

/// The element types in which a sample can be called, one an input: every type that the operation may take, one after the other,
/// in the inputs for which the sample does not state another.
std::vector<std::vector<DType>> dtypes_of(const Operation& operation, const Sample& sample);

/// Numbers for a sample's inputs.
std::vector<Array> inputs_of(const Operation& operation, const Sample& sample, const std::vector<DType>& dtypes,
                             Draw& draw);
std::vector<Tensor> tensors_of(const std::vector<Array>& arrays, Form form = Form::contiguous);

/// "add float32(3, 4) float32(4) transposed".
std::string described(const Operation& operation, const std::vector<Array>& inputs, Form form = Form::contiguous);

/// An elementwise operation that is called on operands alone, so that its record says all about it.
bool plain_elementwise(const Operation& operation);
/// Whether the result is the same to the bit whatever computes it: not where numbers of floating types are joined.
bool exact(const Operation& operation, DType result);
/// A bound on the error of numbers that are joined in any order: epsilon times what may have been joined times how large it is.
double joined_error(const std::vector<Array>& inputs, const Array& result);

}  // namespace weft
