#include "weft/nn/adversarial.h"

#include <numbers>

#include "weft/graph/node.h"
#include "weft/graph/parameter.h"
#include "weft/nn/keys.h"
#include "weft/nn/notes.h"
#include "weft/nn/training.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/statistics.h"

namespace weft::nn {
namespace {

struct Outer {
    CellObserver* observer = CellObserver::current();
};

/// While one lives, what is trained is read as a constant: gradients go through a network, none into it. All else goes on as before.
class HeldConstant final : Outer, public CellObserver {
  public:
    Tensor read(const std::shared_ptr<Cell>& cell) override {
        Tensor value = observer ? observer->read(cell) : cell->value;
        return cell->trainable ? stop_gradient(value) : value;
    }
    void write(const std::shared_ptr<Cell>& cell, const Tensor& value) override {
        if (observer)
            observer->write(cell, value);
        else
            cell->value = value;
    }
};

// -log of the probability that logits give to "data", to "generated".
Tensor as_data(const Tensor& logits) { return mean(softplus(-logits)); }
Tensor as_generated(const Tensor& logits) { return mean(softplus(logits)); }

}  // namespace

Adversarial::Adversarial(Module made_by, Module judged_by, AdversarialOptions options)
    : generator(std::move(made_by)), discriminator(std::move(judged_by)), options_(std::move(options)) {
    check_positive("Adversarial", "latent", options_.latent);
    if (options_.margin && !(*options_.margin >= 0))
        throw ValueError(text("Adversarial: margin is ", *options_.margin, "; it must be at least 0"));
    if (!options_.key) options_.key = random::next_key();
}

Tensor Adversarial::generate(Size count, const Tensor& key) const {
    return generator(random::normal({count, Size(options_.latent)}, 0, 1, key));
}

void Adversarial::add_costs(const Tensor& of_data, Size count) const {
    using Part = AddedCost::Part;
    Tensor made = generate(count, training() ? Tensor() : options_.key);
    Tensor of_real = as_data(of_data), of_made = as_generated(discriminator(stop_gradient(made)));
    Tensor judge = (of_real + of_made) * 0.5, maker;
    {
        HeldConstant held;
        maker = as_data(discriminator(made));
    }
    add_cost("discriminator", judge, Part::reported);
    add_cost("generator", maker, Part::reported);
    if (!options_.margin) return add_cost("adversaries", judge + maker, Part::penalty);
    double low = std::numbers::ln2 - *options_.margin, high = std::numbers::ln2 + *options_.margin;
    Tensor too_good = (of_real < low) | (of_made < low), too_bad = (of_real > high) | (of_made > high);
    Tensor neither = too_good & too_bad;
    auto gated = [&](const Tensor& cost, const Tensor& left_out) {
        return cost * stop_gradient(astype(~left_out | neither, cost.dtype()));
    };
    add_cost("adversaries", gated(judge, too_good) + gated(maker, too_bad), Part::penalty);
}

Tensor Adversarial::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor(), logits = discriminator(value);
    if (Notes::current()) add_costs(logits, value.shape()[0]);
    return logits;
}

}  // namespace weft::nn
