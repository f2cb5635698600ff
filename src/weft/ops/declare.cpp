#include "weft/ops/declare.h"

#include "weft/ops/view.h"

namespace weft {

std::int64_t checked_axis(const Operand& x, std::int64_t axis, std::size_t ndim, std::string_view operation) {
    return checked(x, [&] { return normalize_axis(axis, ndim, operation); });
}

Tensor slice_along(const Tensor& x, std::size_t axis, std::int64_t start, std::int64_t length) {
    Shape from(x.ndim(), 0), sizes = x.shape();
    from[axis] = start, sizes[axis] = length;
    return slice(x, from, sizes);
}

[[gnu::cold]] Operation composite(std::string_view name, std::string_view doc, std::string_view numpy,
                                  std::string_view torch, std::vector<Sample> samples) {
    return {.name = name,
            .family = Family::composite,
            .doc = doc,
            .numpy = numpy,
            .torch = torch,
            .composite = true,
            .samples = std::move(samples)};
}

}  // namespace weft
