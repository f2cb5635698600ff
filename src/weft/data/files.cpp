#include "weft/data/files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/hdf5.h"
#include "weft/io/mat.h"
#include "weft/io/npy.h"
#include "weft/io/npz.h"

namespace weft::data {
namespace {

using CsvFields = decltype(CsvDataOptions::inputs);

Array to_labels(const Array& numbers, const std::string& name) {
    Array labels = Array::empty(int64, numbers.dims);
    with_dtype(numbers.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            const T* values = numbers.data<T>();
            auto* to = labels.data<std::int64_t>();
            for (std::int64_t i = 0; i < numbers.size(); ++i) {
                if (std::is_unsigned_v<T> && static_cast<std::int64_t>(values[i]) < 0)
                    throw ConfigError(text(name, ": number ", i, " of the labels (the first is 0), ", values[i],
                                           ", is no class number (0, 1, 2, ...)"));
                to[i] = static_cast<std::int64_t>(values[i]);
            }
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

Array as_float32(const Array& numbers) {
    Array values = Array::empty(float32, numbers.dims), from = contiguous(numbers);
    with_dtype(from.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_convertible_v<T, double>)
            std::transform(from.data<T>(), from.data<T>() + from.size(), values.data<float>(),
                           [](T value) { return static_cast<float>(value); });
        else
            throw DTypeError(text("targets are real numbers, not ", numbers.dtype));
    });
    return values;
}

Array class_numbers(const Array& values, const std::string& name) {
    Array labels = Array::empty(int64, values.dims);
    for (std::int64_t row = 0; row < values.size(); ++row) {
        float value = values.data<float>()[row];
        if (!(value >= 0 && value <= 0x1p24f) || value != std::floor(value)) {
            throw FileError(text("'", name, "', row ", row + 1, " of the numbers: ", value,
                                 " is no class number (0, 1, 2, ...); for "
                                 "targets that are quantities set labels: false"));
        }
        labels.data<std::int64_t>()[row] = static_cast<std::int64_t>(value);
    }
    return labels;
}

/// Bytes in x are float32 in a batch.
Dataset input_of(const Array& x) {
    Dataset set;
    set.x = contiguous(x);
    if (x.dtype == uint8) {
        set.affine = Affine{};
        set.range = {0, 255};
    }
    return set;
}

/// Class numbers may also be floats without a fraction, and stand in a column.
Array target_of(const Array& y, std::optional<bool> labels, const std::string& name) {
    if (!labels.value_or(is_integer(y.dtype))) return is_integer(y.dtype) ? as_float32(y) : contiguous(y);
    bool column = y.ndim() == 2 && (y.dims[1] == 1 || y.dims[0] == 1);
    Array numbers = labels && column ? reshaped(y, {y.size()}) : contiguous(y);
    return is_integer(y.dtype) ? to_labels(numbers, name) : class_numbers(as_float32(numbers), name);
}

/// The first input and target are x and y, the others fields.
Dataset of_parts(std::vector<std::pair<std::string, Dataset>> inputs,
                 const std::vector<std::pair<std::string, Array>>& targets, const std::string& name) {
    Dataset set = std::move(inputs[0].second);
    set.x_name = inputs[0].first, set.y_name = targets[0].first, set.y = targets[0].second;
    set.classes = classes_of(set.y);
    for (std::size_t i = 1; i < inputs.size(); ++i) set.fields.push_back({inputs[i].first, false, inputs[i].second});
    for (std::size_t i = 1; i < targets.size(); ++i) {
        Field field{targets[i].first, true, {}};
        field.data.x = targets[i].second, field.data.classes = classes_of(field.data.x);
        set.fields.push_back(std::move(field));
    }
    set.check(name);
    return set;
}

Dataset of_arrays(const Array& x, const Array& y, const std::string& name) {
    return of_parts({{"x", input_of(x)}}, {{"y", target_of(y, {}, name)}}, name);
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

std::string unknown_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    for (const char* known : {".npz", ".h5", ".hdf5", ".mat"})
        if (ending == known) return "";
    if (ending == ".parquet")
        return text(
            "weft reads no Parquet files: no library that does is in Debian. Write it as a table: "
            "pandas.read_parquet('",
            path.filename().string(), "').to_csv('table.csv', index=False)");
    return text("'", path.filename().string(), "': the ending says how a file is read, and '", ending,
                "' is not known; .npz, .h5, .hdf5 and .mat are (.npy and .csv by the data sets of their names)");
}

namespace {

struct Hdf5Source : RowSource {
    Hdf5Source(const std::filesystem::path& path, const std::string& name) : rows(path, name) {}
    void read(std::int64_t row, void* to) const override { rows.read(row, to); }
    io::Hdf5Rows rows;
};

/// A file of arrays by name.
class ArraysFile {
  public:
    explicit ArraysFile(const std::filesystem::path& path) : path_(path), ending_(path.extension().string()) {
        if (ending_ == ".npz") npz_ = io::load_npz(path);
    }
    Array read(const std::string& key) const {
        if (ending_ == ".mat") return io::load_mat(path_, key);
        if (ending_ != ".npz") return io::load_hdf5(path_, key);
        auto found = npz_.find(key);
        if (found != npz_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [known, array] : npz_) names.push_back(known);
        throw ConfigError(text("npz: '", path_.string(), "' has no array '", key, "'", did_you_mean(key, names)));
    }
    Dataset input(const std::string& key, bool stream) const {
        if (!stream) return input_of(rows_first(read(key), key));
        if (ending_ == ".npz" || ending_ == ".mat")
            throw ConfigError(text("'", path_.string(),
                                   "': `stream` is for files whose rows can be read one by one, "
                                   "which are .h5 and .npy"));
        auto rows = std::make_shared<Hdf5Source>(path_, key);
        Dataset set = input_of(unread(rows->rows.dtype(), rows->rows.dims()));
        set.source = rows;
        return set;
    }

