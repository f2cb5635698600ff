// What changes nothing, or what one operation says as well as two. All exact.
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;
constexpr Phase canonical = Phase::canonical;

bool exact(DType d) { return !is_inexact(d); }
bool real_inexact(DType d) { return is_floating(d); }
bool bools(DType d) { return d == DType::bool_; }
bool of_exact(const Site&, std::span<const Tensor> x) { return exact(x[0].dtype()); }
bool of_bool(const Site&, std::span<const Tensor> x) { return bools(x[0].dtype()); }

// x itself where the operation leaves numbers of this kind as they are.
Tensor itself_if(const Site& site, bool same) {
    return same && site.node.inputs[0]->dtype == site.node.dtype ? site.input() : Tensor();
}

// Whether every value of `from` is a value of `to`.
bool holds(DType from, DType to) {
    if (from == to || from == DType::bool_) return true;
    auto digits = [](DType d) {
        return with_dtype(d, [](auto tag) {
            using N = typename decltype(tag)::Type;
            if constexpr (std::is_integral_v<N>)
                return std::numeric_limits<N>::digits;
            else
                return 0;
        });
    };
    auto mantissa = [](DType d) {
        switch (real_of(d)) {
            case DType::float16:
                return 11;
            case DType::bfloat16:
                return 8;
            case DType::float32:
                return 24;
            default:
                return 53;
        }
    };
    if (to == DType::bool_ || (is_complex(from) && !is_complex(to))) return false;
    if (is_integer(from) && is_integer(to))
        return digits(from) <= digits(to) &&
               (kind_of(from) == Kind::unsigned_integer || kind_of(to) == Kind::signed_integer);
    if (is_integer(from)) return to != DType::float16 && digits(from) <= mantissa(to);
    if (is_integer(to)) return false;
    bool halves = is_half(real_of(from)) && is_half(real_of(to));
    return !halves && mantissa(from) <= mantissa(to);
}

// astype(astype(x, wide), to) -> astype(x, to), if the first conversion loses nothing.
Tensor cast_of_cast(const Site& site) {
    const Node& inner = *site.node.inputs[0];
    if (opaque(inner) || inner.operation != &astype_operation) return {};
    DType from = inner.inputs[0]->dtype;
    // Anything but a number becomes true; true becomes 1 of any type.
    if (!holds(from, inner.dtype)) return {};
    return astype(handle(inner.inputs[0]), site.node.dtype);
}

// astype(where(c, 1, 0)) -> where(c, 1.0, 0.0)
Tensor cast_of_choice(const Site& site) {
    const Node& choice = *site.node.inputs[0];
    if (opaque(choice) || choice.operation != &where_operation || is_complex(choice.dtype)) return {};
    std::optional<Literal> yes = number_of(*choice.inputs[1]), no = number_of(*choice.inputs[2]);
    if (!yes || !no) return {};
    DType d = site.node.dtype;
    return where(handle(choice.inputs[0]), astype(constant(*yes, choice.dtype), d),
                 astype(constant(*no, choice.dtype), d));
}

Tensor choose(const Site& site) {
    std::optional<Literal> condition = number_of(*site.node.inputs[0]);
    if (!condition) return {};
    return astype(site.input(condition->as<bool>() ? 1 : 2), site.node.dtype);
}

Tensor whole_already(const Site& site) {
    return itself_if(site, exact(site.node.dtype) || site.fact(*site.node.inputs[0]).whole);
}
Tensor nonnegative_already(const Site& site) {
    return itself_if(site, !is_complex(site.node.inputs[0]->dtype) && site.fact(*site.node.inputs[0]).nonnegative());
}
// What is never 0 gates nothing.
Tensor open_gate(const Site& site) {
    const Node& gate = *site.node.inputs[0];
    std::optional<Literal> number = number_of(gate);
    bool open = number ? !is_number(gate, 0) : site.fact(gate).positive();
    return open ? site.input(0) * site.input(1) : Tensor();
}
// Whether the variable is no number that breaks a rule's assumption before anybody's eyes: 0 / 0 and 0 * infinity stay NaN.
bool not_zero_itself(const Site&, std::span<const Tensor> x) { return !is_number(*x[0].node(), 0); }
bool not_infinite_itself(const Site&, std::span<const Tensor> x) {
    std::optional<Literal> number = number_of(*x[0].node());
    return !number || is_complex(x[0].dtype()) || std::isfinite(number->as<double>());
}
Tensor real_already(const Site& site) { return itself_if(site, !is_complex(site.node.inputs[0]->dtype)); }

