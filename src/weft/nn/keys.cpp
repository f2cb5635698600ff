#include "weft/nn/keys.h"

#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft::nn {

std::vector<Tensor> keys_of(const Tensor& key, std::size_t count) {
    std::vector<Tensor> all(count);
    if (!key) return all;
    Tensor keys = random::split(key, static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i)
        all[i] = reshape(slice(keys, {static_cast<std::int64_t>(i), 0}, {1, 2}), {2});
    return all;
}

TwoKeys two_keys(const Tensor& key) {
    std::vector<Tensor> keys = keys_of(key, 2);
    return {keys[0], keys[1]};
}

}  // namespace weft::nn
