#include "weft/data/files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/npy.h"
#include "weft/io/npz.h"

namespace weft::data {
namespace {

Array to_labels(const Array& numbers) {
    Array labels = Array::empty(int64, numbers.dims);
    with_dtype(numbers.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            std::transform(numbers.data<T>(), numbers.data<T>() + numbers.size(), labels.data<std::int64_t>(),
                           [](T value) { return static_cast<std::int64_t>(value); });
        }
    });
    return labels;
}

std::size_t column_of(const std::string& target, const io::CsvTable& table) {
    auto found = std::find(table.names.begin(), table.names.end(), target);
    if (found != table.names.end()) return static_cast<std::size_t>(found - table.names.begin());
    std::int64_t number = 0, columns = table.values.dims[1];
    auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
    bool is_number = error == std::errc() && end == target.data() + target.size();
    if (is_number && number >= -columns && number < columns)
        return static_cast<std::size_t>(number < 0 ? number + columns : number);
    std::vector<std::string_view> names(table.names.begin(), table.names.end());
    throw ConfigError(text("csv: the target '", target, "' is neither the name of a column nor a number from ",
                           -columns, " to ", columns - 1, did_you_mean(target, names)));
}

Array columns_of(const Array& table, const std::vector<std::size_t>& columns) {
    Array part = Array::empty(table.dtype, {table.dims[0], static_cast<std::int64_t>(columns.size())});
    const float* from = table.data<float>();
    float* to = part.data<float>();
    for (std::int64_t row = 0; row < table.dims[0]; ++row, from += table.dims[1]) {
        for (std::size_t column : columns) *to++ = from[column];
    }
    return part;
}

Array class_numbers(const Array& values, const std::string& name) {
    Array labels = Array::empty(int64, {values.dims[0]});
    for (std::int64_t row = 0; row < values.dims[0]; ++row) {
        float value = values.data<float>()[row];
        if (!(value >= 0 && value <= 0x1p24f) || value != std::floor(value)) {
            throw FileError(text("csv: '", name, "', row ", row + 1, " of the numbers: ", value,
                                 " is no class number (0, 1, 2, ...); for "
                                 "targets that are quantities set labels: false"));
        }
        labels.data<std::int64_t>()[row] = static_cast<std::int64_t>(value);
    }
    return labels;
}

/// Integers in y are labels; bytes in x are float32 in a batch.
Dataset of_arrays(const Array& x, const Array& y, const std::string& name) {
    Dataset set;
    set.x = x;
    set.y = is_integer(y.dtype) ? to_labels(y) : y;
    set.classes = classes_of(set.y);
    if (set.x.dtype == uint8) {
        set.affine = Affine{};
        set.range = {0, 255};
    }
    set.check(name);
    return set;
}

struct NpySource : RowSource {
    explicit NpySource(const std::filesystem::path& path) : file(path) {}
    void read(std::int64_t row, void* to) const override { file.read(row, to); }
    io::NpyRows file;
};

}  // namespace

std::vector<std::string> classes_of(const Array& labels) {
    if (labels.dtype != int64 || labels.ndim() != 1 || labels.size() == 0) return {};
    const auto* values = labels.data<std::int64_t>();
    auto [least, greatest] = std::minmax_element(values, values + labels.size());
    if (*least < 0 || *greatest >= 100000) return {};
    std::vector<std::string> classes;
    for (std::int64_t label = 0; label <= *greatest; ++label) classes.push_back(std::to_string(label));
    return classes;
}

Dataset npy(const std::filesystem::path& x, const std::filesystem::path& y, bool stream) {
    std::string name = text("npy: '", x.string(), "', '", y.string(), "'");
    if (!stream) return of_arrays(io::load_npy(x), io::load_npy(y), name);
    auto rows = std::make_shared<NpySource>(x);
    Dataset set = of_arrays(unread(rows->file.dtype(), rows->file.dims()), io::load_npy(y), name);
    set.source = rows;
    return set;
}

Dataset npz(const std::filesystem::path& path, const std::string& x, const std::string& y) {
    auto arrays = io::load_npz(path);
    auto named = [&](const std::string& name) {
        auto found = arrays.find(name);
        if (found != arrays.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [known, array] : arrays) names.push_back(known);
        throw ConfigError(text("npz: '", path.string(), "' has no array '", name, "'", did_you_mean(name, names)));
    };
    return of_arrays(named(x), named(y), text("npz: '", path.string(), "'"));
}

Dataset csv(const std::filesystem::path& path, const CsvDataOptions& options) {
    io::CsvOptions table_options = options.table;
    table_options.dtype = float32;
    io::CsvTable table = io::load_csv(path, table_options);
    if (table.values.dims[1] < 2) throw FileError(text("csv: '", path.string(), "' has no column beside the target"));
    std::vector<std::size_t> targets, inputs;
    for (const std::string& target : options.target) targets.push_back(column_of(target, table));
    if (targets.empty()) targets.push_back(static_cast<std::size_t>(table.values.dims[1]) - 1);
    Dataset set;
    for (std::size_t column = 0; column < static_cast<std::size_t>(table.values.dims[1]); ++column) {
        if (std::count(targets.begin(), targets.end(), column)) continue;
        inputs.push_back(column);
        if (!table.names.empty()) set.names.push_back(table.names[column]);
    }
    set.x = columns_of(table.values, inputs);
    set.y = columns_of(table.values, targets);
    if (targets.size() == 1) set.y = reshaped(set.y, {set.y.dims[0]});
    if (options.labels && targets.size() > 1)
        throw ConfigError("csv: labels stand in one column; for several targets set labels: false");
    if (options.labels) set.y = class_numbers(set.y, path.string());
    set.classes = classes_of(set.y);
    set.check("csv");
    return set;
}

}  // namespace weft::data
