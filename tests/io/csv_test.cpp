#include "weft/io/csv.h"

#include <gmock/gmock.h>

#include "io/scratch.h"

namespace weft::io {
namespace {

template <class T>
std::vector<T> values(const CsvTable& table) {
    return {table.values.data<T>(), table.values.data<T>() + table.values.size()};
}

std::string refusal(std::string_view text, const CsvOptions& options = {}) {
    return error_of([&] { (void)parse_csv(text, "f", options); });
}

TEST(Csv, reads_numbers_with_and_without_names) {
    CsvTable table = parse_csv("width, \"the \"\"height\"\"\"\r\n1,2.5\r\n\r\n-3e2,+4\r\n", "f");
    EXPECT_EQ(table.names, (std::vector<std::string>{"width", "the \"height\""}));
    EXPECT_EQ(table.values.dims, (Dims{2, 2}));
    EXPECT_EQ(values<float>(table), (std::vector<float>{1, 2.5, -300, 4}));
    CsvTable plain = parse_csv("1;2\n3;4", "f", {.delimiter = ';', .dtype = int64});
    EXPECT_TRUE(plain.names.empty());
    EXPECT_EQ(values<std::int64_t>(plain), (std::vector<std::int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(values<double>(parse_csv("\xef\xbb\xbf\"0.1\" , 2", "f", {.dtype = float64})),
              (std::vector<double>{0.1, 2}));
    EXPECT_EQ(parse_csv("1,2\n3,4", "f", {.header = CsvHeader::yes}).values.dims, (Dims{1, 2}));
    EXPECT_EQ(parse_csv("1\t2\n3\t4", "f", {.delimiter = '\t'}).values.dims, (Dims{2, 2}));
    EXPECT_EQ(parse_csv("", "f").values.dims, (Dims{0, 0}));
}

TEST(Csv, refuses_with_line_and_column) {
    EXPECT_EQ(refusal("a,b\n1,2\n3\n"), "'f':3:1: the row has 1 fields, the first line has 2");
    EXPECT_EQ(refusal("a,b\n1,2\n3, x4\n"), "'f':3:3: expected a number, found 'x4'");
    EXPECT_EQ(refusal("a,b\n1,\n"), "'f':2:3: expected a number, the field is empty");
    EXPECT_EQ(refusal("1,2.5\n", {.header = CsvHeader::no, .dtype = int64}),
              "'f':1:3: expected an integer of 64 bits, found '2.5'");
    EXPECT_EQ(refusal("a,b\n1,\"2\n"), "'f':2:3: a quoted field has no closing quote");
    EXPECT_EQ(refusal("a,b\n1,\"2\"3\n"), "'f':2:6: text follows a quoted field");
    EXPECT_EQ(refusal("1,2\n3,1e999\n"), "'f':2:3: expected a number, found '1e999'");
    EXPECT_THROW((void)parse_csv("1", "f", {.delimiter = '"'}), ValueError);
    EXPECT_THROW((void)parse_csv("1", "f", {.dtype = int8}), DTypeError);
}

TEST(Csv, survives_damage) {
    survives_damage("a,\"b \"\"c\",d\r\n1,2.5,-3e2\r\n\"4\",5,6\n7, 8 ,9\n",
                    [](const auto& path) { (void)load_csv(path); });
}

}  // namespace
}  // namespace weft::io
