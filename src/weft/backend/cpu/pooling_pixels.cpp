#include "weft/backend/cpu/pooling_pixels.h"

#include <vector>

#include "weft/backend/cpu/isa/pooled_pixels.h"

namespace weft::cpu::pools {
namespace {

PooledPixels best_pooled_pixels() { return WEFT_OF_BEST_ISA(pooled_pixels); }

std::int64_t counted(const PoolingShape& s, const Span& span) {
    return s.count_include_pad ? span.within_padding : span.size();
}

void pool(decltype(PooledPixels::mean) join, const Pooling& p, const Strip& strip, const float* picture,
          float* result) {
    const PoolingShape& s = p.shape;
    std::vector<std::int64_t> numbers;  // that a place counts along its row
    std::vector<PooledPlace> places;
    std::vector<const float*> lines;
    for (std::int64_t x = 0; x < s.out[2]; ++x) {
        Span span(s, 2, x);
        places.push_back({(span.begin + span.first * span.step) * p.first.spatial[2], span.size(), 1});
        numbers.push_back(counted(s, span));
    }
    PooledRow row{.lines = nullptr,
                  .line_count = 0,
                  .places = places.data(),
                  .place_count = s.out[2],
                  .pixel_step = (s.parts ? 1 : s.dilation[2]) * p.first.spatial[2],
                  .result_step = p.second.spatial[2],
                  .channels = strip.channels};
    for (std::int64_t y0 = 0; y0 < s.out[0]; ++y0)
        for (std::int64_t y1 = 0; y1 < s.out[1]; ++y1) {
            Span span0(s, 0, y0), span1(s, 1, y1);
            lines.clear();
            for (std::int64_t k0 = span0.first; k0 < span0.last; ++k0)
                for (std::int64_t k1 = span1.first; k1 < span1.last; ++k1)
                    lines.push_back(picture +
                                    offset(p.first, span0.begin + k0 * span0.step, span1.begin + k1 * span1.step, 0));
            const std::int64_t of_lines = counted(s, span0) * counted(s, span1);
            for (std::size_t x = 0; x < places.size(); ++x)
                places[x].divisor = static_cast<float>(std::max<std::int64_t>(1, of_lines * numbers[x]));
            row.lines = lines.data(), row.line_count = static_cast<std::int64_t>(lines.size());
            join(row, result + offset(p.second, y0, y1, 0));
        }
}

}  // namespace

void greatest_of_pixels(const Pooling& pooling, const Strip& strip, const float* picture, float* result) {
    pool(best_pooled_pixels().greatest, pooling, strip, picture, result);
}
void mean_of_pixels(const Pooling& pooling, const Strip& strip, const float* picture, float* result) {
    pool(best_pooled_pixels().mean, pooling, strip, picture, result);
}

}  // namespace weft::cpu::pools
