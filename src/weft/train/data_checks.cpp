#include "weft/train/data_checks.h"

#include <algorithm>
#include <utility>

#include "weft/base/error.h"

namespace weft::train {
namespace {

/// Null: a layer's value is wanted, or what a batch alone brings.
const Array* labels_of(const LabelRule& rule, const data::Dataset& set) {
    if (rule.target.empty() || rule.target == set.y_name) return &set.y;
    auto in_memory = [](const data::Dataset& one) { return one.source || one.affine ? nullptr : &one.x; };
    if (rule.target == "input" || rule.target == set.x_name) return in_memory(set);
    for (const data::Field& field : set.fields)
        if (field.name == rule.target) return in_memory(field.data);
    return nullptr;
}

/// Where the first label stands that is no class; the size of the array if there is none.
std::int64_t first_wrong(const LabelRule& rule, const data::Dataset& set, const Array& labels) {
    std::int64_t rows = labels.dims[0], each = labels.size() / std::max<std::int64_t>(1, rows), places = 0;
    const std::int64_t* lengths = nullptr;
    if (set.has_lengths() && set.goes_along(labels))
        lengths = set.lengths.data<std::int64_t>(), places = each / std::max<std::int64_t>(1, labels.dims[1]);
    std::int64_t found = labels.size();
    with_dtype(labels.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            const T* values = labels.data<T>();
            for (std::int64_t row = 0; row < rows; ++row) {
                std::int64_t begin = row * each, end = begin + (lengths ? lengths[row] * places : each);
                for (std::int64_t i = begin; i < end; ++i) {
                    auto label = static_cast<std::int64_t>(values[i]);
                    if ((label >= 0 && label < rule.classes) || label == rule.missing) continue;
                    found = i;
                    return;
                }
            }
        }
    });
    return found;
}

std::string value_at(const Array& labels, std::int64_t place) {
    std::string value;
    with_dtype(labels.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) value = std::to_string(labels.data<T>()[place]);
    });
    return value;
}

}  // namespace

void check_labels(const LabelRule& rule, const std::string& set_name, const data::Dataset& set) {
    const Array* given = labels_of(rule, set);
    if (!given || given->dims.empty()) return;
    if (!is_integer(given->dtype))
        throw ConfigError(text(rule.where, rule.cost, " is for class numbers; ",
                               rule.target.empty() ? "the targets" : text("'", rule.target, "'"), " of '", set_name,
                               "' are of ", given->dtype,
                               "; `labels: true` takes numbers with a point as class numbers"));
    Array labels = contiguous(*given);
    std::int64_t place = first_wrong(rule, set, labels);
    if (place == labels.size()) return;
    std::int64_t each = labels.size() / labels.dims[0];
    std::string value = value_at(labels, place);
    throw ConfigError(
        text(rule.where, rule.cost, ": row ", place / each, " of '", set_name, "' (the first is 0) has the label ",
             value, rule.target.empty() ? "" : text(" in '", rule.target, "'"), "; labels are 0 to ", rule.classes - 1,
             rule.missing ? text(", or ", *rule.missing, " for none") : "",
             ": mend the data, let the last layer give a score for each class, or write `missing: ", value,
             "` to leave such examples out"));
}

void check_symbols(const SymbolRule& rule, const std::string& set_name, const data::Dataset& set) {
    std::vector<const data::Dataset*> inputs{&set};
    for (const data::Field& field : set.fields)
        if (!field.target) inputs.push_back(&field.data);
    std::erase_if(inputs, [](const data::Dataset* one) { return !is_integer(one->x_dtype()); });
    if (inputs.size() != 1 || inputs[0]->source || inputs[0]->x.dims.empty()) return;
    Array symbols = contiguous(inputs[0]->x);
    if (symbols.ndim() != rule.takes.size()) return;
    for (std::size_t axis = 1; axis < symbols.ndim(); ++axis)
        if (rule.takes[axis].known() && rule.takes[axis].value() != symbols.dims[axis]) return;
    std::int64_t greatest = -1, place = 0;
    with_dtype(symbols.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            const T* values = std::as_const(symbols).template data<T>();
            for (std::int64_t i = 0; i < symbols.size(); ++i)
                if (auto value = static_cast<std::int64_t>(values[i]); value > greatest) greatest = value, place = i;
        }
    });
    if (greatest < rule.count) return;
    throw ConfigError(text(rule.where, rule.layer, ": row ", place / (symbols.size() / symbols.dims[0]), " of '",
                           set_name, "' (the first is 0) holds the symbol ", greatest,
                           ", and a vector is there for 0 to ", rule.count - 1, "; write `count: ", greatest + 1, "`"));
}

namespace {

/// Where the first NaN stands; the size of the array if there is none.
std::int64_t first_nan(const Array& numbers) {
    std::int64_t found = numbers.size();
    with_dtype(numbers.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_floating_point_v<T>) {
            const T* values = numbers.data<T>();
            found = std::find_if(values, values + found, [](T value) { return value != value; }) - values;
        }
    });
    return found;
}

void check_array(const Array& given, const std::string& what, const std::vector<std::string>& names,
                 const std::string& set_name, const char* way_out) {
    if (!is_floating(given.dtype) || given.dims.empty() || given.size() == 0) return;
    Array numbers = contiguous(given);
    std::int64_t place = first_nan(numbers), each = numbers.size() / numbers.dims[0];
    if (place == numbers.size()) return;
    std::int64_t column = place % each;
    std::string where = text("row ", place / each, " of '", set_name, "'");
    if (static_cast<std::int64_t>(names.size()) == each)
        where += text(", column '", names[static_cast<std::size_t>(column)], "'");
    else if (each > 1)
        where += text(", column ", column);
    throw ConfigError(
        text("data: ", where, " (the first is 0): ", what, " is NaN, no number; mend the data, or ", way_out));
}

}  // namespace

void check_numbers(const std::vector<CostTerm>& costs, const std::string& set_name, const data::Dataset& set) {
    auto check_input = [&](const data::Dataset& one, const std::string& name) {
        if (!one.source)
            check_array(one.x, name, one.names, set_name, "write `nan: keep` among `data:` to go on with it");
    };
    check_input(set, set.x_name);
    for (const data::Field& field : set.fields)
        if (!field.target) check_input(field.data, field.name);
    for (const CostTerm& cost : costs)
        if (cost.of_output && !cost.present && cost.target.is_null())
            return check_array(set.y, set.y_name, {}, set_name, "write `missing: true` at the cost to leave it out");
}

}  // namespace weft::train
