// Einstein's summation, onto permutations, products and matmul. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// NumPy's einsum: "ij,jk->ik", "ij,jk" (implicit: letters that stand once, in alphabetical order), "...ij,...jk->...ik",
/// repeated letters in an operand (its diagonal), letters that are left out (summed). Dtypes are promoted. More than two operands
/// are joined in pairs, the pair with the smallest result first. ValueError or ShapeError names the subscripts and the letter.
Tensor einsum(std::string_view subscripts, std::span<const Tensor> operands,
              std::source_location where = std::source_location::current());
Tensor einsum(std::string_view subscripts, std::initializer_list<Tensor> operands,
              std::source_location where = std::source_location::current());

}  // namespace weft
