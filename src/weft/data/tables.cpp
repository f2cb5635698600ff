#include "weft/data/tables.h"

#include <algorithm>
#include <charconv>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/parts.h"

namespace weft::data {
namespace {

std::size_t column_of(const std::string& column, const Table& table) {
    auto found = std::find(table.names.begin(), table.names.end(), column);
    if (found != table.names.end()) return static_cast<std::size_t>(found - table.names.begin());
    auto columns = static_cast<std::int64_t>(table.columns);
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
    bool is_number = error == std::errc() && end == column.data() + column.size();
    if (is_number && number >= -columns && number < columns)
        return static_cast<std::size_t>(number < 0 ? number + columns : number);
    std::vector<std::string_view> names(table.names.begin(), table.names.end());
    throw ConfigError(text(table.kind, ": '", column, "' is neither the name of a column nor a number from ", -columns,
                           " to ", columns - 1, did_you_mean(column, names)));
}

TargetPart target_in(const Table& table, const std::string& name, const ColumnNumbers& columns, bool labels) {
    if (labels && columns.size() > 1)
        throw ConfigError(text(table.kind, ": labels stand in one column; for several targets set labels: false"));
    Dataset part = table.target(columns);
    if (!part.classes.empty() && !labels)
        throw ConfigError(text(table.kind, ": '", table.names[columns[0]],
                               "' holds words, which are classes; leave out labels: false"));
    Array values = as_float32(part.x);
    if (values.dims[1] == 1) values = reshaped(values, {values.dims[0]});
    return {name, labels ? class_numbers(values, table.path.string()) : values, part.classes};
}

Array columns_of(const Array& table, const ColumnNumbers& columns) {
    Array part = Array::empty(table.dtype, {table.dims[0], static_cast<std::int64_t>(columns.size())});
    const float* from = table.data<float>();
    float* to = part.data<float>();
    for (std::int64_t row = 0; row < table.dims[0]; ++row, from += table.dims[1]) {
        for (std::size_t column : columns) *to++ = from[column];
    }
    return part;
}

}  // namespace

Dataset of_table(const Table& table, const TableOptions& options) {
    std::vector<bool> taken(table.columns);
    auto columns_named = [&](const std::vector<std::string>& names) {
        ColumnNumbers columns;
        for (const std::string& name : names) taken[columns.emplace_back(column_of(name, table))] = true;
        return columns;
    };
    auto wanted = options.targets;
    if (wanted.empty()) wanted = {{"y", options.target.empty() ? std::vector<std::string>{"-1"} : options.target}};
    std::vector<ColumnNumbers> of_targets;
    for (const auto& [name, names] : wanted) of_targets.push_back(columns_named(names));
    ColumnNumbers rest;
    for (std::size_t column = 0; column < taken.size(); ++column)
        if (!taken[column]) rest.push_back(column);
    if (rest.empty() && options.inputs.empty())
        throw FileError(text(table.kind, ": '", table.path.string(), "' has no column beside the target"));
    std::vector<TargetPart> targets;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        targets.push_back(target_in(table, wanted[i].first, of_targets[i], options.labels));
    std::vector<InputPart> inputs;
    for (const auto& [name, names] : options.inputs) inputs.emplace_back(name, table.input(columns_named(names)));
    if (inputs.empty()) inputs.emplace_back("x", table.input(rest));
    return of_parts(std::move(inputs), std::move(targets), table.kind);
}

Dataset csv(const std::filesystem::path& path, const TableOptions& options, const io::CsvOptions& how) {
    io::CsvOptions table_options = how;
    table_options.dtype = float32;
    io::CsvTable read = io::load_csv(path, table_options);
    Table table{"csv", path, read.names, static_cast<std::size_t>(read.values.dims[1]), {}, {}};
    table.input = table.target = [&](const ColumnNumbers& columns) {
        Dataset set = input_of(columns_of(read.values, columns));
        for (std::size_t column : columns)
            if (!read.names.empty()) set.names.push_back(read.names[column]);
        return set;
    };
    return of_table(table, options);
}

}  // namespace weft::data
