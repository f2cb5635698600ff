#include "weft/ops/formula.h"

#include <optional>

#include "weft/base/error.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/formula.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

constexpr std::size_t readable = 40;  // instructions

/// The type that shows the operation best: one that it takes; complex for what makes real numbers of complex ones (real, imag).
std::optional<DType> shown_in(const Operation& operation) {
    auto taken = [&](DType dtype) { return !operation.takes || operation.takes(dtype); };
    if (operation.arity == 1 && operation.body && !operation.meet && taken(DType::complex128)) {
        ProgramBuilder builder;
        Scalar result = operation.body(std::array<Scalar, 1>{builder.input(DType::complex128)}, nullptr);
        if (result.dtype() == DType::float64) return DType::complex128;
    }
    for (DType dtype : {DType::float64, DType::int64, DType::bool_})
        if (taken(dtype)) return dtype;
    return std::nullopt;
}

/// What `write` makes of inputs of these types.
template <class F>
std::string recorded(const std::vector<DType>& types, const std::vector<std::string>& names, const F& write) {
    ProgramBuilder builder;
    std::vector<Scalar> inputs;
    for (DType dtype : types) inputs.push_back(builder.input(dtype));
    Scalar result = write(std::span<const Scalar>(inputs));
    if (!result.builder()) return text(result.literal());
    builder.output(result);
    Program program = builder.take();
    return program.code.size() > readable ? "" : formula(program, names);
}

std::vector<DType> operand_types(const Operation& operation, DType dtype) {
    std::vector<DType> types(static_cast<std::size_t>(operation.arity), operation.meet ? operation.meet(dtype) : dtype);
    if (operation.condition) types[0] = DType::bool_;
    return types;
}

}  // namespace

std::vector<std::string> operand_names(const Operation& operation) {
    if (operation.arity == 1) return {"x"};
    std::vector<std::string> names;
    for (int i = 1; i <= operation.arity; ++i) names.push_back(text("x", i));
    return names;
}

std::string value_formula(const Operation& operation) {
    if (!operation.body || operation.arity < 1 || &operation == &astype_operation)
        return "";  // astype's is its attribute's
    std::optional<DType> dtype = shown_in(operation);
    if (!dtype) return "";
    return recorded(operand_types(operation, *dtype), operand_names(operation),
                    [&](std::span<const Scalar> x) { return operation.body(x, nullptr); });
}

std::vector<std::string> partial_formulas(const Operation& operation) {
    std::vector<std::string> all;
    if (operation.partials.empty()) return all;
    std::vector<DType> types = operand_types(operation, DType::float64);
    types.push_back(types.back());
    std::vector<std::string> names = operand_names(operation);
    names.push_back("y");
    for (const auto& partial : operation.partials) {
        try {
            all.push_back(recorded(types, names, partial));
        } catch (const NotDifferentiable&) {
            all.push_back("unknown");  // no closed form: asking for it is an error that says so
        }
    }
    return all;
}

}  // namespace weft
