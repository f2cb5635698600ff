// The work that is timed: the same in weft_bench and, against other systems, in weft_peer. A workload is set up from arrays that the
// caller gives (so that all systems start from the same numbers) and then repeated; each repetition returns a tensor to check.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/core/array.h"
#include "weft/graph/tensor.h"

namespace weft::bench {

using Arrays = std::map<std::string, Array>;

struct Workload {
    std::string name;
    std::function<Tensor()> run;  // once; the result is what the systems are compared by
};

/// By name: mlp, convnet, tiny, mix (elementwise, sizes from the arrays), gemm, and the kernels. ValueError if there is none.
Workload make_workload(const std::string& name, const Arrays& arrays);
std::vector<std::string> workload_names();
/// "gelu", "softmax", ... (bench/kernel_workloads.cpp), whatever follows a dot left out: sizes come from the arrays.
std::optional<Workload> kernel_workload(const std::string& name, const Arrays& arrays);
/// The arrays a workload starts from, where no other system gives them.
Arrays default_arrays(const std::string& name);

}  // namespace weft::bench
