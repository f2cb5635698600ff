// Layers that learn by a rule of their own in place of gradients (clusters, principal components): while they train they take down, in
// state, what passes; at the end of a pass over the data they learn of it. All of it lies in Parameters that no optimizer trains, so a
// checkpoint within a pass holds what was taken down so far. Callers: nn/kmeans.h, nn/pca.h; train/ tells when a pass ends.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weft/graph/parameter.h"

namespace weft::nn {

class Visitor;

class OwnRule {
  public:
    virtual ~OwnRule() = default;
    virtual std::string_view name() const = 0;
    /// What it gives of a batch; while training() and not held, takes it down.
    Tensor operator()(const Tensor& x);
    /// What it has learned; unless it is held, also what it takes down.
    virtual void members(Visitor& visit) = 0;
    /// The first values, from rows of the training data as they reach the layer.
    virtual void begin(const Tensor& rows) = 0;
    /// Learns of what was taken down since the last pass ended; nothing, if that was nothing. Gives what a user should be told of it.
    virtual std::string end_pass() = 0;
    /// It has learned, or was given what another has.
    virtual bool has_learned() const = 0;

    /// It begins with the next value that reaches it, which is computed for this.
    void begin_with_next() { begins_ = true; }
    /// A layer that is held stays as it is.
    void hold(bool held = true) { held_ = held; }
    bool held() const { return held_; }

  protected:
    virtual Tensor given(const Tensor& x) const = 0;
    virtual void take_down(const Tensor& x) = 0;

  private:
    bool held_ = false, begins_ = false;
};

/// A cell that no optimizer trains, of zeros; and set back to these.
Parameter zero_state(DType dtype, const Dims& dims);
void clear(Parameter& cell);

/// Such a layer as a module; copies share it.
class Learner {
  public:
    explicit Learner(std::shared_ptr<OwnRule> rule) : rule_(std::move(rule)) {}
    Tensor operator()(const Operand& x) const { return (*rule_)(x.as_tensor()); }
    std::string_view held_type() const { return rule_->name(); }
    const std::shared_ptr<OwnRule>& rule() const { return rule_; }
    void members(Visitor& visit) { rule_->members(visit); }

  private:
    std::shared_ptr<OwnRule> rule_;
};

}  // namespace weft::nn
