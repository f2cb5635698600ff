#include "weft/nn/pooling.h"

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/ops/statistics.h"
#include "weft/ops/window.h"

namespace weft::nn {
namespace {

template <int spatial>
constexpr std::string_view max_name = spatial == 1   ? "MaxPool1d"
                                      : spatial == 2 ? "MaxPool2d"
                                                     : "MaxPool3d";
template <int spatial>
constexpr std::string_view avg_name = spatial == 1   ? "AvgPool1d"
                                      : spatial == 2 ? "AvgPool2d"
                                                     : "AvgPool3d";

template <int spatial>
void check_input(std::string_view layer, const Operand& x) {
    if (spatial == 1)
        check_ndim(layer, x, {"(N, C, L)", "(C, L)"});
    else if (spatial == 2)
        check_ndim(layer, x, {"(N, C, H, W)", "(C, H, W)"});
    else
        check_ndim(layer, x, {"(N, C, D, H, W)", "(C, D, H, W)"});
}

Dims stride_of(const std::optional<PerAxis>& stride) { return stride ? stride->values : Dims{}; }

}  // namespace

template <int spatial>
Tensor MaxPool<spatial>::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(max_name<spatial>);
    check_input<spatial>(max_name<spatial>, x);
    PoolOptions pool{.stride = stride_of(this->options.stride),
                     .padding = this->options.padding.values,
                     .dilation = this->options.dilation.values,
                     .ceil_mode = this->options.ceil_mode};
    auto* run = spatial == 1 ? max_pool1d : spatial == 2 ? max_pool2d : max_pool3d;
    return run(x, this->kernel_size.values, pool);
}

template <int spatial>
Tensor AvgPool<spatial>::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(avg_name<spatial>);
    check_input<spatial>(avg_name<spatial>, x);
    PoolOptions pool{.stride = stride_of(this->options.stride),
                     .padding = this->options.padding.values,
                     .ceil_mode = this->options.ceil_mode,
                     .count_include_pad = this->options.count_include_pad};
    auto* run = spatial == 1 ? avg_pool1d : spatial == 2 ? avg_pool2d : avg_pool3d;
    return run(x, this->kernel_size.values, pool);
}

template struct MaxPool<1>;
template struct MaxPool<2>;
template struct MaxPool<3>;
template struct AvgPool<1>;
template struct AvgPool<2>;
template struct AvgPool<3>;

Tensor GlobalAvgPool::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope("GlobalAvgPool");
    check_ndim("GlobalAvgPool", x, {"(N, C, L)", "(N, C, H, W)", "(N, C, D, H, W)"});
    Axes spatial;
    for (std::size_t axis = 2; axis < x.as_tensor().ndim(); ++axis) spatial.push_back(static_cast<std::int64_t>(axis));
    return mean(x, spatial);
}

}  // namespace weft::nn
