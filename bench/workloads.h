// The work that weft_bench times. A workload is set up from arrays that the caller gives and then repeated; each repetition returns a
// tensor.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weft/core/array.h"
#include "weft/graph/tensor.h"

namespace weft::bench {

using Arrays = std::map<std::string, Array>;

struct Workload {
    std::string name;
    std::function<Tensor()> run;  // once
};

/// By name: mlp, convnet, tiny, mix (elementwise, sizes from the arrays), gemm. ValueError if there is none.
Workload make_workload(const std::string& name, const Arrays& arrays);
std::vector<std::string> workload_names();
/// The arrays a workload starts from.
Arrays default_arrays(const std::string& name);

}  // namespace weft::bench
