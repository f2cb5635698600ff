#include "weft/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::optim {

Muon::Muon(MuonOptions options)
    : Optimizer("Muon", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (!(options_.momentum >= 0 && options_.momentum < 1))
        refuse("momentum", options_.momentum, "at least 0 and below 1");
    if (options_.ns_steps < 1) refuse("ns_steps", static_cast<double>(options_.ns_steps), "at least 1");
    if (!(options_.eps > 0)) refuse("eps", options_.eps, "above 0");
    if (!options_.others) return;
    const MuonOthers& others = *options_.others;
    (void)AdamW({others.lr, others.beta1, others.beta2, others.eps});  // refuses what is wrong in them
    add_rate("others_lr", options_.others->lr);
    count_steps();
}

std::vector<Optimizer::SlotCell> Muon::slot_cells(const Parameter& parameter) const {
    if (parameter.shape().size() == 2) return {{"momentum_buffer"}};
    if (options_.others) return {{"exp_avg"}, {"exp_avg_sq"}};
    throw ShapeError(text(name(), ": the parameter '", parameter.name(), "' has shape ", parameter.shape(),
                          "; only matrices are made orthogonal. Give `others`, with which AdamW trains the rest"));
}

Tensor Muon::orthogonal(const Tensor& matrix) const {
    bool tall = matrix.shape()[0].value() > matrix.shape()[1].value();
    Tensor x = tall ? matrix_transpose(matrix) : matrix;  // the smaller product
    x = x / maximum(sqrt(sum(square(x))), options_.eps);
    for (std::int64_t i = 0; i < options_.ns_steps; ++i) {
        Tensor gram = matmul(x, matrix_transpose(x));
        x = options_.a * x + matmul(options_.b * gram + options_.c * matmul(gram, gram), x);
    }
    return tall ? matrix_transpose(x) : x;
}

void Muon::update_matrix(Slot& slot, const Tensor& lr) {
    double kept = options_.momentum;
    Tensor velocity = kept * slot.state[0].value() + (1 - kept) * slot.gradient;
    slot.state[0].set(velocity);
    Tensor direction = orthogonal(options_.nesterov ? (1 - kept) * slot.gradient + kept * velocity : velocity);
    auto rows = static_cast<double>(slot.value.shape()[0].value()),
         columns = static_cast<double>(slot.value.shape()[1].value());
    double factor =
        options_.match_rms_adamw ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
    finish(slot, shrunk(slot, lr) - scaled(lr, slot) * factor * direction);
}

void Muon::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype), others_lr;
    std::optional<AdamMoments> moments;
    if (options_.others) {
        others_lr = rate("others_lr", dtype);
        moments.emplace(options_.others->beta1, options_.others->beta2, options_.others->eps, step_number(dtype));
    }
    for (Slot* slot : slots) {
        if (slot->value.ndim() == 2) {
            update_matrix(*slot, lr);
            continue;
        }
        auto [average, squares] = moments->update(slot->gradient, slot->state[0], slot->state[1]);
        Tensor step = scaled(others_lr / moments->correction1, *slot) * average / moments->divisor(squares);
        finish(*slot, shrunk(*slot, others_lr) - step);
    }
}

}  // namespace weft::optim
