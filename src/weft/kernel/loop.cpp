#include "weft/kernel/loop.h"

#include <algorithm>
#include <limits>

#include "weft/base/error.h"
#include "weft/base/integers.h"

namespace weft {
namespace {

/// The least or the greatest value of a type.
Literal extreme(DType dtype, bool least) {
    return with_dtype(dtype, [&](auto tag) -> Literal {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_same_v<T, bool>)
            return Literal(!least);
        else if constexpr (std::is_integral_v<T>)
            return Literal(least ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
        else
            return Literal(least ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
    });
}

}  // namespace

bool Loop::indexed() const {
    auto moves = [](const Access& access) { return !access.pointers.empty(); };
    return std::any_of(loads.begin(), loads.end(), moves) || std::any_of(stores.begin(), stores.end(), moves);
}

std::vector<bool> loads_read(const Loop& loop) {
    std::vector<bool> read(loop.loads.size(), false);
    auto mark = [&](std::int32_t load) {
        if (at(load) < read.size()) read[at(load)] = true;
    };
    for (const Instruction& line : loop.program.code)
        if (line.opcode == Opcode::input) mark(line.a);
    for (const auto* accesses : {&loop.loads, &loop.stores}) {
        for (const Access& access : *accesses) {
            for (const Pointer& pointer : access.pointers) mark(pointer.load);
            if (access.source == Source::random) mark(access.drawn.key);
        }
    }
    return read;
}

Literal identity_of(Reduction reduction, DType dtype) {
    switch (reduction) {
        case Reduction::sum:
            return is_inexact(dtype) ? Literal(0.0) : Literal(0);
        case Reduction::product:
            return is_inexact(dtype) ? Literal(1.0) : Literal(1);
        case Reduction::maximum:
            return extreme(dtype, true);
        case Reduction::minimum:
            return extreme(dtype, false);
        case Reduction::any:
            return Literal(false);
        case Reduction::all:
            return Literal(true);
        case Reduction::argmax:
        case Reduction::argmin:
            break;
    }
    throw InternalError(text(name_of(reduction), " of no elements has no value"));
}

DType result_dtype(Reduction reduction, DType dtype) {
    return reduction == Reduction::argmax || reduction == Reduction::argmin ? DType::int64 : dtype;
}

std::string_view name_of(ScatterMode mode) {
    switch (mode) {
        case ScatterMode::set:
            return "set";
        case ScatterMode::add:
            return "add";
        case ScatterMode::maximum:
            return "maximum";
        case ScatterMode::minimum:
            return "minimum";
    }
    __builtin_unreachable();
}

std::optional<Opcode> opcode_of(ScatterMode mode, DType dtype) {
    switch (mode) {
        case ScatterMode::set:
            return std::nullopt;
        case ScatterMode::add:
            return dtype == DType::bool_ ? Opcode::maximum : Opcode::add;
        case ScatterMode::maximum:
            return Opcode::maximum;
        case ScatterMode::minimum:
            return Opcode::minimum;
    }
    __builtin_unreachable();
}

Extent extent_of(const Access& access, const Dims& dims) {
    Extent extent{0, 0};
    auto move = [&](std::int64_t stride, std::int64_t size) {
        std::int64_t reach = 0, bytes = 0, &end = stride < 0 ? extent.first : extent.last;
        bool beyond = __builtin_mul_overflow(stride, size - 1, &reach) || __builtin_add_overflow(end, reach, &end) ||
                      __builtin_mul_overflow(end, static_cast<std::int64_t>(size_of(access.dtype)), &bytes);
        if (beyond)
            throw OutOfMemory(text("loop: an access with strides ", access.strides, " over ", dims, " leaves 64 bits"));
    };
    for (std::size_t axis = 0; axis < access.strides.size(); ++axis) {
        if (dims[axis] == 0) return {};
        move(access.strides[axis], dims[axis]);
    }
    for (const Pointer& pointer : access.pointers) {
        if (pointer.size == 0) return {};  // no index is inside
        move(pointer.stride, pointer.size);
    }
    return extent;
}

void refuse_index(const Pointer& pointer, std::int64_t index) {
    IndexError error(text(pointer.operation, ": index ", index, " is out of bounds for axis ", pointer.axis,
                          " of size ", pointer.size));
    error.where = pointer.where;
    throw error;
}

std::string_view name_of(Reduction reduction) {
    switch (reduction) {
        case Reduction::sum:
            return "sum";
        case Reduction::product:
            return "product";
        case Reduction::maximum:
            return "maximum";
        case Reduction::minimum:
            return "minimum";
        case Reduction::any:
            return "any";
        case Reduction::all:
            return "all";
        case Reduction::argmax:
            return "argmax";
        case Reduction::argmin:
            return "argmin";
    }
    __builtin_unreachable();
}

}  // namespace weft
