#include "weft/ops/join.h"

#include <algorithm>
#include <optional>

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/strided.h"
#include "weft/core/literal.h"
#include "weft/kernel/builder.h"

namespace weft::cpu {
namespace {

/// Integers of as many bytes: bits that are moved, whatever they stand for.
DType bits_of(DType dtype) {
    switch (size_of(dtype)) {
        case 1:
            return DType::uint8;
        case 2:
            return DType::uint16;
        case 4:
            return DType::uint32;
        default:
            return DType::uint64;
    }
}

/// From one box of elements to another, all of it. Long runs of neighbours are copied as they are; short ones, or what is turned, by the code of
/// a map, which begins a row in a fifth of the time (100,000 rows of 16: 710 us or 1,650; mirrored rows of 64: a half).
class Move {
  public:
    Move(DType dtype, const Dims& dims, const Dims& to, const Dims& from)
        : dtype_(dtype), box_(dims, {to, from}), blocks_((box_.size + block_elements - 1) / block_elements) {
        constexpr std::int64_t least = 1024, long_run = 512;
        bool runs = box_.inner(0) == 1 && box_.inner(1) == 1 && box_.dims.back() >= long_run;
        if (box_.size <= least || runs || box_.dense() || size_of(dtype) > 8) return;
        take_columns();
        DType bits = bits_of(dtype);
        ProgramBuilder builder;
        builder.output(builder.input(bits));
        Loop loop;
        loop.program = builder.take();
        loop.dims = box_.dims, loop.loads = {{bits, box_.strides[1]}}, loop.stores = {{bits, box_.strides[0]}};
        code_ = cpu_compiler().loop(std::move(loop));
        blocks_ = 0;
    }
    std::size_t scratch_bytes() const { return code_ ? code_->scratch_bytes() : 0; }
    /// How many parts of it block() moves; 0: run() moves all.
    std::int64_t blocks() const { return blocks_; }
    void block(std::int64_t number, void* to, const void* from) const {
        std::int64_t first = number * block_elements;
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            copy_part(box_, static_cast<T*>(to), static_cast<const T*>(from), first,
                      std::min(box_.size, first + block_elements));
        });
    }
    void run(void* to, const void* from, std::byte* scratch) const {
        if (!code_) return parallel_for(blocks_, [&](std::int64_t number) { block(number, to, from); });
        auto element = static_cast<std::int64_t>(size_of(dtype_));
        for (std::int64_t column = 0; column < columns_; ++column) {
            void* operands[] = {static_cast<std::byte*>(const_cast<void*>(from)) + column * apart_[1] * element,
                                static_cast<std::byte*>(to) + column * apart_[0] * element};
            code_->run(operands, scratch);
        }
    }

  private:
    /// Of many rows of a few elements, column after column.
    void take_columns() {
        constexpr std::int64_t few = 8, many = 64;
        if (box_.dims.back() >= few || box_.size < many * box_.dims.back()) return;
        columns_ = box_.dims.back(), apart_ = {box_.inner(0), box_.inner(1)};
        Dims rows = part(box_.dims, 0, box_.dims.size() - 1);
        box_ = Box<2>(rows, {part(box_.strides[0], 0, rows.size()), part(box_.strides[1], 0, rows.size())});
    }

    DType dtype_;
    Box<2> box_;
    std::int64_t blocks_, columns_ = 1;
    std::array<std::int64_t, 2> apart_{};  // from column to column, elements
    std::unique_ptr<Kernel> code_;
};

// Each piece is a box of the result, at its own offset; of one that lies there, nothing is left to do.
class Concatenate final : public Kernel {
  public:
    Concatenate(std::size_t axis, std::span<const Layout> inputs, const Layout& output, const std::vector<bool>& placed)
        : inputs_(inputs.size()) {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const Dims& dims = inputs[k].dims;
            auto bytes = offset * static_cast<std::int64_t>(size_of(output.dtype));
            offset += dims[axis] * output.strides[axis];
            if (inputs[k].size() == 0 || (k < placed.size() && placed[k])) continue;
            Piece piece{Move(output.dtype, dims, output.strides, inputs[k].strides), k, bytes, blocks_};
            blocks_ += piece.move.blocks();
            scratch_bytes_ = std::max(scratch_bytes_, piece.move.scratch_bytes());
            (piece.move.blocks() > 0 ? in_blocks_ : by_code_).push_back(std::move(piece));
        }
    }
    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "concatenate"; }

    void run(void* const* operands, std::byte* scratch) const override {
        auto* to = static_cast<std::byte*>(operands[inputs_]);
        for (const Piece& piece : by_code_) piece.move.run(to + piece.bytes, operands[piece.input], scratch);
        if (blocks_ == 0) return;
        parallel_for(blocks_, [&](std::int64_t block) {
            auto after = std::upper_bound(in_blocks_.begin(), in_blocks_.end(), block,
                                          [](std::int64_t b, const Piece& piece) { return b < piece.first_block; });
            const Piece& piece = *(after - 1);
            piece.move.block(block - piece.first_block, to + piece.bytes, operands[piece.input]);
        });
    }

  private:
    struct Piece {
        Move move;
        std::size_t input;
        std::int64_t bytes, first_block;
    };
    std::size_t inputs_, scratch_bytes_ = 0;
    std::vector<Piece> in_blocks_, by_code_;
    std::int64_t blocks_ = 0;  // of in_blocks_
};

