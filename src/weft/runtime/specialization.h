// A Specialization is a compiled function for one combination of its arguments' shapes and dtypes: traced, planned and bound once, then only
// run. Its owner runs one at a time. Callers: runtime/function.cpp.
#pragma once

#include "weft/graph/graph.h"
#include "weft/graph/node.h"
#include "weft/runtime/executor.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"
#include "weft/runtime/trace.h"

namespace weft {

/// Memory for one output, used again as soon as nobody holds what was handed out: so a loop that keeps the last result allocates nothing.
class Spares {
  public:
    Tensor take(const BoundOutput& output);
    /// A value that was replaced: its memory is as good as any, if it lies as the output does.
    void give(Tensor tensor, const BoundOutput& output);
    bool hold(const Tensor& tensor) const;

  private:
    std::vector<Tensor> spares_;
};

class Specialization {
  public:
    /// `keeps`: kernels keep copies of weights, as they read them, from run to run.
    Specialization(const CompiledFunction::Body& body, std::span<const Tensor> arguments, const CompileOptions& options,
                   bool keeps)
        : Specialization(trace(body, arguments), arguments, options, keeps) {}
    bool keeps() const { return !options_.steady.empty(); }
    /// Memory that it holds between runs, roughly: its graph, its steps, what it hands out. Not copies of weights.
    std::size_t bytes() const { return bytes_; }

    bool fits(std::span<const Tensor> arguments) const {
        if (arguments.size() != signature_.size()) return false;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (arguments[i].dtype() != signature_[i].dtype || !(arguments[i].shape() == signature_[i].shape))
                return false;
        }
        return true;
    }

    void run(std::span<const Tensor> arguments, std::vector<Tensor>& results);
    Explanation explain(std::span<const Tensor> arguments);

  private:
    struct Source {
        enum Kind { argument, cell, constant } kind;
        std::size_t index;  // of the argument, the cell; the constant's leaf
    };
    struct Use {
        std::shared_ptr<Cell> cell;
        std::int32_t output = -1;  // of the graph: the new value; -1: only read
        std::int32_t leaf = -1;    // of the graph: the old value; -1: only written
    };

    Specialization(Trace trace, std::span<const Tensor> arguments, const CompileOptions& options, bool keeps);
    void find_sources(const Trace& trace, const Graph& graph);
    void find_leaves(std::span<const Tensor> arguments);
    void release_leaves();
    std::vector<Tensor> with_numbers() const;
    const void* address(const Tensor& tensor, std::size_t slot);
    void choose_memory();
    Tensor output_tensor(std::size_t graph_output) const;

    std::vector<Meta> signature_;
    std::size_t results_ = 0;      // of the graph's outputs, the first so many are the function's results
    std::vector<Source> sources_;  // one a leaf
    std::vector<Use> cells_;
    std::vector<Tensor> constants_;  // keeps their memory alive
    Graph graph_;
    BindOptions options_;
    std::size_t bytes_ = 0;
    std::unique_ptr<Runner> runner_;
    // Of a run, kept to be used again
    std::vector<void*> leaves_, outputs_;
    std::vector<Tensor> held_;             // one a leaf: what its address points into
    std::vector<std::uint64_t> contents_;  // one a leaf: of its buffer
    std::vector<Tensor> given_;            // one an entry of Binding::outputs: the tensor whose memory it writes
    std::vector<Spares> spares_;           // likewise
};

}  // namespace weft
