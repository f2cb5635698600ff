#include "weft/backend/cpu/convolution_parts.h"

#include <algorithm>
#include <vector>

#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t part_work = 1 << 18,  // multiplications that make a part worth a call
    gradient_part_work = 1 << 20;            // the same of one that brings its operands into the library's layouts

// Few, for each reads all weights, and an even number of equal ones.
std::int64_t parts_of(const ConvolutionShape& s, int axis) {
    if (s.batch != 1) return 1;
    std::int64_t work = work_of_image(s);
    std::int64_t parts = s.out[axis] >= 28 ? 4 : s.out[axis] >= 6 ? 2 : 1;
    while (parts > 1 && work < parts * part_work) parts /= 2;
    return parts;
}

constexpr std::int64_t channel_block = 16;  // what libraries make at a time

// Each reads the whole input.
std::int64_t gradient_parts_of(const ConvolutionShape& s) {
    constexpr std::int64_t most = 4;
    if (s.batch != 1 || s.groups != 1) return 1;
    return std::clamp<std::int64_t>(
        std::min(s.out_channels / (2 * channel_block), work_of_image(s) / gradient_part_work), 1, most);
}

class PartsWay final : public Convolution::Way {
  public:
    struct Part {
        std::unique_ptr<const Way> way;
        std::int64_t first, second, result;  // elements from those of the whole
        std::size_t scratch = 0;             // where its own begins
    };

    PartsWay(std::vector<Part> parts, bool kept)
        : parts_(std::move(parts)), kept_(kept), bytes_(kept ? 0 : aligned(weights().packed_bytes())) {
        for (Part& part : parts_) part.scratch = bytes_, bytes_ += aligned(part.way->scratch_bytes());
    }

    std::size_t scratch_bytes() const override { return bytes_; }
    std::size_t packed_bytes() const override { return kept_ ? weights().packed_bytes() : 0; }
    void pack(const void* second, void* packed) const override { weights().pack(second, packed); }
    std::string implementation() const override { return weights().implementation(); }
    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        if (!kept_ && weights().packed_bytes() > 0) {
            weights().pack(second, scratch);
            packed = scratch;
        }
        parallel_for(static_cast<std::int64_t>(parts_.size()), [&](std::int64_t i) {
            const Part& part = parts_[static_cast<std::size_t>(i)];
            part.way->run(static_cast<const float*>(first) + part.first,
                          static_cast<const float*>(second) + part.second, static_cast<float*>(result) + part.result,
                          memory + part.scratch, packed);
        });
    }

  private:
    const Way& weights() const { return *parts_[0].way; }

    std::vector<Part> parts_;
    bool kept_;
    std::size_t bytes_;
};

}  // namespace

std::unique_ptr<const Convolution::Way> convolution_in_parts(const ConvolutionShape& shape,
                                                             const ConvolutionStrides& strides, bool kept,
                                                             const MakePart& make) {
    int axis = 0;
    while (axis + 1 < most_spatial && shape.out[axis] == 1) ++axis;
    std::int64_t count = parts_of(shape, axis), rows = shape.out[axis];
    if (count == 1) return nullptr;
    std::vector<PartsWay::Part> parts;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t begin = begin_of(i, count, rows), end = begin_of(i + 1, count, rows);
        // The rows of the input that these read, without what is padding.
        std::int64_t from = begin * shape.stride[axis] - shape.pad_lo[axis];
        std::int64_t to =
            (end - 1) * shape.stride[axis] - shape.pad_lo[axis] + (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
        std::int64_t low = std::max<std::int64_t>(from, 0), high = std::min(to, shape.in[axis]);
        if (low >= high) return nullptr;
        ConvolutionShape part = shape;
        part.in[axis] = high - low, part.out[axis] = end - begin, part.pad_lo[axis] = low - from;
        auto way = make(part, {true, false, parts.empty() ? nullptr : parts[0].way.get()});
        if (!way) return nullptr;
        parts.push_back({std::move(way), low * strides.input.spatial[axis], 0, begin * strides.output.spatial[axis]});
    }
    return std::make_unique<PartsWay>(std::move(parts), kept);
}

std::unique_ptr<const Convolution::Way> weight_gradient_in_parts(const ConvolutionShape& shape,
                                                                 const ConvolutionStrides& strides,
                                                                 const MakePart& make) {
    std::int64_t count = gradient_parts_of(shape);
    if (count == 1) return nullptr;
    std::int64_t blocks = shape.out_channels / channel_block;
    std::vector<PartsWay::Part> parts;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t begin = begin_of(i, count, blocks) * channel_block;
        std::int64_t end = i + 1 == count ? shape.out_channels : begin_of(i + 1, count, blocks) * channel_block;
        ConvolutionShape part = shape;
        part.out_channels = end - begin;
        auto way = make(part, {.block = true});
        if (!way) return nullptr;
        parts.push_back({std::move(way), 0, begin * strides.output.channel, begin * strides.weight.batch});
    }
    return std::make_unique<PartsWay>(std::move(parts), false);
}

}  // namespace weft::cpu
