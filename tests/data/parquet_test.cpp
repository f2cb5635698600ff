// Parquet files as data sets; where nothing that reads them is there, their refusal is tests/cli/parquet_test.cpp's.
#include <gmock/gmock.h>

#include <cstdlib>

#include "io/scratch.h"
#include "weft/data/batches.h"
#include "weft/data/files.h"
#include "weft/data/registry.h"
#include "weft/found.h"

namespace weft::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ParquetTables : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_PARQUET) GTEST_SKIP() << "lacks Apache Arrow in this build";
        ::setenv("WEFT_PARQUET", WEFT_BINARY_DIR "/libweft_parquet.so", 1);
    }
    static Dataset loaded(const std::string& options) {
        std::string all = text(R"({"parquet": {"path": ")", kept("table.parquet").string(), R"(", )", options, "}}");
        return ChosenSource(parse_json(all, "e.json")).load();
    }
};

std::vector<float> row(const Array& x, std::int64_t number) {
    const float* begin = x.data<float>() + number * (x.size() / x.dims[0]);
    return {begin, begin + x.size() / x.dims[0]};
}

TEST_F(ParquetTables, put_columns_side_by_side_lists_and_words_too) {
    Dataset set = loaded(R"("x": ["wide", "pair", "even", "size"], "target": "colour")");
    EXPECT_THAT(row(set.x, 4), ElementsAre(2, 4, -4, 1, 1));  // sizes are l, m, s
    EXPECT_THAT(set.names, ElementsAre("wide", "pair[0]", "pair[1]", "even", "size"));
    EXPECT_THAT(set.classes, ElementsAre("a colour of more than twelve letters", "blue", "green", "red"));
    EXPECT_EQ(set.y.data<std::int64_t>()[5], 0);
    EXPECT_EQ(set.y.data<std::int64_t>()[6], 2);
    Dataset numbers = loaded(R"("x": "weight", "target": ["wide", "small"], "labels": false)");
    EXPECT_THAT(row(numbers.y, 6), ElementsAre(3, 3));
    Dataset last = loaded(R"("x": ["weight"], "range": [2, 5])");  // the last column is the target
    EXPECT_EQ(last.y.dims, (Dims{3}));
    EXPECT_EQ(last.y.data<std::int64_t>()[1], 2);
    EXPECT_THAT(last.classes, ElementsAre("0", "1", "2"));
}

TEST_F(ParquetTables, of_bytes_stay_bytes_until_a_batch) {
    Dataset set = loaded(R"("x": ["pixels", "byte"])");
    EXPECT_EQ(set.x.dtype, uint8);
    EXPECT_THAT(row(set.batches(7).at(0).x, 2), ElementsAre(6, 7, 8, 2));
}

TEST_F(ParquetTables, give_words_the_numbers_that_are_asked_for) {
    Dataset set = loaded(R"("x": "small", "target": "size", "words": {"size": ["s", "m", "l", "xl"]})");
    EXPECT_THAT(set.classes, ElementsAre("s", "m", "l", "xl"));
    EXPECT_EQ(set.y.data<std::int64_t>()[3], 2);
    auto said = [](const std::string& options) { return error_of<Error>([&] { (void)loaded(options); }); };
    EXPECT_THAT(said(R"("x": "size", "words": {"size": ["s", "m"]})"),
                HasSubstr("column 'size': 'l' is none of the column's `words:`"));
    EXPECT_THAT(said(R"("x": "size", "words": {"sizes": ["s"]})"), HasSubstr("did you mean 'size'?"));
    EXPECT_THAT(said(R"("x": "size", "words": {"size": ["s", "s"]})"), HasSubstr("a word stands twice"));
    EXPECT_THAT(said(R"("x": "small", "target": "size", "labels": false)"),
                HasSubstr("holds words, which are classes"));
    EXPECT_THAT(said(R"("x": "smal")"), HasSubstr("parquet: 'smal' is neither the name of a column"));
    EXPECT_THAT(said(R"("x": "holes", "stream": false)"), HasSubstr("row 5: there is no value"));
    EXPECT_THAT(said(R"("x": "ragged")"), HasSubstr("row 4: its list holds 1 values, and 2 in the rows before"));
    EXPECT_THAT(said(R"("x": "when", "stream": true)"), HasSubstr("not timestamp"));
    EXPECT_THAT(error_of([] { (void)parquet(kept("empty.parquet")); }), HasSubstr("has no rows"));
}

TEST_F(ParquetTables, are_read_group_by_group_when_streamed) {
    std::string options = R"("x": {"a": ["wide", "colour"], "b": "pixels"}, "target": "class")";
    Dataset whole = loaded(options), streamed = loaded(options + R"(, "stream": true)");
    ASSERT_NE(streamed.source, nullptr);
    BatchOptions how{.shuffle = 5, .readers = 2};
    for (std::int64_t batch = 0; batch < 3; ++batch) {
        Batch expected = whole.batches(3, how).at(batch), got = streamed.batches(3, how).at(batch);
        for (std::int64_t i = 0; i < got.count; ++i) {
            EXPECT_EQ(row(got.x, i), row(expected.x, i));
            EXPECT_EQ(row(got.fields[0], i), row(expected.fields[0], i));
        }
    }
    EXPECT_THAT(row(streamed.rows(5, 7).batches(1).at(1).x, 0), ElementsAre(3, 2));
    EXPECT_THAT(error_of([&] { (void)loaded(R"("x": "later", "stream": true)").batches(7).at(0); }),
                HasSubstr("row 7: its list holds 3 values"));
}

}  // namespace
}  // namespace weft::data
