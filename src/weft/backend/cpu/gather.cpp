#include "weft/ops/gather.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/places.h"

namespace weft::cpu {
namespace {

// take: the result is (before the axis) x (places) x (behind the picked axes); what stands behind is copied whole, in pieces of at
// most a block.
class Take final : public Kernel {
  public:
    Take(const Node& node, std::span<const Layout> inputs, const Layout& output)
        : dtype_(output.dtype), inputs_(inputs.size()) {
        const Layout& x = inputs[0];
        auto axis = static_cast<std::size_t>(attributes_if<GatherAttributes>(node)->axis);
        std::size_t count = inputs.size() - 1, wide = inputs[1].dims.size();
        places_ = Places(*node.operation, inputs.subspan(1), x, static_cast<std::int64_t>(axis));
        before_ = Box<2>(part(x.dims, 0, axis), {part(output.strides, 0, axis), part(x.strides, 0, axis)});
        middle_ = Box<1>(part(output.dims, axis, axis + wide), {part(output.strides, axis, axis + wide)});
        behind_ = Box<2>(
            part(x.dims, axis + count, x.dims.size()),
            {part(output.strides, axis + wide, output.strides.size()), part(x.strides, axis + count, x.dims.size())});
        pieces_ = (behind_.size + block_elements - 1) / block_elements;
        empty_ = output.size() == 0;
    }
    std::size_t scratch_bytes() const override { return places_.scratch_bytes(); }
    std::string_view by() const override { return "take"; }
    void check(void* const* operands) const override { places_.check(operands + 1); }

    void run(void* const* operands, std::byte* scratch) const override {
        auto* offsets = reinterpret_cast<std::int64_t*>(scratch);
        places_.resolve(operands + 1, offsets);
        if (empty_) return;
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            copy(static_cast<T*>(operands[inputs_]), static_cast<const T*>(operands[0]), offsets);
        });
    }

  private:
    template <class T>
    void copy(T* to, const T* from, const std::int64_t* offsets) const {
        std::int64_t piece = (behind_.size + pieces_ - 1) / pieces_;
        std::int64_t rows = std::max<std::int64_t>(1, block_elements / piece);  // places a block
        std::int64_t blocks = (places_.count() + rows - 1) / rows;
        parallel_for(before_.size * blocks * pieces_, [&](std::int64_t block) {
            std::int64_t p = block % pieces_, b = block / pieces_ % blocks, outer = block / pieces_ / blocks;
            std::int64_t first = p * piece, last = std::min(behind_.size, first + piece);
            before_.walk(outer, outer + 1, [&](const std::array<std::int64_t, 2>& at, std::int64_t) {
                copy_places(to + at[0], from + at[1], offsets, b * rows, std::min(places_.count(), (b + 1) * rows),
                            first, last);
            });
        });
    }

    // Of places [low, high) the elements [first, last) behind each.
    template <class T>
    void copy_places(T* to, const T* from, const std::int64_t* offsets, std::int64_t low, std::int64_t high,
                     std::int64_t first, std::int64_t last) const {
        bool dense = behind_.dense();
        const std::int64_t* next = offsets + low;
        middle_.walk(low, high, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            T* row = to + at[0];
            if (behind_.size == 1) {
                for (std::int64_t i = 0; i < count; ++i) row[i * middle_.inner(0)] = from[next[i]];
                next += count;
                return;
            }
            for (std::int64_t i = 0; i < count; ++i, row += middle_.inner(0), ++next) {
                if (dense)
                    std::memcpy(row + first, from + *next + first, static_cast<std::size_t>(last - first) * sizeof(T));
                else
                    copy_part(behind_, row, from + *next, first, last);
            }
        });
    }

    DType dtype_;
    std::size_t inputs_;
    Places places_;
    Box<2> before_, behind_;
    Box<1> middle_;
    std::int64_t pieces_ = 1;
    bool empty_ = false;
};

// take_along_axis: element by element; x is walked with stride 0 along the axis, and the index moves it there.
class TakeAlong final : public Kernel {
  public:
    TakeAlong(const Node& node, std::span<const Layout> inputs, const Layout& output)
        : operation_(*node.operation), dtype_(output.dtype), axis_(attributes_if<GatherAttributes>(node)->axis) {
        auto axis = static_cast<std::size_t>(axis_);
        size_ = inputs[0].dims[axis], stride_ = inputs[0].strides[axis];
        Dims still = inputs[0].strides;
        still[axis] = 0;
        box_ = Box<3>(output.dims, {output.strides, inputs[1].strides, still});
    }
    std::string_view by() const override { return "take_along_axis"; }

    void check(void* const* operands) const override {
        each(static_cast<const std::int64_t*>(operands[1]), [](const auto&, const std::int64_t*, std::int64_t) {});
    }
    void run(void* const* operands, std::byte*) const override {
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            auto* x = static_cast<const T*>(operands[0]);
            auto* result = static_cast<T*>(operands[2]);
            each(static_cast<const std::int64_t*>(operands[1]),
                 [&](const std::array<std::int64_t, 3>& at, const std::int64_t* offsets, std::int64_t count) {
                     T* to = result + at[0];
                     const T* from = x + at[2];
                     if (box_.inner(0) == 1 && box_.inner(2) == 0)
                         for (std::int64_t i = 0; i < count; ++i) to[i] = from[offsets[i]];
                     else
                         for (std::int64_t i = 0; i < count; ++i)
                             to[i * box_.inner(0)] = from[i * box_.inner(2) + offsets[i]];
                 });
        });
    }

  private:
    // f(where result, indices and x begin, offsets along the axis, how many), each index checked before f sees it.
    template <class F>
    void each(const std::int64_t* indices, F&& f) const {
        constexpr std::int64_t most = 256;
        parallel_blocks(box_.size, block_elements, [&](std::int64_t first, std::int64_t last) {
            box_.walk(first, last, [&](std::array<std::int64_t, 3> at, std::int64_t count) {
                std::int64_t offsets[most];
                for (; count > 0; count -= most) {
                    std::int64_t some = std::min(count, most);
                    resolve_indices(operation_, indices + at[1], box_.inner(1), some, axis_, size_, stride_, offsets);
                    f(at, offsets, some);
                    for (std::size_t k = 0; k < 3; ++k) at[k] += some * box_.inner(k);
                }
            });
        });
    }

    const Operation& operation_;
    DType dtype_;
    std::int64_t axis_, size_, stride_;
    Box<3> box_;
};

}  // namespace

std::unique_ptr<Kernel> gather_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    if (attributes_if<GatherAttributes>(node)->along) return std::make_unique<TakeAlong>(node, inputs, output);
    return std::make_unique<Take>(node, inputs, output);
}

}  // namespace weft::cpu
