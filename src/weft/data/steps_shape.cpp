// Steps that give examples or targets another form: reshape, flatten, one_hot, patches, grid_patches.
#include <algorithm>
#include <cstring>

#include "weft/base/error.h"
#include "weft/data/counter_random.h"
#include "weft/data/steps.h"

namespace weft::data {
namespace {

/// Another shape of as many numbers; nothing: one axis. Remembers the shape that it met, for the way back.
class Reshape : public Step {
  public:
    explicit Reshape(std::optional<Dims> example) : to_(std::move(example)) {}

    void fit(const Dataset& train) override { from_ = train.example(); }
    Dataset apply(const Dataset& set) const override { return to_ ? set.reshaped(*to_) : set.flat(); }
    Array invert(const Array& x) const override {
        if (!from_) throw ValueError("the shape of examples before it was not saved");
        Dims dims{x.dims.empty() ? 1 : x.dims[0]};
        for (std::int64_t extent : *from_) dims.push_back(extent);
        return reshaped(x, dims);
    }
    NamedState state() const override {
        if (!from_) return {};
        NamedState state;
        state.emplace("example", array_of({from_->begin(), from_->end()}));
        return state;
    }
    void restore(const NamedState& state) override {
        from_.reset();
        if (state.empty()) return;
        from_.emplace();
        for (double extent : numbers_in(state, "example")) {
            if (!(extent >= 0 && extent < 0x1p53))
                throw FileError(text("prepare: the saved state has the size ", extent));
            from_->push_back(static_cast<std::int64_t>(extent));
        }
    }

  private:
    std::optional<Dims> to_, from_;
};

/// Labels as rows of 0 with a 1: float32 (n, classes).
class OneHot : public Step {
  public:
    explicit OneHot(std::int64_t classes) : given_(classes), classes_(classes) {}

    void fit(const Dataset& train) override {
        check(train);
        if (given_) return;
        classes_ = static_cast<std::int64_t>(train.classes.size());
        const auto* labels = train.y.data<std::int64_t>();
        for (std::int64_t i = 0; i < train.y.size(); ++i) classes_ = std::max(classes_, labels[i] + 1);
        if (classes_ > 1'000'000)
            throw ValueError(text("one_hot: a label is ", classes_ - 1, "; are these class numbers?"));
    }
    Dataset apply(const Dataset& set) const override {
        check(set);
        Dataset result = set;
        result.y = Array::zeros(float32, {set.y.dims[0], classes_});
        for (std::int64_t i = 0; i < set.y.size(); ++i) {
            std::int64_t label = set.y.data<std::int64_t>()[i];
            if (label < 0 || label >= classes_)
                throw ValueError(
                    text("one_hot: row ", i, " has the label ", label, "; there are ", classes_, " classes"));
            result.y.data<float>()[i * classes_ + label] = 1;
        }
        return result;
    }
    Array invert(const Array& x) const override { return x; }
    std::optional<Dataset> sample(const Dataset& one) override {
        if (!given_ && one.classes.empty()) return std::nullopt;
        return Step::sample(one);
    }
    NamedState state() const override {
        NamedState state;
        state.emplace("classes", array_of({static_cast<double>(classes_)}));
        return state;
    }
    void restore(const NamedState& state) override {
        std::vector<double> classes = numbers_in(state, "classes");
        if (classes.size() != 1 || !(classes[0] >= 1 && classes[0] <= 1e6))
            throw FileError("prepare: the saved state of 'one_hot' does not fit");
        classes_ = static_cast<std::int64_t>(classes[0]);
    }

  private:
    static void check(const Dataset& set) {
        if (set.y.dtype != int64 || set.y.ndim() != 1)
            throw ShapeError(
                text("one_hot takes one class number an example; y is ", set.y.dtype, " of shape ", set.y.dims));
    }
    std::int64_t given_, classes_;
};

/// Where a patch of an example begins.
struct Corner {
    std::int64_t row, top, left;
};

/// Patches of pictures, each with its picture's target.
class Patches : public Step {
  public:
    Patches(std::int64_t height, std::int64_t width) : height_(height), width_(width) {}
    Dataset apply(const Dataset& set) const override {
        PictureDims dims = picture_dims(set.example(), "patches");
        if (height_ > dims.height || width_ > dims.width)
            throw ShapeError(
                text("patches of ", height_, " x ", width_, " are larger than the pictures, ", set.example()));
        return cut(set, dims, set.size() ? corners(set.size(), dims) : std::vector<Corner>{});
    }
    std::optional<Dataset> sample(const Dataset& one) override { return apply(one).rows(0, 1); }

  protected:
    virtual std::vector<Corner> corners(std::int64_t rows, const PictureDims& dims) const = 0;

