// Data sets of several named inputs and targets, and of sequences that differ in length: what stands in their batches.
#include <gmock/gmock.h>

#include <algorithm>

#include "io/scratch.h"
#include "weft/data/batches.h"
#include "weft/data/files.h"
#include "weft/data/folds.h"
#include "weft/data/pairs.h"
#include "weft/data/prepare.h"
#include "weft/data/registry.h"
#include "weft/data/words.h"
#include "weft/found.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

/// Row i of everything holds i: x (n, 2), an input `other` (n) of bytes, a target `name` (n).
Dataset with_fields(std::int64_t n) {
    Array x = Array::empty(float32, {n, 2}), y = Array::empty(int64, {n}), bytes = Array::empty(uint8, {n, 1});
    for (std::int64_t i = 0; i < n; ++i) {
        x.data<float>()[2 * i] = x.data<float>()[2 * i + 1] = static_cast<float>(i);
        y.data<std::int64_t>()[i] = i, bytes.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
    }
    Dataset set = arrays(x, y), other, target;
    other.x = bytes, other.affine = Affine{2, 1}, target.x = y;
    set.fields = {{"other", false, other}, {"name", true, target}};
    return set;
}

/// Lengths 1, 2, ... `most`, 1, ...; x (n, most, 1) holds 100 * row + place, behind the length -1.
Dataset of_lengths(std::int64_t n, std::int64_t most) {
    Dataset set = arrays(Array::empty(float32, {n, most, 1}), Array::zeros(int64, {n, most}));
    set.lengths = Array::empty(int64, {n});
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t length = set.lengths.data<std::int64_t>()[i] = i % most + 1;
        for (std::int64_t k = 0; k < most; ++k)
            set.x.data<float>()[i * most + k] = k < length ? static_cast<float>(100 * i + k) : -1.0f;
    }
    return set;
}

std::vector<std::int64_t> rows_in(const Batch& batch) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < batch.x.dims[0]; ++i)
        rows.push_back(static_cast<std::int64_t>(batch.x.data<float>()[i * batch.x.dims[1]]) / 100);
    return rows;
}

TEST(Fields, of_a_row_stay_together_in_batches_slices_and_folds) {
    Dataset set = with_fields(20);
    for (const Dataset& part : {set, set.rows(3, 14), picked_rows(set, {7, 2, 9, 4, 4})}) {
        for (const Batch& batch : part.batches(4, {.shuffle = 3})) {
            ASSERT_EQ(batch.fields.size(), 2u);
            ASSERT_EQ(batch.fields[0].dtype, float32);
            for (std::int64_t i = 0; i < batch.count; ++i) {
                std::int64_t row = batch.y.data<std::int64_t>()[i];
                EXPECT_EQ(batch.x.data<float>()[2 * i], static_cast<float>(row));
                EXPECT_EQ(batch.fields[0].data<float>()[i], static_cast<float>(2 * row + 1));
                EXPECT_EQ(batch.fields[1].data<std::int64_t>()[i], row);
            }
        }
    }
    set.fields[1].name = "other";
    EXPECT_THAT(error_of<ValueError>([&] { set.check("data"); }), HasSubstr("two of its fields are called 'other'"));
    set = with_fields(20), set.fields[0].data = set.fields[0].data.rows(0, 19);
    EXPECT_THAT(error_of<ShapeError>([&] { set.check("data"); }), HasSubstr("do not hold as many rows"));
}

TEST(Fields, are_prepared_alike_or_each_by_its_own_steps) {
    Dataset set = with_fields(11);
    set.fields[0].data.range.reset();
    Preparation alike(parse_json(R"([{"scale": [0, 1]}])", "f"));
    Dataset both = alike.fit(set);
    EXPECT_EQ(both.inputs().data<float>()[20], 1);
    EXPECT_EQ(both.fields[0].data.inputs().data<float>()[10], 1);  // of what it holds itself, 1 to 21
    EXPECT_EQ(both.fields[1].data.x.data<std::int64_t>()[10], 10);
    Preparation again(parse_json(R"([{"scale": [0, 1]}])", "f"));
    again.restore(alike.state());
    EXPECT_EQ(again.apply(set).fields[0].data.inputs().data<float>()[5], 0.5f);
    Preparation own(parse_json(R"({"other": [{"scale": [0, 2]}]})", "f"));
    both = own.fit(set);
    EXPECT_EQ(both.x.data<float>()[20], 10);
    EXPECT_EQ(both.fields[0].data.inputs().data<float>()[10], 2);
    Preparation unknown(parse_json(R"({"othr": []})", "f"));
    EXPECT_THAT(error_of<ConfigError>([&] { unknown.fit(set); }),
                HasSubstr("prepare: the data have no input 'othr'; did you mean 'other'?"));
}

