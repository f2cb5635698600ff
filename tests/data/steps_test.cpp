// Steps of preparation against NumPy's and SciPy's numbers for the same data, x[i] = float32(((i * 37) % 101) / 101 - 0.5); each expression
// that made a row of numbers stands beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/scratch.h"
#include "weft/data/batches.h"
#include "weft/data/digits.h"
#include "weft/data/prepare.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

Dataset known_data(const Dims& dims) {
    Array x = Array::empty(float32, dims);
    for (std::int64_t i = 0; i < x.size(); ++i)
        x.data<float>()[i] = static_cast<float>(static_cast<double>(i * 37 % 101) / 101 - 0.5);
    return arrays(x, Array::zeros(int64, {dims[0]}));
}
Preparation fitted(const char* json, const Dataset& set) {
    Preparation preparation(parse_json(json, "f"));
    (void)preparation.fit(set);
    return preparation;
}
std::vector<float> part_of(const Array& x, std::int64_t first, std::int64_t count) {
    return {x.data<float>() + first, x.data<float>() + first + count};
}
void expect_near(const Array& x, std::int64_t first, const std::vector<double>& wanted, double tolerance = 2e-6) {
    std::vector<float> values = part_of(x, first, static_cast<std::int64_t>(wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i])));
}

TEST(Steps, gcn_is_numpys) {
    Dataset set = known_data({6, 4});
    // (r - r.mean()) / norm(r - r.mean())
    expect_near(fitted(R"(["gcn"])", set).apply(set).x, 4, {-0.10916094, 0.69863, -0.69863001, 0.10916095});
    // (r - r.mean()) / (sqrt(10 + r.var(ddof=1)) / 55)
    expect_near(fitted(R"([{"gcn": {"scale": 55, "use_std": true, "sqrt_bias": 10}}])", set).apply(set).x, 8,
                {7.77420129, -3.16093891, 3.16093904, -7.77420142});
    Dataset same = arrays(Array::zeros(float32, {1, 3}), Array::zeros(int64, {1}));
    EXPECT_EQ(part_of(fitted(R"(["gcn"])", same).apply(same).x, 0, 3), (std::vector<float>{0, 0, 0}));
}

TEST(Steps, zca_is_numpys_and_inverts) {
    Dataset set = known_data({6, 4});
    Preparation zca = fitted(R"(["zca"])", set);
    Dataset white = zca.apply(set);
    // l, v = eigh(cov(x.T, bias=True)); (x - x.mean(0)) @ (v @ diag(1 / sqrt(l + .1)) @ v.T)
    expect_near(white.x, 8, {0.99222627, -0.40142899, 0.46208261, -0.94521105});
    Array back = zca.invert(white.x);
    for (std::int64_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back.data<float>()[i], set.x.data<float>()[i], 1e-6);
}

TEST(Steps, zca_without_bias_makes_the_covariance_one) {
    Dataset set = known_data({40, 3});
    Array white = fitted(R"([{"zca": {"bias": 0}}])", set).apply(set).x;
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            double sum = 0;
            for (int row = 0; row < 40; ++row)
                sum += double{white.data<float>()[3 * row + a]} * double{white.data<float>()[3 * row + b]};
            EXPECT_NEAR(sum / 40, a == b, 1e-5);
        }
    }
    EXPECT_THAT(error_of<ValueError>([] {
                    (void)fitted(R"([{"zca": {"bias": 0}}])", known_data({2, 3}));
                }),
                HasSubstr("do not vary along some axis"));
}

TEST(Steps, pca_is_numpys_and_inverts_with_all_components) {
    Dataset set = known_data({6, 4});
    // v ordered by l descending, times the sign of its largest part; (x - x.mean(0)) @ v[:, :2], and / sqrt(l[:2])
    expect_near(fitted(R"([{"pca": {"components": 2}}])", set).apply(set).x, 6, {-0.35365825, 0.10534099});
    expect_near(fitted(R"([{"pca": {"components": 2, "whiten": true}}])", set).apply(set).x, 6,
                {-0.91062681, 0.29584273});
    // cumsum(l) / l.sum() = 0.459, 0.844, 0.988, 1
    EXPECT_EQ(fitted(R"([{"pca": {"variance": 0.9}}])", set).apply(set).example(), (Dims{3}));
    Preparation all = fitted(R"([{"pca": {"whiten": true}}])", set);
    Array back = all.invert(all.apply(set).x);
    for (std::int64_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back.data<float>()[i], set.x.data<float>()[i], 1e-6);
    EXPECT_THAT(error_of<ConfigError>([&] { (void)fitted(R"([{"pca": {"components": 5}}])", set); }),
                HasSubstr("f:1:2: pca: "));
}