// maximum(x, c), minimum(x, c) where facts say which.
Tensor larger_by_facts(const Site& site) {
    bool larger = site.node.operation == &maximum_operation;
    for (std::size_t i : {0, 1}) {
        const Fact &a = site.fact(*site.node.inputs[i]), &b = site.fact(*site.node.inputs[1 - i]);
        bool wins = larger ? a.low >= b.high : a.high <= b.low;
        if (wins && b.number && is_floating(site.node.dtype) == is_floating(site.node.inputs[i]->dtype))
            return astype(site.input(i), site.node.dtype);
    }
    return {};
}

// A comparison that facts decide.
Tensor decided(const Site& site) {
    const Node& node = site.node;
    DType d = node.inputs[0]->dtype;
    if (is_complex(d) || d != node.inputs[1]->dtype) return {};
    bool flip = node.operation == &greater_operation || node.operation == &greater_equal_operation;
    const Fact &a = site.fact(*node.inputs[flip ? 1 : 0]), &b = site.fact(*node.inputs[flip ? 0 : 1]);
    if (!a.number || !b.number) return {};
    bool equal = node.operation == &less_equal_operation || node.operation == &greater_equal_operation;
    if (equal ? a.high <= b.low : a.high < b.low) return Tensor(true);
    if (equal ? a.low > b.high : a.low >= b.high) return Tensor(false);
    return {};
}

}  // namespace

