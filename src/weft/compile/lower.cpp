#include "weft/compile/lower.h"

#include "weft/ops/elementwise.h"

namespace weft {

Scalar ProgramWriter::value(std::int32_t entry) {
    if (auto at = values_.find(entry); at != values_.end()) return at->second;
    const Node& node = graph_.node(entry);
    const Place& place = plan_.places[static_cast<std::size_t>(entry)];
    Scalar scalar = 0;
    if (place.kind == Place::literal) {
        // A number has the value that memory of its type would hold.
        scalar = builder_.constant(compute_dtype(node.dtype),
                                   is_half(node.dtype) ? literal_as(node.dtype, place.value) : place.value);
    } else {
        scalar = builder_.input(compute_dtype(node.dtype));
        loads_.push_back(entry);
    }
    return values_.emplace(entry, scalar).first->second;
}

void ProgramWriter::compute(std::int32_t entry) {
    const Node& node = graph_.node(entry);
    std::vector<Scalar> operands;
    std::vector<Tensor> inputs;
    for (std::int32_t input : graph_.inputs(entry)) {
        operands.push_back(value(input));
        inputs.push_back(handle(graph_.entries[static_cast<std::size_t>(input)].node));
    }
    DType meeting = meeting_dtype(*node.operation, inputs);
    values_.insert_or_assign(entry, inline_body(*node.operation, operands, meeting, node.dtype, node.attributes.get()));
}

void ProgramWriter::store(std::int32_t entry) { builder_.output(value(entry)); }

void ProgramWriter::store_for_reduction(std::int32_t entry, Reduction reduction, DType result) {
    Scalar scalar = value(entry);
    bool converts = reduction == Reduction::sum || reduction == Reduction::product || reduction == Reduction::any ||
                    reduction == Reduction::all;
    builder_.output(converts ? cast(scalar, compute_dtype(result)) : scalar);
}

}  // namespace weft