TEST(Steps, lcn_is_scipys) {
    Dataset set = known_data({1, 1, 5, 6});
    Array x = fitted(R"([{"lcn": {"kernel": 3}}])", set).apply(set).x;
    // w = outer(g, g), g = exp(-(arange(3) - 1)^2 / 8) / sum; f(a) = scipy.ndimage.correlate(a, w, mode="constant");
    // q = p - f(p); c = sqrt(f(q * q)); q / maximum(maximum(c, c.mean()), 1e-4)
    expect_near(x, 0, {-1.54444231, -0.41829609, 0.90232153});
    expect_near(x, 27, {1.60156271, -0.91480797, 0.74691246});
}

TEST(Steps, colours_are_turned_and_turned_back) {
    Dataset set = known_data({2, 3, 1, 2});
    Preparation yuv = fitted(R"(["yuv"])", set);
    Array x = yuv.apply(set).x;
    // the matrix of BT.601 as tables print it, to five digits
    for (int channel = 0; channel < 3; ++channel)
        EXPECT_NEAR(x.data<float>()[2 * channel],
                    (std::vector<double>{-0.01687128, -0.00875391, -0.42385872})[static_cast<std::size_t>(channel)],
                    1e-5);
    Array back = yuv.invert(x);
    for (std::int64_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back.data<float>()[i], set.x.data<float>()[i], 1e-6);
    Dataset grey = fitted(R"(["grey"])", set).apply(set);
    EXPECT_EQ(grey.example(), (Dims{1, 1, 2}));
    EXPECT_EQ(grey.x.data<float>()[0], x.data<float>()[0]);
    EXPECT_THAT(error_of<ConfigError>([] {
                    (void)fitted(R"(["yuv"])", known_data({2, 6}));
                }),
                HasSubstr("(3, height, width)"));
}

TEST(Steps, black_and_white_is_by_a_threshold_or_drawn_by_the_example_and_the_seed_alone) {
    Dataset set = known_data({500, 8});
    std::vector<float> whole = part_of(set.x, 0, 4000);
    Array above = fitted(R"([{"binarize": {"at": 0.1}}])", set).apply(set).x;
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(above.data<float>()[i], whole[i] > 0.1f ? 1 : 0);
    Preparation draw = fitted(R"([{"scale": [0, 1]}, {"binarize": {"draw": true, "seed": 7}}])", set);
    Array drawn = draw.apply(set).x;
    // Rows come again after 101: what is drawn of the same numbers is the same, in whatever set and order they stand.
    Array some = draw.apply(set.rows(37, 90)).x;
    EXPECT_EQ(part_of(some, 0, 53 * 8), part_of(drawn, 37 * 8, 53 * 8));
    EXPECT_EQ(part_of(drawn, 101 * 8, 101 * 8), part_of(drawn, 0, 101 * 8));
    double sum = 0, expected = 0;
    for (std::size_t i = 0; i < 101 * 8; ++i) {
        float value = drawn.data<float>()[i];
        ASSERT_TRUE(value == 0 || value == 1);
        double probability = (static_cast<double>(whole[i]) + 0.5) / (100.0 / 101);
        sum += static_cast<double>(value), expected += probability;
        bool certain = probability < 1e-6 || probability > 1 - 1e-6;
        ASSERT_TRUE(!certain || value == std::round(probability));
    }
    EXPECT_NEAR(sum, expected, 3 * std::sqrt(101 * 8 / 6.0));  // of variances of p (1 - p), whose mean is 1/6
    Array other = fitted(R"([{"scale": [0, 1]}, {"binarize": {"draw": true, "seed": 8}}])", set).apply(set).x;
    EXPECT_NE(part_of(other, 0, 4000), part_of(drawn, 0, 4000));
    EXPECT_THAT(error_of<ValueError>([&] { (void)fitted(R"([{"binarize": {"draw": true}}])", set); }),
                HasSubstr("which is no probability; put {scale: [0, 1]} in front"));
}

TEST(Steps, labels_become_rows_with_a_one) {
    Dataset set = arrays(Array::zeros(float32, {3, 1}), Array::from(std::vector<std::int64_t>{2, 0, 1}, {3}));
    Preparation one_hot = fitted(R"(["one_hot"])", set);
    Array y = one_hot.apply(set).y;
    EXPECT_EQ(y.dims, (Dims{3, 3}));
    EXPECT_EQ(part_of(y, 0, 9), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 1, 0}));
    Dataset more = arrays(Array::zeros(float32, {1, 1}), Array::from(std::vector<std::int64_t>{3}, {1}));
    EXPECT_THAT(error_of<ValueError>([&] { (void)one_hot.apply(more); }),
                HasSubstr("row 0 has the label 3; there are 3 classes"));
}

