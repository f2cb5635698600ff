#include "weft/ops/elementwise.h"

#include "weft/graph/node.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

[[noreturn]] void refuse_shapes(const Operation& operation, std::span<const Tensor> inputs) {
    std::string shapes, axes;
    for (const Tensor& input : inputs) shapes += text(shapes.empty() ? "" : " and ", input.shape());
    const Shape &a = inputs[0].shape(), *worst = nullptr;
    for (const Tensor& input : inputs) {
        if (!broadcast(a, input.shape())) worst = &input.shape();
    }
    if (!worst) throw ShapeError(text(operation.name, ": shapes ", shapes, " do not broadcast"));
    for (std::size_t i = 1; i <= std::min(a.size(), worst->size()); ++i) {
        Size left = a[a.size() - i], right = (*worst)[worst->size() - i];
        if (may_equal(left, right) || left == Size(1) || right == Size(1)) continue;
        axes = text("axis -", i, " has sizes ", left, " and ", right, ", and neither is 1");
        break;
    }
    throw ShapeError(text(operation.name, ": shapes ", shapes, " do not broadcast: ", axes));
}

DType result_dtype(const Operation& operation, DType meeting, const Attributes* attributes) {
    auto& known = operation.results[static_cast<std::size_t>(meeting)].code;
    if (std::uint8_t code = known.load(std::memory_order_relaxed); code != 255) return static_cast<DType>(code);
    ProgramBuilder builder;
    std::vector<Scalar> operands;
    for (int i = 0; i < operation.arity; ++i) {
        operands.push_back(builder.input(operation.condition && i == 0 ? DType::bool_ : compute_dtype(meeting)));
    }
    Scalar result = operation.body(operands, attributes);
    DType dtype = result.builder() ? result.dtype() : compute_dtype(meeting);
    if (dtype == compute_dtype(meeting)) dtype = meeting;
    known.store(static_cast<std::uint8_t>(dtype), std::memory_order_relaxed);
    return dtype;
}

constexpr std::size_t most_operands = 8;

void refuse_too_many(const Operation& operation, std::size_t operands) {
    if (operands > most_operands)
        throw ValueError(text(operation.name, ": an elementwise operation has at most ", most_operands,
                              " operands, not ", operands, "; make it of several"));
}

}  // namespace

void refuse_number(std::string_view name, const Operand& operand, DType dtype) {
    if (!operand.literal.fits(dtype))
        throw ValueError(text(name, ": the number ", operand.literal, " does not fit into ", dtype,
                              "; convert the tensor with astype first", place(operand.where)));
}

DType meeting_dtype(const Operation& operation, std::span<const Tensor> inputs) {
    std::size_t first = operation.condition ? 1 : 0;
    DType dtype = inputs[first].dtype();
    for (std::size_t i = first + 1; i < inputs.size(); ++i) dtype = promote(dtype, inputs[i].dtype());
    return operation.meet ? operation.meet(dtype) : dtype;
}

Meta infer_elementwise(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    refuse_too_many(operation, inputs.size());  // also of a node that is made without apply()
    DType meeting = meeting_dtype(operation, inputs);
    if (operation.takes && !operation.takes(meeting)) {
        std::string types;
        for (const Tensor& input : inputs) types += text(types.empty() ? "" : " and ", input.dtype());
        throw DTypeError(text(operation.name, ": not defined for ", types));
    }
    Meta meta{inputs[0].shape(), meeting};
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        const Shape& other = inputs[i].shape();
        if (other == meta.shape) continue;
        std::optional<Shape> both = broadcast(meta.shape, other);
        if (!both) refuse_shapes(operation, inputs);
        meta.shape = *both;
    }
    meta.dtype = result_dtype(operation, meeting, attributes);
    return meta;
}

Tensor apply(const Operation& operation, std::span<const Operand> operands, AttributesHandle attributes) {
    std::array<const Operand*, most_operands> all;
    refuse_too_many(operation, operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) all[i] = &operands[i];
    return apply(operation, std::span<const Operand* const>(all.data(), operands.size()), std::move(attributes));
}

Tensor apply(const Operation& operation, std::span<const Operand* const> operands, AttributesHandle attributes) {
    refuse_too_many(operation, operands.size());
    // The type that plain numbers take: that of the tensors, raised to the number's kind.
    std::size_t first = operation.condition ? 1 : 0;
    std::optional<DType> meet;
    for (std::size_t i = first; i < operands.size(); ++i) {
        if (operands[i]->weak()) continue;
        DType dtype = operands[i]->tensor.dtype();
        meet = meet ? promote(*meet, dtype) : dtype;
    }
    for (std::size_t i = first; i < operands.size(); ++i) {
        if (!operands[i]->weak()) continue;
        Kind kind = operands[i]->literal.kind;
        meet = meet ? promote_weak(*meet, kind) : default_dtype(kind);
    }
    std::array<Tensor, most_operands> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (i < first) {
            inputs[i] = operands[i]->as(DType::bool_);
            continue;
        }
        if (operands[i]->weak()) refuse_number(operation.name, *operands[i], *meet);
        inputs[i] = operands[i]->as(*meet);
    }
    return take_node(operation, std::span<Tensor>(inputs.data(), operands.size()), std::move(attributes),
                     operands[0]->where);
}

