#include "weft/data/steps.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::data {
namespace {

constexpr std::int64_t rows_at_a_time = 256;

/// A row of stored numbers as float64.
void widened(const Dataset& set, const void* stored, std::size_t width, double* to) {
    with_dtype(set.x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_convertible_v<T, double>) {
            const T* values = static_cast<const T*>(stored);
            for (std::size_t i = 0; i < width; ++i) {
                if (set.affine)  // with a batch's own roundings
                    to[i] = static_cast<double>(static_cast<float>(values[i]) * set.affine->multiply + set.affine->add);
                else
                    to[i] = static_cast<double>(values[i]);
            }
        } else {
            throw DTypeError(text("prepare: data of ", set.x.dtype, " cannot be scaled"));
        }
    });
}

template <class T>
void narrowed(const std::vector<double>& row, void* to) {
    std::transform(row.begin(), row.end(), static_cast<T*>(to), [](double value) { return static_cast<T>(value); });
}

/// Rows of another source, each mapped when it is read.
class MappedRows : public RowSource {
  public:
    MappedRows(Dataset from, std::size_t width, DType dtype, RowMap map)
        : from_(std::move(from)), width_(width), dtype_(dtype), map_(std::move(map)) {}

    void read(std::int64_t row, void* to) const override {
        std::vector<double> before(width_of(from_.x)), after(width_);
        row_numbers(from_, row, before.data());
        map_(before.data(), after.data());
        if (dtype_ == float64)
            narrowed<double>(after, to);
        else
            narrowed<float>(after, to);
    }

  private:
    Dataset from_;
    std::size_t width_;
    DType dtype_;
    RowMap map_;
};

}  // namespace

std::size_t width_of(const Array& x) {
    std::size_t width = 1;
    for (std::size_t axis = 1; axis < x.ndim(); ++axis) width *= static_cast<std::size_t>(x.dims[axis]);
    return width;
}

void row_numbers(const Dataset& set, std::int64_t row, double* to) {
    std::size_t width = width_of(set.x), bytes = width * size_of(set.x.dtype);
    if (!set.source)
        return widened(set, static_cast<const std::byte*>(set.x.address()) + static_cast<std::size_t>(row) * bytes,
                       width, to);
    std::vector<std::max_align_t> stored(bytes / sizeof(std::max_align_t) + 1);
    set.read_row(row, stored.data());
    widened(set, stored.data(), width, to);
}

Array block_of(const Dataset& set, std::int64_t first, std::int64_t count) {
    auto width = static_cast<std::int64_t>(width_of(set.x));
    Array block = Array::empty(float64, {count, width});
    auto* to = block.data<double>();
    ThreadPool::instance().parallel_for(count, [&](std::int64_t i) { row_numbers(set, first + i, to + i * width); });
    return block;
}

void for_each_row(const Dataset& set, const std::function<void(const double* row)>& f) {
    auto width = static_cast<std::int64_t>(width_of(set.x));
    for (std::int64_t first = 0; first < set.size(); first += rows_at_a_time) {
        Array block = block_of(set, first, std::min(rows_at_a_time, set.size() - first));
        for (std::int64_t i = 0; i < block.dims[0]; ++i) f(block.data<double>() + i * width);
    }
}

Dataset mapped(const Dataset& set, const Dims& example, RowMap map) {
    Dims dims{set.size()};
    for (std::int64_t extent : example) dims.push_back(extent);
    Dataset result = set;
    result.x = unread(set.x.dtype == float64 ? float64 : float32, dims);
    result.affine.reset(), result.range.reset();
    if (example != set.example()) result.names.clear();
    result.source = std::make_shared<MappedRows>(set, width_of(result.x), result.x.dtype, std::move(map));
    return set.source ? result : in_memory(result);
}

Array array_of(const std::vector<double>& numbers) {
    return Array::from(numbers, {static_cast<std::int64_t>(numbers.size())});
}

const Array& part(const NamedState& state, const char* name) {
    auto found = state.find(name);
    if (found == state.end() || found->second.dtype != float64 || !found->second.contiguous()) {
        throw FileError(text("prepare: the saved state has no proper '", name, "'"));
    }
    return found->second;
}

std::vector<double> numbers_in(const NamedState& state, const char* name) {
    const Array& array = part(state, name);
    return {array.data<double>(), array.data<double>() + array.size()};
}

PictureDims picture_dims(const Dims& example, const char* step) {
    if (example.size() == 3) return {example[0], example[1], example[2]};
    if (example.size() == 2) return {1, example[0], example[1]};
    throw ShapeError(text(step,
                          " takes pictures (channels, height, width) or (height, width); these examples have shape ",
                          example, ", for which reshape stands in front of it"));
}

}  // namespace weft::data
