#include "weft/check/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "weft/check/cases.h"
#include "weft/check/compare.h"
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

/// The same values, from the one at `places` on.
Array rotated(const Array& values, std::int64_t places) {
    Array turned = Array::empty(values.dtype, values.dims);
    std::size_t size = size_of(values.dtype), all = static_cast<std::size_t>(values.size()) * size,
                front = static_cast<std::size_t>(places % values.size()) * size;
    const auto* from = static_cast<const std::byte*>(values.address());
    std::memcpy(turned.address(), from + front, all - front);
    std::memcpy(static_cast<std::byte*>(turned.address()) + (all - front), from, front);
    return turned;
}

// Runs one comparison; whatever it throws is a failure too. `what` describes the case.
template <class F>
void attempt(Failures& failures, const std::string& what, F&& compare) {
    std::string wrong;
    try {
        wrong = compare();
    } catch (const std::exception& error) {
        wrong = text("threw ", error.what());
    }
    if (!wrong.empty() && failures.size() < 20) failures.push_back(text(what, ": ", wrong));
}

// The value as the plan computes it against the interpreter's.
std::string against_interpreter(const Operation& operation, const Tensor& result, const std::vector<Array>& inputs) {
    Array expected = interpret(result), found = result.array();
    if (exact(operation, result.dtype())) return difference(expected, found);
    return difference(expected, found, joined_error(inputs, expected), 0);
}

// Whether the operation is defined for these types: one that is not says so by a DTypeError.
bool defined(const Sample& sample, const std::vector<Tensor>& tensors) {
    try {
        (void)sample.call(tensors);
        return true;
    } catch (const DTypeError&) {
        return false;
    } catch (const std::exception&) {
        return true;  // the comparison will report it
    }
}

Failures over_cases(const Operation& operation, Shapes shapes, std::span<const Form> forms) {
    Failures failures;
    Draw draw(operation.name);
    std::size_t checked = 0, samples = 0;
    for (const Sample& sample : samples_of(operation, shapes)) {
        ++samples;
        for (const std::vector<DType>& dtypes : dtypes_of(operation, sample)) {
            std::vector<Array> inputs = inputs_of(operation, sample, dtypes, draw);
            if (!plain_elementwise(operation) && !defined(sample, tensors_of(inputs))) continue;
            for (Form form : forms) {
                ++checked;
                attempt(failures, described(operation, inputs, form),
                        [&] { return against_interpreter(operation, sample.call(tensors_of(inputs, form)), inputs); });
            }
        }
    }
    if (checked == 0 && samples > 0)
        failures.push_back(text(operation.name, ": no sample could be called with any dtype"));
    return failures;
}

// One unit in the last place of `value` in a type of `digits` bits whose smallest normal exponent is `least`.
long double unit_of(long double value, int digits, int least) {
    int exponent;
    (void)std::frexp(value, &exponent);
    return std::ldexp(1.0L, std::max(exponent - digits, least - digits + 1));
}

struct Precision {
    int digits, least;
    long double most;
};
Precision precision_of(DType dtype) {
    switch (dtype) {
        case DType::float16:
            return {11, -14 + 0, 65504.0L};
        case DType::bfloat16:
            return {8, -126, 0x1.fep127L};
        case DType::float64:
            return {53, -1022, 0x1.fffffffffffffp1023L};
        default:
            return {24, -126, 0x1.fffffep127L};
    }
}

// A half type's number is a float32 number, off by `ulp` of its own units, rounded once more.
std::string against_oracle(const Operation& operation, const std::vector<Array>& inputs, const Array& found) {
    std::vector<std::vector<double>> x;
    for (const Array& input : inputs) x.push_back(as_doubles(input));
    std::vector<double> y = as_doubles(found);
    Precision precision = precision_of(found.dtype);
    long double allowed = is_half(found.dtype) ? 0.5L + (operation.ulp + 0.5L) * std::ldexp(1.0L, precision.digits - 24)
                                               : operation.ulp + 0.5L;
    for (std::size_t i = 0; i < y.size(); ++i) {
        std::vector<long double> point;
        for (auto& values : x) point.push_back(values[values.size() == 1 ? 0 : i]);
        long double expected = operation.oracle(point);
        if (std::isnan(expected) && std::isnan(y[i])) continue;
        if (std::isinf(y[i]) &&
            (std::isinf(expected) ? (expected > 0) == (y[i] > 0) : std::abs(expected) > precision.most))
            continue;
        long double units =
            std::abs(expected - static_cast<long double>(y[i])) / unit_of(expected, precision.digits, precision.least);
        if (units <= allowed) continue;
        std::string at;
        for (long double value : point) at += text(at.empty() ? "" : ", ", static_cast<double>(value));
        return text(operation.name, "(", at, ") is ", y[i], " in place of ", static_cast<double>(expected), ", off by ",
                    static_cast<double>(units), " units, allowed ", static_cast<double>(allowed));
    }
    return "";
}

