// What is done to an example each time it is seen, so that a network does not see it twice alike: a list of steps, applied to training batches
// alone, in the threads that gather them. What happens to a row follows from the seed, the epoch and the row, whichever batch or thread it is
// in, so a run that goes on after a stop sees the same. Examples keep their shape. Callers: data/batches.cpp, train/ (the `augment:` part of an
// experiment's data), users.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/base/json.h"
#include "weft/base/options.h"
#include "weft/data/counter_random.h"
#include "weft/data/dataset.h"

namespace weft::data {

/// One step. Called by several threads at once.
class Augmenter {
  public:
    virtual ~Augmenter() = default;
    /// Whether it takes examples of this shape; ShapeError if not.
    virtual void check(const Dims& example) const = 0;
    /// Changes one example, row-major, in place.
    virtual void apply(float* numbers, const Dims& example, CounterRandom random) const = 0;
};

struct AugmenterKind {
    std::string name, doc;
    std::vector<Option> options;
    std::function<std::unique_ptr<Augmenter>(const Json& options)> make;  // given all options, checked
};
const std::vector<AugmenterKind>& augmenter_kinds();

class Augmentation {
  public:
    Augmentation() = default;
    /// A list of names, alone or with options: [flip, {crop: {padding: 4}}]. ConfigError("file:line:column: ...").
    explicit Augmentation(const Json& steps);

    bool empty() const { return steps_.empty(); }
    /// ConfigError unless every input is float32 in a batch and every step takes such examples.
    void check(const Dataset& set) const;
    /// `input`: 0 is x, the data's further ones follow, each with random numbers of its own.
    void apply(float* numbers, const Dims& example, std::uint64_t seed, std::int64_t epoch, std::int64_t row,
               std::uint64_t input = 0) const;

  private:
    struct Named {
        std::string name;
        std::shared_ptr<const Augmenter> step;
        Position where;
    };
    static void check_input(const Named& named, const Dataset& input);
    std::vector<Named> steps_;
};

}  // namespace weft::data
