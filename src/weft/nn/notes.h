// What layers say beside the value that they give: costs of their own (the divergence of a variational layer, a penalty on activity), and
// values that something else wants to see. While a Notes lives, layers that run on its thread write into it; without one nobody listens.
// In a traced function the values are part of the trace. Callers: layers (add_cost); train/ collects them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft::nn {

/// A number that a layer adds to the cost of the batch that runs through it.
struct AddedCost {
    std::string name;  ///< as a log calls it: "divergence"; several of one name are one figure, their sum
    Tensor value;      ///< 0-d, a mean over the batch
    enum class Part : std::uint8_t {
        loss,      ///< of what is minimised, and of the loss that is reported
        penalty,   ///< minimised only, as a weight decay is
        reported,  ///< not minimised: a figure that says more than the cost does
        told,      ///< neither: a number that channels of the monitor make figures of
    } part = Part::loss;
};

class Notes {
  public:
    Notes();
    ~Notes();
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
    /// Those of the innermost scope on this thread; null if nobody listens.
    static Notes* current();

    std::vector<AddedCost> costs;
    std::vector<std::pair<std::string, Tensor>> values;  // by the path of the layer that gave them

  private:
    Notes* outer_;
};

/// Heard if somebody listens.
void add_cost(std::string_view name, const Tensor& value, AddedCost::Part part = AddedCost::Part::loss);

}  // namespace weft::nn
