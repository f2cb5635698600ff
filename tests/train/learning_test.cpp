// Layers that learn without gradients, against NumPy's numbers for the same data, x[i] = float32(((i * 37) % 101) / 101 - 0.5) in rows of 3:
// centroids after passes from given rows, axes and variances of a pass; where clusters begin, and what becomes of empty ones; what a file
// may say of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "train/model.h"
#include "weft/base/error.h"
#include "weft/nn/kmeans.h"
#include "weft/nn/pca.h"
#include "weft/nn/training.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft::train {
namespace {

Tensor known_rows() {
    std::vector<float> values;
    for (int i = 0; i < 120; ++i) values.push_back(static_cast<float>(static_cast<double>(i * 37 % 101) / 101 - 0.5));
    return Tensor::of(values, {40, 3});
}
Tensor some_rows(const Tensor& x, std::int64_t first, std::int64_t count) {
    return slice(x, {first, 0}, {Size(count), x.shape()[1]});
}
/// A pass in batches of this size.
std::string pass_over(nn::OwnRule& rule, const Tensor& x, std::int64_t batch) {
    nn::Training training;
    std::int64_t rows = x.shape()[0].value();
    for (std::int64_t first = 0; first < rows; first += batch)
        (void)rule(some_rows(x, first, std::min(batch, rows - first)));
    return rule.end_pass();
}
void expect_close(const Tensor& found, const std::vector<double>& wanted, double tolerance = 2e-6) {
    std::vector<double> values = found.astype(DType::float64).to_vector<double>();
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], tolerance) << i;
}

TEST(KMeans, centroids_move_as_numpys_for_batches_of_any_size) {
    Tensor x = known_rows();
    for (std::int64_t batch : {40, 7}) {
        nn::KMeans means(3, 3);
        means.centroids.set(some_rows(x, 0, 3));
        for (int pass = 0; pass < 3; ++pass) pass_over(means, x, batch);
        // l = ((x[:, None] - c)**2).sum(-1).argmin(1); c = stack([x[l == k].mean(0) for k in range(3)]), three times
        expect_close(means.centroids, {-0.06930693, 0.29702971, -0.33663367, -0.38118811, -0.01485149, 0.35148514,
                                       0.31782179, -0.31584159, 0.05049505});
        std::vector<std::int64_t> nearest = means.nearest(some_rows(x, 0, 8)).to_vector<std::int64_t>();
        EXPECT_EQ(nearest, (std::vector<std::int64_t>{1, 1, 1, 0, 0, 0, 0, 2}));
        EXPECT_EQ(means.restarted.value().item<std::int64_t>(), 0);
    }
}

TEST(KMeans, numbers_of_double_precision_are_taken_too) {
    nn::KMeans means(3, 3);
    Tensor x = known_rows().astype(DType::float64).eval();
    means.centroids.set(some_rows(known_rows(), 0, 3));
    for (int pass = 0; pass < 3; ++pass) pass_over(means, x, 40);
    EXPECT_EQ(means.nearest(some_rows(x, 0, 3)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1, 1}));
}

TEST(KMeans, gives_clusters_distances_or_how_much_nearer_than_the_mean_each_is) {
    using Gives = nn::KMeansOptions::Gives;
    Tensor x = known_rows(), first = some_rows(x, 0, 1);
    auto given = [&](Gives gives) {
        nn::KMeans means(3, 3, {gives});
        means.centroids.set(
            Tensor::of(std::vector<float>{-0.06930693f, 0.29702971f, -0.33663367f, -0.38118811f, -0.01485149f,
                                          0.35148514f, 0.31782179f, -0.31584159f, 0.05049505f},
                       {3, 3}));
        return means(first);
    };
    EXPECT_EQ(given(Gives::cluster).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1}));
    expect_close(given(Gives::distances), {0.83372864, 0.20578821, 0.85744404});
    expect_close(given(Gives::triangle), {0, 0.42653208, 0});
}

TEST(KMeans, begins_in_every_clump_and_wants_as_many_rows_as_clusters) {
    Tensor clump = known_rows() * 0.01f;
    std::vector<float> places;
    for (int i = 0; i < 40; ++i) places.insert(places.end(), 3, i < 36 ? 0.0f : i < 38 ? 100.0f : -100.0f);
    Tensor rows = (clump + Tensor::of(places, {40, 3})).eval();
    for (std::uint64_t seed = 1; seed < 6;
         ++seed) {  // of 40 rows, 36 stand in one clump: by chance alone the others are missed
        nn::KMeans means(3, 3, {.key = random::key(seed)});
        means.begin(rows);
        std::vector<float> found = means.centroids.value().to_vector<float>();
        std::vector<int> signs;
        for (std::size_t i = 0; i < 9; i += 3) signs.push_back(found[i] > 50 ? 1 : found[i] < -50 ? -1 : 0);
        std::sort(signs.begin(), signs.end());
        EXPECT_EQ(signs, (std::vector<int>{-1, 0, 1})) << seed;
    }
    nn::KMeans many(3, 41), same(3, 2);
    EXPECT_THROW(many.begin(rows), ValueError);
    EXPECT_THROW(same.begin(rows * std::numeric_limits<float>::quiet_NaN()), ValueError);
    same.begin(rows * 0.0f);  // all alike: there is no second place
    pass_over(same, rows * 0.0f, 40);
    expect_close(same.centroids, {0, 0, 0, 0, 0, 0});
}