  private:
    Array rows_first(Array array, const std::string& key) const {
        if (array.ndim() == 0) throw FileError(text("'", path_.string(), "': '", key, "' is one number, no rows"));
        return array;
    }
    std::filesystem::path path_;
    std::string ending_;
    std::map<std::string, Array, std::less<>> npz_;
};

}  // namespace

Dataset arrays_of(const std::filesystem::path& path, const ArraysOptions& options) {
    if (std::string wrong = unknown_ending(path); !wrong.empty()) throw ConfigError(wrong);
    if (options.inputs.empty() || options.targets.empty())
        throw ValueError("arrays_of: a data set has at least one input and one target");
    std::string name = text(path.extension().string().substr(1), ": '", path.string(), "'");
    ArraysFile file(path);
    std::vector<std::pair<std::string, Dataset>> inputs;
    std::vector<std::pair<std::string, Array>> targets;
    for (const FieldKey& one : options.inputs) inputs.emplace_back(one.name, file.input(one.key, options.stream));
    for (const FieldKey& one : options.targets)
        targets.emplace_back(one.name, target_of(file.read(one.key), options.labels, name));
    Dataset set = of_parts(std::move(inputs), targets, name);
    if (options.lengths.empty()) return set;
    set.lengths = target_of(file.read(options.lengths), true, name);
    set.check(name);
    return set;
}

Dataset npz(const std::filesystem::path& path, const std::string& x, const std::string& y) {
    ArraysOptions options;
    options.inputs[0].key = x, options.targets[0].key = y;
    return arrays_of(path, options);
}

Dataset csv(const std::filesystem::path& path, const CsvDataOptions& options) {
    io::CsvOptions table_options = options.table;
    table_options.dtype = float32;
    io::CsvTable table = io::load_csv(path, table_options);
    if (table.values.dims[1] < 2) throw FileError(text("csv: '", path.string(), "' has no column beside the target"));
    std::vector<bool> taken(static_cast<std::size_t>(table.values.dims[1]));
    auto columns_named = [&](const std::vector<std::string>& names) {
        std::vector<std::size_t> columns;
        for (const std::string& name : names) taken[columns.emplace_back(column_of(name, table))] = true;
        return columns;
    };
    CsvFields targets = options.targets;
    if (targets.empty()) targets = {{"y", options.target.empty() ? std::vector<std::string>{"-1"} : options.target}};
    std::vector<std::pair<std::string, Array>> wanted;
    for (const auto& [name, names] : targets) {
        if (options.labels && names.size() > 1)
            throw ConfigError("csv: labels stand in one column; for several targets set labels: false");
        Array values = columns_of(table.values, columns_named(names));
        if (names.size() == 1) values = reshaped(values, {values.dims[0]});
        wanted.emplace_back(name, options.labels ? class_numbers(values, path.string()) : values);
    }
    auto input = [&](const std::vector<std::size_t>& columns) {
        Dataset set;
        set.x = columns_of(table.values, columns);
        for (std::size_t column : columns)
            if (!table.names.empty()) set.names.push_back(table.names[column]);
        return set;
    };
    std::vector<std::pair<std::string, Dataset>> inputs;
    for (const auto& [name, names] : options.inputs) inputs.emplace_back(name, input(columns_named(names)));
    if (inputs.empty()) {
        std::vector<std::size_t> rest;
        for (std::size_t column = 0; column < taken.size(); ++column)
            if (!taken[column]) rest.push_back(column);
        inputs.emplace_back("x", input(rest));
    }
    return of_parts(std::move(inputs), wanted, "csv");
}

}  // namespace weft::data
