// take_along_axis: element by element; x is walked with stride 0 along the axis, and the index moves it there.
#include <type_traits>

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/places.h"
#include "weft/ops/gather.h"

namespace weft::cpu {
namespace {

/// The steps along a run from one element to the next: of the result, the indices, and of x beside the axis.
using Steps = std::array<std::int64_t, 3>;

/// A run of elements. Of what is known of most, that they are neighbours and no index is negative, loops are made that do nothing else.
template <class T>
void pick_run(T* to, const std::int64_t* indices, const T* from, std::int64_t count, const Steps& steps,
              std::int64_t stride, std::int64_t size) {
    auto run = [&](auto to_step, auto index_step, auto from_step, auto along, auto end) {
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t index = indices[i * index_step];
            to[i * to_step] = from[i * from_step + (index + (index < 0 ? end : 0)) * along];
        }
    };
    constexpr std::integral_constant<std::int64_t, 0> none;
    constexpr std::integral_constant<std::int64_t, 1> one;
    bool plain = steps[0] == 1 && steps[1] == 1;
    if (plain && steps[2] == 0 && stride == 1 && size == 0)
        run(one, one, none, one, none);
    else if (plain && steps[2] == 1 && size == 0)
        run(one, one, one, stride, none);
    else
        run(steps[0], steps[1], steps[2], stride, size);
}

class TakeAlong final : public Kernel {
  public:
    TakeAlong(const Node& node, std::span<const Layout> inputs, const Layout& output)
        : operation_(*node.operation), dtype_(output.dtype), axis_(attributes_if<GatherAttributes>(node)->axis) {
        auto axis = static_cast<std::size_t>(axis_);
        size_ = inputs[0].dims[axis], stride_ = inputs[0].strides[axis];
        Dims still = inputs[0].strides;
        still[axis] = 0;
        box_ = Box<3>(output.dims, {output.strides, inputs[1].strides, still});
        different_ = different(inputs[1]);
    }
    std::string_view by() const override { return "take_along_axis"; }

    void check(void* const* operands) const override { (void)negative(operands); }
    void run(void* const* operands, std::byte*) const override {
        std::int64_t size = negative(operands) ? size_ : 0;  // what a negative index is counted from
        auto* indices = static_cast<const std::int64_t*>(operands[1]);
        Steps steps{box_.inner(0), box_.inner(1), box_.inner(2)};
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            auto* x = static_cast<const T*>(operands[0]);
            auto* result = static_cast<T*>(operands[2]);
            parallel_blocks(box_.size, block_elements, [&](std::int64_t first, std::int64_t last) {
                box_.walk(first, last, [&](const std::array<std::int64_t, 3>& at, std::int64_t count) {
                    pick_run(result + at[0], indices + at[1], x + at[2], count, steps, stride_, size);
                });
            });
        });
    }

  private:
    bool negative(void* const* operands) const {
        return any_negative(operation_, different_, static_cast<const std::int64_t*>(operands[1]), axis_, size_);
    }

    const Operation& operation_;
    DType dtype_;
    std::int64_t axis_, size_, stride_;
    Box<3> box_;
    Box<1> different_;
};

}  // namespace

std::unique_ptr<Kernel> take_along_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    return std::make_unique<TakeAlong>(node, inputs, output);
}

}  // namespace weft::cpu
