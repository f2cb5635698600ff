#include "weft/train/feed.h"

#include "weft/graph/node.h"

namespace weft::train {
namespace {

Dims example_of(const Array& values) {
    return values.dims.empty() ? Dims{} : Dims(values.dims.begin() + 1, values.dims.end());
}

}  // namespace

Feed::Feed(const data::Dataset& like) : lengths(like.has_lengths()) {
    parts.push_back({like.x_name, false, like.example(), like.x_dtype(), lengths});
    parts.push_back({like.y_name, true, example_of(like.y), like.y.dtype, like.goes_along(like.y)});
    for (const data::Field& field : like.fields)
        parts.push_back(
            {field.name, field.target, field.data.example(), field.data.x_dtype(), like.goes_along(field.data.x)});
}

const Feed::Part* Feed::input(std::string_view name) const {
    for (const Part& part : parts)
        if (part.name == name && !part.target) return &part;
    return nullptr;
}

std::vector<std::string_view> Feed::inputs() const {
    std::vector<std::string_view> names;
    for (const Part& part : parts)
        if (!part.target) names.push_back(part.name);
    return names;
}

std::vector<Tensor> Feed::stand_ins(const Size& batch, std::optional<std::int64_t> time) const {
    std::vector<Tensor> all;
    for (const Part& part : parts) {
        Shape shape{batch};
        for (std::int64_t size : part.example) shape.push_back(size);
        if (part.along && time) shape[1] = Size(*time);
        all.push_back(weft::input(part.name, shape, part.dtype));
    }
    if (lengths) all.push_back(weft::input("lengths", {batch}, DType::int64));
    return all;
}

std::vector<Tensor> Feed::arguments(const data::Batch& batch) {
    std::vector<Tensor> all{Tensor(batch.x), Tensor(batch.y)};
    for (const Array& field : batch.fields) all.emplace_back(field);
    if (batch.lengths.ndim() == 1) all.emplace_back(batch.lengths);
    return all;
}

nn::Given Feed::given(std::span<const Tensor> arguments) const {
    std::vector<std::pair<std::string, Tensor>> values;
    for (std::size_t i = 0; i < std::min(parts.size(), arguments.size()); ++i)
        values.emplace_back(parts[i].name, arguments[i]);
    if (!lengths || arguments.size() <= parts.size()) return nn::Given(std::move(values));
    return nn::Given(std::move(values), arguments.back(), arguments[0].shape()[1]);
}

}  // namespace weft::train