Tensor call(const Operation& operation, const std::vector<Operand>& operands) {
    return weft::apply(operation, std::span<const Operand>(operands));
}

std::vector<Tensor> astype_all(const std::vector<Tensor>& tensors, DType dtype, bool condition) {
    std::vector<Tensor> cast;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        cast.push_back(condition && i == 0 ? tensors[i] : tensors[i].astype(dtype));
    return cast;
}

}  // namespace

Failures check_values(const Operation& operation) {
    const Form plain[] = {Form::contiguous};
    return over_cases(operation, Shapes::sizes, plain);
}

Failures check_layouts(const Operation& operation) {
    Failures failures = over_cases(operation, Shapes::layouts, all_forms);
    if (!plain_elementwise(operation) || operation.arity < 2) return failures;
    // Operands that lie in different ways beside each other.
    Draw draw(operation.name);
    for (const Sample& sample : samples_of(operation, Shapes::layouts)) {
        std::vector<DType> dtypes(sample.inputs.size(), DType::float32);
        if (!operation.takes(operation.meet ? operation.meet(DType::float32) : DType::float32))
            dtypes.assign(dtypes.size(), DType::int32);
        std::vector<Array> inputs = inputs_of(operation, sample, dtypes, draw);
        for (Form form : all_forms) {
            std::vector<Tensor> mixed;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                mixed.emplace_back(
                    laid_out(inputs[i], all_forms[(static_cast<std::size_t>(form) + i) % all_forms.size()]));
            }
            attempt(failures, described(operation, inputs, form) + " beside others",
                    [&] { return against_interpreter(operation, sample.call(mixed), inputs); });
        }
    }
    return failures;
}

Failures check_specials(const Operation& operation) {
    Failures failures;
    for (DType dtype : all_dtypes()) {
        if (!operation.takes(operation.meet ? operation.meet(dtype) : dtype)) continue;
        // Every value against every other; a fifth operand goes along with the first, a value ahead, and so do those behind it.
        constexpr int most_axes = 4;
        Array values = special_values(dtype, operation.defined_to);
        std::vector<Array> inputs;
        for (int k = 0; k < operation.arity; ++k) {
            Array spread = rotated(values, k / most_axes);
            spread.dims = Dims(static_cast<std::size_t>(std::min(operation.arity, most_axes)), 1);
            spread.dims[static_cast<std::size_t>(k % most_axes)] = values.size();
            spread.strides = contiguous_strides(spread.dims);
            inputs.push_back(spread);
        }
        attempt(failures, described(operation, inputs), [&] {
            std::vector<Tensor> tensors = tensors_of(inputs);
            return against_interpreter(operation, call(operation, {tensors.begin(), tensors.end()}), inputs);
        });
    }
    return failures;
}

Failures check_accuracy(const Operation& operation) {
    Failures failures;
    Draw draw(operation.name);
    for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        if (!operation.takes(operation.meet ? operation.meet(dtype) : dtype)) continue;
        Sample sample = samples_of(operation, Shapes::few)[0];
        sample.inputs.assign(sample.inputs.size(), Shape{2000});
        std::vector<Array> inputs = inputs_of(operation, sample, std::vector<DType>(sample.inputs.size(), dtype), draw);
        attempt(failures, described(operation, inputs),
                [&] { return against_oracle(operation, inputs, sample.call(tensors_of(inputs)).array()); });
    }
    return failures;
}