TEST(Buckets, hold_near_lengths_cut_each_row_once_and_follow_from_the_seed) {
    Dataset set = of_lengths(70, 7);
    BatchOptions how{.shuffle = 5};
    how.buckets = bucket_ends(set, 3);
    EXPECT_EQ(how.buckets, (std::vector<std::int64_t>{3, 5, 7}));
    std::vector<std::int64_t> seen, widths;
    for (const Batch& batch : set.batches(8, how)) {
        std::int64_t width = batch.x.dims[1];
        widths.push_back(width);
        EXPECT_EQ(batch.y.dims, (Dims{batch.count, width}));
        for (std::int64_t i = 0; i < batch.count; ++i) {
            std::int64_t row = rows_in(batch)[static_cast<std::size_t>(i)], length = row % 7 + 1;
            EXPECT_EQ(batch.lengths.data<std::int64_t>()[i], length);
            EXPECT_EQ(width, length <= 3 ? 3 : length <= 5 ? 5 : 7);
            for (std::int64_t k = 0; k < width; ++k)
                ASSERT_EQ(batch.x.data<float>()[i * width + k], k < length ? static_cast<float>(100 * row + k) : -1);
            seen.push_back(row);
        }
    }
    EXPECT_EQ(seen, set.batches(8, how).order());
    EXPECT_FALSE(std::is_sorted(widths.begin(), widths.end()));  // the buckets take turns
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 0; i < 70; ++i) ASSERT_EQ(seen[i], static_cast<std::int64_t>(i));
    BatchOptions next = how;
    next.epoch = 1;
    EXPECT_NE(set.batches(8, how).order(), set.batches(8, next).order());
}

TEST(Buckets, are_walked_on_from_any_batch_and_their_last_ones_kept_dropped_or_filled_up) {
    Dataset set = of_lengths(70, 7);
    BatchOptions how{.shuffle = 5};
    how.buckets = {3, 7};
    Batches all = set.batches(8, how);
    ASSERT_EQ(all.count(), 4 + 5);  // 30 short ones, 40 others
    for (std::int64_t first : {1, 4, 9}) {
        how.first = first;
        std::int64_t at = first;
        for (const Batch& batch : set.batches(8, how)) EXPECT_EQ(rows_in(batch), rows_in(all.at(at++)));
        EXPECT_EQ(at, 9);
    }
    how.first = 0, how.last = Last::drop;
    EXPECT_EQ(set.batches(8, how).count(), 3 + 5);
    how.last = Last::pad;
    Batch last = set.batches(8, how).at(8);
    EXPECT_EQ(last.count, 6);
    EXPECT_EQ(last.x.dims, (Dims{8, 3, 1}));
    EXPECT_EQ(rows_in(last)[6], rows_in(last)[0]);
    EXPECT_THROW((void)bucket_ends(with_fields(3), 2), ValueError);
    how.buckets = {3, 3};
    EXPECT_THROW((void)set.batches(8, how), ValueError);
    set.lengths.data<std::int64_t>()[4] = 8;
    EXPECT_THAT(error_of<ValueError>([&] { set.check("data"); }), HasSubstr("the length of example 4 is 8"));
}

TEST(Lines, of_a_text_are_sequences_with_lengths) {
    Scratch scratch;
    put_file(scratch / "t", "ab\n\nabcd\r\nb\nabcabc");
    TextOptions options;
    options.parts = {1, 0, 0}, options.length = 4;
    Dataset set = text_lines(scratch / "t", TextPart::train, options);
    EXPECT_EQ(set.classes, (std::vector<std::string>{"\n", "a", "b", "c", "d"}));
    EXPECT_EQ(set.x.dims, (Dims{4, 4}));
    auto row = [](const Array& values, std::int64_t i) {
        const auto* from = values.data<std::int64_t>() + 4 * i;
        return std::vector<std::int64_t>(from, from + 4);
    };
    EXPECT_EQ(row(set.lengths, 0), (std::vector<std::int64_t>{2, 4, 1, 4}));
    EXPECT_EQ(row(set.x, 0), (std::vector<std::int64_t>{1, 2, 0, 0}));
    EXPECT_EQ(row(set.y, 0), (std::vector<std::int64_t>{2, 0, 0, 0}));
    EXPECT_EQ(row(set.x, 3), (std::vector<std::int64_t>{1, 2, 3, 1}));  // what is longer than 4 is cut, and ends there
    EXPECT_EQ(row(set.y, 3), (std::vector<std::int64_t>{2, 3, 1, 0}));
    options.words = true;
    EXPECT_EQ(text_lines(scratch / "t", TextPart::train, options).x.dims, (Dims{4, 1}));
    EXPECT_THAT(error_of([&] { (void)text_lines(scratch / "t", TextPart::test, options); }),
                HasSubstr("has none of the 4"));
}

