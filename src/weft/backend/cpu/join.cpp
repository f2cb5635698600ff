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

/// Boxes of elements that are brought elsewhere by the code of maps, which begins a row in a fifth of the time of a call to copy it; several
/// of one size at once, so that what lies side by side is written together (100,000 rows of 16 beside as many: 1,650 us, 850 one by one).
class CodeCopies {
  public:
    /// Whether it is worth it: of long runs of neighbours, and of few elements, nothing is taken.
    bool take(DType dtype, const Box<2>& box, std::size_t input, std::int64_t to_bytes) {
        constexpr std::int64_t least = 1024, long_run = 512, few = 8, many = 64;
        bool runs = box.inner(0) == 1 && box.inner(1) == 1 && box.dims.back() >= long_run;
        if (box.size <= least || runs || box.dense() || size_of(dtype) > 8) return false;
        std::int64_t columns = box.dims.back();
        if (columns >= few || box.size < many * columns) {
            add(dtype, box, {input, to_bytes, 0});
            return true;
        }
        // Of many rows of a few elements, column beside column.
        Dims rows = part(box.dims, 0, box.dims.size() - 1);
        Box<2> column(rows, {part(box.strides[0], 0, rows.size()), part(box.strides[1], 0, rows.size())});
        auto element = static_cast<std::int64_t>(size_of(dtype));
        for (std::int64_t i = 0; i < columns; ++i)
            add(dtype, column, {input, to_bytes + i * box.inner(0) * element, i * box.inner(1) * element});
        return true;
    }
    /// When all have been taken.
    void make() {
        for (Group& group : groups_) {
            group.kernel = cpu_compiler().loop(std::move(group.loop));
            scratch_bytes_ = std::max(scratch_bytes_, group.kernel->scratch_bytes());
        }
    }
    std::size_t scratch_bytes() const { return scratch_bytes_; }
    void run(void* const* inputs, void* to, std::byte* scratch) const {
        for (const Group& group : groups_) {
            void* operands[2 * most_together];
            void** next = operands;
            for (const Copy& copy : group.copies)
                *next++ = static_cast<std::byte*>(inputs[copy.input]) + copy.from_bytes;
            for (const Copy& copy : group.copies) *next++ = static_cast<std::byte*>(to) + copy.to_bytes;
            group.kernel->run(operands, scratch);
        }
    }

  private:
    static constexpr std::size_t most_together = 8;
    struct Copy {
        std::size_t input;
        std::int64_t to_bytes, from_bytes;
    };
    struct Group {
        Loop loop;
        std::vector<Copy> copies;
        std::unique_ptr<Kernel> kernel;
    };

    void add(DType dtype, const Box<2>& box, const Copy& copy) {
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& at) {
            return at.loop.dims == box.dims && at.copies.size() < most_together;
        });
        if (group == groups_.end()) group = groups_.insert(groups_.end(), Group{});
        Loop& loop = group->loop;
        DType bits = bits_of(dtype);
        loop.dims = box.dims;
        loop.loads.push_back({bits, box.strides[1]}), loop.stores.push_back({bits, box.strides[0]});
        group->copies.push_back(copy);
        ProgramBuilder builder;
        for (std::size_t i = 0; i < group->copies.size(); ++i) builder.output(builder.input(bits));
        loop.program = builder.take();
    }

    std::vector<Group> groups_;
    std::size_t scratch_bytes_ = 0;
};

// Each piece is a box of the result, at its own offset; of one that lies there, nothing is left to do.
class Concatenate final : public Kernel {
  public:
    Concatenate(std::size_t axis, std::span<const Layout> inputs, const Layout& output, const std::vector<bool>& placed)
        : dtype_(output.dtype), inputs_(inputs.size()) {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            Box<2> box(inputs[k].dims, {output.strides, inputs[k].strides});
            auto bytes = offset * static_cast<std::int64_t>(size_of(dtype_));
            offset += inputs[k].dims[axis] * output.strides[axis];
            bool there = k < placed.size() && placed[k];
            if (box.size == 0 || there || by_code_.take(dtype_, box, k, bytes)) continue;
            pieces_.push_back({box, k, bytes, blocks_});
            blocks_ += (box.size + block_elements - 1) / block_elements;
        }
        by_code_.make();
    }
    std::size_t scratch_bytes() const override { return by_code_.scratch_bytes(); }
    std::string_view by() const override { return "concatenate"; }

    void run(void* const* operands, std::byte* scratch) const override {
        auto* to = static_cast<std::byte*>(operands[inputs_]);
        by_code_.run(operands, to, scratch);
        if (blocks_ == 0) return;
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            parallel_for(blocks_, [&](std::int64_t block) {
                auto after = std::upper_bound(pieces_.begin(), pieces_.end(), block,
                                              [](std::int64_t b, const Piece& piece) { return b < piece.first_block; });
                const Piece& piece = *(after - 1);
                std::int64_t first = (block - piece.first_block) * block_elements;
                copy_part(piece.box, reinterpret_cast<T*>(to + piece.bytes),
                          static_cast<const T*>(operands[piece.input]), first,
                          std::min(piece.box.size, first + block_elements));
            });
        });
    }

  private:
    struct Piece {
        Box<2> box;
        std::size_t input;
        std::int64_t bytes, first_block;
    };
    DType dtype_;
    std::size_t inputs_;
    CodeCopies by_code_;
    std::vector<Piece> pieces_;
    std::int64_t blocks_ = 0;
};

/// The value is written around the array, or, where its rows would be short or columns close, everywhere before the array comes.
class Pad final : public Kernel {
  public:
    Pad(const PadAttributes& a, const Layout& input, const Layout& output, bool placed) : dtype_(output.dtype) {
        Dims strides = output.strides;
        for (std::size_t i = 0; i < input.dims.size(); ++i) {
            inside_ += a.before[i].value.value() * output.strides[i];
            strides[i] *= a.between[i] + 1;
        }
        inside_ *= static_cast<std::int64_t>(size_of(dtype_));
        Box<2> box(input.dims, {strides, input.strides});
        if (!placed && !by_code_.take(dtype_, box, 0, inside_)) copy_ = box;
        by_code_.make();
        find_boxes(a, input.dims, output, placed);
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            T value = a.value.as<T>();
            std::memcpy(value_, &value, sizeof value);
        });
    }
    std::size_t scratch_bytes() const override { return by_code_.scratch_bytes(); }
    std::string_view by() const override { return "pad"; }

    void run(void* const* operands, std::byte* scratch) const override {
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            T value;
            std::memcpy(&value, value_, sizeof value);
            for (const Filled& filled : filled_) fill(filled.box, static_cast<T*>(operands[1]) + filled.first, value);
        });
        by_code_.run(operands, operands[1], scratch);
        if (copy_) copy_box(*copy_, dtype_, static_cast<std::byte*>(operands[1]) + inside_, operands[0]);
    }

  private:
    struct Filled {
        Box<1> box;
        std::int64_t first;  // element
    };

    /// What lies before and behind the array along each axis, between what lies before and behind it along the axes in front of that.
    void find_boxes(const PadAttributes& a, const Dims& input, const Layout& output, bool placed) {
        constexpr std::int64_t long_run = 8, far = 16;
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
                const Box<1>& box = around.back().box;
                worth = worth && (box.inner(0) == 1 ? box.dims.back() >= long_run : box.inner(0) >= far);
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
    CodeCopies by_code_;
    std::optional<Box<2>> copy_;
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
