// Layers that shift and scale their input to mean 0 and deviation 1: over the batch (Ioffe and Szegedy, 2015), over the features of an
// example (Ba et al., 2016), over groups of channels (Wu and He, 2018). Names, defaults and state names are PyTorch's.
// Callers: users' models.
#pragma once

#include <optional>

#include "weft/graph/parameter.h"

namespace weft::nn {

struct BatchNormOptions {
    double eps = 1e-5;
    std::optional<double> momentum = 0.1;  ///< nothing: the running estimates are plain averages over all batches
    bool affine = true;                    ///< weight and bias for each channel
    bool track_running_stats = true;       ///< without: batches are normalised by themselves, when evaluating too
    DType dtype = DType::float32;
};

/// What BatchNorm1d ((N, C) or (N, C, L)), 2d ((N, C, H, W)) and 3d share. In training a batch is normalised by its own mean and
/// (biased) variance, and the running estimates (of the unbiased variance) move towards them; in evaluation the estimates are used.
class BatchNorm {
  public:
    Tensor operator()(const Operand& x) const;

    std::optional<Parameter> weight, bias, running_mean, running_var, num_batches_tracked;

    template <class V>
    void members(V& visit) {
        visit("num_features", num_features_);
        visit("weight", weight), visit("bias", bias), visit("running_mean", running_mean),
            visit("running_var", running_var);
        visit("num_batches_tracked", num_batches_tracked);
    }

  protected:
    BatchNorm(std::size_t spatial, std::int64_t num_features, BatchNormOptions options);

  private:
    void track(const Tensor& mean, const Tensor& variance, Size count) const;
    std::string_view name() const;
    std::size_t spatial_;
    std::int64_t num_features_;
    BatchNormOptions options_;
};

struct BatchNorm1d : BatchNorm {
    explicit BatchNorm1d(std::int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(1, num_features, options) {}
};
struct BatchNorm2d : BatchNorm {
    explicit BatchNorm2d(std::int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(2, num_features, options) {}
};
struct BatchNorm3d : BatchNorm {
    explicit BatchNorm3d(std::int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(3, num_features, options) {}
};

struct LayerNormOptions {
    double eps = 1e-5;
    bool elementwise_affine = true;
    bool bias = true;
    DType dtype = DType::float32;
};

/// Over the last axes, which have `normalized_shape`.
class LayerNorm {
  public:
    explicit LayerNorm(std::int64_t normalized_size, LayerNormOptions options = {})
        : LayerNorm(Dims{normalized_size}, options) {}
    explicit LayerNorm(const Dims& normalized_shape, LayerNormOptions options = {});
    Tensor operator()(const Operand& x) const;

    std::optional<Parameter> weight, bias;

    template <class V>
    void members(V& visit) {
        visit("normalized_shape", shape_);
        visit("weight", weight), visit("bias", bias);
    }

  private:
    Dims shape_;
    double eps_;
};

struct GroupNormOptions {
    double eps = 1e-5;
    bool affine = true;
    DType dtype = DType::float32;
};

/// (N, C, ...): over the channels of each of num_groups groups, and all that follows.
class GroupNorm {
  public:
    GroupNorm(std::int64_t num_groups, std::int64_t num_channels, GroupNormOptions options = {});
    Tensor operator()(const Operand& x) const;

    std::optional<Parameter> weight, bias;

    template <class V>
    void members(V& visit) {
        visit("num_groups", groups_), visit("num_channels", channels_);
        visit("weight", weight), visit("bias", bias);
    }

  private:
    std::int64_t groups_, channels_;
    double eps_;
};

}  // namespace weft::nn
