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
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/graph/tensor.h"

namespace weft::optim {

/// Parameters whose name matches a glob ("*.bias"; the first group that matches decides) learn at `lr` times the optimizer's rate,
/// with a weight decay of their own.
struct Group {
    std::string match;
    double lr = 1;
    std::optional<double> weight_decay = {};
};

class Optimizer {
  public:
    virtual ~Optimizer() = default;
    Optimizer(Optimizer&&) = default;
    Optimizer& operator=(Optimizer&&) = default;

    /// Sets every parameter to its new value. ValueError unless there is one gradient for each parameter.
    void step(std::span<const Parameter> parameters, std::span<const Tensor> gradients);
    /// Creates the state of parameters that were not seen before (step does so itself): to load a checkpoint into it.
    /// ValueError if a group's glob matches no parameter, or two parameters have the same name.
    void prepare(std::span<const Parameter> parameters);

    /// All cells: rates ("lr"), the count of steps ("step"), and those of parameters ("fc1.weight.exp_avg"), in a fixed order.
    std::vector<Parameter> state() const;
    /// A rate by name; ValueError names the nearest one if there is none.
    void set(std::string_view rate, double value);
    double get(std::string_view rate) const;
    std::vector<std::string_view> rates() const;

    void set_lr(double value) { set("lr", value); }
    double lr() const { return get("lr"); }

  protected:
    /// A parameter in a step. value, gradient and state are of the type the step computes in.
    struct Slot {
        Parameter parameter;
        double lr_factor = 1, weight_decay = 0;
        std::vector<Parameter> state;  // in the order of slot_cells()
        Tensor value, gradient;        // during a step
    };
    struct SlotCell {
        std::string_view name;
        double initial = 0;
    };

    Optimizer(std::string_view name, double weight_decay, std::vector<Group> groups);
    /// A rate that may change while training; ValueError unless `least` <= value.
    void add_rate(std::string_view name, double value, double least = 0);
    /// The number of steps done, as a cell of float32 (exact to 2**24, far beyond where a bias correction still matters).
    void count_steps();

    /// The cells that each parameter has.
    virtual std::vector<SlotCell> slot_cells() const = 0;
    /// New values of slots whose numbers are all of `dtype`; sets their state.
    virtual void update(DType dtype, std::span<Slot*> slots) = 0;

    /// Within update: a rate in the given type; times the slot's factor.
    Tensor rate(std::string_view name, DType dtype) const;
    static Tensor scaled(const Tensor& rate, const Slot& slot);
    /// Within update: the number of this step, from 1.
    Tensor step_number(DType dtype) const;
    /// gradient + weight_decay * value
    static Tensor decayed(const Slot& slot);
    /// Sets a parameter (of whatever type it is) to its new value.
    static void finish(Slot& slot, const Tensor& value);

    [[noreturn]] void refuse(std::string_view option, double value, std::string_view rule) const;
    const std::string& name() const { return name_; }

  private:
    Slot& slot_of(const Parameter& parameter);
    std::string cell_name(const Parameter& parameter) const;
    const Parameter& rate_cell(std::string_view name) const;
    void compute_now() const;

    std::string name_;
    double weight_decay_;
    std::vector<Group> groups_;
    std::vector<Parameter> rates_;
    std::vector<double> least_;
    std::optional<Parameter> steps_;
    std::vector<std::unique_ptr<Slot>> slots_;  // in the order of first sight
    std::unordered_map<const Cell*, Slot*> by_cell_;
};

/// Whether a name matches a glob: * is any run of characters, ? any one.
bool glob_match(std::string_view pattern, std::string_view name);

/// The gradients, all scaled down together if their joint Euclidean norm is above `most` (Pascanu et al., 2013).
std::vector<Tensor> clip_norm(std::span<const Tensor> gradients, double most);

}  // namespace weft::optim