void add_useless_rules(RuleList& rules) {
    auto add = [&](Rule rule) { rules.push_back(std::move(rule)); };
    auto not_bool = [](DType d) { return d != DType::bool_; };  // the number 0 beside it is no bool
    auto shorten = [&](std::string name, auto pattern, auto replacement, PatternOptions options = {}) {
        add(rule(std::move(name), canonical, pattern, replacement, std::move(options)));
    };
    // clang-format off
    shorten("add_zero", [](T x) { return x + 0; }, [](T x) { return x; });
    shorten("subtract_zero", [](T x) { return x - 0; }, [](T x) { return x; });
    shorten("subtract_from_zero", [](T x) { return 0 - x; }, [](T x) { return -x; });
    shorten("multiply_one", [](T x) { return x * 1; }, [](T x) { return x; }, {.gated = true});
    shorten("multiply_minus_one", [](T x) { return x * -1; }, [](T x) { return -x; }, {.takes = [](DType d) { return d != DType::bool_; }, .gated = true});
    shorten("divide_one", [](T x) { return x / 1; }, [](T x) { return x; }, {.takes = is_inexact});
    shorten("divide_minus_one", [](T x) { return x / -1; }, [](T x) { return -x; }, {});
    shorten("multiply_zero", [](T x) { return x * 0; }, [](T) { return 0; }, {.assumes = Assumes::finite, .gated = true, .guard = not_infinite_itself});
    shorten("divide_zero", [](T x) { return 0 / x; }, [](T) { return 0; }, {.assumes = Assumes::finite, .guard = not_zero_itself});
    shorten("floor_divide_one", [](T x) { return floor_divide(x, 1); }, [](T x) { return x; }, {.takes = exact});
    shorten("double_negative", [](T x) { return -(-x); }, [](T x) { return x; });
    shorten("subtract_negative", [](T x, T y) { return x - (-y); }, [](T x, T y) { return x + y; });
    shorten("add_negative", [](T x, T y) { return x + (-y); }, [](T x, T y) { return x - y; });
    shorten("multiply_negatives", [](T x, T y) { return (-x) * (-y); }, [](T x, T y) { return x * y; });
    shorten("negative_out_of_product", [](T x, T y) { return (-x) * y; }, [](T x, T y) { return -(x * y); });
    shorten("negative_out_of_numerator", [](T x, T y) { return (-x) / y; }, [](T x, T y) { return -(x / y); });
    shorten("negative_out_of_divisor", [](T x, T y) { return x / (-y); }, [](T x, T y) { return -(x / y); });
    // A difference that others read is there anyway: its negative may meet a sum or another sign.
    shorten("negative_of_difference", [](T x, T y) { return -(x - y); }, [](T x, T y) { return y - x; }, {.guard = [](const Site& site, auto) { return site.only_here(*site.node.inputs[0]); }});
    shorten("reciprocal", [](T x) { return reciprocal(x); }, [](T x) { return 1 / x; });
    shorten("product_with_itself", [](T x) { return x * x; }, [](T x) { return square(x); }, {.takes = [](DType d) { return !is_complex(d); }});
    shorten("square_of_negative", [](T x) { return square(-x); }, [](T x) { return square(x); });
    shorten("square_of_abs", [](T x) { return square(abs(x)); }, [](T x) { return square(x); }, {.takes = [](DType d) { return !is_complex(d); }});
    shorten("abs_of_negative", [](T x) { return abs(-x); }, [](T x) { return abs(x); }, {.takes = [](DType d) { return kind_of(d) != Kind::unsigned_integer; }});
    shorten("abs_of_abs", [](T x) { return abs(abs(x)); }, [](T x) { return abs(x); });
    shorten("sqrt_of_square", [](T x) { return sqrt(square(x)); }, [](T x) { return abs(x); }, {.assumes = Assumes::exact, .takes = real_inexact});
    shorten("positive", [](T x) { return positive(x); }, [](T x) { return x; });
    shorten("stop_gradient", [](T x) { return stop_gradient(x); }, [](T x) { return x; }, {.gradient = false});
    shorten("maximum_of_itself", [](T x) { return maximum(x, x); }, [](T x) { return x; });
    shorten("minimum_of_itself", [](T x) { return minimum(x, x); }, [](T x) { return x; });
    shorten("relu_of_relu", [](T x) { return relu(relu(x)); }, [](T x) { return relu(x); });
    shorten("less_than_itself", [](T x) { return x < x; }, [](T) { return false; });
    shorten("greater_than_itself", [](T x) { return x > x; }, [](T) { return false; });
    shorten("equals_itself", [](T x) { return x == x; }, [](T) { return true; }, {.guard = of_exact});
    shorten("at_most_itself", [](T x) { return x <= x; }, [](T) { return true; }, {.guard = of_exact});
    shorten("at_least_itself", [](T x) { return x >= x; }, [](T) { return true; }, {.guard = of_exact});
    shorten("differs_from_itself", [](T x) { return x != x; }, [](T) { return false; }, {.guard = of_exact});
    shorten("exclusive_with_itself", [](T x) { return x ^ x; }, [](T) { return 0; });
    shorten("both_itself", [](T x) { return x & x; }, [](T x) { return x; });
    shorten("either_itself", [](T x) { return x | x; }, [](T x) { return x; });
    shorten("and_true", [](T x) { return logical_and(x, true); }, [](T x) { return astype(x, DType::bool_); });
    shorten("and_false", [](T x) { return logical_and(x, false); }, [](T) { return false; });
    shorten("or_true", [](T x) { return logical_or(x, true); }, [](T) { return true; });
    shorten("or_false", [](T x) { return logical_or(x, false); }, [](T x) { return astype(x, DType::bool_); });
    shorten("not_not", [](T x) { return logical_not(logical_not(x)); }, [](T x) { return astype(x, DType::bool_); });
    shorten("invert_invert", [](T x) { return ~~x; }, [](T x) { return x; });
    shorten("and_bits_true", [](T x) { return x & true; }, [](T x) { return x; }, {.guard = of_bool, .dtypes = {DType::bool_}});
    shorten("or_bits_false", [](T x) { return x | false; }, [](T x) { return x; });
    shorten("where_both", [](T c, T x) { return where(c, x, x); }, [](T, T x) { return x; });
    shorten("where_not", [](T c, T x, T y) { return where(logical_not(c), x, y); }, [](T c, T x, T y) { return where(c, y, x); });
    shorten("where_of_where", [](T c, T x, T y, T z) { return where(c, where(c, x, y), z); }, [](T c, T x, T, T z) { return where(c, x, z); });
    shorten("where_else_where", [](T c, T x, T y, T z) { return where(c, x, where(c, y, z)); }, [](T c, T x, T, T z) { return where(c, x, z); });
    shorten("add_of_wheres", [](T c, T a, T b, T x, T y) { return where(c, a, b) + where(c, x, y); }, [](T c, T a, T b, T x, T y) { return where(c, a + x, b + y); });
    shorten("product_with_where", [](T c, T a, T b) { return where(c, 0, a) * b; }, [](T c, T a, T b) { return where(c, 0, a * b); }, {.assumes = Assumes::finite, .takes = not_bool});
    shorten("product_with_where_else", [](T c, T a, T b) { return where(c, a, 0) * b; }, [](T c, T a, T b) { return where(c, a * b, 0); }, {.assumes = Assumes::finite, .takes = not_bool});
    // A gate stays one: what it closes may be infinite.
    shorten("gate_with_where", [](T c, T a, T b) { return gated_multiply(where(c, 0, a), b); }, [](T c, T a, T b) { return where(c, 0, gated_multiply(a, b)); }, {.takes = not_bool});
    shorten("gate_with_where_else", [](T c, T a, T b) { return gated_multiply(where(c, a, 0), b); }, [](T c, T a, T b) { return where(c, gated_multiply(a, b), 0); }, {.takes = not_bool});
    shorten("gated_where", [](T c, T a, T b) { return gated_multiply(b, where(c, 0, a)); }, [](T c, T a, T b) { return where(c, 0, gated_multiply(b, a)); }, {.assumes = Assumes::finite, .takes = not_bool});
    shorten("gated_where_else", [](T c, T a, T b) { return gated_multiply(b, where(c, a, 0)); }, [](T c, T a, T b) { return where(c, gated_multiply(b, a), 0); }, {.assumes = Assumes::finite, .takes = not_bool});
    shorten("negative_out_of_gate", [](T x, T y) { return gated_multiply(-x, y); }, [](T x, T y) { return -gated_multiply(x, y); });
    shorten("negative_out_of_gated", [](T x, T y) { return gated_multiply(x, -y); }, [](T x, T y) { return -gated_multiply(x, y); });
    shorten("minimum_by_maximum", [](T x, T y) { return -maximum(-x, -y); }, [](T x, T y) { return minimum(x, y); }, {.takes = real_inexact});
    shorten("radians_of_degrees", [](T x) { return deg2rad(rad2deg(x)); }, [](T x) { return x; }, {.assumes = Assumes::finite});
    shorten("degrees_of_radians", [](T x) { return rad2deg(deg2rad(x)); }, [](T x) { return x; }, {.assumes = Assumes::finite});
    // clang-format on

    add(rule_at("cast_of_cast", canonical, {&astype_operation}, cast_of_cast,
                {.examples = {example([](T x) { return astype(astype(x, DType::float64), DType::int32); }, {},
                                      {DType::int8, DType::int32, DType::float32}),
                              example([](T x) { return astype(astype(x, DType::float32), DType::float16); }, {},
                                      {DType::float16, DType::int8, DType::bool_})}}));
    add(rule_at("cast_of_choice", canonical, {&astype_operation}, cast_of_choice,
                {.examples = {example([](T x) { return astype(where(x > 0, 1, 0), DType::float64); })}}));
    add(rule_at("where_known", canonical, {&where_operation}, choose,
                {.examples = {example([](T x, T y) { return where(Tensor(true), x, y); }),
                              example([](T x, T y) { return where(Tensor(false), x, y); })}}));
    add(rule_at("round_whole", canonical, {&floor_operation, &ceil_operation, &trunc_operation, &round_operation},
                whole_already,
                {.examples = {example([](T x) { return floor(round(x)); }),
                              example([](T x) { return round(x); }, {}, {DType::int32})}}));
    add(rule_at(
        "abs_nonnegative", canonical, {&abs_operation, &relu_operation}, nonnegative_already,
        {.examples = {example([](T x) { return abs(exp(x)); }), example([](T x) { return relu(square(x)); })}}));
    add(rule_at(
        "open_gate", canonical, {&gated_multiply_operation}, open_gate,
        {.examples = {example([](T x) { return gated_multiply(Tensor(3, x.dtype()), x); }, {}, {DType::float32}),
                      example([](T x, T y) { return gated_multiply(1 + exp(x), y); }, {}, {DType::float64})}}));
    add(rule_at("real_of_real", canonical, {&real_operation, &conj_operation}, real_already,
                {.examples = {example([](T x) { return real(x); }, {}, {DType::float32, DType::int32})}}));
    add(rule_at(
        "extreme_by_facts", canonical, {&maximum_operation, &minimum_operation}, larger_by_facts,
        {.examples = {example([](T x) { return maximum(abs(x), -1); }, {}, {DType::float32, DType::float64})}}));
    add(rule_at("decided_by_facts", canonical,
                {&less_operation, &less_equal_operation, &greater_operation, &greater_equal_operation}, decided,
                {.examples = {example([](T x) { return astype(x, DType::uint8) >= Tensor(0, DType::uint8); }, {},
                                      {DType::int32})}}));
}

}  // namespace weft
