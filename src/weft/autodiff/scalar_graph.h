// Scalars that become graph nodes: an elementwise body or partial derivative, run on whole tensors. So the mathematics that a record
// states for one element is also what derivatives of any order are made of. Callers: autodiff/.
#pragma once

#include <vector>

#include "weft/graph/operation.h"
#include "weft/kernel/scalar.h"

namespace weft {

class ScalarGraph : public ScalarBuilder {
  public:
    explicit ScalarGraph(std::source_location where) : where_(where) {}
    Scalar scalar(const Tensor& tensor);               ///< the tensor's elements as a Scalar of its dtype
    Tensor tensor(const Scalar& scalar, DType dtype);  ///< what was recorded; a plain number as a constant of dtype

    Scalar constant(DType dtype, const Literal& value) override;
    Scalar emit(Opcode opcode, DType dtype, std::span<const Scalar> operands, const Function* function) override;

  private:
    std::source_location where_;
    std::vector<Tensor> tensors_;
};

}  // namespace weft
