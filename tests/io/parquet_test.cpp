#include "weft/io/parquet.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "io/scratch.h"
#include "weft/found.h"

namespace weft::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Parquet : public testing::Test {
  protected:
    void SetUp() override {
        if (!WEFT_HAVE_PARQUET) GTEST_SKIP() << "lacks Apache Arrow in this build";
        ::setenv("WEFT_PARQUET", WEFT_BINARY_DIR "/libweft_parquet.so", 1);
    }
};

std::size_t column_named(const ParquetFile& file, const std::string& name) {
    std::size_t column = 0;
    while (file.columns().at(column).name != name) ++column;
    return column;
}

/// A column of all groups, as doubles.
std::vector<double> numbers(const ParquetFile& file, const std::string& name) {
    std::vector<double> all;
    for (std::int64_t group = 0; group < file.groups(); ++group) {
        Array part = file.read(group, column_named(file, name)).numbers;
        with_dtype(part.dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            if constexpr (std::is_convertible_v<T, double>)
                for (std::int64_t i = 0; i < part.size(); ++i) all.push_back(static_cast<double>(part.data<T>()[i]));
        });
    }
    return all;
}

std::vector<std::string> words(const ParquetFile& file, const std::string& name) {
    std::vector<std::string> all;
    for (std::int64_t group = 0; group < file.groups(); ++group) {
        ColumnCells part = file.read(group, column_named(file, name));
        for (std::int64_t i = 0; i < part.numbers.size(); ++i)
            all.push_back(part.words.at(static_cast<std::size_t>(part.numbers.data<std::int64_t>()[i])));
    }
    return all;
}

TEST_F(Parquet, columns_of_pyarrow_hold_what_it_wrote) {
    ParquetFile file(kept("table.parquet"));
    EXPECT_THAT(file.starts(), ElementsAre(0, 3, 6, 7));
    EXPECT_THAT(numbers(file, "small"), ElementsAre(-3, -2, -1, 0, 1, 2, 3));
    EXPECT_EQ(numbers(file, "large")[6], 6 * 0x1p40);
    EXPECT_THAT(numbers(file, "half"), ElementsAre(0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75));
    EXPECT_EQ(numbers(file, "weight")[5], 1.25);
    EXPECT_EQ(numbers(file, "wide")[5], 2.5);
    EXPECT_THAT(numbers(file, "even"), ElementsAre(1, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(words(file, "colour"),
                ElementsAre("red", "green", "red", "blue", "red", "a colour of more than twelve letters", "green"));
    EXPECT_THAT(words(file, "size"), ElementsAre("m", "s", "m", "l", "m", "s", "s"));
    EXPECT_THAT(words(file, "long"), ElementsAre("b", "a", "b", "a", "b", "a", "b"));
    EXPECT_EQ(words(file, "seen")[6], "a view of more than twelve letters");
    EXPECT_EQ(words(file, "seen")[5], "a");
    EXPECT_THAT(words(file, "tags"), testing::Contains("b").Times(3));
    EXPECT_EQ(file.read(1, column_named(file, "pixels")).numbers.dims, (Dims{3, 3}));
    EXPECT_EQ(file.kind(column_named(file, "pixels")).dtype, DType::uint8);
    EXPECT_EQ(numbers(file, "pixels")[20], 20);
    EXPECT_EQ(numbers(file, "pair")[13], -6);
    EXPECT_EQ(ParquetFile(kept("empty.parquet")).rows(), 0);
}

TEST_F(Parquet, what_is_wrong_is_named_by_row_and_column) {
    ParquetFile file(kept("table.parquet"));
    auto said = [&](const char* name) { return error_of([&] { (void)numbers(file, name); }); };
    for (const auto& [name, what] :
         {std::pair("holes", "column 'holes', row 5: there is no value (null)"),
          std::pair("gap", "column 'gap', row 3: there is no value (null)"),
          std::pair("ragged", "column 'ragged', row 5: its list holds 2 values, and 1 in the rows before"),
          std::pair("when", "column 'when': weft reads numbers, truth values, text and lists of these, not timestamp"),
          std::pair("point", "not struct"), std::pair("nested", "not lists of lists")})
        EXPECT_THAT(said(name), HasSubstr(what)) << name;
    EXPECT_THAT(error_of([&] { (void)file.read(2, column_named(file, "later"), 2); }),
                HasSubstr("row 7: its list holds 3 values, and 2 in the rows before"));
    EXPECT_THAT(error_of([] { ParquetFile none("nowhere.parquet"); }), HasSubstr("No such file"));
    EXPECT_THAT(error_of([] { ParquetFile text(kept("make.py")); }), HasSubstr("is damaged, or of a kind that Apache"));
}

TEST_F(Parquet, damage_is_refused_or_read) {
    auto load = [](const auto& path) {
        ParquetFile file(path);
        for (std::size_t column = 0; column < file.columns().size(); ++column) {
            try {
                (void)numbers(file, file.columns()[column].name);
            } catch (const FileError&) {
            }
        }
    };
    survives_damage(bytes_of_file(kept("table.parquet")), load, 300);
}

}  // namespace
}  // namespace weft::io
