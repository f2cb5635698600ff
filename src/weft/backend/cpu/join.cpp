#include "weft/ops/join.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/strided.h"
#include "weft/core/literal.h"

namespace weft::cpu {
namespace {

// Each piece is a box of the result, at its own offset.
class Concatenate final : public Kernel {
  public:
    Concatenate(std::size_t axis, std::span<const Layout> inputs, const Layout& output) : dtype_(output.dtype) {
        std::int64_t offset = 0;
        for (const Layout& input : inputs) {
            pieces_.push_back({Box<2>(input.dims, {output.strides, input.strides}),
                               offset * static_cast<std::int64_t>(size_of(dtype_)), blocks_});
            offset += input.dims[axis] * output.strides[axis];
            blocks_ += (pieces_.back().box.size + block_elements - 1) / block_elements;
        }
    }
    std::string_view by() const override { return "concatenate"; }

    void run(void* const* operands, std::byte*) const override {
        auto* to = static_cast<std::byte*>(operands[pieces_.size()]);
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            parallel_for(blocks_, [&](std::int64_t block) {
                auto after = std::upper_bound(pieces_.begin(), pieces_.end(), block,
                                              [](std::int64_t b, const Piece& piece) { return b < piece.first_block; });
                const Piece& piece = *(after - 1);
                std::int64_t first = (block - piece.first_block) * block_elements;
                auto* from = static_cast<const T*>(operands[&piece - pieces_.data()]);
                copy_part(piece.box, reinterpret_cast<T*>(to + piece.bytes), from, first,
                          std::min(piece.box.size, first + block_elements));
            });
        });
    }

  private:
    struct Piece {
        Box<2> box;
        std::int64_t bytes, first_block;
    };
    DType dtype_;
    std::vector<Piece> pieces_;
    std::int64_t blocks_ = 0;
};

class Pad final : public Kernel {
  public:
    Pad(const PadAttributes& a, const Layout& input, const Layout& output) : dtype_(output.dtype) {
        Dims strides = output.strides;
        for (std::size_t i = 0; i < input.dims.size(); ++i) {
            inside_ += a.before[i].value.value() * output.strides[i];
            strides[i] *= a.between[i] + 1;
        }
        inside_ *= static_cast<std::int64_t>(size_of(dtype_));
        whole_ = Box<1>(output.dims, {output.strides});
        copy_ = Box<2>(input.dims, {strides, input.strides});
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            T value = a.value.as<T>();
            std::memcpy(value_, &value, sizeof value);
        });
    }
    std::string_view by() const override { return "pad"; }

    void run(void* const* operands, std::byte*) const override {
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            T value;
            std::memcpy(&value, value_, sizeof value);
            auto* to = static_cast<T*>(operands[1]);
            parallel_blocks(whole_.size, block_elements, [&](std::int64_t first, std::int64_t last) {
                whole_.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                    if (whole_.inner(0) == 1)
                        std::fill_n(to + at[0], count, value);
                    else
                        for (std::int64_t i = 0; i < count; ++i) to[at[0] + i * whole_.inner(0)] = value;
                });
            });
        });
        copy_box(copy_, dtype_, static_cast<std::byte*>(operands[1]) + inside_, operands[0]);
    }

  private:
    DType dtype_;
    std::int64_t inside_ = 0;  // bytes from the result's first element to x's
    Box<1> whole_;
    Box<2> copy_;
    alignas(16) std::byte value_[16];
};

}  // namespace

std::unique_ptr<Kernel> join_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    if (auto* joined = attributes_if<ConcatenateAttributes>(node))
        return std::make_unique<Concatenate>(static_cast<std::size_t>(joined->axis), inputs, output);
    if (auto* padded = attributes_if<PadAttributes>(node)) return std::make_unique<Pad>(*padded, inputs[0], output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this join"));
}

}  // namespace weft::cpu
