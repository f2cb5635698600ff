#include "weft/nn/maxout.h"

#include "weft/graph/node.h"
#include "weft/nn/keys.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::nn {

MaxPieces::MaxPieces(std::int64_t pieces, bool last) : pieces_(pieces), last_(last) {
    check_positive("MaxPieces", "pieces", pieces);
}

Tensor MaxPieces::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope("MaxPieces");
    Tensor value = x.as_tensor();
    std::size_t axis = last_ ? value.ndim() - 1 : 1;
    if (value.ndim() < 2 || (value.shape()[axis].known() && value.shape()[axis].value() % pieces_ != 0))
        throw ShapeError(text("MaxPieces: the input has shape ", value.shape(), ", but axis ", axis,
                              " must hold a multiple of ", pieces_, " numbers", place(x.where)));
    Shape split(value.shape().begin(), value.shape().begin() + static_cast<std::ptrdiff_t>(axis));
    split.push_back(value.shape()[axis].value() / pieces_), split.push_back(pieces_);
    for (std::size_t i = axis + 1; i < value.ndim(); ++i) split.push_back(value.shape()[i]);
    return max(reshape(value, split), static_cast<std::int64_t>(axis) + 1);
}

}  // namespace weft::nn
