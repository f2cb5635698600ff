// Arrays made by hand, as any library of Arrow's may hand them out.
#include "weft/io/arrow_array.h"

#include <gmock/gmock.h>

#include "io/scratch.h"

namespace weft::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Made {
    Made(const char* format, std::int64_t length, std::int64_t offset, std::vector<const void*> parts)
        : buffers(std::move(parts)) {
        schema.format = format;
        array.length = length, array.offset = offset, array.null_count = -1;
        array.n_buffers = static_cast<std::int64_t>(buffers.size()), array.buffers = buffers.data();
    }
    void of(Made& inner) {
        children = {&inner.schema}, arrays = {&inner.array};
        schema.n_children = array.n_children = 1;
        schema.children = children.data(), array.children = arrays.data();
    }
    ColumnCells cells(std::int64_t length = -1) const { return cells_of(schema, array, "'f', column 'c'", 11, length); }

    ArrowSchema schema{};
    ArrowArray array{};
    std::vector<const void*> buffers;
    std::vector<ArrowSchema*> children;
    std::vector<ArrowArray*> arrays;
};

template <class T>
std::vector<T> values(const ColumnCells& cells) {
    const T* begin = cells.numbers.data<T>();
    return std::vector<T>(begin, begin + cells.numbers.size());
}

TEST(ArrowArrays, are_read_from_their_offset_on) {
    const std::int16_t numbers[] = {9, 9, 3, 4, 5};
    const std::uint8_t truths[] = {0b01000000, 0b00000101};
    EXPECT_THAT(values<std::int16_t>(Made("s", 3, 2, {nullptr, numbers}).cells()), ElementsAre(3, 4, 5));
    EXPECT_THAT(values<bool>(Made("b", 5, 6, {nullptr, truths}).cells()), ElementsAre(true, false, true, false, true));
    const std::int32_t ends[] = {0, 2, 2, 5};
    ColumnCells texts = Made("u", 2, 1, {nullptr, ends, "xxabc"}).cells();
    EXPECT_THAT(texts.words, ElementsAre("", "abc"));
}

TEST(ArrowArrays, without_a_value_name_the_row) {
    const std::int32_t numbers[] = {0, 1, 2, 3};
    const std::uint8_t valid[] = {0b1011};
    EXPECT_THAT(error_of([&] {
                    (void)Made("i", 3, 1, {valid, numbers}).cells();
                }),
                HasSubstr("'f', column 'c', row 12: there is no value (null)"));
    EXPECT_EQ(values<std::int32_t>(Made("i", 2, 0, {valid, numbers}).cells()).size(), 2u);
}

TEST(ArrowArrays, of_lists_begin_where_the_first_list_does) {
    const float numbers[] = {9, 9, 1, 2, 3, 4};
    const std::int64_t starts[] = {0, 1, 3, 5};
    const std::uint8_t valid[] = {0b101111};
    Made inner("f", 5, 1, {nullptr, numbers}), outer("+L", 2, 1, {nullptr, starts});
    outer.of(inner);
    EXPECT_EQ(outer.cells().numbers.dims, (Dims{2, 2}));
    EXPECT_THAT(values<float>(outer.cells()), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(error_of([&] { (void)outer.cells(3); }), HasSubstr("row 11: its list holds 2 values, and 3"));
    inner.buffers[0] = valid;
    EXPECT_THAT(error_of([&] { (void)outer.cells(); }), HasSubstr("row 12: there is no value"));
    Made fixed("+w:2", 2, 0, {nullptr});
    inner.buffers[0] = nullptr, inner.array.offset = 2, fixed.of(inner);
    EXPECT_THAT(values<float>(fixed.cells()), ElementsAre(1, 2, 3, 4));
}

TEST(ArrowArrays, of_dictionaries_have_the_words_of_their_cells_alone) {
    const std::int32_t ends[] = {0, 1, 2, 3};
    const std::uint8_t places[] = {2, 0, 2};
    Made texts("u", 3, 0, {nullptr, ends, "aba"}), cells("C", 3, 0, {nullptr, places});
    cells.schema.dictionary = &texts.schema, cells.array.dictionary = &texts.array;
    EXPECT_THAT(cells.cells().words, ElementsAre("a"));  // which stands in it twice, and 'b' in no cell
    EXPECT_THAT(values<std::int64_t>(cells.cells()), ElementsAre(0, 0, 0));
    EXPECT_TRUE(kind_of(cells.schema).words);
    texts.schema.format = "tdD";
    EXPECT_EQ(kind_of(cells.schema).unread, "date");
}

}  // namespace
}  // namespace weft::io
