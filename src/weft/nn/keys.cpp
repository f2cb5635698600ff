#include "weft/nn/keys.h"

#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft::nn {

TwoKeys two_keys(const Tensor& key) {
    if (!key) return {};
    Tensor keys = random::split(key, 2);
    auto key_at = [&](std::int64_t i) { return reshape(slice(keys, {i, 0}, {1, 2}), {2}); };
    return {key_at(0), key_at(1)};
}

}  // namespace weft::nn
