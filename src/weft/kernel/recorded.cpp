#include "weft/kernel/recorded.h"

#include <utility>

namespace weft {

thread_local Recording* Recording::current = nullptr;

std::int32_t Recording::input(DType dtype) { return current->builder_.input(dtype).id(); }

std::int32_t Recording::constant(DType dtype, float number) { return current->builder_.constant(dtype, number).id(); }
std::int32_t Recording::constant(DType dtype, double number) { return current->builder_.constant(dtype, number).id(); }
std::int32_t Recording::constant(DType dtype, std::uint64_t number) {
    return current->builder_.constant(dtype, number).id();
}

std::int32_t Recording::record(Opcode opcode, DType dtype, std::int32_t a) {
    Scalar operand = value(dtype, a);
    return apply(opcode, {&operand, 1}).id();
}

std::int32_t Recording::record(Opcode opcode, DType dtype, std::int32_t a, std::int32_t b) {
    Scalar operands[] = {value(dtype, a), value(dtype, b)};
    return apply(opcode, operands).id();
}

std::int32_t Recording::fused(DType dtype, std::int32_t a, std::int32_t b, std::int32_t c) {
    return fma(value(dtype, a), value(dtype, b), value(dtype, c)).id();
}

std::int32_t Recording::choice(DType dtype, std::int32_t condition, std::int32_t yes, std::int32_t no) {
    return select(value(DType::bool_, condition), value(dtype, yes), value(dtype, no)).id();
}

std::int32_t Recording::bits_as(DType to, DType from, std::int32_t a) { return bitcast(value(from, a), to).id(); }

bool Recording::any(std::int32_t condition) {
    Scalar here = value(DType::bool_, condition);
    if (!current->complete_) current->rare_ = current->rare_ ? *current->rare_ | here : here;
    return current->complete_;
}

Program Recording::take(DType dtype, std::int32_t output) {
    builder_.output(value(dtype, output));
    if (rare_) builder_.output(*rare_);
    return builder_.take();
}

}  // namespace weft
