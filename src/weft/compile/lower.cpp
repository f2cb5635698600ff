#include "weft/compile/lower.h"

#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"

namespace weft {
namespace {

// The type of the integers in memory, which a conversion to int64 may show as they are.
DType index_dtype(const Plan& plan, const Graph& graph, std::int32_t entry) {
    const Place& place = plan.places[static_cast<std::size_t>(entry)];
    bool shown = place.kind == Place::view && graph.node(entry).operation->family == Family::elementwise;
    return shown ? index_dtype(plan, graph, place.index) : graph.node(entry).dtype;
}

}  // namespace

Scalar ProgramWriter::value(std::int32_t entry) {
    if (values_.has(entry)) return values_.get(builder_, entry);
    const Node& node = graph_.node(entry);
    const Place& place = plan_.places[static_cast<std::size_t>(entry)];
    Scalar scalar = 0;
    if (place.kind == Place::literal) {
        // A number has the value that memory of its type would hold.
        scalar = builder_.constant(compute_dtype(node.dtype),
                                   is_half(node.dtype) ? literal_as(node.dtype, place.value) : place.value);
    } else if (place.kind == Place::fused && node.operation->family == Family::gather) {
        scalar = pointed(entry, graph_.inputs(entry).subspan(1));
    } else if (std::int32_t base = memory_below(plan_, entry);
               plan_.places[static_cast<std::size_t>(base)].kind == Place::made) {
        scalar = made(entry, base);
    } else {
        scalar = builder_.input(compute_dtype(node.dtype));
        loads_.push_back(entry);
    }
    values_.set(entry, scalar);
    return scalar;
}

// The array, then the index tensors that point into it.
Scalar ProgramWriter::pointed(std::int32_t entry, std::span<const std::int32_t> indices) {
    Scalar scalar = builder_.input(compute_dtype(graph_.node(entry).dtype));
    indexed_.push_back({loads_.size(), entry, indices.size()});
    loads_.push_back(graph_.inputs(entry)[0]);
    for (std::int32_t index : indices) {
        (void)builder_.input(index_dtype(plan_, graph_, index));
        loads_.push_back(index);
    }
    return scalar;
}

void ProgramWriter::scatter_into(std::int32_t scatter) { (void)pointed(scatter, graph_.inputs(scatter).subspan(2)); }

// `entry` is the made entry `base`, or a view of it.
Scalar ProgramWriter::made(std::int32_t entry, std::int32_t base) {
    Scalar scalar = builder_.input(graph_.node(entry).dtype);
    if (!graph_.inputs(base).empty()) indexed_.push_back({loads_.size(), base, 1});
    loads_.push_back(entry);
    for (std::int32_t key : graph_.inputs(base)) {
        (void)builder_.input(graph_.node(key).dtype);
        loads_.push_back(key);
    }
    return scalar;
}

void ProgramWriter::compute(std::int32_t entry) {
    const Node& node = graph_.node(entry);
    if (node.operation->family == Family::gather) return (void)value(entry);
    operands_.clear();
    for (std::int32_t input : graph_.inputs(entry)) operands_.push_back(value(input));
    DType meeting = meeting_dtype(node);
    values_.set(entry, inline_body(*node.operation, operands_, meeting, node.dtype, node.attributes.get()));
}

void ProgramWriter::store(std::int32_t entry) { builder_.output(value(entry)); }

void ProgramWriter::store_for_reduction(std::int32_t entry, Reduction reduction, DType result) {
    Scalar scalar = value(entry);
    bool converts = reduction == Reduction::sum || reduction == Reduction::product || reduction == Reduction::any ||
                    reduction == Reduction::all;
    builder_.output(converts ? cast(scalar, compute_dtype(result)) : scalar);
}

}  // namespace weft
