#include "weft/data/folds.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "weft/base/error.h"
#include "weft/data/counter_random.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

using Rows = std::vector<std::int64_t>;

/// In another order (Fisher and Yates, after Durstenfeld, 1964).
void shuffle(Rows& rows, CounterRandom& random) {
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
}

/// The rows class by class, or all in one.
std::vector<Rows> groups_of(const Dataset& set, bool stratified) {
    if (!stratified) {
        Rows all(static_cast<std::size_t>(set.size()));
        std::iota(all.begin(), all.end(), 0);
        return {all};
    }
    if (set.y.ndim() != 1 || set.y.dtype != DType::int64)
        throw ValueError(text("stratified folds want a class number an example; the targets are ", set.y.dtype,
                              " of shape ", set.y.dims, "; give `stratified: false`"));
    std::map<std::int64_t, Rows> by_class;
    for (std::int64_t row = 0; row < set.size(); ++row)
        by_class[set.y.data<std::int64_t>()[row * set.y.strides[0]]].push_back(row);
    std::vector<Rows> groups;
    for (auto& [label, rows] : by_class) groups.push_back(std::move(rows));
    return groups;
}

struct PickedSource : RowSource {
    PickedSource(Dataset from, Rows which) : set(std::move(from)), rows(std::move(which)) {}
    void read(std::int64_t row, void* to) const override { set.read_row(rows[static_cast<std::size_t>(row)], to); }
    Dataset set;
    Rows rows;
};

Array picked(const Array& from, const Rows& rows) {
    Dims dims = from.dims;
    dims[0] = static_cast<std::int64_t>(rows.size());
    Array all = Array::empty(from.dtype, dims);
    std::size_t bytes = from.size() ? from.bytes() / static_cast<std::size_t>(from.dims[0]) : 0;
    auto* to = static_cast<std::byte*>(all.address());
    for (std::int64_t row : rows) {
        if (bytes)
            std::memcpy(to, static_cast<const std::byte*>(from.address()) + static_cast<std::size_t>(row) * bytes,
                        bytes);
        to += bytes;
    }
    return all;
}

void check_fold(const Json& options) {
    const Json &fold = options.at("fold"), &folds = options.at("folds");
    if (fold.as_integer() > folds.as_integer())
        fold.refuse(text("expected 1 to ", folds.as_integer(), ", found ", fold.as_integer(),
                         " (fold, 'fold': which one, from 1)"));
    (void)ChosenSource(options.at("of"));
}

Dataset load_fold(const Json& options) {
    Dataset set = ChosenSource(options.at("of")).load();
    FoldOptions how{options.at("folds").as_integer(), options.at("stratified").as_bool(),
                    static_cast<std::uint64_t>(options.at("seed").as_integer())};
    bool held_out = options.at("part").as_string() == "held_out";
    std::vector<std::int64_t> folds = folds_of(set, how);
    Rows rows;
    for (std::size_t row = 0; row < folds.size(); ++row)
        if ((folds[row] == options.at("fold").as_integer() - 1) == held_out)
            rows.push_back(static_cast<std::int64_t>(row));
    return picked_rows(set, rows);
}

std::optional<Dataset> sample_of_whole(const Json& options) { return ChosenSource(options.at("of")).sample(); }

}  // namespace

std::vector<std::int64_t> folds_of(const Dataset& set, const FoldOptions& options) {
    if (options.folds < 2 || set.size() < options.folds)
        throw ValueError(text(set.size(), " examples cannot be cut into ", options.folds,
                              " folds; there are 2 or more, of at least one example each"));
    std::vector<std::int64_t> folds(static_cast<std::size_t>(set.size()));
    CounterRandom random(options.seed, 0);
    std::int64_t next = 0;
    for (Rows& group : groups_of(set, options.stratified)) {
        shuffle(group, random);
        // Dealt like cards, one group after another, so that folds differ by one row at most, in all and in each group.
        for (std::int64_t row : group) folds[static_cast<std::size_t>(row)] = next++ % options.folds;
    }
    return folds;
}

Dataset picked_rows(const Dataset& set, const std::vector<std::int64_t>& rows) {
    for (std::int64_t row : rows)
        if (row < 0 || row >= set.size()) throw IndexError(text("row ", row, " of ", set.size(), " is not there"));
    Dataset result = set;
    if (!set.y.dims.empty()) result.y = picked(set.y, rows);
    if (set.has_lengths()) result.lengths = picked(set.lengths, rows);
    for (Field& field : result.fields) field.data = picked_rows(field.data, rows);
    if (!set.source) {
        result.x = picked(set.x, rows);
        return result;
    }
    Dims dims = set.x.dims;
    dims[0] = static_cast<std::int64_t>(rows.size());
    result.x = unread(set.x.dtype, dims);
    result.source = std::make_shared<PickedSource>(set, rows);
    return result;
}

std::vector<Source> sources_of_sources() {
    Option of{"of", Json(), "the data set that is cut", true};
    of.also = "data";
    return {{"fold",
             "one of several parts of another data set, or all the others",
             {of,
              integer_option("folds", 5, "how many parts", 2),
              integer_option("fold", 1, "which one, from 1", 1),
              word_option("part", "train", "the others, or the one itself", {"train", "held_out"}),
              {"stratified", false, "each part has each class's share"},
              integer_option("seed", 1, "of the parts", 0)},
             load_fold,
             check_fold,
             sample_of_whole}};
}

}  // namespace weft::data
