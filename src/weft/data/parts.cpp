#include "weft/data/parts.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/data/files.h"

namespace weft::data {
namespace {

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

}  // namespace

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

Dataset input_of(const Array& x) {
    Dataset set;
    set.x = contiguous(x);
    if (x.dtype == uint8) {
        set.affine = Affine{};
        set.range = {0, 255};
    }
    return set;
}

Array target_of(const Array& y, std::optional<bool> labels, const std::string& name) {
    if (!labels.value_or(is_integer(y.dtype))) return is_integer(y.dtype) ? as_float32(y) : contiguous(y);
    bool column = y.ndim() == 2 && (y.dims[1] == 1 || y.dims[0] == 1);
    Array numbers = labels && column ? reshaped(y, {y.size()}) : contiguous(y);
    return is_integer(y.dtype) ? to_labels(numbers, name) : class_numbers(as_float32(numbers), name);
}

Dataset of_parts(std::vector<InputPart> inputs, std::vector<TargetPart> targets, const std::string& name) {
    for (TargetPart& target : targets)
        if (target.classes.empty()) target.classes = classes_of(target.values);
    Dataset set = std::move(inputs[0].second);
    set.x_name = inputs[0].first, set.y_name = targets[0].name;
    set.y = targets[0].values, set.classes = targets[0].classes;
    for (std::size_t i = 1; i < inputs.size(); ++i) set.fields.push_back({inputs[i].first, false, inputs[i].second});
    for (std::size_t i = 1; i < targets.size(); ++i) {
        Field field{targets[i].name, true, {}};
        field.data.x = targets[i].values, field.data.classes = targets[i].classes;
        set.fields.push_back(std::move(field));
    }
    set.check(name);
    return set;
}

}  // namespace weft::data
