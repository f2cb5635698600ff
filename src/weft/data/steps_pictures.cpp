// Steps for pictures: grey, yuv, lcn.
#include <algorithm>
#include <array>
#include <cmath>

#include "weft/base/error.h"
#include "weft/data/gaussian.h"
#include "weft/data/steps.h"

namespace weft::data {
namespace {

using Matrix3 = std::array<std::array<double, 3>, 3>;

// ITU-R BT.601: Y, and the differences B - Y and R - Y over their greatest values, 0.886 / 0.436 and 0.701 / 0.615.
constexpr double red = 0.299, green = 0.587, blue = 0.114, u_scale = 0.436 / (1 - blue), v_scale = 0.615 / (1 - red);
constexpr Matrix3 to_yuv{{{red, green, blue},
                          {-u_scale * red, -u_scale* green, u_scale*(1 - blue)},
                          {v_scale * (1 - red), -v_scale* green, -v_scale* blue}}};
// Solved for R, G, B: B = Y + U / u_scale, R = Y + V / v_scale, and G from Y.
constexpr Matrix3 to_rgb{
    {{1, 0, 1 / v_scale}, {1, -blue / (green * u_scale), -red / (green * v_scale)}, {1, 1 / u_scale, 0}}};

void check_colours(const Dims& example, const char* step) {
    if (example.size() != 3 || example[0] != 3)
        throw ShapeError(text(step, " takes colours, (3, height, width); these examples have shape ", example));
}

RowMap by_pixel(const Matrix3& matrix, std::size_t channels, std::size_t plane) {
    return [matrix, channels, plane](const double* from, double* to) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
            const auto& [r, g, b] = matrix[channel];
            for (std::size_t i = 0; i < plane; ++i) *to++ = r * from[i] + g * from[plane + i] + b * from[2 * plane + i];
        }
    };
}

class Grey : public Step {
  public:
    Dataset apply(const Dataset& set) const override {
        Dims example = set.example();
        check_colours(example, "grey");
        auto plane = static_cast<std::size_t>(example[1] * example[2]);
        Dataset result = mapped(set, {1, example[1], example[2]}, by_pixel(to_yuv, 1, plane));
        result.range = set.range;  // a mean of colours
        return result;
    }
};

class Yuv : public Step {
  public:
    Dataset apply(const Dataset& set) const override { return turn(set, to_yuv); }
    Array invert(const Array& x) const override {
        Dataset set;
        set.x = x;
        return turn(set, to_rgb).x;
    }

  private:
    static Dataset turn(const Dataset& set, const Matrix3& matrix) {
        Dims example = set.example();
        check_colours(example, "yuv");
        return mapped(set, example, by_pixel(matrix, 3, static_cast<std::size_t>(example[1] * example[2])));
    }
};

/// Local contrast normalisation (Jarrett et al., 2009, as Pylearn2 has it): v = x - w * x, v / max(c, mean of c, threshold), c = sqrt(w * v^2),
/// each channel by itself; w is a Gaussian window of sum 1, `*` its correlation with zeros around the picture.
class LocalContrast : public Step {
  public:
    LocalContrast(std::int64_t kernel, double sigma, double threshold)
        : window_(sigma, kernel / 2), threshold_(threshold) {}

    Dataset apply(const Dataset& set) const override {
        PictureDims dims = picture_dims(set.example(), "lcn");
        return mapped(set, set.example(), [how = *this, dims](const double* from, double* to) {
            std::size_t plane = static_cast<std::size_t>(dims.height * dims.width);
            for (std::int64_t channel = 0; channel < dims.channels; ++channel, from += plane, to += plane)
                how.normalize(from, to, dims.height, dims.width);
        });
    }

  private:
    void normalize(const double* from, double* to, std::int64_t height, std::int64_t width) const {
        auto plane = static_cast<std::size_t>(height * width);
        std::vector<double> mean = window_.smoothed({from, from + plane}, height, width), squares(plane);
        for (std::size_t i = 0; i < plane; ++i) to[i] = from[i] - mean[i], squares[i] = to[i] * to[i];
        std::vector<double> contrast = window_.smoothed(squares, height, width);
        double all = 0;
        for (double& value : contrast) value = std::sqrt(value), all += value / static_cast<double>(plane);
        for (std::size_t i = 0; i < plane; ++i) to[i] /= std::max({contrast[i], all, threshold_});
    }
    GaussianWindow window_;
    double threshold_;
};

std::unique_ptr<Step> make_lcn(const Json& options) {
    std::int64_t kernel = options.at("kernel").as_integer();
    if (kernel % 2 == 0) options.at("kernel").refuse("lcn: the window has a middle, so an odd size");
    return std::make_unique<LocalContrast>(kernel, options.at("sigma").as_number(),
                                           options.at("threshold").as_number());
}

template <class S>
StepKind plain(const char* name, const char* doc) {
    return {name, doc, "", [name](const Json& argument) -> std::unique_ptr<Step> {
                if (!argument.is_null()) argument.refuse(text(name, " takes no options"));
                return std::make_unique<S>();
            }};
}

}  // namespace

std::vector<StepKind> picture_steps() {
    return {
        plain<Grey>("grey", "one channel of three: 0.299 R + 0.587 G + 0.114 B"),
        plain<Yuv>("yuv", "red, green, blue become brightness and two differences of colour (ITU-R BT.601)"),
        {"lcn",
         "local contrast normalisation: each pixel less its neighbourhood's mean, over its contrast",
         "",
         make_lcn,
         {{"kernel", 7, "the window's size, odd", false, Json::Kind::null, {}, 1, 999},
          {"sigma", 2.0, "its deviation, in pixels", false, Json::Kind::null, {}, 1e-3},
          {"threshold", 1e-4, "the least that is divided by", false, Json::Kind::null, {}, 1e-12}}},
    };
}

}  // namespace weft::data
