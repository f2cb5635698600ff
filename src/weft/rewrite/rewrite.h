// Rewriting: a graph becomes one that computes the same values in a more stable and cheaper way. Rules (rewrite/rule.h) are tried
// inputs first until none applies, phase by phase. Leaves and outputs keep their numbers, shapes and dtypes.
// Always: terminates (a rule that feeds itself is a CompileError that names it), nothing recurses, equal structures become equal
// structures. The oracle (runtime/oracle.h) runs graphs as they were written. Callers: compile/plan_cache.cpp, explain.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "weft/graph/graph.h"
#include "weft/ops/matmul_precision.h"
#include "weft/rewrite/rule.h"

namespace weft {

struct RewriteOptions {
    bool enabled = true;
    /// Names of rules, of phases ("stable"), or what rules assume ("finite", "exact").
    std::set<std::string> exclude, only = {};  // only: empty for all
    std::vector<Rule> extra = {};              // rules for this graph alone
};

/// From the environment variable WEFT_REWRITE, read once: "off", or names: "-log1p,-finite" leaves out, "stable" keeps only what is named.
const RewriteOptions& default_rewriting();
/// The same without the rules that take numbers for finite.
const RewriteOptions& exact_rewriting();
/// The default with products of float32 made in another precision (ops/contraction.h) as the last rule.
const RewriteOptions& rewriting_in(MatmulPrecision precision);
/// That rule: matmul(a, b) -> matmul(a, b, precision=bfloat16), of matrices of float32.
Rule products_in(MatmulPrecision precision);
/// Of the steps of loops, by one of the above: products of a few numbers, for which a kernel would be called in each step, become sums of
/// products in order.
const RewriteOptions& step_rewriting(bool exact);
Rule tiny_products();
/// The same from a text; ValueError for a name that no rule, phase or assumption has.
RewriteOptions parse_rewriting(std::string_view text);

/// One application of a rule.
struct Rewrite {
    std::string rule;
    Phase phase;
    Assumes assumes;
    std::source_location where;  // the user's line of what was replaced
    Tensor before, after;
};
/// "log1p (stable) at train.cpp:12: log(add(1, a)) -> log1p(a)".
std::string str(const Rewrite& rewrite);

/// The rewritten graph; each application is added to `trace`, if there is one.
Graph rewrite(const Graph& graph, const RewriteOptions& options = default_rewriting(),
              std::vector<Rewrite>* trace = nullptr);

/// The same of tensors: what is computed in their place.
std::vector<Tensor> rewritten(std::span<const Tensor> tensors, const RewriteOptions& options = default_rewriting());

/// Changes when rules are added or removed: part of the key under which rewritten graphs are kept.
std::uint64_t rewriting_version();

}  // namespace weft
