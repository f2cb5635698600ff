#include "weft/io/arrow_array.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "weft/base/error.h"

namespace weft::io {
namespace {

/// Of formats of one letter, which are numbers.
std::optional<DType> number_format(std::string_view format) {
    constexpr std::pair<char, DType> formats[] = {{'b', DType::bool_},   {'c', DType::int8},    {'C', DType::uint8},
                                                  {'s', DType::int16},   {'S', DType::uint16},  {'i', DType::int32},
                                                  {'I', DType::uint32},  {'l', DType::int64},   {'L', DType::uint64},
                                                  {'e', DType::float16}, {'f', DType::float32}, {'g', DType::float64}};
    for (auto [letter, dtype] : formats)
        if (format.size() == 1 && format[0] == letter) return dtype;
    return std::nullopt;
}

bool is_text(std::string_view format) { return format == "u" || format == "U" || format == "vu"; }
bool is_list(std::string_view format) { return format == "+l" || format == "+L" || format.starts_with("+w:"); }

std::string name_of_format(std::string_view format) {
    constexpr std::pair<std::string_view, const char*> names[] = {
        {"n", "nothing"}, {"d:", "decimal"}, {"td", "date"},  {"tt", "time"},  {"ts", "timestamp"}, {"tD", "duration"},
        {"z", "bytes"},   {"Z", "bytes"},    {"vz", "bytes"}, {"w:", "bytes"}, {"+s", "struct"},    {"+m", "map"}};
    for (auto [start, name] : names)
        if (format.starts_with(start)) return name;
    return std::string(format);
}

bool bit(const void* bits, std::int64_t i) { return static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1; }

/// Cells of `rows` rows of `width` each, from number `begin` of the array on, which begins at its offset.
struct Cells {
    const ArrowSchema& schema;
    const ArrowArray& array;
    std::int64_t begin, rows, width;
    const std::string& place;
    std::int64_t first;  // the number of the first row

    std::int64_t count() const { return rows * width; }
    std::int64_t at(std::int64_t i) const { return array.offset + begin + i; }
    template <class T>
    const T* buffer(int number) const {
        return static_cast<const T*>(array.buffers[number]);
    }
    [[noreturn]] void refuse(std::int64_t i, const std::string& what) const {
        throw FileError(text(place, ", row ", first + i / width, ": ", what));
    }
    bool missing(std::int64_t i) const { return array.buffers[0] && !bit(array.buffers[0], at(i)); }
    void refuse_missing() const {
        if (array.null_count == 0 || array.n_buffers == 0) return;
        for (std::int64_t i = 0; i < count(); ++i)
            if (missing(i)) refuse(i, "there is no value (null)");
    }
};

Array numbers_of(const Cells& cells) {
    Array numbers = Array::empty(*number_format(cells.schema.format), {cells.rows, cells.width});
    auto* to = static_cast<std::byte*>(numbers.address());
    if (numbers.dtype == DType::bool_)
        for (std::int64_t i = 0; i < cells.count(); ++i) to[i] = std::byte{bit(cells.array.buffers[1], cells.at(i))};
    else if (cells.count() > 0)
        std::memcpy(to, cells.buffer<std::byte>(1) + cells.at(0) * static_cast<std::int64_t>(size_of(numbers.dtype)),
                    numbers.bytes());
    return numbers;
}

/// Texts lie one behind the other, between offsets of 4 or 8 bytes; or behind views of 16 bytes, which hold up to 12 letters themselves.
std::string_view word_at(const Cells& cells, std::int64_t i) {
    std::string_view format = cells.schema.format;
    auto between = [&](const auto* offsets) -> std::string_view {
        auto from = offsets[cells.at(i)], to = offsets[cells.at(i) + 1];
        if (from == to) return {};
        return {cells.buffer<char>(2) + from, static_cast<std::size_t>(to - from)};
    };
    if (format == "u") return between(cells.buffer<std::int32_t>(1));
    if (format == "U") return between(cells.buffer<std::int64_t>(1));
    const char* view = cells.buffer<char>(1) + 16 * cells.at(i);
    std::int32_t parts[4];  // the length; four letters; which buffer; where in it
    std::memcpy(parts, view, sizeof parts);
    return {parts[0] <= 12 ? view + 4 : cells.buffer<char>(2 + parts[2]) + parts[3],
            static_cast<std::size_t>(parts[0])};
}

/// Words are numbered as they come.
ColumnCells words_of(const Cells& cells) {
    ColumnCells values{Array::empty(int64, {cells.rows, cells.width})};
    std::unordered_map<std::string_view, std::int64_t> known;
    auto number_of = [&](std::string_view word) {
        auto [found, fresh] = known.try_emplace(word, static_cast<std::int64_t>(known.size()));
        if (fresh) values.words.emplace_back(word);
        return found->second;
    };
    auto* to = values.numbers.data<std::int64_t>();
    if (!cells.schema.dictionary) {
        for (std::int64_t i = 0; i < cells.count(); ++i) to[i] = number_of(word_at(cells, i));
        return values;
    }
    // Looked up by cell: a dictionary may hold words that no cell has, or one twice.
    const ArrowArray& dictionary = *cells.array.dictionary;
    Cells texts{*cells.schema.dictionary, dictionary, 0, dictionary.length, 1, cells.place, cells.first};
    Array places = numbers_of(cells);
    with_dtype(places.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            for (std::int64_t i = 0; i < cells.count(); ++i) {
                auto place = static_cast<std::int64_t>(places.data<T>()[i]);
                if (texts.missing(place)) cells.refuse(i, "there is no value (null)");
                to[i] = number_of(word_at(texts, place));
            }
        }
    });
    return values;
}

