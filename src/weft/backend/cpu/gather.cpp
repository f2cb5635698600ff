#include "weft/ops/gather.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/places.h"

namespace weft::cpu {
namespace {

// take: the result is (before the axis) x (places) x (behind the picked axes); what stands behind is copied whole, in pieces of at
// most a block. Where nothing stands behind, places that follow each other (windows, slices) are copied together.
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
    std::size_t scratch_bytes() const override { return places_.scratch_bytes() * (in_rows() ? 2 : 1); }
    std::string_view by() const override { return "take"; }
    void check(void* const* operands) const override { places_.check(operands + 1); }

    void run(void* const* operands, std::byte* scratch) const override {
        auto* offsets = reinterpret_cast<std::int64_t*>(scratch);
        places_.resolve(operands + 1, offsets);
        if (empty_) return;
        const std::int64_t* runs = in_rows() ? find_runs(offsets, offsets + places_.count()) : nullptr;
        with_width(dtype_, [&]<class T>(TypeTag<T>) {
            auto* to = static_cast<T*>(operands[inputs_]);
            auto* from = static_cast<const T*>(operands[0]);
            if (in_rows())
                copy_rows(to, from, offsets, runs);
            else
                copy(to, from, offsets);
        });
    }

  private:
    /// Whether the same places are taken from several rows, each so short that a thread takes whole ones.
    bool in_rows() const { return behind_.size == 1 && before_.size > 1 && places_.count() <= block_elements; }

    /// How many elements follow each other from the first place of each run on, `runs` written; null if they are few.
    const std::int64_t* find_runs(const std::int64_t* offsets, std::int64_t* runs) const {
        constexpr std::int64_t enough = 4;
        std::int64_t count = places_.count(), within = middle_.dims.back(), found = 0;
        for (std::int64_t first = 0, next; first < count; first = next, ++found) {
            std::int64_t end = first + within - first % within;  // of a stretch of neighbours in the result
            for (next = first + 1; next < end && offsets[next] == offsets[next - 1] + 1;) ++next;
            runs[first] = next - first;
        }
        return middle_.inner(0) == 1 && found * enough <= count ? runs : nullptr;
    }

    template <class T>
    void copy_rows(T* to, const T* from, const std::int64_t* offsets, const std::int64_t* runs) const {
        std::int64_t count = places_.count(), step = middle_.inner(0);
        auto copy_stretch = [&](T* row, const T* x, std::int64_t first, std::int64_t last) {
            if (runs)
                for (; first < last; row += runs[first], first += runs[first])
                    copy_bytes(reinterpret_cast<std::byte*>(row),
                               reinterpret_cast<const std::byte*>(x + offsets[first]),
                               static_cast<std::size_t>(runs[first]) * sizeof(T));
            else if (step == 1)
                for (; first < last; ++first) *row++ = x[offsets[first]];
            else
                for (; first < last; ++first, row += step) *row = x[offsets[first]];
        };
        auto copy_row = [&](T* row, const T* x) {
            if (middle_.dims.size() == 1) return copy_stretch(row, x, 0, count);
            std::int64_t done = 0;
            middle_.walk([&](const std::array<std::int64_t, 1>& at, std::int64_t some) {
                copy_stretch(row + at[0], x, done, done + some);
                done += some;
            });
        };
        parallel_blocks(before_.size, std::max<std::int64_t>(1, block_elements / count),
                        [&](std::int64_t low, std::int64_t high) {
                            before_.walk(low, high, [&](const std::array<std::int64_t, 2>& at, std::int64_t rows) {
                                for (std::int64_t k = 0; k < rows; ++k)
                                    copy_row(to + at[0] + k * before_.inner(0), from + at[1] + k * before_.inner(1));
                            });
                        });
    }

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

}  // namespace

std::unique_ptr<Kernel> gather_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    if (attributes_if<GatherAttributes>(node)->along) return take_along_kernel(node, inputs, output);
    return std::make_unique<Take>(node, inputs, output);
}

}  // namespace weft::cpu
