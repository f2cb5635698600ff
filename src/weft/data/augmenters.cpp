// The steps of augmentation: crop, flip, affine, elastic, noise. Those that move pixels say of each new pixel where in the old picture it
// lies, and mix the four around it (bilinear); outside stands a value.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "weft/base/error.h"
#include "weft/data/augment.h"
#include "weft/data/gaussian.h"
#include "weft/data/steps.h"

namespace weft::data {
namespace {

class PictureAugmenter : public Augmenter {
  public:
    void check(const Dims& example) const override { (void)picture_dims(example, "a step that moves pixels"); }
    void apply(float* numbers, const Dims& example, CounterRandom random) const override {
        change(numbers, picture_dims(example, ""), random);
    }

  protected:
    virtual void change(float* pixels, const PictureDims& dims, CounterRandom& random) const = 0;
};

/// Where each new pixel lies in the old picture, line by line.
struct Places {
    std::vector<double> y, x;
};

void move_pixels(float* pixels, const PictureDims& dims, const Places& places, float outside) {
    auto plane = static_cast<std::size_t>(dims.height * dims.width);
    std::vector<float> old(plane);
    for (std::int64_t channel = 0; channel < dims.channels; ++channel, pixels += plane) {
        std::copy(pixels, pixels + plane, old.begin());
        auto at = [&](std::int64_t y, std::int64_t x) {
            bool inside = y >= 0 && y < dims.height && x >= 0 && x < dims.width;
            return inside ? old[static_cast<std::size_t>(y * dims.width + x)] : outside;
        };
        for (std::size_t i = 0; i < plane; ++i) {
            // Far outside is outside, however far; so no place is beyond what an integer holds.
            double y = std::clamp(places.y[i], -2.0, static_cast<double>(dims.height) + 1);
            double x = std::clamp(places.x[i], -2.0, static_cast<double>(dims.width) + 1);
            auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
            auto down = static_cast<float>(y - static_cast<double>(top)),
                 right = static_cast<float>(x - static_cast<double>(left));
            float upper = at(top, left) * (1 - right) + at(top, left + 1) * right;
            float lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right;
            pixels[i] = upper * (1 - down) + lower * down;
        }
    }
}

/// A picture of the same size out of the one with a border around it, at a random place.
class Crop : public PictureAugmenter {
  public:
    Crop(std::int64_t padding, float outside) : padding_(padding), outside_(outside) {}

  protected:
    void change(float* pixels, const PictureDims& dims, CounterRandom& random) const override {
        auto places = static_cast<std::uint64_t>(2 * padding_ + 1);
        std::int64_t down = static_cast<std::int64_t>(random.below(places)) - padding_;
        std::int64_t right = static_cast<std::int64_t>(random.below(places)) - padding_;
        auto plane = static_cast<std::size_t>(dims.height * dims.width);
        std::vector<float> old(plane);
        for (std::int64_t channel = 0; channel < dims.channels; ++channel) {
            std::copy(pixels, pixels + plane, old.begin());
            for (std::int64_t y = down; y < down + dims.height; ++y) {
                for (std::int64_t x = right; x < right + dims.width; ++x) {
                    bool inside = y >= 0 && y < dims.height && x >= 0 && x < dims.width;
                    *pixels++ = inside ? old[static_cast<std::size_t>(y * dims.width + x)] : outside_;
                }
            }
        }
    }

  private:
    std::int64_t padding_;
    float outside_;
};

class Flip : public PictureAugmenter {
  public:
    Flip(double horizontal, double vertical) : horizontal_(horizontal), vertical_(vertical) {}

  protected:
    void change(float* pixels, const PictureDims& dims, CounterRandom& random) const override {
        bool across = random.uniform() < horizontal_, down = random.uniform() < vertical_;
        std::int64_t lines = dims.channels * dims.height;
        for (std::int64_t line = 0; across && line < lines; ++line)
            std::reverse(pixels + line * dims.width, pixels + (line + 1) * dims.width);
        for (std::int64_t line = 0; down && line < lines; ++line) {
            std::int64_t y = line % dims.height, other = line - y + dims.height - 1 - y;
            if (line < other)
                std::swap_ranges(pixels + line * dims.width, pixels + (line + 1) * dims.width,
                                 pixels + other * dims.width);
        }
    }

  private:
    double horizontal_, vertical_;
};

/// Turned, sheared, scaled around its middle, and shifted.
class AffineChange : public PictureAugmenter {
  public:
    explicit AffineChange(const Json& o)
        : turn_(radians(o.at("rotate"))),
          shear_(radians(o.at("shear"))),
          shift_(o.at("shift").as_number()),
          smallest_(o.at("scale").item(0).as_number()),
          largest_(o.at("scale").item(1).as_number()),
          outside_(static_cast<float>(o.at("fill").as_number())) {}