Scalar inline_body(const Operation& operation, std::span<const Scalar> operands, DType meeting, DType result_type,
                   const Attributes* attributes) {
    std::array<Scalar, most_operands> inputs{0, 0, 0, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        DType wanted = operation.condition && i == 0 ? DType::bool_ : compute_dtype(meeting);
        inputs[i] = operands[i].dtype() == wanted ? operands[i] : cast(operands[i], wanted);
    }
    Scalar result = operation.body(std::span<const Scalar>(inputs.data(), operands.size()), attributes);
    if (!result.builder()) result = inputs[0].builder()->constant(compute_dtype(result_type), result.literal());
    if (result.dtype() != compute_dtype(result_type)) result = cast(result, compute_dtype(result_type));
    // Each operation's result is what memory would hold, fused or not: so fusing never changes a bit.
    if (is_half(result_type)) result = cast(cast(result, result_type), DType::float32);
    return result;
}

namespace detail {

Scalar integer_fmod(Scalar a, Scalar b) {
    Scalar floored = remainder(a, b);  // has b's sign; a's is wanted
    if (kind_of(a.dtype()) == Kind::unsigned_integer) return floored;
    return select((floored != 0) & ((a < 0) ^ (b < 0)), floored - b, floored);
}

Scalar direction(Scalar x) {
    Scalar length = hypot(real(x), imag(x));
    return select(length == 0, make_complex(length, length), make_complex(real(x) / length, imag(x) / length));
}

Scalar integer_power(Scalar a, Scalar b) {
    Scalar result = (a ^ a) | 1;
    Scalar base = a, bits = b;
    for (std::size_t bit = 0; bit < 8 * size_of(a.dtype()); ++bit) {
        result = select((bits & 1) == 1, result * base, result);
        base = base * base;
        bits = bits >> 1;
    }
    if (kind_of(a.dtype()) == Kind::unsigned_integer) return result;
    Scalar odd = (b & 1) == 1;
    return select(b < 0, select(a == 1, a, select(a == -1, select(odd, a, -a), a ^ a)), result);
}

}  // namespace detail

Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
Tensor operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
Tensor operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
Tensor operator/(const Operand& a, const Operand& b) { return divide(a, b); }
Tensor operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
Tensor operator-(const Operand& a) { return negative(a); }
Tensor operator~(const Operand& a) { return bitwise_invert(a); }
Tensor operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
Tensor operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
Tensor operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
Tensor operator<(const Operand& a, const Operand& b) { return less(a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return greater(a, b); }
Tensor operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
Tensor operator==(const Operand& a, const Operand& b) { return equal(a, b); }
Tensor operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }

namespace {

Meta infer_cast(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    DType to = static_cast<const AttributesOf<CastAttributes>&>(*attributes).value.dtype;
    if (is_complex(inputs[0].dtype()) && !is_complex(to) && to != DType::bool_) {
        throw DTypeError(
            text("astype: ", inputs[0].dtype(), " to ", to, " would drop the imaginary part; take real(x) first"));
    }
    return {inputs[0].shape(), to};
}

Scalar cast_body(std::span<const Scalar> x, const Attributes* attributes) {
    return cast(x[0], compute_dtype(static_cast<const AttributesOf<CastAttributes>&>(*attributes).value.dtype));
}

Tensor transpose_cast(const Tensor& result, std::size_t, const Tensor& cotangent) {
    DType dtype = result.node()->inputs[0]->dtype;
    bool widened = is_complex(cotangent.dtype()) && !is_complex(dtype);
    return astype(widened ? real(cotangent) : cotangent, dtype);
}

}  // namespace

const Operation astype_operation{
    .name = "astype",
    .family = Family::elementwise,
    .doc = "The same numbers as another dtype.",
    .numpy = "astype",
    .torch = "to",
    .infer = infer_cast,
    .body = cast_body,
    .transpose = transpose_cast,
    .samples = {{{{3, 5}}, [](auto x) { return astype(x[0], DType::float64); }, "x0.astype(np.float64)"},
                {{{3, 5}}, [](auto x) { return astype(x[0], DType::float16); }, "x0.astype(np.float16)"},
                {{{7}}, [](auto x) { return astype(x[0], DType::int32); }, "x0.astype(np.int32)"},
                {{{7}}, [](auto x) { return astype(x[0], DType::bool_); }, "x0.astype(bool)"},
                {{{}}, [](auto x) { return astype(x[0], DType::complex64); }, "x0.astype(np.complex64)"}}};
WEFT_REGISTER(astype_operation);

Tensor astype(const Operand& x, DType dtype) {
    LineScope line(x.where);
    // A plain number is none of float32's before it is this dtype's.
    if (x.weak() && is_inexact(dtype) && (is_complex(dtype) || x.literal.kind != Kind::complex)) return x.as(dtype);
    Tensor tensor = x.as_tensor();
    if (tensor.dtype() == dtype) return tensor;
    return make_node(astype_operation, {tensor}, attributes(CastAttributes{dtype}), x.where);
}

}  // namespace weft
