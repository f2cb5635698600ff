#include "weft/kernel/loop.h"

#include <algorithm>
#include <limits>

#include "weft/base/error.h"

namespace weft {
namespace {

template <class... Parts>
void require(bool holds,
             const Parts&... rule) {  // the parts are put together for a breach alone: every kernel is verified
    if (!holds) throw InternalError(text("loop: ", rule...));
}

bool memory_fits(DType memory, DType value) { return memory == value || (is_half(memory) && value == DType::float32); }

bool joins(Reduction reduction, DType dtype) {
    switch (reduction) {
        case Reduction::sum:
        case Reduction::product:
            return dtype != DType::bool_ && !is_half(dtype);
        case Reduction::any:
        case Reduction::all:
            return dtype == DType::bool_;
        default:
            return !is_complex(dtype) && !is_half(dtype);
    }
}

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
        require(!beyond, "an access with strides ", access.strides, " over ", dims, " leaves 64 bits");
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

namespace {

/// `what` and its number: "load 3".
void verify_pointers(const Loop& loop, const Access& access, std::string_view what, std::size_t number) {
    for (const Pointer& pointer : access.pointers) {
        auto from = static_cast<std::size_t>(pointer.load);
        require(from < loop.loads.size() && loop.loads[from].plain(), what, number, " is moved by load ", pointer.load,
                ", which is none or reads otherwise than by strides");
        require(is_integer(loop.loads[from].dtype), what, number, " is moved by load ", pointer.load, " of ",
                loop.loads[from].dtype);
        require(pointer.size >= 0, what, number, " moves along an axis of ", pointer.size, " elements");
    }
}

void verify_source(const Loop& loop, std::size_t load) {
    const Access& access = loop.loads[load];
    if (access.source == Source::memory) return;
    require(access.pointers.empty(), "load ", load, " reads no memory and moves by indices");
    if (access.source == Source::counting)
        return require(access.dtype == DType::int64, "load ", load, " counts in ", access.dtype);
    require(access.dtype == DType::uint32 || access.dtype == DType::uint64, "load ", load, " draws ", access.dtype);
    auto from = static_cast<std::size_t>(access.drawn.key);
    require(from < loop.loads.size() && loop.loads[from].plain() && loop.loads[from].dtype == DType::uint32, "load ",
            load, " is drawn with the key load ", access.drawn.key, ", which is no load of uint32");
    for (std::int64_t stride : loop.loads[from].strides)
        require(stride == 0, "load ", load, " is drawn with the key load ", access.drawn.key, ", which moves");
}

void verify_scan(const Loop& loop) {
    if (!loop.scan) return;
    require(loop.reduced == 1 && loop.reductions.size() == 1, "running results are of one output along one axis");
    bool runs = loop.reductions[0] == Reduction::sum || loop.reductions[0] == Reduction::product;
    require(runs, "there is no running ", name_of(loop.reductions[0]));
}

/// Points that differ along an axis along which the store moves must not meet.
void verify_scatter(const Loop& loop) {
    if (!loop.scatter) return;
    require(loop.stores.size() == 1 && !loop.reduces(), "a scatter is a map of one output");
    const Access& store = loop.stores[0];
    require(!store.pointers.empty(), "the store of a scatter moves by no index");
    DType value = loop.program.dtype(loop.program.outputs[0]);
    require(!is_half(value), "a scatter joins values of ", value, ", which are computed as float32");
    require(!is_complex(store.dtype) || *loop.scatter == ScatterMode::set || *loop.scatter == ScatterMode::add,
            "complex numbers have no ", name_of(*loop.scatter));
    if (extent_of(store, loop.dims).empty()) return;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> axes;  // step, last index
    auto add = [&](std::int64_t stride, std::int64_t size) {
        auto step = static_cast<std::uint64_t>(stride);
        if (stride != 0 && size > 1) axes.emplace_back(stride < 0 ? 0 - step : step, size - 1);
    };
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis) add(store.strides[axis], loop.dims[axis]);
    for (const Pointer& pointer : store.pointers) add(pointer.stride, pointer.size);
    std::sort(axes.begin(), axes.end());
    std::uint64_t reach = 0;  // extent_of has seen to it that this fits
    for (const auto& [step, last] : axes) {
        require(step > reach, "the store of a scatter moves by ", step, " elements, and by ", reach,
                " by shorter steps");
        reach += step * last;
    }
}

}  // namespace

void verify(const Loop& loop) {
    verify(loop.program);
    const Program& program = loop.program;
    require(loop.reduced <= loop.dims.size(), "more axes are reduced than there are");
    require(loop.loads.size() == program.inputs.size(), "there is not one load an input");
    require(loop.stores.size() == program.outputs.size(), "there is not one store an output");
    require(!loop.reduces() || loop.reductions.size() == program.outputs.size(),
            "there is not one reduction an output");
    require(loop.reduces() || loop.reduced == 0, "axes are reduced without a reduction");
    verify_scan(loop);
    std::size_t stored = loop.dims.size() - (loop.scan ? 0 : loop.reduced);
    for (std::int64_t size : loop.dims) require(size >= 0, "the box ", loop.dims, " has a negative size");
    for (std::size_t i = 0; i < loop.loads.size(); ++i) {
        require(loop.loads[i].strides.size() == loop.dims.size(), "load ", i, " has not one stride an axis");
        extent_of(loop.loads[i], loop.dims);
        verify_pointers(loop, loop.loads[i], "load ", i);
        verify_source(loop, i);
        require(memory_fits(loop.loads[i].dtype, program.inputs[i]), "load ", i, " reads ", loop.loads[i].dtype,
                " for an input of ", program.inputs[i]);
    }
    for (std::size_t i = 0; i < loop.stores.size(); ++i) {
        DType value = program.dtype(program.outputs[i]);
        if (loop.reduces()) {
            require(joins(loop.reductions[i], value), name_of(loop.reductions[i]), " does not join values of ", value);
            value = result_dtype(loop.reductions[i], value);
        }
        require(loop.stores[i].strides.size() == stored, "store ", i, " has not one stride a kept axis");
        require(loop.stores[i].source == Source::memory, "store ", i, " is no memory");
        require(loop.scatter || loop.stores[i].plain(), "store ", i, " moves by indices without a scatter");
        verify_pointers(loop, loop.stores[i], "store ", i);
        extent_of(loop.stores[i], loop.dims);
        for (std::size_t axis = 0; axis < loop.stores[i].strides.size() && !loop.scatter; ++axis) {
            bool apart = loop.stores[i].strides[axis] != 0 || loop.dims[axis] <= 1 || element_count(loop.dims) == 0;
            require(apart, "store ", i, " writes all of axis ", axis, " to one place");
        }
        require(memory_fits(loop.stores[i].dtype, value), "store ", i, " writes ", value, " to ", loop.stores[i].dtype);
    }
    verify_scatter(loop);
}

Hash128 hash_of(const Loop& loop) {
    Hasher hasher;
    Hash128 program = hash_of(loop.program);
    hasher.add(program.high);
    hasher.add(program.low);
    auto add = [&](const Dims& numbers) {
        hasher.add(numbers.size());
        for (std::int64_t number : numbers) hasher.add(static_cast<std::uint64_t>(number));
    };
    add(loop.dims);
    hasher.add(loop.reduced);
    for (const auto* accesses : {&loop.loads, &loop.stores}) {
        hasher.add(accesses->size());
        for (const Access& access : *accesses) {
            hasher.add(static_cast<std::uint64_t>(access.dtype));
            add(access.strides);
            hasher.add(access.passes);
            hasher.add(access.pointers.size());
            for (const Pointer& pointer : access.pointers) {
                add({pointer.load, pointer.size, pointer.stride, pointer.axis});
                hasher.add(pointer.operation);
            }
            hasher.add(static_cast<std::uint64_t>(access.source));
            hasher.add(static_cast<std::uint64_t>(access.numbers));
            if (access.source == Source::random)
                add({access.drawn.key, access.drawn.stride, static_cast<std::int64_t>(access.drawn.stream)});
        }
    }
    hasher.add(loop.scan ? 1u + loop.scan->exclusive + 2u * loop.scan->backwards : 0u);
    hasher.add(loop.scatter ? 1u + static_cast<std::uint64_t>(*loop.scatter) : 0u);
    hasher.add(loop.reductions.size());
    for (Reduction reduction : loop.reductions) hasher.add(static_cast<std::uint64_t>(reduction));
    return hasher.result();
}

std::ostream& operator<<(std::ostream& out, const Loop& loop) {
    out << "loop " << loop.dims;
    if (loop.scan)
        out << ", the last scanned" << (loop.scan->backwards ? " backwards" : "")
            << (loop.scan->exclusive ? ", exclusive" : "");
    else if (loop.reduces())
        out << ", the last " << loop.reduced << " reduced";
    out << '\n';
    auto points = [&](const Access& access) {
        out << " strides " << access.strides;
        for (const Pointer& pointer : access.pointers)
            out << " + " << pointer.stride << " * load " << pointer.load << " of " << pointer.size;
    };
    for (std::size_t i = 0; i < loop.loads.size(); ++i) {
        const Access& load = loop.loads[i];
        out << "load " << i << ' ' << load.dtype;
        if (load.source == Source::counting) out << " counted,";
        if (load.source == Source::random)
            out << " drawn with key load " << load.drawn.key << " from stream " << load.drawn.stream << ',';
        points(load);
        out << '\n';
    }
    for (std::size_t i = 0; i < loop.stores.size(); ++i) {
        out << "store " << i << ' ' << loop.stores[i].dtype;
        points(loop.stores[i]);
        if (loop.scatter) out << ' ' << name_of(*loop.scatter) << " in order";
        if (loop.reduces()) out << ' ' << name_of(loop.reductions[i]);
        out << '\n';
    }
    return out << loop.program;
}

}  // namespace weft