TEST(Steps, patches_are_parts_of_their_pictures) {
    Dataset set = digits_split(Split::train, 3, 1);
    Dataset grid = fitted(R"([{"grid_patches": {"size": [14, 10], "stride": [14, 9]}}])", set).apply(set);
    EXPECT_EQ(grid.x.dims, (Dims{3 * 2 * 3, 14, 10}));
    EXPECT_EQ(grid.y.data<std::int64_t>()[17], set.y.data<std::int64_t>()[2]);
    for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 10; ++x)  // of the second picture, below, in the middle
            EXPECT_EQ(grid.x.data<std::uint8_t>()[(10 * 14 + y) * 10 + x],
                      set.x.data<std::uint8_t>()[784 + (14 + y) * 28 + 9 + x]);
    const char* random = R"([{"patches": {"size": [27, 28], "count": 50}}])";
    Dataset some = fitted(random, set).apply(set);
    EXPECT_EQ(some.x.dims, (Dims{50, 27, 28}));
    auto begins_at = [&](std::int64_t patch, std::int64_t place) {
        return std::equal(some.x.data<std::uint8_t>() + patch * 756, some.x.data<std::uint8_t>() + (patch + 1) * 756,
                          set.x.data<std::uint8_t>() + place);
    };
    std::vector<std::int64_t> places{0, 28, 784, 812, 1568, 1596};
    std::vector<int> found(places.size());
    for (std::int64_t i = 0; i < 50; ++i)
        for (std::size_t k = 0; k < places.size(); ++k) found[k] += begins_at(i, places[k]);
    EXPECT_THAT(found, testing::Each(testing::Gt(0)));
    EXPECT_EQ(part_of(fitted(random, set).apply(set).inputs(), 0, 37800), part_of(some.inputs(), 0, 37800));
    EXPECT_THAT(error_of<ConfigError>([&] { (void)fitted(R"([{"patches": {"size": [29, 1]}}])", set).apply(set); }),
                HasSubstr("larger than the pictures"));
}

TEST(Steps, every_state_is_restored) {
    const char* list =
        R"([{"reshape": [3, 2, 2]}, "yuv", "gcn", {"zca": {"bias": 0.1}}, "flatten", {"pca": {"components": 5}}, "one_hot"])";
    Dataset set = known_data({30, 12});
    Preparation first = fitted(list, set), second(parse_json(list, "f"));
    second.restore(first.state());
    Dataset a = first.apply(set), b = second.apply(set);
    EXPECT_EQ(part_of(a.x, 0, 150), part_of(b.x, 0, 150));
    EXPECT_EQ(a.y.dims, b.y.dims);
    EXPECT_THAT(error_of<ValueError>([&] { (void)second.invert(a.x); }),
                HasSubstr("step 2, 'gcn': cannot be inverted"));
    NamedState state = first.state();
    state.erase("5.pca.backward");
    EXPECT_THAT(error_of([&] { second.restore(state); }), HasSubstr("no proper 'backward'"));
    state = first.state();
    state.at("3.zca.mean") = Array::zeros(float64, {11});
    EXPECT_THAT(error_of([&] { second.restore(state); }), HasSubstr("'zca' does not fit"));
}

TEST(Steps, scales_and_shapes_are_inverted) {
    Dataset set = digits_split(Split::train, 5, 1);
    Preparation all = fitted(R"([{"scale": [-1, 1]}, "flatten", "standardize"])", set);
    Array back = all.invert(all.apply(set).inputs());
    ASSERT_EQ(back.dims, set.x.dims);
    Array before = set.inputs();
    for (std::int64_t i = 0; i < back.size(); ++i)
        EXPECT_NEAR(back.data<float>()[i], before.data<float>()[i], 1e-3);  // of 255
}

TEST(Steps, a_made_up_example_tells_the_shape_before_anything_is_fitted) {
    Dataset one = known_data({1, 3, 4, 4});
    auto shape = [&](const char* json) {
        auto sample = Preparation(parse_json(json, "f")).sample(one);
        return sample ? sample->x.dims : Dims{};
    };
    EXPECT_EQ(shape(R"([{"zca": {"bias": 0}}, {"patches": {"size": [2, 2]}}, "flatten"])"), (Dims{1, 12}));
    EXPECT_EQ(shape(R"([{"pca": {"components": 7}}])"), (Dims{1, 7}));
    EXPECT_EQ(shape(R"([{"pca": {"variance": 0.9}}, "flatten"])"), Dims{});
}

}  // namespace
}  // namespace weft::data
