#include "weft/data/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "io/scratch.h"
#include "weft/data/batches.h"
#include "weft/data/digits.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Augmentation> augmentation(const char* json) {
    return std::make_shared<Augmentation>(parse_json(json, "f"));
}
/// Picture (channels, height, width) of 1, 2, 3, ..., changed as row 0 of epoch 0 with this seed.
std::vector<float> changed(const char* json, const Dims& dims, std::uint64_t seed) {
    std::vector<float> picture(static_cast<std::size_t>(element_count(dims)));
    for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i + 1);
    augmentation(json)->apply(picture.data(), dims, seed, 0, 0);
    return picture;
}
std::set<std::vector<float>> all_changes(const char* json, const Dims& dims) {
    std::set<std::vector<float>> found;
    for (std::uint64_t seed = 0; seed < 200; ++seed) found.insert(changed(json, dims, seed));
    return found;
}

TEST(Augment, flips_are_the_four_there_are) {
    EXPECT_EQ(all_changes(R"(["flip"])", {2, 1, 3}),
              (std::set<std::vector<float>>{{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}}));
    EXPECT_EQ(all_changes(R"([{"flip": {"vertical": 0.5}}])", {2, 2}),
              (std::set<std::vector<float>>{{1, 2, 3, 4}, {2, 1, 4, 3}, {3, 4, 1, 2}, {4, 3, 2, 1}}));
}

TEST(Augment, crops_are_all_shifts_with_the_border_filled) {
    std::set<std::vector<float>> wanted;
    for (int down : {-1, 0, 1}) {
        for (int right : {-1, 0, 1}) {
            std::vector<float> shifted;
            for (int y = down; y < down + 2; ++y)
                for (int x = right; x < right + 2; ++x)
                    shifted.push_back(y >= 0 && y < 2 && x >= 0 && x < 2 ? static_cast<float>(2 * y + x + 1) : -5.0f);
            wanted.insert(shifted);
        }
    }
    EXPECT_EQ(all_changes(R"([{"crop": {"padding": 1, "fill": -5}}])", {2, 2}), wanted);
}

TEST(Augment, an_affine_change_of_nothing_leaves_the_picture) {
    std::vector<float> same = changed(R"([{"affine": {"rotate": 0, "shift": 0, "scale": [1, 1]}}])", {2, 3, 4}, 1);
    for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i], static_cast<float>(i + 1));
    // Twice as large: the middle pixel stays, its neighbours are halfway to it.
    std::vector<float> large = changed(R"([{"affine": {"rotate": 0, "shift": 0, "scale": [2, 2]}}])", {3, 3}, 1);
    EXPECT_EQ(large, (std::vector<float>{3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7}));
}

TEST(Augment, an_elastic_field_is_small_where_alpha_is) {
    std::vector<float> same = changed(R"([{"elastic": {"alpha": 0}}])", {4, 4}, 3);
    for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i], static_cast<float>(i + 1));
    // Along a slope of 1 a pixel, displacements are seen as differences. The smoothed field's deviation, by the sum of the window's squares in
    // two dimensions (1 / (4 pi sigma^2) for wide windows) and 1 / 3, the variance of uniform numbers from -1 to 1:
    constexpr std::int64_t side = 64;
    std::vector<float> slope(side * side);
    for (std::int64_t i = 0; i < side * side; ++i) slope[static_cast<std::size_t>(i)] = static_cast<float>(i % side);
    std::vector<float> moved = slope;
    augmentation(R"([{"elastic": {"alpha": 10, "sigma": 2}}])")->apply(moved.data(), {side, side}, 1, 0, 0);
    double squares = 0, count = 0;
    for (std::int64_t y = 10; y < side - 10; ++y) {
        for (std::int64_t x = 10; x < side - 10; ++x, ++count) {
            auto i = static_cast<std::size_t>(y * side + x);
            squares += std::pow(moved[i] - slope[i], 2);
        }
    }
    double deviation = 10 * std::sqrt(1.0 / 3 / (4 * M_PI * 4));
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.25 * deviation);  // some 40 independent spots
}

TEST(Augment, noise_has_its_deviation) {
    std::vector<float> noise(20000);
    augmentation(R"([{"noise": {"deviation": 0.5}}])")->apply(noise.data(), {20000}, 1, 0, 0);
    double squares = 0;
    for (float value : noise) squares += value * value;
    EXPECT_NEAR(std::sqrt(squares / 20000), 0.5, 0.5 * 4 / std::sqrt(2 * 20000.0));  // four standard errors
}

TEST(Augment, follows_from_seed_epoch_and_row_alone) {
    Dataset set = digits_split(Split::train, 60, 1);
    BatchOptions options{.shuffle = 3, .epoch = 2};
    options.augment = augmentation(R"([{"crop": {"padding": 3}}, "affine", "elastic", {"noise": {"deviation": 3}}])");
    options.augment_seed = 9;
    auto by_row = [&](std::int64_t size, int readers, std::int64_t first) {
        BatchOptions how = options;
        how.readers = readers, how.first = first;
        Batches batches = set.batches(size, how);
        std::vector<std::int64_t> order = batches.order();
        std::map<std::int64_t, std::vector<float>> rows;
        for (const Batch& batch : batches) {
            for (std::int64_t i = 0; i < batch.count; ++i) {
                const float* from = batch.x.data<float>() + i * 784;
                rows[order[static_cast<std::size_t>(batch.index * size + i)]] = {from, from + 784};
            }
        }
        return rows;
    };
    auto whole = by_row(10, 1, 0);
    EXPECT_EQ(whole.size(), 60u);
    EXPECT_EQ(by_row(7, 3, 0), whole);
    auto rest = by_row(10, 2, 3);  // as a run that goes on within an epoch
    EXPECT_EQ(rest.size(), 30u);
    for (const auto& [row, numbers] : rest) EXPECT_EQ(numbers, whole[row]);
    options.epoch = 3;
    EXPECT_NE(by_row(10, 1, 0)[5], whole[5]);
}

TEST(Augment, mistakes_are_refused) {
    auto refusal = [](const char* json) { return error_of<ConfigError>([&] { (void)augmentation(json); }); };
    EXPECT_EQ(refusal(R"(["flipp"])"), "f:1:2: there is no step of augmentation named 'flipp'; did you mean 'flip'?");
    EXPECT_THAT(refusal(R"([{"crop": {"pading": 3}}])"),
                HasSubstr("unknown key 'pading' in crop; did you mean 'padding'?"));
    EXPECT_THAT(refusal(R"([{"affine": {"scale": [2, 1]}}])"), HasSubstr("[smallest, largest]"));
    Dataset flat = digits_split(Split::train, 3, 1).flat();
    BatchOptions options;
    options.augment = augmentation(R"(["flip"])");
    EXPECT_THAT(error_of<ConfigError>([&] { (void)flat.batches(2, options); }),
                HasSubstr("f:1:2: flip: a step that moves pixels takes pictures"));
    Dataset labels = arrays(Array::zeros(int64, {3, 2, 2}), Array::zeros(int64, {3}));
    EXPECT_THAT(error_of<ConfigError>([&] { (void)labels.batches(2, options); }), HasSubstr("examples are int64"));
}

}  // namespace
}  // namespace weft::data
