// Optimizer: turns gradients into new values of parameters. A step is written as operations that read and set cells, so a traced
// step is part of the compiled program; outside of a trace it is computed at once.
// Its state lies in Parameters, created when a parameter is first seen, as do rates that change while training (lr, momentum): a
// schedule sets them and nothing is compiled anew. Half types keep their state in float32.
// Callers: train_step, train/ (schedules, checkpoints).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/graph/tensor.h"
#include "weft/optim/clip.h"
#include "weft/optim/constraint.h"

namespace weft::optim {

/// Parameters whose name matches a glob ("*.bias"; the first group that matches decides) learn at `lr` times the optimizer's rate,
/// with a weight decay of their own.
struct Group {
    std::string match;
    double lr = 1;
    std::optional<double> weight_decay = {};
};

/// A mean of each parameter over the steps, beside the parameter itself; the value after the first step is its start.
struct Averaging {
    /// How much of the mean is kept in a step (an exponential moving average); without it all steps count alike (Polyak and Juditsky, 1992).
    std::optional<double> decay = {};
    std::int64_t start = 0;  ///< steps before the mean begins; until then it is the parameter
};

/// What is done around every step, whatever its rule. In this order: gradients are negated (maximize), summed over `accumulate` calls of
/// step() and divided by their number, clipped (0: they are not); after the step constraints are made to hold, then means are taken.
struct StepOptions {
    bool maximize = false;
    std::int64_t accumulate = 1;
    bool skip_zero = false;  ///< a step whose gradients are all 0 is left out: parameters and state stay as they are
    double clip_value = 0, clip_each_norm = 0, clip_norm = 0;
    std::vector<Constraint> constraints = {};
    std::optional<Averaging> average = {};

    /// Nothing of it is asked for.
    bool plain() const {
        return !maximize && !skip_zero && accumulate == 1 && clip_value == 0 && clip_each_norm == 0 && clip_norm == 0 &&
               constraints.empty() && !average;
    }
};

class Optimizer {
  public:
    virtual ~Optimizer();
    Optimizer(Optimizer&&) noexcept;
    Optimizer& operator=(Optimizer&&) noexcept;

    /// Sets every parameter to its new value. ValueError unless there is one gradient for each parameter.
    virtual void step(std::span<const Parameter> parameters, std::span<const Tensor> gradients);
    /// Creates the state of parameters that were not seen before (step does so itself): to load a checkpoint into it.
    /// ValueError if a group's glob matches no parameter, or two parameters have the same name.
    virtual void prepare(std::span<const Parameter> parameters);
    /// The checks of prepare() alone.
    virtual void check(std::span<const Parameter> parameters) const;

    /// Before the first step or prepare(). ValueError after it, or if an option makes no sense.
    void configure(StepOptions options);
    void set_groups(std::vector<Group> groups);
    /// Exchanges every parameter's value and its mean (StepOptions::average), or exchanges them back: what is evaluated and kept. Nothing
    /// happens where there is no mean, or `use` is as it was.
    virtual void use_averages(bool use);
    virtual bool uses_averages() const { return averages_used_; }

    /// All cells: rates ("lr"), the count of steps ("step"), and those of parameters ("fc1.weight.exp_avg"), in a fixed order.
    std::vector<Parameter> state() const;
    /// The same under the names that a checkpoint gives them.
    virtual std::vector<std::pair<std::string, Parameter>> named_state() const;
    /// A rate by name; ValueError names the nearest one if there is none.
    virtual void set(std::string_view rate, double value);
    virtual double get(std::string_view rate) const;
    virtual std::vector<std::string_view> rates() const;

    void set_lr(double value) { set("lr", value); }
    double lr() const { return get("lr"); }

  protected:
    /// A parameter in a step. value, gradient and state are of the type the step computes in.
    struct Slot {
        Parameter parameter;
        double lr_factor = 1, weight_decay = 0;
        std::vector<Parameter> state;  // in the order of slot_cells()
        Tensor value, gradient;        // during a step
        std::optional<Parameter> sum, average;
        std::vector<const Constraint*> constraints;
    };
    struct SlotCell {
        std::string name;
        double initial = 0;
    };

    Optimizer(std::string_view name, double weight_decay, std::vector<Group> groups);
    /// A rate that may change while training; ValueError unless `least` <= value.
    void add_rate(std::string_view name, double value, double least = 0);
    /// The number of steps done, as a cell of float32 (exact to 2**24, far beyond where a bias correction still matters).
    void count_steps();

    /// A number of the optimizer's own, float64, that advance() sets.
    void add_cell(std::string_view name, double initial);
    Parameter& cell(std::size_t number) { return shared_[number]; }
    const Parameter& cell(std::size_t number) const { return shared_[number]; }

    /// The cells that a parameter has.
    virtual std::vector<SlotCell> slot_cells(const Parameter& parameter) const = 0;
    /// Once a step, before update(): sets the cells of add_cell().
    virtual void advance() {}
    /// New values of slots whose numbers are all of `dtype`; sets their state.
    virtual void update(DType dtype, std::span<Slot*> slots) = 0;

    /// Within update: a rate in the given type; times the slot's factor.
    Tensor rate(std::string_view name, DType dtype) const;
    static Tensor scaled(const Tensor& rate, const Slot& slot);
    /// Within update: the number of this step, from 1.
    Tensor step_number(DType dtype) const;
    /// gradient + weight_decay * value
    static Tensor decayed(const Slot& slot);
    /// 1 - lr * weight_decay, lr times the slot's factor: what decay apart from the gradient leaves of the value. Empty without one.
    static Tensor share_kept(const Slot& slot, const Tensor& lr);
    /// value * share_kept
    static Tensor shrunk(const Slot& slot, const Tensor& lr);
    /// Sets a parameter (of whatever type it is) to its new value.
    static void finish(Slot& slot, const Tensor& value);

    /// All slots, in the order of first sight.
    std::span<const std::unique_ptr<Slot>> slots() const;

    const StepOptions& options() const { return options_; }
    const std::vector<Group>& groups() const { return groups_; }

    [[noreturn]] void refuse(std::string_view option, double value, std::string_view rule) const;
    const std::string& name() const { return name_; }

  private:
    Slot& slot_of(const Parameter& parameter);
    std::string cell_name(const Parameter& parameter) const;
    const Parameter& rate_cell(std::string_view name) const;
    void compute_now() const;
    void check_new(const Parameter& parameter) const;
    void check_globs(const std::vector<std::string_view>& names) const;
    Tensor accumulate(std::span<Slot* const> slots);
    Tensor due_by_gradients(std::span<Slot* const> slots, const Tensor& due) const;
    void clip(std::span<Slot* const> slots) const;
    void keep_averages(std::span<Slot* const> slots);
    std::vector<Parameter> changing(std::span<Slot* const> slots) const;

    StepOptions options_;
    bool averages_used_ = false;
    std::string name_;
    double weight_decay_;
    std::vector<Group> groups_;
    std::vector<Parameter> rates_;
    std::vector<double> least_;
    std::vector<Parameter> shared_;
    std::optional<Parameter> steps_, accumulated_, averaged_;
    std::vector<std::unique_ptr<Slot>> slots_;  // in the order of first sight
    std::unordered_map<const Cell*, Slot*> by_cell_;
};

/// Whether a name matches a glob: * is any run of characters, ? any one.
bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace weft::optim