TEST(Pairs, are_half_of_one_class_and_know_both_classes) {
    Dataset pairs = ChosenSource(parse_json(R"({"pairs": {"of": {"digits": {"size": 60}}, "count": 40}})", "f")).load();
    EXPECT_EQ(pairs.x_name, "left");
    EXPECT_EQ(pairs.example(), (Dims{28, 28}));
    ASSERT_EQ(pairs.fields.size(), 3u);
    EXPECT_EQ(pairs.fields[1].name, "right");
    EXPECT_EQ(pairs.fields[2].data.classes.size(), 10u);
    std::int64_t same = 0;
    for (int i = 0; i < 40; ++i) {
        bool alike = pairs.fields[0].data.x.data<std::int64_t>()[i] == pairs.fields[2].data.x.data<std::int64_t>()[i];
        EXPECT_EQ(pairs.y.data<std::int64_t>()[i], alike);
        same += alike;
    }
    EXPECT_EQ(same, 20);
    Dataset one = with_fields(5);
    one.fields.clear(), one.y = Array::zeros(int64, {5});
    EXPECT_THAT(error_of<ValueError>([&] { (void)pairs_of(one, 3, 1); }), HasSubstr("two classes or more"));
}

TEST(FilesOfArrays, give_inputs_and_targets_by_name_streamed_or_not) {
    if (!WEFT_HAVE_HDF5 || !WEFT_HAVE_ZLIB) GTEST_SKIP() << "lacks HDF5 or zlib in this build";
    auto loaded = [](const char* more) {
        return ChosenSource(
                   parse_json(text(R"({"file": {"path": ")", kept("arrays.h5").string(), "\", ", more, "}}"), "f"))
            .load();
    };
    Dataset plain = loaded(R"("x": "/plain", "y": "/train/labels")");
    EXPECT_EQ(plain.x.dims, (Dims{5, 4, 3}));
    EXPECT_EQ(plain.y.data<std::int64_t>()[0], 3);
    Dataset streamed =
        loaded(R"("x": {"a": "/train/packed", "b": "/train/chunks"}, "y": "/train/labels", "stream": true)");
    ASSERT_NE(streamed.source, nullptr);
    EXPECT_EQ(streamed.fields[0].name, "b");
    Batch batch = streamed.batches(2, {}).at(1);
    EXPECT_EQ(batch.x.data<double>()[0], 24);
    EXPECT_EQ(batch.fields[0].data<std::int16_t>()[1], 25);
    EXPECT_EQ(streamed.rows(3, 5).batches(2).at(0).x.data<double>()[0], 36);
    Dataset ragged = loaded(R"("x": "/plain", "y": "/train/packed", "lengths": "/train/labels", "range": [0, 2])");
    EXPECT_EQ(ragged.lengths.data<std::int64_t>()[0], 3);
    EXPECT_THAT(error_of<ConfigError>([&] { (void)loaded(R"("x": "/plian", "y": "/train/labels")"); }),
                HasSubstr("did you mean '/plain'?"));
}

TEST(FilesOfArrays, of_matlab_have_labels_in_columns_of_floats) {
    if (!WEFT_HAVE_MATIO) GTEST_SKIP() << "lacks matio in this build";
    ArraysOptions options;
    options.labels = true;
    Dataset set = arrays_of(kept("packed.mat"), options);
    EXPECT_EQ(set.x.dims, (Dims{5, 4, 3}));
    EXPECT_EQ(set.y.dims, (Dims{5}));
    EXPECT_EQ(set.y.data<std::int64_t>()[4], 2);
    EXPECT_EQ(set.classes.size(), 4u);
}

TEST(FilesOfArrays, that_nobody_reads_say_what_to_do) {
    EXPECT_THAT(error_of<ConfigError>([] { (void)arrays_of("t.parquet"); }),
                HasSubstr("the data set `parquet` reads it"));
    EXPECT_THAT(error_of<ConfigError>([] { (void)arrays_of("t.npq"); }), HasSubstr("'.npq' is not known"));
}

TEST(Tables, give_several_inputs_and_targets) {
    Scratch scratch;
    put_file(scratch / "t.csv", "a,b,c,even,digit\n1,2,3,0,7\n4,5,6,1,8\n");
    TableOptions options;
    options.inputs = {{"near", {"a"}}, {"far", {"b", "2"}}}, options.targets = {{"digit", {"digit"}}, {"even", {"3"}}};
    Dataset set = csv(scratch / "t.csv", options);
    EXPECT_EQ(set.x_name, "near");
    EXPECT_EQ(set.y.data<std::int64_t>()[1], 8);
    EXPECT_EQ(set.fields[0].data.x.data<float>()[3], 6);
    EXPECT_EQ(set.fields[0].data.names, (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(set.fields[1].data.x.data<std::int64_t>()[1], 1);
}

}  // namespace
}  // namespace weft::data