/// Where the list of row i begins among the cells of the child, also for the row behind the last.
std::int64_t list_start(const ArrowSchema& schema, const ArrowArray& array, std::int64_t i) {
    std::string_view format = schema.format;
    if (format == "+l") return static_cast<const std::int32_t*>(array.buffers[1])[array.offset + i];
    if (format == "+L") return static_cast<const std::int64_t*>(array.buffers[1])[array.offset + i];
    return (array.offset + i) * std::atoll(schema.format + 3);  // +w:N
}

}  // namespace

ColumnKind kind_of(const ArrowSchema& schema) {
    if (is_list(schema.format)) {
        ColumnKind inner = kind_of(*schema.children[0]);
        if (inner.list) inner.unread = "lists of lists";
        inner.list = true;
        return inner;
    }
    if (is_text(schema.dictionary ? schema.dictionary->format : schema.format)) return {int64, true};
    std::optional<DType> dtype = schema.dictionary ? std::nullopt : number_format(schema.format);
    if (dtype) return {*dtype};
    return {.unread = name_of_format(schema.dictionary ? schema.dictionary->format : schema.format)};
}

ColumnCells cells_of(const ArrowSchema& schema, const ArrowArray& array, const std::string& place, std::int64_t first,
                     std::int64_t length) {
    Cells cells{schema, array, 0, array.length, 1, place, first};
    cells.refuse_missing();
    ColumnKind kind = kind_of(schema);
    if (!kind.list) return kind.words ? words_of(cells) : ColumnCells{numbers_of(cells)};
    auto length_of = [&](std::int64_t i) { return list_start(schema, array, i + 1) - list_start(schema, array, i); };
    std::int64_t width = length >= 0 || array.length == 0 ? std::max<std::int64_t>(length, 0) : length_of(0);
    for (std::int64_t i = 0; i < array.length; ++i)
        if (length_of(i) != width)
            cells.refuse(i, text("its list holds ", length_of(i), " values, and ", width,
                                 " in the rows before; a column of vectors has lists of one length"));
    std::int64_t begin = array.length == 0 ? 0 : list_start(schema, array, 0);
    Cells inner{*schema.children[0], *array.children[0], begin, array.length, width, place, first};
    inner.refuse_missing();
    return kind.words ? words_of(inner) : ColumnCells{numbers_of(inner)};
}

}  // namespace weft::io