TEST(KMeans, a_cluster_without_examples_begins_anew_at_the_farthest_one) {
    Tensor x = Tensor::of(std::vector<float>{0, 1, 2, 3, 10, 100, 101}, {7, 1});
    nn::KMeans means(1, 3);
    means.centroids.set(Tensor::of(std::vector<float>{1, 100, 5000}, {3, 1}));
    EXPECT_EQ(pass_over(means, x, 3),
              "1 of 3 clusters had no example nearest to them and begin anew at the farthest ones");
    expect_close(means.centroids, {3.2, 100.5, 10});
    EXPECT_EQ(means.restarted.value().item<std::int64_t>(), 1);
    EXPECT_EQ(pass_over(means, x, 3), "");
    expect_close(means.centroids, {1.5, 100.5, 10});
    EXPECT_EQ(means.restarted.value().item<std::int64_t>(), 1);
    // In evaluation, and while it is held, nothing is taken down.
    (void)means(x);
    means.hold();
    pass_over(means, x * 2.0f, 3);
    expect_close(means.centroids, {1.5, 100.5, 10});
}

TEST(PCA, axes_variances_and_places_are_numpys_for_batches_of_any_size) {
    Tensor x = known_rows();
    for (std::int64_t batch : {40, 7}) {
        nn::PCA axes(3, 2), white(3, 2, true);
        pass_over(axes, x, batch), pass_over(white, x, batch);
        // v, V = eigh((x - m).T @ (x - m) / 40), from the greatest on, each column's largest number positive
        expect_close(axes.mean, {0.00569307, -0.0029703, -0.03663367});
        expect_close(axes.variances, {0.13130546, 0.08716474});
        expect_close(axes.components, {-0.46509232, 0.7222248, -0.51193796, 0.73362565, -0.00921289, -0.67949138});
        expect_close(axes(some_rows(x, 5, 1)), {0.38873239, 0.1489526});
        expect_close(white(some_rows(x, 5, 1)), {1.07277673, 0.50451919}, 1e-5);
        nn::Notes notes;
        (void)axes(x);
        expect_close(notes.costs[0].value, {0.03047985});
        EXPECT_EQ(notes.costs[2].name, "variance");
        expect_close(notes.costs[2].value, {0.24895004});
    }
    EXPECT_THROW(nn::PCA(3, 4), ValueError);
}

TEST(PCA, what_lies_far_from_0_loses_no_digits) {
    Tensor x = (known_rows().astype(DType::float64) + 1e6).eval();
    nn::PCA axes(3, 2);
    pass_over(axes, x, 7);
    expect_close(axes.variances, {0.13130546, 0.08716474});
}

std::string complaint(const char* model, const char* optimizer, const char* monitor = "{}") {
    try {
        (void)networks_of(
            Experiment(parse_config(text(R"({"data": {"train": {"digits": {"size": 10}}, "prepare": ["flatten"]},
"cost": "of_layers", "monitor": )",
                                         monitor, R"(,
"model": )",
                                         model, R"(,
"optimizer": )",
                                         optimizer, "}"),
                                    "f.json")));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST(OwnRules, a_file_says_of_layers_for_them_and_an_optimizer_for_what_has_gradients) {
    EXPECT_EQ(complaint(R"([{"kmeans": 3}])", R"("of_layers")"), "no error");
    EXPECT_EQ(
        complaint(R"([{"kmeans": 3}])", R"("sgd")"),
        "f.json:4:14: sgd: KMeans learns by a rule of its own, and there is nothing else to train; write `optimizer: "
        "of_layers`");
    EXPECT_EQ(complaint(R"([{"rbm": 3}])", R"("of_layers")"),
              "f.json:4:14: no layer of this network learns by a rule of its own, as kmeans and pca do; name an "
              "optimizer, as "
              "in adam");
    EXPECT_EQ(
        complaint(R"([{"linear": 4}, {"pca": 3}])", R"("of_layers")"),
        "f.json:4:14: of_layers: '0.weight' is learned by gradients, and layers that learn by themselves have none for "
        "it; name an optimizer, as in adam, or freeze it");
    EXPECT_EQ(complaint(R"([{"linear": {"units": 4, "freeze": true}}, {"pca": 3}])", R"("of_layers")"), "no error");
    EXPECT_EQ(complaint(R"([{"pca": 785}])", R"("of_layers")"),
              "f.json:3:12: pca (layer 0): PCA: 784 features have no 785 components");
    EXPECT_EQ(
        complaint(R"([{"reshape": [28, 28]}, {"kmeans": 3}])", R"("of_layers")"),
        "f.json:3:35: kmeans (layer 1): kmeans takes vectors, what reaches it has shape (28, 28); flatten makes them");
    EXPECT_EQ(complaint(R"([{"kmeans": {"clusters": 3, "freeze": true}}])", R"("of_layers")").substr(0, 41),
              "f.json:4:14: no layer of this network lea");
    EXPECT_EQ(complaint(R"([{"kmeans": 3}])", R"("of_layers")", R"({"channels": ["loss", "explained_variance"]})"),
              "f.json:2:33: no layer of this network tells what the channel 'explained_variance' reads, as pca does");
    EXPECT_EQ(complaint(R"([{"pca": 3}])", R"("of_layers")", R"({"channels": ["loss", "explained_variance"]})"),
              "no error");
    EXPECT_EQ(
        complaint(R"([{"pca": 3}])", R"("of_layers")", R"({}, "last": "pad")"),
        "f.json:2:45: a last batch that is filled up has examples twice, and PCA would learn of them twice; write "
        "`last: keep`");
}

}  // namespace
}  // namespace weft::train
