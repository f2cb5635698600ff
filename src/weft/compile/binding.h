// Binding: a plan with its sizes filled in. Every buffer has its place in one arena, every step its prepared kernel; running is a
// walk down a list. Made in microseconds, immutable, shared by threads. Callers: runtime/.
#pragma once

#include <memory>
#include <vector>

#include "weft/compile/device.h"
#include "weft/compile/plan.h"
#include "weft/compile/quantities.h"
#include "weft/ops/matmul_precision.h"

namespace weft {

/// Where memory comes from when a binding is run.
struct Base {
    enum Kind : std::uint8_t { arena, leaf, output, made } kind = arena;  // made: none; the offset stands for a number
    std::int32_t index = 0;  // leaf: its number among the graph's leaves; output: its number in Binding::outputs
    friend bool operator==(const Base&, const Base&) = default;
};

/// An entry's numbers: from `base`, `offset` bytes on, laid out so.
struct View {
    Base base;
    std::int64_t offset = 0;
    Layout layout;
};

/// Where the entries of a graph lie. Most of a large one live in kernels alone: they share one View, which says nothing.
class Views {
  public:
    explicit Views(std::size_t entries = 0) : at_(entries, 0), views_(1) {}
    const View& operator[](std::size_t entry) const { return views_[at_[entry]]; }
    void set(std::size_t entry, View view) {
        at_[entry] = static_cast<std::uint32_t>(views_.size());
        views_.push_back(std::move(view));
    }
    /// All that were set.
    std::span<View> all() { return std::span<View>(views_).subspan(1); }

  private:
    std::vector<std::uint32_t> at_;
    std::vector<View> views_;
};

struct BoundStep {
    std::shared_ptr<const Kernel> kernel;  // of steps that are alike the same
    std::vector<View> operands;            // inputs, then outputs (then those of steps whose indices it checks)
    const Operation* operation = nullptr;  // that it is named after, for errors and the profile (null: a copy)
    std::source_location where;
    std::source_location fails_at;  // whose line an error is that does not know its own; none: it has been said
    double product_operations = 0;  // additions and multiplications of the products of matrices in it
    std::vector<Loop> loops;        // what it runs, if that was asked for (BindOptions::keep_loops)
    /// What its kernel shares is made of these leaves, from an offset on, and kept while they stay the same.
    struct KeptOf {
        std::int32_t leaf;
        std::int64_t offset;
    };
    std::vector<KeptOf> kept_of;
};

/// A buffer that a run allocates and hands out.
struct BoundOutput {
    DType dtype = DType::float32;
    Dims dims, strides;
    std::size_t bytes = 0;
    std::int32_t donor = -1;  // the leaf whose memory it may take over: read for the last time where it is written
};

/// From which bytes on memory is saved at the price of time (frugal.h): of all that a run takes, of one value.
struct Thrift {
    std::size_t all = std::size_t{16} << 20, value = std::size_t{1} << 20;
};

struct BindOptions {
    /// Leaves whose memory may become an output's, by number; output i of the graph may only take donors[i] (-1: none).
    std::vector<std::int32_t> donors = {};
    /// Leaves whose numbers most often stay the same from run to run (weights that are only read): of these kernels may keep copies as
    /// they read them.
    std::vector<bool> steady = {};
    bool keep_loops = false;
    MatmulPrecision products = MatmulPrecision::float32;  // of float32, by rewriting_in()
    /// It is a step of a loop: run often, with outputs that lie anywhere.
    bool step_of_loop = false;
    Thrift thrift = {};
};

struct Binding {
    std::shared_ptr<const Plan> plan;
    std::vector<BoundStep> steps;
    std::size_t arena_bytes = 0, scratch_offset = 0;  // scratch lies at the arena's end
    std::vector<Placement> placements;                // what lies in the arena
    std::vector<BoundOutput> outputs;                 // slots that leave the binding
    std::vector<View> results;                        // one an output of the graph

    /// The steps with their kernels and where their operands lie, as text.
    std::string str() const;
};

/// What the outputs take, beside the arena.
std::size_t output_bytes(const Binding& binding);

std::shared_ptr<const Binding> bind(std::shared_ptr<const Plan> plan, const Graph& graph,
                                    const KernelCompiler& compiler, const BindOptions& options = {});

}  // namespace weft