/// The value is written around the array, or, where single rows would be short, everywhere before the array comes.
class Pad final : public Kernel {
  public:
    Pad(const PadAttributes& a, const Layout& input, const Layout& output, bool placed) : dtype_(output.dtype) {
        Dims strides = output.strides;
        for (std::size_t i = 0; i < input.dims.size(); ++i) {
            inside_ += a.before[i].value.value() * output.strides[i];
            strides[i] *= a.between[i] + 1;
        }
        inside_ *= static_cast<std::int64_t>(size_of(dtype_));
        if (!placed) copy_.emplace(dtype_, input.dims, strides, input.strides);
        find_boxes(a, input.dims, output, placed);
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            T value = a.value.as<T>();
            std::memcpy(value_, &value, sizeof value);
        });
    }
    std::size_t scratch_bytes() const override { return copy_ ? copy_->scratch_bytes() : 0; }
    std::string_view by() const override { return "pad"; }

    void run(void* const* operands, std::byte* scratch) const override {
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            T value;
            std::memcpy(&value, value_, sizeof value);
            for (const Filled& filled : filled_) fill(filled.box, static_cast<T*>(operands[1]) + filled.first, value);
        });
        if (copy_) copy_->run(static_cast<std::byte*>(operands[1]) + inside_, operands[0], scratch);
    }

  private:
    struct Filled {
        Box<1> box;
        std::int64_t first;  // element
    };

    /// What lies before and behind the array along each axis, between what lies before and behind it along the axes in front of that.
    void find_boxes(const PadAttributes& a, const Dims& input, const Layout& output, bool placed) {
        constexpr std::int64_t long_run = 64;
        std::vector<Filled> around;
        Dims dims = output.dims;
        std::int64_t first = 0;
        bool worth = output.size() > 0, whole = false;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            std::int64_t before = a.before[i].value.value(), all = dims[i];
            whole |= a.between[i] > 0 || input[i] == 0;
            for (auto [from, to] : {std::pair(std::int64_t{0}, before), std::pair(before + input[i], all)}) {
                if (to <= from || whole) continue;
                dims[i] = to - from;
                around.push_back({Box<1>(dims, {output.strides}), first + from * output.strides[i]});
                worth = worth && (around.back().box.dims.size() == 1 || around.back().box.dims.back() >= long_run);
            }
            dims[i] = input[i], first += before * output.strides[i];
        }
        if (!whole && (placed || worth))
            filled_ = std::move(around);
        else
            filled_ = {{Box<1>(output.dims, {output.strides}), 0}};
    }

    template <class T>
    static void fill(const Box<1>& box, T* to, T value) {
        parallel_blocks(box.size, block_elements, [&](std::int64_t first, std::int64_t last) {
            box.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                if (box.inner(0) == 1)
                    std::fill_n(to + at[0], count, value);
                else
                    for (std::int64_t i = 0; i < count; ++i) to[at[0] + i * box.inner(0)] = value;
            });
        });
    }

    DType dtype_;
    std::int64_t inside_ = 0;  // bytes from the result's first element to x's
    std::vector<Filled> filled_;
    std::optional<Move> copy_;
    alignas(16) std::byte value_[16];
};

}  // namespace

std::unique_ptr<Kernel> join_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& use) {
    if (auto* joined = attributes_if<ConcatenateAttributes>(node))
        return std::make_unique<Concatenate>(static_cast<std::size_t>(joined->axis), inputs, output, use.placed);
    if (auto* padded = attributes_if<PadAttributes>(node))
        return std::make_unique<Pad>(*padded, inputs[0], output, !use.placed.empty() && use.placed[0]);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this join"));
}

}  // namespace weft::cpu
