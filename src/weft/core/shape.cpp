#include "weft/core/shape.h"

#include <numeric>

#include "weft/base/error.h"

namespace weft {
namespace {

template <class List>
std::string tuple(const List& list) {
    std::string out = "(";
    for (std::size_t i = 0; i < list.size(); ++i) out += text(i ? ", " : "", list[i]);
    return out + (list.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string str(const Shape& shape) { return tuple(shape); }
std::string str(const Dims& dims) { return tuple(dims); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << str(shape); }
std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << str(dims); }

bool known(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](Size size) { return size.known(); });
}

Dims dims_of(const Shape& shape) {
    Dims dims;
    for (Size size : shape) dims.push_back(size.value());
    return dims;
}

Shape shape_of(const Dims& dims) { return Shape(dims.begin(), dims.end()); }

Size element_count(const Shape& shape) {
    std::int64_t plain = 1;
    bool fits = true;
    for (Size size : shape) {
        // A zero anywhere makes the count zero, whatever the other sizes would overflow to.
        if (size == Size(0)) return 0;
        fits = fits && size.known() && !__builtin_mul_overflow(plain, size.code(), &plain);
    }
    if (fits) return plain;
    return std::accumulate(shape.begin(), shape.end(), Size(1), [](Size a, Size b) { return a * b; });
}

std::int64_t element_count(const Dims& dims) { return element_count(shape_of(dims)).value(); }

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
    const Shape& longer = a.size() >= b.size() ? a : b;
    const Shape& shorter = a.size() >= b.size() ? b : a;
    Shape result = longer;
    std::size_t shift = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        Size& here = result[i + shift];
        Size there = shorter[i];
        if (here == there || there == Size(1)) continue;
        if (here == Size(1))
            here = there;
        else if (!may_equal(here, there))
            return std::nullopt;
        else if (!here.known())
            here = there.known() ? there : here;
    }
    return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    std::size_t shift = to.size() - from.size();
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (!(from[i] == Size(1)) && !may_equal(from[i], to[i + shift])) return false;
    }
    return true;
}

std::int64_t normalize_axis(std::int64_t axis, std::size_t ndim, std::string_view operation) {
    auto n = static_cast<std::int64_t>(ndim);
    if (axis >= -n && axis < n) return axis < 0 ? axis + n : axis;
    if (n == 0) throw AxisError(text(operation, ": axis ", axis, " is out of bounds: the value has no axes (0-d)"));
    throw AxisError(text(operation, ": axis ", axis, " is out of bounds for a value with ", n,
                         n == 1 ? " dimension" : " dimensions", " (axes go from ", -n, " to ", n - 1, ")"));
}

Axes normalize_axes(const Axes& axes, std::size_t ndim, std::string_view operation) {
    Axes result;
    for (std::int64_t axis : axes) result.push_back(normalize_axis(axis, ndim, operation));
    std::sort(result.begin(), result.end());
    for (std::size_t i = 1; i < result.size(); ++i) {
        if (result[i] == result[i - 1])
            throw AxisError(text(operation, ": axis ", result[i], " stands twice in ", str(axes)));
    }
    return result;
}

Axes all_axes(std::size_t ndim) {
    Axes axes(ndim);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

}  // namespace weft
