#include "weft/data/describe.h"

#include <algorithm>
#include <limits>

#include "weft/base/error.h"
#include "weft/data/batches.h"

namespace weft::data {
namespace {

std::string values_of(const Dataset& set) {
    double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, count = 0;
    BatchOptions here;
    here.prefetch = 0;
    for (const Batch& batch : set.batches(1000, here)) {
        with_dtype(batch.x.dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            if constexpr (std::is_convertible_v<T, double>) {
                const T* values = batch.x.data<T>();
                for (std::int64_t i = 0; i < batch.x.size(); ++i) {
                    auto value = static_cast<double>(values[i]);
                    least = std::min(least, value), greatest = std::max(greatest, value);
                    sum += value;
                }
                count += static_cast<double>(batch.x.size());
            }
        });
    }
    return count > 0 ? text(", from ", least, " to ", greatest, ", mean ", sum / count) : "";
}

std::string classes_line(const Dataset& set) {
    if (set.classes.empty() || set.y.dtype != int64 || set.y.ndim() != 1) return "";
    std::vector<std::int64_t> counts(set.classes.size());
    for (std::int64_t i = 0; i < set.y.size(); ++i) {
        auto label = static_cast<std::size_t>(set.y.data<std::int64_t>()[i]);
        if (label < counts.size()) ++counts[label];
    }
    std::string line = text("classes   ", counts.size(), ":");
    for (std::size_t c = 0; c < std::min<std::size_t>(counts.size(), 20); ++c)
        line += text(" ", set.classes[c], " (", counts[c], ")");
    return line + (counts.size() > 20 ? " ...\n" : "\n");
}

}  // namespace

std::string describe(const Dataset& set) {
    std::string more;
    for (const Field& field : set.fields)
        more += text(field.name, std::string(std::max<std::size_t>(10, field.name.size() + 1) - field.name.size(), ' '),
                     field.data.x_dtype(), " of shape ", field.data.example(),
                     field.target ? ", a target\n" : ", an input\n");
    if (set.has_lengths()) {
        auto [least, greatest] =
            std::minmax_element(set.lengths.data<std::int64_t>(), set.lengths.data<std::int64_t>() + set.size());
        if (set.size()) more += text("lengths   ", *least, " to ", *greatest, "\n");
    }
    return text("examples  ", set.size(), "\n",                                                                 //
                "x         ", set.x_dtype(), " of shape ", set.example(), values_of(set), "\n",                 //
                "y         ", set.y.dtype, " of shape ", Dims(set.y.dims.begin() + 1, set.y.dims.end()), "\n",  //
                more, classes_line(set));
}

}  // namespace weft::data
