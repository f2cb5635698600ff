// Folds: every row is held out once, classes keep their shares, and rows that are not in memory stay there.
#include "weft/data/folds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weft/data/registry.h"

namespace weft::data {
namespace {

/// Example k is {k}, of class k % 3 but for the first ten, which are of class 3.
Dataset numbered(std::int64_t count) {
    std::vector<float> x;
    std::vector<std::int64_t> y;
    for (std::int64_t k = 0; k < count; ++k) x.push_back(static_cast<float>(k)), y.push_back(k < 10 ? 3 : k % 3);
    return arrays(Array::from(x, {count, 1}), Array::from(y, {count}));
}

struct Counted : RowSource {
    void read(std::int64_t row, void* to) const override { *static_cast<float*>(to) = static_cast<float>(row); }
};

TEST(Folds, differ_by_one_row_at_most_and_each_class_is_shared_out) {
    Dataset set = numbered(100);
    for (bool stratified : {false, true}) {
        std::vector<std::int64_t> folds = folds_of(set, {7, stratified, 1});
        for (std::int64_t fold = 0; fold < 7; ++fold) {
            auto count = std::count(folds.begin(), folds.end(), fold);
            EXPECT_TRUE(count == 14 || count == 15) << count;
            std::int64_t rare = std::count(folds.begin(), folds.begin() + 10, fold);  // of class 3
            EXPECT_TRUE(!stratified || rare == 1 || rare == 2) << rare;
        }
        EXPECT_EQ(folds, folds_of(set, {7, stratified, 1}));
        EXPECT_NE(folds, folds_of(set, {7, stratified, 2}));
    }
    EXPECT_THROW(folds_of(numbered(4), {5}), ValueError);
    EXPECT_THROW(folds_of(numbered(4), {1}), ValueError);
    Dataset quantities = arrays(set.x, set.x);
    EXPECT_THROW(folds_of(quantities, {5, true}), ValueError);
}

TEST(Folds, picked_rows_are_those_rows_in_memory_or_not) {
    Dataset set = numbered(20).rows(5, 20), unread_set = set;
    unread_set.x = rows_of(unread(DType::float32, {20, 1}), 5, 20);
    unread_set.source = std::make_shared<Counted>();
    for (const Dataset& one : {set, unread_set}) {
        Dataset picked = picked_rows(one, {14, 0, 3});
        EXPECT_EQ(picked.size(), 3);
        Array x = in_memory(picked.rows(1, 3)).x;
        EXPECT_EQ(x.data<float>()[0], 5);
        EXPECT_EQ(x.data<float>()[1], 8);
        EXPECT_EQ(picked.y.data<std::int64_t>()[0], 1);
        EXPECT_THROW(picked_rows(one, {15}), IndexError);
    }
}

TEST(Folds, as_a_data_set_the_parts_hold_every_row_once) {
    auto part = [](std::int64_t fold, const char* name) {
        Json options = parse_json(text(R"({"fold": {"of": {"digits": {"size": 30}}, "folds": 3, "fold": )", fold,
                                       R"(, "part": ")", name, R"(", "stratified": true}})"));
        return ChosenSource(options).load();
    };
    std::int64_t total = 0;
    std::vector<std::int64_t> labels(10);
    for (std::int64_t fold = 1; fold <= 3; ++fold) {
        Dataset held_out = part(fold, "held_out");
        EXPECT_EQ(part(fold, "train").size(), 30 - held_out.size());
        total += held_out.size();
        for (std::int64_t i = 0; i < held_out.size(); ++i)
            ++labels[static_cast<std::size_t>(held_out.y.data<std::int64_t>()[i])];
    }
    EXPECT_EQ(total, 30);
    Dataset whole = ChosenSource(parse_json(R"({"digits": {"size": 30}})")).load();
    for (std::int64_t i = 0; i < 30; ++i) --labels[static_cast<std::size_t>(whole.y.data<std::int64_t>()[i])];
    EXPECT_EQ(labels, std::vector<std::int64_t>(10));
}

}  // namespace
}  // namespace weft::data
