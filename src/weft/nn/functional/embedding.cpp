// Tables of embeddings: rows that indices name, and sums, means and maxima of them.
#include "weft/nn/functional/common.h"
#include "weft/nn/functional/linear.h"
#include "weft/ops/creation.h"
#include "weft/ops/gather.h"
#include "weft/ops/linalg.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"

namespace weft::nn::functional {
namespace {

struct Lookup {
    std::string_view name;
    Tensor indices, weight;
    std::source_location where;
    std::optional<std::int64_t> padding = {};  // counted from the front
    Size rows() const { return weight.shape()[0]; }
};

// An index below 0 or beyond the table is an IndexError: at once where numbers are known, else when they are.
void check_indices(Lookup& lookup) {
    if (!lookup.indices.computed() || lookup.indices.node()->symbolic) {
        lookup.indices = where(lookup.indices < 0, size_as_tensor(lookup.rows(), DType::int64), lookup.indices);
        return;
    }
    Array values = contiguous(lookup.indices.array());
    const std::int64_t* index = values.data<std::int64_t>();
    for (std::int64_t i = 0; i < values.size(); ++i) {
        if (index[i] >= 0 && (!lookup.rows().known() || index[i] < lookup.rows().value())) continue;
        throw IndexError(text(lookup.name, ": the index ", index[i], " is not one of a table of ", lookup.rows(),
                              " rows", place(lookup.where)));
    }
}

Lookup lookup(std::string_view name, const Operand& indices, const Operand& weight,
              std::optional<std::int64_t> padding) {
    Lookup found{name, indices.as_tensor(), weight.as_tensor(), indices.where};
    if (!is_integer(found.indices.dtype()))
        throw DTypeError(
            text(name, ": the indices are ", found.indices.dtype(), "; they must be integers", place(indices.where)));
    if (found.weight.ndim() != 2)
        refuse_shape(indices,
                     text(name, ": the table has shape ", found.weight.shape(), ", but must be (rows, features)"));
    found.indices = astype(found.indices, DType::int64);
    if (padding && found.rows().known()) {
        std::int64_t rows = found.rows().value();
        if (*padding < -rows || *padding >= rows)
            refuse(indices, text(name, ": padding_idx is ", *padding, "; it must be one of the ", rows, " rows"));
        if (*padding < 0) *padding += rows;
    }
    found.padding = padding;
    check_indices(found);
    return found;
}

// The value of `shown`, the derivative of `x`.
Tensor with_derivative_of(const Tensor& x, const Tensor& shown) { return x + stop_gradient(shown - x); }

Tensor rows_of(const Lookup& from, const EmbeddingOptions& options) {
    Tensor rows = take(from.weight, from.indices, 0);
    if (options.max_norm) {
        Tensor norm = linalg::vector_norm(rows, Axes{-1}, true, options.norm_type);
        rows =
            with_derivative_of(rows, where(norm > *options.max_norm, rows * (*options.max_norm / (norm + 1e-7)), rows));
    }
    if (options.scale_grad_by_freq) {
        Tensor flat = ravel(from.indices), one = ones_like(astype(flat, rows.dtype()));
        Tensor counts = scatter(zeros({from.rows()}, rows.dtype()), flat, one, 0, ScatterMode::add);
        Tensor often = expand_dims(take(counts, from.indices, 0), -1);
        rows = with_derivative_of(rows / often, rows);
    }
    if (!from.padding) return rows;
    return where(expand_dims(from.indices == *from.padding, -1), stop_gradient(rows), rows);
}

// Bags in one list of entries: whose each is (number), and of those that count a 1.
struct Bags {
    Tensor bag, counts;  // (n); (n), in the rows' type
    Size number;
};

Bags bags_of(const Lookup& from, const Tensor& offsets, bool include_last, const Operand& place_of) {
    if (offsets.ndim() != 1 || !is_integer(offsets.dtype()))
        refuse_shape(place_of, text(from.name, ": the offsets have shape ", offsets.shape(), " and dtype ",
                                    offsets.dtype(), "; they must be a vector of integers"));
    Bags bags;
    Tensor starts = astype(offsets, DType::int64);
    bags.number = starts.shape()[0];
    if (include_last) {
        bags.number = bags.number - 1;
        starts = slice(starts, {0}, {bags.number});
    }
    bags.bag = searchsorted(starts, iota(from.indices.shape()[0]), true) - 1;
    return bags;
}

Tensor reduced_bags(const Tensor& rows, const Bags& bags, std::string_view mode) {
    Shape shape{bags.number, rows.shape()[1]};
    Tensor here = expand_dims(bags.counts, -1), empty = zeros(shape, rows.dtype());
    Tensor how_many = scatter(zeros({bags.number}, rows.dtype()), bags.bag, bags.counts, 0, ScatterMode::add);
    if (mode == "max") {
        Tensor lowest = full(shape, -std::numeric_limits<double>::infinity(), rows.dtype());
        Tensor counted = where(here != 0, rows, -std::numeric_limits<double>::infinity());
        Tensor largest = scatter(lowest, bags.bag, counted, 0, ScatterMode::maximum);
        return where(expand_dims(how_many == 0, -1), 0, largest);
    }
    Tensor total = scatter(empty, bags.bag, where(here != 0, rows, 0), 0, ScatterMode::add);
    if (mode == "sum") return total;
    return total / expand_dims(where(how_many == 0, 1, how_many), -1);
}

// Bags that are the rows of a table of indices: axis 1 of (bags, n, features) is joined, without places of updates.
Tensor reduced_table(const Tensor& rows, const Tensor& counts, std::string_view mode) {
    Tensor here = expand_dims(counts != 0, -1);
    if (mode == "max") {
        Tensor lowest = is_inexact(rows.dtype()) ? Tensor(-std::numeric_limits<double>::infinity()).astype(rows.dtype())
                                                 : min(rows, 1, true);  // of whole numbers the least of each bag serves
        return where(any(here, 1), max(where(here, rows, lowest), 1), zeros({}, rows.dtype()));
    }
    Tensor total = sum(where(here, rows, 0), 1);
    if (mode == "sum") return total;
    Tensor how_many = sum(counts, 1);
    return total / expand_dims(where(how_many == 0, 1, how_many), -1);
}

void check_bag(const Lookup& from, const Tensor& offsets, const EmbeddingBagOptions& options, const Operand& indices) {
    std::string_view mode = options.mode;
    if (mode != "sum" && mode != "mean" && mode != "max")
        refuse(indices, text("embedding_bag: mode is 'sum', 'mean' or 'max', not '", mode, "'"));
    std::size_t ndim = from.indices.ndim();
    if ((ndim != 1 && ndim != 2) || (ndim == 2) == static_cast<bool>(offsets))
        refuse(indices, text("embedding_bag: indices of shape ", from.indices.shape(), offsets ? " with" : " without",
                             " offsets; a vector needs them, (bags, n) has none"));
    if (!options.per_sample_weights) return;
    if (mode != "sum") refuse(indices, "embedding_bag: per_sample_weights are for mode 'sum' alone");
    if (options.per_sample_weights.shape() != from.indices.shape())
        refuse_shape(indices, text("embedding_bag: per_sample_weights have shape ", options.per_sample_weights.shape(),
                                   ", the indices ", from.indices.shape()));
}

}  // namespace

Tensor embedding(const Operand& indices, const Operand& weight, const EmbeddingOptions& options) {
    LineScope line(indices.where);
    return rows_of(lookup("embedding", indices, weight, options.padding_idx), options);
}

Tensor embedding_renorm(const Operand& weight, const Operand& indices, double max_norm, double norm_type) {
    LineScope line(weight.where);
    Lookup from = lookup("embedding_renorm", indices, weight, {});
    Tensor norm = linalg::vector_norm(from.weight, Axes{-1}, true, norm_type);
    Tensor one = ones_like(ravel(from.indices));
    Tensor asked = scatter(zeros({from.rows()}, DType::int64), ravel(from.indices), one, 0, ScatterMode::maximum);
    Tensor longer = (norm > max_norm) & expand_dims(asked != 0, -1);
    return stop_gradient(where(longer, from.weight * (max_norm / (norm + 1e-7)), from.weight));
}

Tensor embedding_bag(const Operand& indices, const Operand& weight, const Tensor& offsets,
                     const EmbeddingBagOptions& options) {
    LineScope line(indices.where);
    Lookup from = lookup("embedding_bag", indices, weight, options.rows.padding_idx);
    check_bag(from, offsets, options, indices);
    Tensor entries = from.indices;
    from.indices = ravel(entries);
    Bags bags;
    if (offsets) {
        bags = bags_of(from, offsets, options.include_last_offset, indices);
    } else {
        bags.number = entries.shape()[0];
        bags.bag = ravel(broadcast_to(reshape(iota(bags.number), {bags.number, 1}), entries.shape()));
    }
    Tensor rows = rows_of(from, options.rows);
    if (options.per_sample_weights) rows = rows * expand_dims(ravel(options.per_sample_weights), -1);
    DType given = rows.dtype();
    if (is_half(given)) rows = astype(rows, DType::float32);  // sums and counts of halves are rounded once, at the end
    bags.counts =
        from.padding ? astype(from.indices != *from.padding, rows.dtype()) : ones(from.indices.shape(), rows.dtype());
    if (!offsets && entries.shape()[1].known() && entries.shape()[1].value() > 0) {
        Shape table = entries.shape();
        bags.counts = reshape(bags.counts, table);
        table.push_back(rows.shape()[1]);
        return astype(reduced_table(reshape(rows, table), bags.counts, options.mode), given);
    }
    return astype(reduced_bags(rows, bags, options.mode), given);
}

}  // namespace weft::nn::functional