Failures check_promotion(const Operation& operation) {
    Failures failures;
    Draw draw(operation.name);
    auto takes = [&](DType dtype) { return operation.takes(operation.meet ? operation.meet(dtype) : dtype); };
    Sample sample = samples_of(operation, Shapes::few)[0];
    std::size_t last = sample.inputs.size() - 1;
    for (DType a : all_dtypes()) {
        for (DType b : all_dtypes()) {
            if (!takes(promote(a, b))) continue;
            std::vector<DType> dtypes(sample.inputs.size(), a);
            dtypes[last] = b;
            std::vector<Array> inputs = inputs_of(operation, sample, dtypes, draw);
            attempt(failures, described(operation, inputs), [&] {
                std::vector<Tensor> tensors = tensors_of(inputs);
                return difference(interpret(sample.call(astype_all(tensors, promote(a, b), operation.condition))),
                                  interpret(sample.call(tensors)));
            });
        }
        const Literal numbers[] = {Literal(2), Literal(1.5), Literal(true)};
        for (const Literal& number : numbers) {
            DType meeting = promote_weak(a, number.kind);
            if (!takes(meeting)) continue;
            std::vector<Array> inputs = inputs_of(operation, sample, std::vector<DType>(sample.inputs.size(), a), draw);
            attempt(failures, text(described(operation, inputs), " beside the number ", number), [&] {
                std::vector<Tensor> tensors = tensors_of(inputs),
                                    cast = astype_all(tensors, meeting, operation.condition);
                std::vector<Operand> weak(tensors.begin(), tensors.end()), strong(cast.begin(), cast.end());
                weak[last] = Operand(0), weak[last].tensor = Tensor(), weak[last].literal = number;
                strong[last] = constant(number, meeting);
                return difference(interpret(call(operation, strong)), interpret(call(operation, weak)));
            });
        }
    }
    return failures;
}

Failures check_fusion(const Operation& operation) {
    Failures failures;
    Draw draw(operation.name);
    for (const Sample& sample : samples_of(operation, Shapes::layouts)) {
        for (const std::vector<DType>& dtypes : dtypes_of(operation, sample)) {
            std::vector<Array> inputs = inputs_of(operation, sample, dtypes, draw);
            std::vector<Tensor> tensors = tensors_of(inputs);
            if (!plain_elementwise(operation) && !defined(sample, tensors)) continue;
            attempt(failures, described(operation, inputs), [&]() -> std::string {
                // x -> x, operation, and two uses of the result, all of which may be one kernel.
                std::vector<Tensor> before;
                for (const Tensor& tensor : tensors) before.push_back(stop_gradient(tensor));
                Tensor result = stop_gradient(sample.call(before)), doubled = multiply(result, result);
                Tensor wanted[] = {doubled, result};
                std::vector<Array> expected = interpret(std::span<const Tensor>(rewritten(wanted)));
                eval(wanted);
                bool to_the_bit = exact(operation, result.dtype());
                for (std::size_t i = 0; i < 2; ++i) {
                    double error = to_the_bit ? 0
                                              : joined_error(inputs, expected[1]) *
                                                    (i == 0 ? 3 * std::max(1.0, joined_error({}, expected[1]) / 8 /
                                                                                    epsilon_of(result.dtype()))
                                                            : 1);
                    std::string wrong = to_the_bit ? difference(expected[i], wanted[i].array())
                                                   : difference(expected[i], wanted[i].array(), error, 0);
                    if (!wrong.empty()) return wrong;
                }
                Tensor total = sum(sample.call(before));
                Array sum_expected = interpret(total);
                std::vector<Array> terms = inputs;
                terms.push_back(expected[1]);
                return difference(sum_expected, total.array(),
                                  joined_error(terms, sum_expected) * static_cast<double>(1 + expected[1].size()), 0);
            });
        }
    }
    return failures;
}

Failures check_refusals(const Operation& operation) {
    Failures failures;
    auto refused = [&](const std::string& what, const std::vector<Tensor>& tensors, auto* kind) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        attempt(failures, what, [&]() -> std::string {
            try {
                (void)call(operation, {tensors.begin(), tensors.end()});
            } catch (const Kind& error) {
                return std::string_view(error.what()).starts_with(text(operation.name, ": "))
                           ? ""
                           : text("the message does not name the operation: ", error.what());
            }
            return "was not refused";
        });
    };
    auto arity = static_cast<std::size_t>(operation.arity);
    std::optional<DType> good;
    for (DType dtype : all_dtypes()) {
        bool takes = operation.takes(operation.meet ? operation.meet(dtype) : dtype);
        if (takes)
            good = dtype;
        else
            refused(text(operation.name, " of ", dtype), std::vector<Tensor>(arity, Tensor(Array::zeros(dtype, {2}))),
                    static_cast<DTypeError*>(nullptr));
    }
    if (!good) return {text(operation.name, ": takes no dtype")};
    if (arity < 2) return failures;
    std::vector<Tensor> tensors(arity, Tensor(Array::zeros(*good, {3, 4})));
    tensors.back() = Tensor(Array::zeros(*good, {3}));
    refused(text(operation.name, " of shapes (3, 4) and (3,)"), tensors, static_cast<ShapeError*>(nullptr));
    return failures;
}

}  // namespace weft
