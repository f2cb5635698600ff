// What is done to a data set before a network sees it: a list of steps, each fitted on the training set alone and then
// applied to all sets alike. What was fitted is a few named arrays, saved with the model, so that later data are
// prepared in the same way. Callers: train/ (the `prepare:` part of an experiment), users.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/json.h"
#include "weft/base/options.h"
#include "weft/data/dataset.h"

namespace weft::data {

using NamedState = std::map<std::string, Array, std::less<>>;

/// One step. Its state is empty if it learns nothing from data.
class Step {
  public:
    virtual ~Step() = default;
    virtual void fit(const Dataset& train);
    virtual Dataset apply(const Dataset& set) const = 0;
    /// What `apply` made x of, as near as that can be told; ValueError if it cannot.
    virtual Array invert(const Array& x) const;
    /// Of one made-up example, what has its shape and types: nothing if only the data can tell. May fit to it.
    virtual std::optional<Dataset> sample(const Dataset& one);
    virtual NamedState state() const;
    /// FileError if `state` is not what state() gave.
    virtual void restore(const NamedState& state);
};

/// A step that a file can name.
struct StepKind {
    std::string name, doc;
    std::string takes;  // what may stand behind the name, for the help: "[low, high]"
    std::function<std::unique_ptr<Step>(const Json& argument)>
        make;                          // ConfigError if the argument is not what it takes
    std::vector<Option> options = {};  // where there are some, the argument holds them all, checked
};
const std::vector<StepKind>& step_kinds();

/// Steps for one input.
class StepList {
  public:
    /// A list of names, alone or with an argument: [{scale: [0, 1]}, flatten]. ConfigError("file:line:column: ...").
    explicit StepList(const Json& steps = {});
    /// As Preparation's, of x (and y) alone.
    Dataset fit(const Dataset& train);
    Dataset apply(const Dataset& set) const;
    Array invert(const Array& x) const;
    std::optional<Dataset> sample(const Dataset& one);
    NamedState state() const;
    void restore(const NamedState& state);

  private:
    struct Named {
        std::string name;
        std::unique_ptr<Step> step;
        Position where;
    };
    Dataset applied(const Named& named, const Dataset& set) const;
    std::vector<Named> steps_;
};

/// A list of steps is for every input of a data set, each by what it learned of that input's own numbers; a mapping gives inputs by name lists
/// of their own: {left: [flatten], right: []}. Targets are left as they are, but for steps that say so (one_hot, of y).
class Preparation {
  public:
    Preparation() = default;
    /// ConfigError("file:line:column: ...").
    explicit Preparation(const Json& steps);

    /// Fits each step on what the steps before it make of `train`. ValueError if train is empty or holds a NaN; ShapeError if examples
    /// do not suit a step, ConfigError if a list is for an input that is not there (if a file names it: with its place).
    /// Gives `train` as the steps make it.
    Dataset fit(const Dataset& train);
    Dataset apply(const Dataset& set) const;
    DataSplits apply(const DataSplits& splits) const;
    /// x (n, ...) as it was before the steps: samples of a model, or its weights, as pictures. ValueError names a step that has no inverse.
    Array invert(const Array& x) const;
    /// One made-up example as the steps would shape it, before anything was fitted; nothing if only the data can tell.
    std::optional<Dataset> sample(const Dataset& one);

    /// Names begin with the step's place and name: "0.scale.affine"; of inputs beside x with theirs: "right/0.scale.affine".
    NamedState state() const;
    void restore(const NamedState& state);

  private:
    std::string key_of(const Dataset& set, const std::string& input) const;
    StepList made(const std::string& key) const;
    void check_names(const Dataset& set) const;
    /// `set` with each input as f(key, the input as x of a data set) gives it.
    template <class F>
    Dataset each_input(const Dataset& set, F f) const;

    Json given_ = Json::array();
    std::map<std::string, StepList> lists_;  // by input; of a list for all, "" is x
};

}  // namespace weft::data
