#include "weft/ops/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "ops/refusal.h"
#include "weft/core/philox.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Known answers of Random123 (D. E. Shaw Research), kat_vectors, philox4x32 10.
TEST(Random, philox_gives_the_known_answers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t f = 0xffffffff;
    EXPECT_EQ(philox({f, f, f, f}, {f, f}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, words_are_those_of_the_counters) {
    std::vector<std::uint32_t> words = random::bits({10}, random::key(0)).to_vector<std::uint32_t>();
    PhiloxCounter first = philox({0, 0, 0, 0}, {0, 0}), third = philox({2, 0, 0, 0}, {0, 0});
    EXPECT_EQ(words[3], first[3]);
    EXPECT_EQ(words[9], third[1]);
}

double mean_of(const std::vector<float>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

TEST(Random, distributions_have_their_moments) {
    constexpr std::int64_t n = 200000;
    double deviation = 4 / std::sqrt(static_cast<double>(n));  // four standard errors of a variable of deviation 1
    auto u = random::uniform({n}, -1, 3, random::key(1)).to_vector<float>();
    EXPECT_NEAR(mean_of(u), 1, deviation * 4 / std::sqrt(12.0));
    EXPECT_GE(*std::min_element(u.begin(), u.end()), -1);
    EXPECT_LE(*std::max_element(u.begin(), u.end()), 3);
    auto z = random::normal({n}, 2, 3, random::key(2)).to_vector<float>();
    EXPECT_NEAR(mean_of(z), 2, deviation * 3);
    for (float& x : z) x = (x - 2) * (x - 2) / 9;
    EXPECT_NEAR(mean_of(z), 1, deviation * std::sqrt(2.0));
    auto e = random::exponential({n}, 2, random::key(3)).to_vector<float>();
    EXPECT_NEAR(mean_of(e), 0.5, deviation / 2);
    auto t = random::truncated_normal({n}, -1, 1, random::key(4)).to_vector<float>();
    EXPECT_NEAR(mean_of(t), 0, deviation);
    EXPECT_LE(*std::max_element(t.begin(), t.end()), 1);
    auto l = random::laplace({n}, 1, 2, random::key(6)).to_vector<float>();
    EXPECT_NEAR(mean_of(l), 1, deviation * 2 * std::sqrt(2.0));
    for (float& x : l) x = std::abs(x - 1);
    EXPECT_NEAR(mean_of(l), 2, deviation * 2);
    auto s = random::logistic({n}, -1, 0.5, random::key(7)).to_vector<float>();
    EXPECT_NEAR(mean_of(s), -1, deviation * 0.5 * std::numbers::pi / std::sqrt(3.0));
    auto c = random::cauchy({n}, 0, 2, random::key(8)).to_vector<float>();  // half of them lie within the scale
    EXPECT_NEAR(static_cast<double>(std::count_if(c.begin(), c.end(), [](float x) { return std::abs(x) < 2; })) / n,
                0.5, deviation * 0.5);
    auto g = random::gamma(Tensor(2.5f), Shape{n / 10}, random::key(9)).to_vector<float>();
    EXPECT_NEAR(mean_of(g), 2.5, deviation * std::sqrt(25.0));
    auto b = random::beta(Tensor(2.0f), Tensor(3.0f), Shape{n / 10}, random::key(10)).to_vector<float>();
    EXPECT_NEAR(mean_of(b), 0.4, deviation * std::sqrt(0.4));
    auto k = random::geometric(0.25, Shape{n}, random::key(11), DType::int32).to_vector<std::int32_t>();
    EXPECT_NEAR(mean_of({k.begin(), k.end()}), 4, deviation * std::sqrt(12.0));
    EXPECT_EQ(*std::min_element(k.begin(), k.end()), 1);
    EXPECT_EQ(random::gamma(ones({2, 1})).shape(), (Shape{2, 1}));
    double share = static_cast<double>(
                       sum(astype(random::bernoulli(0.3, {n}, random::key(5)), DType::int64)).item<std::int64_t>()) /
                   n;
    EXPECT_NEAR(share, 0.3, deviation * 0.46);
}

TEST(Random, integers_lie_in_their_range_and_permutations_hold_each_once) {
    auto k = random::randint(-3, 4, {10000}, random::key(1)).to_vector<std::int64_t>();
    EXPECT_EQ(*std::min_element(k.begin(), k.end()), -3);
    EXPECT_EQ(*std::max_element(k.begin(), k.end()), 3);
    Tensor p = random::permutation(Size(1000), random::key(2));
    EXPECT_EQ(sort(p).to_vector<std::int64_t>(), iota(1000).to_vector<std::int64_t>());
    EXPECT_NE(p.to_vector<std::int64_t>(), iota(1000).to_vector<std::int64_t>());
}

TEST(Random, categorical_follows_the_logits) {
    Tensor logits = broadcast_to(Tensor::of<float>({std::log(0.2f), std::log(0.5f), std::log(0.3f)}), {30000, 3});
    auto drawn = random::categorical(logits, random::key(9)).to_vector<std::int64_t>();
    for (auto [label, probability] : {std::pair{0, 0.2}, std::pair{1, 0.5}, std::pair{2, 0.3}}) {
        double share = static_cast<double>(std::count(drawn.begin(), drawn.end(), label)) / 30000;
        EXPECT_NEAR(share, probability, 4 * 0.5 / std::sqrt(30000.0));
    }
}

TEST(Random, choices_follow_their_probabilities_with_and_without_replacement) {
    Tensor p = Tensor::of<float>({1, 0, 2, 1});  // up to a factor
    auto drawn = random::choice(4, {40000}, {.p = p}, random::key(1)).to_vector<std::int64_t>();
    for (auto [at, probability] : {std::pair{0, 0.25}, std::pair{1, 0.0}, std::pair{2, 0.5}, std::pair{3, 0.25}}) {
        double share = static_cast<double>(std::count(drawn.begin(), drawn.end(), at)) / 40000;
        EXPECT_NEAR(share, probability, 4 * 0.5 / std::sqrt(40000.0)) << at;
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto some = random::choice(4, {3}, {.replace = false, .p = p}, random::key(seed)).to_vector<std::int64_t>();
        std::sort(some.begin(), some.end());
        EXPECT_EQ(some, (std::vector<std::int64_t>{0, 2, 3}));
        auto all = random::choice(5, {5}, {.replace = false}, random::key(seed)).to_vector<std::int64_t>();
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, iota(5).to_vector<std::int64_t>());
    }
    EXPECT_EQ(random::choice(ones({4, 3}), {2, 5}, {}, random::key(2), 1).shape(), (Shape{4, 2, 5}));
}

TEST(Random, the_global_generator_repeats_after_the_same_seed) {
    random::seed(5);
    auto first = random::uniform({4}).to_vector<float>(), second = random::uniform({4}).to_vector<float>();
    EXPECT_NE(first, second);
    random::seed(5);
    EXPECT_EQ(random::uniform({4}).to_vector<float>(), first);
    EXPECT_EQ(random::uniform({4}).to_vector<float>(), second);
}

TEST(Random, the_key_drawn_at_once_is_the_key_that_splitting_gives) {
    random::seed(7);
    Tensor keys = random::split(random::key(7), 2);
    std::vector<std::uint32_t> all = keys.to_vector<std::uint32_t>(),
                               drawn = random::next_key().to_vector<std::uint32_t>();
    EXPECT_EQ(drawn, (std::vector<std::uint32_t>{all[2], all[3]}));
}

TEST(Random, what_is_wrong_is_named) {
    EXPECT_REFUSED(ValueError, random::bits({2}, zeros({2})),
                   "random_bits: a key is two uint32 numbers (random::key(seed) makes one), not float32 of shape (2,)");
    EXPECT_REFUSED(ValueError, random::randint(3, 3, {2}), "random::randint: no integer lies in [3, 3)");
    EXPECT_REFUSED(DTypeError, random::normal({2}, 0, 1, {}, DType::int32),
                   "random::normal: draws floating numbers, not int32");
    EXPECT_REFUSED(ShapeError, random::bernoulli(ones({3}), {2}),
                   "random::bernoulli: probabilities of shape (3,) do not broadcast to (2,)");
    EXPECT_REFUSED(ShapeError, random::gamma(ones({3}), Shape{2}),
                   "random::gamma: parameters of shape (3,) do not broadcast to (2,)");
    EXPECT_REFUSED(ShapeError, random::beta(ones({3}), ones({2})),
                   "random::beta: parameters of shapes (3,) and (2,) do not broadcast");
    EXPECT_REFUSED(ValueError, random::choice(2, {3}, {.replace = false}),
                   "random::choice: 3 draws from 2 things, each at most once; draw fewer, or with replacement");
    EXPECT_REFUSED(ValueError, random::choice(0, {3}), "random::choice: 3 draws from nothing");
    EXPECT_REFUSED(ShapeError, random::choice(2, {3}, {.p = ones({3})}),
                   "random::choice: 2 things have probabilities of shape (3,)");
}

}  // namespace
}  // namespace weft
