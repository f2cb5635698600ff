// torch.nn.functional's functions that are no operations of one point (nn/functional/), as weft._core.nn.
#include "bind.h"
#include "weft/nn/functional/activation.h"
#include "weft/nn/functional/attention.h"
#include "weft/nn/functional/convolution.h"
#include "weft/nn/functional/dropout.h"
#include "weft/nn/functional/image.h"
#include "weft/nn/functional/linear.h"
#include "weft/nn/functional/normalization.h"
#include "weft/nn/functional/pooling.h"

namespace weft::python {
namespace {

namespace functional = weft::nn::functional;

void bind_activations(nb::module_& m) {
    using namespace functional;
    bind(m, "elu", functional::elu);
    bind(m, "celu", celu);
    bind(m, "leaky_relu", functional::leaky_relu);
    bind(m, "prelu", prelu);
    bind(m, "rrelu", rrelu);
    bind(m, "glu", glu);
    bind(m, "gelu", functional::gelu);
    bind(m, "hardshrink", hardshrink);
    bind(m, "softshrink", softshrink);
    bind(m, "softplus", functional::softplus);
    bind(m, "hardtanh", functional::hardtanh);
    bind(m, "threshold", threshold);
    bind(m, "softmax", functional::softmax);
    bind(m, "softmin", softmin);
    bind(m, "log_softmax", functional::log_softmax);
    bind(m, "gumbel_softmax", gumbel_softmax);
    bind(m, "normalize", normalize);
}

void bind_dropout(nb::module_& m) {
    using namespace functional;
    bind(m, "dropout", dropout);
    bind(m, "dropout1d", dropout1d);
    bind(m, "dropout2d", dropout2d);
    bind(m, "dropout3d", dropout3d);
    bind(m, "alpha_dropout", alpha_dropout);
    bind(m, "feature_alpha_dropout", feature_alpha_dropout);
}

using MaybeIndex = std::optional<std::int64_t>;

void bind_linear(nb::module_& m) {
    using namespace functional;
    bind(m, "linear", linear);
    bind(m, "bilinear", bilinear);
    bind(m, "one_hot", functional::one_hot);
    bind(m, "cosine_similarity", cosine_similarity);
    bind(m, "pairwise_distance", pairwise_distance);
    bind(m, "pdist", pdist);
    bind(m, "embedding",
         [](const Operand& indices, const Operand& weight, MaybeIndex padding, std::optional<double> most, double norm,
            bool by_frequency) {
             return embedding(indices, weight, {padding, most, norm, by_frequency});
         });
    bind(m, "embedding_renorm", embedding_renorm);
    bind(m, "embedding_bag",
         [](const Operand& indices, const Operand& weight, const Tensor& offsets, std::optional<double> most,
            double norm, bool by_frequency, std::string_view mode, const Tensor& samples, bool last,
            MaybeIndex padding) {
             return embedding_bag(indices, weight, offsets, {{padding, most, norm, by_frequency}, mode, samples, last});
         });
}

void bind_normalizations(nb::module_& m) {
    using namespace functional;
    auto parts = [](const Normalized& n) { return std::tuple(n.value, n.running_mean, n.running_var); };
    bind(m, "batch_norm",
         [parts](const Operand& x, const Tensor& mean, const Tensor& var, const Tensor& weight, const Tensor& bias,
                 bool training, double momentum,
                 double eps) { return parts(batch_norm(x, mean, var, weight, bias, training, momentum, eps)); });
    bind(m, "instance_norm",
         [parts](const Operand& x, const Tensor& mean, const Tensor& var, const Tensor& weight, const Tensor& bias,
                 bool use_input, double momentum,
                 double eps) { return parts(instance_norm(x, mean, var, weight, bias, use_input, momentum, eps)); });
    bind(m, "layer_norm", layer_norm);
    bind(m, "rms_norm", rms_norm);
    bind(m, "group_norm", group_norm);
    bind(m, "local_response_norm", local_response_norm);
}

void bind_pooling(nb::module_& m) {
    using namespace functional;
    bind(m, "max_pool",
         [](const Operand& x, std::size_t spatial, const Dims& kernel, const Dims& stride, const Dims& padding,
            const Dims& dilation, bool ceil_mode) {
             return functional::max_pool(x, spatial, kernel, {stride, padding, dilation, ceil_mode});
         });
    bind(m, "max_pool_with_indices",
         [](const Operand& x, std::size_t spatial, const Dims& kernel, const Dims& stride, const Dims& padding,
            const Dims& dilation, bool ceil_mode) {
             return max_pool_with_indices(x, spatial, kernel, {stride, padding, dilation, ceil_mode});
         });
    bind(m, "avg_pool",
         [](const Operand& x, std::size_t spatial, const Dims& kernel, const Dims& stride, const Dims& padding,
            bool ceil_mode, bool count_padding, MaybeIndex divisor) {
             return functional::avg_pool(x, spatial, kernel, {stride, padding, {1}, ceil_mode, count_padding}, divisor);
         });
    bind(m, "lp_pool", lp_pool);
    bind(m, "adaptive_avg_pool", adaptive_avg_pool);
    bind(m, "adaptive_max_pool", adaptive_max_pool);
    bind(m, "max_unpool", max_unpool);
}

void bind_convolutions(nb::module_& m) {
    using namespace functional;
    bind(m, "conv",
         [](const Operand& x, std::size_t spatial, const Operand& weight, const Tensor& bias, const Dims& stride,
            const Given& padding, const Dims& dilation, std::int64_t groups) {
             Padding ends = PyUnicode_Check(padding.ptr()) ? Padding(nb::cast<std::string>(padding))
                                                           : Padding(integers(padding, "conv", "each padding"));
             return conv(x, spatial, weight, bias, stride, ends, dilation, groups);
         });
    bind(m, "conv_transpose", conv_transpose);
    bind(m, "unfold", unfold);
    bind(m, "fold", fold);
}

void bind_images(nb::module_& m) {
    using namespace functional;
    bind(m, "pad", functional::pad);
    bind(m, "interpolate",
         [](const Operand& x, const Dims& size, const std::vector<double>& factors, std::string_view mode,
            std::optional<bool> corners, bool recompute, bool antialias) {
             return interpolate(x, {size, factors, mode, corners, recompute, antialias});
         });
    bind(m, "grid_sample", grid_sample);
    bind(m, "affine_grid", affine_grid);
    bind(m, "pixel_shuffle", pixel_shuffle);
    bind(m, "pixel_unshuffle", pixel_unshuffle);
    bind(m, "channel_shuffle", channel_shuffle);
}

void bind_attention(nb::module_& m) {
    using namespace functional;
    bind(m, "scaled_dot_product_attention",
         [](const Operand& query, const Operand& key, const Operand& value, const Tensor& mask, double dropout,
            bool causal, std::optional<double> scale, bool grouped, const Tensor& random) {
             return scaled_dot_product_attention(query, key, value, {mask, dropout, causal, scale, grouped, random});
         });
    bind(m, "multi_head_attention",
         [](const Operand& query, const Operand& key, const Operand& value, std::int64_t heads, const Tensor& in,
            const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& in_bias, const Tensor& bias_k,
            const Tensor& bias_v, const Tensor& out, const Tensor& out_bias, bool zero, double dropout, bool training,
            const Tensor& padding, const Tensor& mask, bool weights, bool average, bool causal, const Tensor& random) {
             return multi_head_attention(query, key, value,
                                         {heads, in, q, k, v, in_bias, bias_k, bias_v, out, out_bias, zero, dropout,
                                          training, padding, mask, weights, average, causal, random});
         });
}

}  // namespace

void bind_functional(nb::module_& module) {
    nb::module_ m = module.def_submodule("nn", "What weft.nn is made of.");
    bind_activations(m);
    bind_dropout(m);
    bind_linear(m);
    bind_normalizations(m);
    bind_pooling(m);
    bind_convolutions(m);
    bind_images(m);
    bind_attention(m);
    bind_losses(m);
    bind_layers(m);
}

}  // namespace weft::python