  private:
    Dataset cut(const Dataset& set, const PictureDims& dims, const std::vector<Corner>& corners) const {
        auto count = static_cast<std::int64_t>(corners.size());
        Dims wanted{count};
        if (set.example().size() == 3) wanted.push_back(dims.channels);
        wanted.push_back(height_), wanted.push_back(width_);
        Dataset result = set;
        result.source.reset();
        result.x = Array::empty(set.x.dtype, wanted);
        Dims targets = set.y.dims;
        targets[0] = count;
        result.y = Array::empty(set.y.dtype, targets);
        std::size_t element = size_of(set.x.dtype), line = static_cast<std::size_t>(width_) * element;
        std::size_t target = set.size() ? set.y.bytes() / static_cast<std::size_t>(set.size()) : 0;
        std::vector<std::byte> whole(width_of(set.x) * element);
        auto* to = static_cast<std::byte*>(result.x.address());
        std::int64_t held = -1;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const Corner& corner = corners[i];
            if (std::exchange(held, corner.row) != corner.row) set.read_row(corner.row, whole.data());
            for (std::int64_t from = 0; from < dims.channels * height_; ++from, to += line) {
                std::int64_t channel = from / height_, y = corner.top + from % height_;
                auto at = static_cast<std::size_t>((channel * dims.height + y) * dims.width + corner.left) * element;
                std::memcpy(to, whole.data() + at, line);
            }
            if (target)
                std::memcpy(
                    static_cast<std::byte*>(result.y.address()) + i * target,
                    static_cast<const std::byte*>(set.y.address()) + static_cast<std::size_t>(corner.row) * target,
                    target);
        }
        return result;
    }

  protected:
    std::int64_t height_, width_;
};

/// At random places of random pictures.
class RandomPatches : public Patches {
  public:
    RandomPatches(std::int64_t height, std::int64_t width, std::int64_t count, std::uint64_t seed)
        : Patches(height, width), count_(count), seed_(seed) {}
    std::optional<Dataset> sample(const Dataset& one) override {
        return RandomPatches(height_, width_, 1, seed_).apply(one);
    }

  protected:
    std::vector<Corner> corners(std::int64_t rows, const PictureDims& dims) const override {
        std::vector<Corner> all;
        for (std::int64_t i = 0; i < count_; ++i) {
            CounterRandom random(seed_, static_cast<std::uint64_t>(i));
            auto below = [&](std::int64_t bound) {
                return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
            };
            std::int64_t row = below(rows), top = below(dims.height - height_ + 1);
            all.push_back({row, top, below(dims.width - width_ + 1)});
        }
        return all;
    }

  private:
    std::int64_t count_;
    std::uint64_t seed_;
};

/// At every place of a grid, picture after picture, line after line.
class GridPatches : public Patches {
  public:
    GridPatches(std::int64_t height, std::int64_t width, std::int64_t down, std::int64_t across)
        : Patches(height, width), down_(down), across_(across) {}

  protected:
    std::vector<Corner> corners(std::int64_t rows, const PictureDims& dims) const override {
        std::vector<Corner> all;
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t top = 0; top + height_ <= dims.height; top += down_)
                for (std::int64_t left = 0; left + width_ <= dims.width; left += across_)
                    all.push_back({row, top, left});
        return all;
    }

  private:
    std::int64_t down_, across_;
};

std::pair<std::int64_t, std::int64_t> pair_of(const Json& value, const char* what) {
    if (!value.is_array() || value.size() != 2) value.refuse(text(what, " is [height, width]"));
    std::int64_t first = value.item(0).as_integer(), second = value.item(1).as_integer();
    if (first < 1 || second < 1) value.refuse(text(what, " has a height and a width of at least 1"));
    return {first, second};
}

std::unique_ptr<Step> make_patches(const Json& options) {
    auto [height, width] = pair_of(options.at("size"), "patches: a size");
    auto seed = static_cast<std::uint64_t>(options.at("seed").as_integer());
    return std::make_unique<RandomPatches>(height, width, options.at("count").as_integer(), seed);
}

std::unique_ptr<Step> make_grid(const Json& options) {
    std::pair<std::int64_t, std::int64_t> size = pair_of(options.at("size"), "grid_patches: a size"), stride = size;
    if (!options.at("stride").is_null()) stride = pair_of(options.at("stride"), "grid_patches: a stride");
    return std::make_unique<GridPatches>(size.first, size.second, stride.first, stride.second);
}

std::unique_ptr<Step> make_reshape(const Json& argument) {
    if (!argument.is_array() || argument.size() == 0)
        argument.refuse("reshape takes the sizes of an example: {reshape: [1, 28, 28]}");
    Dims example;
    for (const Json& size : argument.items()) {
        if (size.as_integer() < 1) size.refuse("reshape: a size is at least 1");
        example.push_back(size.as_integer());
    }
    return std::make_unique<Reshape>(example);
}

Option integer(const char* name, std::int64_t fallback, const char* doc, double least) {
    return {name, fallback, doc, false, Json::Kind::null, {}, least};
}

}  // namespace

std::vector<StepKind> shape_steps() {
    const Option size{"size", Json(), "[height, width]", true, Json::Kind::array};
    return {
        {"reshape", "gives each example another shape", "[size, ...]", make_reshape},
        {"flatten", "makes each example one row of numbers", "",
         [](const Json& argument) -> std::unique_ptr<Step> {
             if (!argument.is_null()) argument.refuse("flatten takes no options");
             return std::make_unique<Reshape>(std::nullopt);
         }},
        {"one_hot",
         "class numbers become rows of 0 with one 1, float32",
         "",
         [](const Json& options) { return std::make_unique<OneHot>(options.at("classes").as_integer()); },
         {integer("classes", 0, "how many; 0: as many as the training data have", 0)}},
        {"patches",
         "parts of pictures at random places, of every set as many",
         "",
         make_patches,
         {size, integer("count", 10000, "how many", 1), integer("seed", 1, "another seed gives other patches", 0)}},
        {"grid_patches",
         "parts of every picture at the places of a grid",
         "",
         make_grid,
         {size,
          {"stride", Json(), "[down, across] from one to the next; their size if left out", false, Json::Kind::array}}},
    };
}

}  // namespace weft::data
