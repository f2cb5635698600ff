// Loops as operations: scan, and while_loop (while.h). A step's expressions are written once, a Region (region.h); the loop's node holds them and runs them as often
// as it is told, carrying values from step to step. So a recurrent network of a thousand steps is as small a program as one of two.
//
// Every value of a step may be asked for, of all steps at once (loop_values), also after the loop was made: so derivatives, which read what
// the forward pass computed, are further loops, and nothing is computed twice. What nobody asks for is not computed.
// Callers: users (scan), nn/functional/recurrent, autodiff/loop_rules, compile/loop_kernel.
#pragma once

#include <functional>

#include "weft/autodiff/region.h"

namespace weft {

/// Of a loop's node. Inputs: the values that are carried before the first step, what is read a slice a step (along its first axis), then
/// what is the same in each step; in this order they are the inputs of the region. Its first outputs are the carried values after a step.
struct LoopAttributes {
    std::shared_ptr<const Region> step;
    std::size_t carried = 0, sliced = 0;
    Size length = 0;
    bool reverse = false;  // from the last slice to the first
    /// The carried truth value by which a loop goes on: as long as it is true there is one more step, and nobody knows the length (which is
    /// then 0 and means nothing); nothing is sliced or collected.
    std::optional<std::size_t> condition = {};
    /// Where this loop was made of another one (its tangent, its batch): of each node of that one's region the node here that stands for it, -1
    /// where there is none. Read by rules while they make it, no part of what the loop is.
    std::vector<std::int32_t> images = {};
};
template <>
void AttributesOf<LoopAttributes>::key(KeyParts& parts) const;
template <>
void AttributesOf<LoopAttributes>::print(std::ostream& out) const;
template <>
AttributesHandle AttributesOf<LoopAttributes>::substitute(const SizeLookup& lookup) const;

/// Of what a loop gives: a value that is carried, as it is after the last step. Or, collected, a node of the region, of all steps, their axis
/// first; of a carried value its trail: as it is before the first step and after each, one row more than there are steps, in the order of
/// the slices (with `reverse` it begins at the last row).
struct LoopResultAttributes {
    bool collected = false;
    std::int64_t value = 0;  // the number of what is carried, of the node
    template <class V>
    void members(V& visit) {
        visit("collected", collected), visit("value", value);
    }
};

/// The loop itself: one number without a meaning; its results are the nodes above it.
extern const Operation loop_operation;
extern const Operation loop_result_operation;

struct LoopParts {
    std::span<const Tensor> carry = {}, x = {};  // placeholders: what is carried, slices
    std::span<const Tensor> next = {};           // what is carried after a step
    std::span<const Tensor> values = {};         // others that will be asked for
    std::span<const Tensor> init = {};           // what is carried before the first step
    std::span<const Tensor> xs = {};             // arrays of slices, with one axis more than their placeholders
    Size length = 0;
    bool reverse = false;
    std::source_location where = {};
    std::optional<std::size_t> condition = {};  // among carry
};
struct MadeLoop {
    Tensor loop;
    std::vector<std::int32_t> values;  // of each of `values` its number in the region
};
/// `outside`: what stands for a node that is read from outside (a placeholder of another region).
MadeLoop make_loop(const LoopParts& parts, const std::function<Tensor(const Tensor&)>& outside = {});

inline const LoopAttributes& loop_of(const Tensor& loop) { return loop.node()->attributes_as<LoopAttributes>(); }
/// Carried value i after the last step.
Tensor loop_last(const Tensor& loop, std::size_t i);
/// Carried value i before the first step and after each.
Tensor loop_trail(const Tensor& loop, std::size_t i);
/// Node number `node` of the region, of all steps: the steps' axis first, in the order of the slices also where the loop runs backwards.
Tensor loop_values(const Tensor& loop, std::int32_t node);

/// DTypeError or ShapeError, which name the function and the value, where a step would change either of what it carries.
void refuse_change(std::string_view function, const std::string& name, const Tensor& before, const Tensor& after,
                   const std::source_location& where);

struct ScanStep {
    std::vector<Tensor> carry, y;
};
struct Scanned {
    std::vector<Tensor> carry, ys;
};
struct LoopOptions {
    std::optional<Size> length = {};  // needed where there are no xs
    bool reverse = false;
    std::vector<std::string> init_names = {}, xs_names = {};  // in errors; empty: "carried value 0", "xs 0", ...
};

/// One scan, for who writes its step himself: next and y from carry() and x(), then results(). KeepPending must live in between.
class LoopTrace {
  public:
    /// ValueError without xs and length, ShapeError for xs that differ in their first axis (or have none).
    LoopTrace(std::vector<Tensor> init, std::vector<Tensor> xs, const LoopOptions& options,
              std::source_location where = std::source_location::current());
    const std::vector<Tensor>& carry() const { return carry_; }
    const std::vector<Tensor>& x() const { return x_; }
    /// ShapeError or DTypeError where a value that is carried would change either.
    Scanned results(std::span<const Tensor> next, std::span<const Tensor> y) const;

  private:
    std::string init_name(std::size_t i) const;
    std::string xs_name(std::size_t i) const;

    std::vector<Tensor> init_, xs_, carry_, x_;
    LoopOptions options_;
    Size length_;
    std::source_location where_;
};

/// f(carry, x) -> (carry, y), step after step: carry begins as init, x is slice i along the first axis of each of xs. Gives carry after the
/// last step and every y, of all steps, the steps' axis first. f is called once, with placeholders; what it reads besides is the same in each
/// step. With `reverse` from the last slice to the first; ys lie as xs do. Differentiable to any order, in both modes. A
/// cotangent that reverse mode carries from step to step (not of float16 or complex) counts as 0 where it has become denormal.
Scanned scan(const std::function<ScanStep(std::span<const Tensor> carry, std::span<const Tensor> x)>& f,
             std::vector<Tensor> init, std::vector<Tensor> xs, const LoopOptions& options = {},
             std::source_location where = std::source_location::current());

}  // namespace weft
