// NumPy's indexing: x[{0, slice(1, 5, 2), ellipsis, newaxis, t}], with integers, slices (negative steps too), ellipsis, newaxis,
// integer tensors and boolean masks; and functional writes: x.at({...}).set(v) is a copy of x with v there.
// Rules are NumPy's: negative integers count from the end, slices are clipped, several index tensors broadcast together and their axes
// stand where the first was, or in front if a slice stands between them. A mask's result depends on its numbers: the mask is
// computed at once. Callers: everyone.
#pragma once

#include <optional>
#include <variant>

#include "weft/graph/operation.h"

namespace weft {

/// From start up to stop, without it, in steps; what is missing is the end that the step comes from or goes to.
struct Slice {
    std::optional<std::int64_t> start, stop;
    std::int64_t step = 1;
};
inline Slice slice() { return {}; }
inline Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step = 1) {
    return {start, stop, step};
}
struct Ellipsis {};
struct NewAxis {};
inline constexpr Ellipsis ellipsis{};
inline constexpr NewAxis newaxis{};

/// One entry between the brackets.
struct Index {
    std::variant<std::int64_t, Slice, Ellipsis, NewAxis, Tensor> value;
    std::source_location where;

    template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    Index(T integer, std::source_location where = std::source_location::current())
        : Index(Place{static_cast<std::int64_t>(integer)}, where) {}
    Index(Slice slice, std::source_location where = std::source_location::current());
    Index(Ellipsis dots, std::source_location where = std::source_location::current());
    Index(NewAxis axis, std::source_location where = std::source_location::current());
    Index(const Tensor& tensor, std::source_location where = std::source_location::current());
    Index(const Index& other);
    Index(Index&& other) noexcept;
    Index& operator=(const Index& other);
    Index& operator=(Index&& other) noexcept;
    ~Index();

  private:
    struct Place {  // not a number itself: bool and floating numbers would become one
        std::int64_t at;
    };
    Index(Place place, std::source_location where);
};

/// x[index], of any number of entries.
Tensor index(const Tensor& x, std::span<const Index> entries);

/// Places of a tensor, to be written in a copy. `value` broadcasts to the shape of x[index] and takes x's dtype. Where places repeat,
/// set keeps the last, add adds all.
class At {
  public:
    At(Tensor x, std::vector<Index> entries);
    Tensor set(const Operand& value) const;
    Tensor add(const Operand& value) const;
    Tensor get() const;

  private:
    Tensor x_;
    std::vector<Index> entries_;
};

/// The positions of what is not 0, row-major: one int64 tensor an axis. Computed at once; ValueError for a value that is not known
/// yet (inside a traced function).
std::vector<Tensor> nonzero(const Operand& x);

}  // namespace weft