  protected:
    void change(float* pixels, const PictureDims& dims, CounterRandom& random) const override {
        double turn = random.uniform(-turn_, turn_), shear = std::tan(random.uniform(-shear_, shear_));
        double zoom = random.uniform(smallest_, largest_), cosine = std::cos(turn) / zoom, sine = std::sin(turn) / zoom;
        double down = random.uniform(-shift_, shift_) * static_cast<double>(dims.height);
        double right = random.uniform(-shift_, shift_) * static_cast<double>(dims.width);
        double middle_y = static_cast<double>(dims.height - 1) / 2, middle_x = static_cast<double>(dims.width - 1) / 2;
        Places places;
        for (std::int64_t i = 0; i < dims.height * dims.width; ++i) {
            double y = static_cast<double>(i / dims.width) - middle_y - down;
            double x = static_cast<double>(i % dims.width) - middle_x - right;
            x += shear * y;
            places.y.push_back(cosine * y - sine * x + middle_y);
            places.x.push_back(sine * y + cosine * x + middle_x);
        }
        move_pixels(pixels, dims, places, outside_);
    }

  private:
    static double radians(const Json& degrees) { return degrees.as_number() * std::numbers::pi / 180; }
    double turn_, shear_, shift_, smallest_, largest_;
    float outside_;
};

/// Every pixel displaced by a field of uniform numbers from -1 .. 1, smoothed by a Gaussian and times alpha (Simard, Steinkraus & Platt, 2003).
class Elastic : public PictureAugmenter {
  public:
    Elastic(double alpha, double sigma, float outside)
        : window_(sigma, static_cast<std::int64_t>(std::ceil(3 * sigma))), alpha_(alpha), outside_(outside) {}

  protected:
    void change(float* pixels, const PictureDims& dims, CounterRandom& random) const override {
        Places places{field(dims, random), field(dims, random)};
        for (std::size_t i = 0; i < places.y.size(); ++i) {
            places.y[i] += static_cast<double>(static_cast<std::int64_t>(i) / dims.width);
            places.x[i] += static_cast<double>(static_cast<std::int64_t>(i) % dims.width);
        }
        move_pixels(pixels, dims, places, outside_);
    }

  private:
    std::vector<double> field(const PictureDims& dims, CounterRandom& random) const {
        std::vector<double> noise(static_cast<std::size_t>(dims.height * dims.width));
        for (double& value : noise) value = alpha_ * random.uniform(-1, 1);
        return window_.smoothed(noise, dims.height, dims.width);
    }
    GaussianWindow window_;
    double alpha_;
    float outside_;
};

/// Bell-shaped noise of CounterRandom, within 3.5 deviations.
class Noise : public Augmenter {
  public:
    explicit Noise(double deviation) : deviation_(deviation) {}
    void check(const Dims&) const override {}
    void apply(float* numbers, const Dims& example, CounterRandom random) const override {
        for (std::int64_t i = 0, count = element_count(example); i < count; ++i)
            numbers[i] += static_cast<float>(deviation_ * random.bell());
    }

  private:
    double deviation_;
};

Option number(const char* name, double fallback, const char* doc, double least, double most = 1e6) {
    return {name, fallback, doc, false, Json::Kind::null, {}, least, most};
}
const char* const outside_doc = "what stands outside the picture";

std::unique_ptr<Augmenter> make_affine(const Json& o) {
    const Json& scale = o.at("scale");
    bool fits =
        scale.size() == 2 && scale.item(0).as_number() > 0 && scale.item(0).as_number() <= scale.item(1).as_number();
    if (!fits || !(scale.item(1).as_number() < 1e6))
        scale.refuse("affine: a scale is [smallest, largest], both more than 0");
    return std::make_unique<AffineChange>(o);
}

}  // namespace

const std::vector<AugmenterKind>& augmenter_kinds() {
    static const std::vector<AugmenterKind> kinds{
        {"crop",
         "a part at a random place of the picture with a border, of the picture's own size",
         {{"padding", 4, "pixels of the border", false, Json::Kind::null, {}, 0, 100000},
          number("fill", 0, outside_doc, -1e30, 1e30)},
         [](const Json& o) {
             return std::make_unique<Crop>(o.at("padding").as_integer(), static_cast<float>(o.at("fill").as_number()));
         }},
        {"flip",
         "mirrored, at random",
         {number("horizontal", 0.5, "how often left and right change places", 0, 1),
          number("vertical", 0, "how often top and bottom do", 0, 1)},
         [](const Json& o) {
             return std::make_unique<Flip>(o.at("horizontal").as_number(), o.at("vertical").as_number());
         }},
        {"affine",
         "turned, sheared, scaled and shifted, at random",
         {number("rotate", 10, "by up to so many degrees", 0, 180),
          number("shift", 0.1, "by up to this part of the picture", 0, 1),
          {"scale", Json::array({0.9, 1.1}), "[smallest, largest]"},
          number("shear", 0, "by up to so many degrees", 0, 80),
          number("fill", 0, outside_doc, -1e30, 1e30)},
         make_affine},
        {"elastic",
         "pixels displaced by a smooth random field (Simard, 2003)",
         {number("alpha", 34, "times the field", 0),
          number("sigma", 4, "deviation of the smoothing, in pixels", 0.1, 100),
          number("fill", 0, outside_doc, -1e30, 1e30)},
         [](const Json& o) {
             return std::make_unique<Elastic>(o.at("alpha").as_number(), o.at("sigma").as_number(),
                                              static_cast<float>(o.at("fill").as_number()));
         }},
        {"noise",
         "bell-shaped noise on every number",
         {number("deviation", 0.1, "its standard deviation", 0, 1e30)},
         [](const Json& o) { return std::make_unique<Noise>(o.at("deviation").as_number()); }},
    };
    return kinds;
}

}  // namespace weft::data
