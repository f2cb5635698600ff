// The rules of a Loop.
#include <algorithm>
#include <bit>

#include "weft/base/error.h"
#include "weft/kernel/loop.h"

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

void verify_alignment(const Access& access, std::string_view what, std::size_t number) {
    std::size_t alignment = access.alignment, element = size_of(access.dtype);
    if (alignment == 0) return;
    require(access.source == Source::memory, what, number, " reads no memory, and is aligned");
    require(std::has_single_bit(alignment), what, number, " is aligned to ", alignment,
            " bytes, which is no power of 2");
    require(alignment >= element, what, number, " is aligned to ", alignment, " bytes, less than its elements of ",
            element);
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
        verify_alignment(loop.loads[i], "load ", i);
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
        verify_alignment(loop.stores[i], "store ", i);
        extent_of(loop.stores[i], loop.dims);
        for (std::size_t axis = 0; axis < loop.stores[i].strides.size() && !loop.scatter; ++axis) {
            bool apart = loop.stores[i].strides[axis] != 0 || loop.dims[axis] <= 1 || element_count(loop.dims) == 0;
            require(apart, "store ", i, " writes all of axis ", axis, " to one place");
        }
        require(memory_fits(loop.stores[i].dtype, value), "store ", i, " writes ", value, " to ", loop.stores[i].dtype);
    }
    verify_scatter(loop);
}

}  // namespace weft
