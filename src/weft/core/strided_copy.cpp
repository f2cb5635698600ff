// Elements copied from one layout to another: what is handed over as a view (a NumPy array turned, every second row) is laid out anew by this.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "weft/core/array.h"

namespace weft {
namespace {

/// An axis of two arrays: strides in bytes.
struct Axis {
    std::int64_t count, from, to;
};
using AxisList = SmallVector<Axis, 6>;

// Without those of size 1; axes that follow one another in both are one.
AxisList axes_of(const Array& from, const Array& to) {
    auto element = static_cast<std::int64_t>(size_of(from.dtype));
    AxisList axes;
    for (std::size_t i = 0; i < from.ndim(); ++i) {
        Axis axis{from.dims[i], from.strides[i] * element, to.strides[i] * element};
        if (axis.count == 1) continue;
        Axis* before = axes.empty() ? nullptr : &axes.back();
        if (before && before->from == axis.from * axis.count && before->to == axis.to * axis.count)
            axis.count *= before->count, *before = axis;
        else
            axes.push_back(axis);
    }
    return axes;
}

// Puts the axis along which elements lie closest, but not in one place, behind the others before `end`.
void put_last(AxisList& axes, std::size_t end, std::int64_t Axis::*stride) {
    auto distance = [&](const Axis& axis) { return static_cast<std::uint64_t>(std::abs(axis.*stride)) - 1; };
    auto closest = std::min_element(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](const Axis& a, const Axis& b) { return distance(a) < distance(b); });
    std::rotate(closest, closest + 1, axes.begin() + static_cast<std::ptrdiff_t>(end));
}

template <class T>
void copy_line(std::byte* to, const std::byte* from, Axis a) {
    if (a.from == sizeof(T) && a.to == sizeof(T)) {
        std::memcpy(to, from, static_cast<std::size_t>(a.count) * sizeof(T));
        return;
    }
    for (std::int64_t i = 0; i < a.count; ++i) std::memcpy(to + i * a.to, from + i * a.from, sizeof(T));
}

// Elements that lie close along one axis here, along the other there: in tiles, each of whose lines stays in the first-level cache until all of it has been
// read; of few lines, for those that lie pages apart have few places there.
template <class T>
void copy_turned(std::byte* to, const std::byte* from, Axis read, Axis written) {
    constexpr std::int64_t lines = 8, line = std::max<std::int64_t>(64 / sizeof(T), 8);
    for (std::int64_t w = 0; w < written.count; w += lines) {
        Axis some{std::min(lines, written.count - w), written.from, written.to};
        for (std::int64_t r = 0; r < read.count; r += line)
            for (std::int64_t i = r, end = std::min(r + line, read.count); i < end; ++i)
                copy_line<T>(to + w * written.to + i * read.to, from + w * written.from + i * read.from, some);
    }
}

struct Sixteen {
    std::uint64_t parts[2];
};

/// The two innermost axes of a copy: the one along which what is read lies closest (of one place where the other one is that), and what is written.
using CopyPlane = void (*)(std::byte* to, const std::byte* from, Axis read, Axis written);

template <class T>
void copy_plane(std::byte* to, const std::byte* from, Axis read, Axis written) {
    if (read.count == 1) return copy_line<T>(to, from, written);
    copy_turned<T>(to, from, read, written);
}

CopyPlane plane_of(std::size_t element) {
    switch (element) {
        case 1:
            return copy_plane<std::uint8_t>;
        case 2:
            return copy_plane<std::uint16_t>;
        case 4:
            return copy_plane<std::uint32_t>;
        case 8:
            return copy_plane<std::uint64_t>;
        default:
            return copy_plane<Sixteen>;
    }
}

}  // namespace

void copy_elements(const Array& from, Array& to) {
    promise(from.dtype == to.dtype && from.dims == to.dims, "copy_elements takes arrays of one dtype and shape");
    if (from.size() == 0) return;
    auto* source = static_cast<const std::byte*>(from.address());
    auto* target = static_cast<std::byte*>(to.address());
    CopyPlane copy = plane_of(size_of(from.dtype));
    AxisList axes = axes_of(from, to);
    if (axes.empty()) axes.push_back({1, 0, 0});
    put_last(axes, axes.size(), &Axis::from);
    Axis read = axes.back();
    put_last(axes, axes.size(), &Axis::to);
    Axis written = axes.back();
    axes.pop_back();
    bool turned = !axes.empty() && (written.from != read.from || written.to != read.to);
    read = {1, 0, 0};
    if (turned) {
        put_last(axes, axes.size(), &Axis::from);
        read = axes.back();
        axes.pop_back();
    }
    Dims at(axes.size(), 0);
    for (bool more = true; more;) {
        copy(target, source, read, written);
        more = false;
        for (std::size_t i = axes.size(); i-- > 0;) {  // the odometer: add one, carry
            const Axis& axis = axes[i];
            source += axis.from, target += axis.to;
            more = ++at[i] < axis.count;
            if (more) break;
            source -= axis.from * axis.count, target -= axis.to * axis.count, at[i] = 0;
        }
    }
}

}  // namespace weft
