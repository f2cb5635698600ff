// What rules make of a formula, as text, and that its values are those without them. Callers: tests/rewrite.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/graph/graph.h"
#include "weft/ops/creation.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {

inline Tensor vec(const char* name) { return input(name, {"n"}, DType::float64); }

inline Tensor doubles(const char* name, const Dims& dims) { return Tensor(Draw(name).array(DType::float64, dims)); }

inline std::string form(const Tensor& tensor, const RewriteOptions& options = default_rewriting()) {
    return written(*rewritten({&tensor, 1}, options)[0].node(), 30);
}

/// What the tensors are made of once rules are through with them.
inline Graph rewritten_graph(std::span<const Tensor> tensors) {
    std::vector<Tensor> now = rewritten(tensors);
    std::vector<Node*> outputs;
    for (const Tensor& x : now) outputs.push_back(x.node());
    return gather(outputs);
}

inline void expect_values(std::span<const Tensor> tensors) {
    std::vector<Array> wanted = interpret(tensors);
    std::vector<Tensor> now = rewritten(tensors);
    std::vector<Array> got = interpret(std::span<const Tensor>(now));
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(difference(wanted[i], got[i], 1e-12, 1e-12), "") << i;
}

}  // namespace weft
