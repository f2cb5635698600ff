// Losses (nn/loss.h), as weft._core.nn.
#include "typed.h"
#include "weft/nn/loss.h"

namespace weft::python {
using typed::bind;

template <>
struct typed::Argument<nn::LossReduction> {
    using Taken = std::string;
    static nn::LossReduction from(const std::string& name, const char*) { return nn::reduction_named(name); }
};

namespace {

using nn::LossReduction;

void bind_elementwise_losses(nb::module_& m) {
    using namespace weft::nn;
    bind(m, "mse_loss", [](const Operand& x, const Operand& y, LossReduction r, const Tensor& weight) {
        return mse_loss(x, y, {r, weight});
    });
    bind(m, "l1_loss", [](const Operand& x, const Operand& y, LossReduction r, const Tensor& weight) {
        return l1_loss(x, y, {r, weight});
    });
    bind(m, "smooth_l1_loss", [](const Operand& x, const Operand& y, LossReduction r, double beta) {
        return smooth_l1_loss(x, y, {r, beta});
    });
    bind(m, "huber_loss", [](const Operand& x, const Operand& y, LossReduction r, double delta, const Tensor& weight) {
        return huber_loss(x, y, {r, delta, weight});
    });
    bind(m, "binary_cross_entropy", [](const Operand& x, const Operand& y, LossReduction r, const Tensor& weight) {
        return binary_cross_entropy(x, y, {r, weight});
    });
    bind(m, "binary_cross_entropy_with_logits",
         [](const Operand& x, const Operand& y, LossReduction r, const Tensor& weight, const Tensor& positive) {
             return binary_cross_entropy_with_logits(x, y, {r, weight, positive});
         });
    bind(m, "kl_div", [](const Operand& x, const Operand& y, std::string_view r, bool log_target) {
        using Reduction = KlDivOptions::Reduction;
        if (r == "batchmean") return kl_div(x, y, {Reduction::batchmean, log_target});
        LossReduction known = reduction_named(r);
        return kl_div(x, y,
                      {known == LossReduction::mean  ? Reduction::mean
                       : known == LossReduction::sum ? Reduction::sum
                                                     : Reduction::none,
                       log_target});
    });
    bind(m, "hinge_embedding_loss", [](const Operand& x, const Operand& y, double margin, LossReduction r) {
        return hinge_embedding_loss(x, y, {r, margin});
    });
    bind(m, "soft_margin_loss",
         [](const Operand& x, const Operand& y, LossReduction r) { return soft_margin_loss(x, y, {r}); });
    bind(m, "poisson_nll_loss",
         [](const Operand& x, const Operand& y, bool log_input, bool full, double eps, LossReduction r) {
             return poisson_nll_loss(x, y, {r, log_input, full, eps});
         });
    bind(m, "gaussian_nll_loss",
         [](const Operand& x, const Operand& y, const Operand& var, bool full, double eps, LossReduction r) {
             return gaussian_nll_loss(x, y, var, {r, full, eps});
         });
}

void bind_class_losses(nb::module_& m) {
    using namespace weft::nn;
    bind(m, "cross_entropy",
         [](const Operand& x, const Operand& y, const Tensor& weight, std::int64_t ignored, LossReduction r,
            double smoothing) {
             return cross_entropy(x, y, {r, smoothing, weight, ignored});
         });
    bind(m, "linear_cross_entropy",
         [](const Operand& x, const Operand& w, const Operand& y, const Tensor& bias, const Tensor& weight,
            std::optional<std::int64_t> ignored, LossReduction r, double smoothing) {
             return linear_cross_entropy(x, w, y, bias, {r, smoothing, weight, ignored});
         });
    bind(m, "adaptive_log_softmax",
         [](const Operand& head, const std::vector<Tensor>& tails) { return adaptive_log_softmax(head, tails); });
    bind(m, "nll_loss",
         [](const Operand& x, const Operand& y, const Tensor& weight, std::int64_t ignored, LossReduction r) {
             return nll_loss(x, y, {r, weight, ignored});
         });
    bind(m, "multi_margin_loss",
         [](const Operand& x, const Operand& y, std::int64_t p, double margin, const Tensor& weight, LossReduction r) {
             return multi_margin_loss(x, y, {r, margin, p, weight});
         });
    bind(m, "multilabel_margin_loss",
         [](const Operand& x, const Operand& y, LossReduction r) { return multilabel_margin_loss(x, y, {r}); });
    bind(m, "multilabel_soft_margin_loss",
         [](const Operand& x, const Operand& y, const Tensor& weight, LossReduction r) {
             return multilabel_soft_margin_loss(x, y, {r, weight});
         });
    bind(m, "ctc_loss",
         [](const Operand& x, const Operand& targets, const Operand& inputs, const Operand& lengths, std::int64_t blank,
            LossReduction r, bool zero_infinity) {
             return ctc_loss(x, targets, inputs, lengths, {r, blank, zero_infinity});
         });
}

void bind_pair_losses(nb::module_& m) {
    using namespace weft::nn;
    bind(m, "cosine_embedding_loss",
         [](const Operand& a, const Operand& b, const Operand& target, double margin, LossReduction r) {
             return cosine_embedding_loss(a, b, target, {r, margin});
         });
    bind(m, "margin_ranking_loss",
         [](const Operand& a, const Operand& b, const Operand& target, double margin, LossReduction r) {
             return margin_ranking_loss(a, b, target, {r, margin});
         });
    bind(m, "triplet_margin_loss",
         [](const Operand& a, const Operand& p, const Operand& n, double margin, double norm, double eps, bool swap,
            LossReduction r) {
             return triplet_margin_loss(a, p, n, {r, margin, norm, eps, swap});
         });
    bind(m, "triplet_loss", [](const Operand& near, const Operand& far, double margin, LossReduction r) {
        return triplet_loss(near, far, margin, r);
    });
}

}  // namespace

void bind_losses(nb::module_& module) {
    bind_elementwise_losses(module);
    bind_class_losses(module);
    bind_pair_losses(module);
}

}  // namespace weft::python
