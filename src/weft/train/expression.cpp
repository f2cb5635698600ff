#include "weft/train/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft::train {
namespace {

constexpr int deepest = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

[[noreturn]] void too_large() {
    throw ValueError("the result is beyond 64-bit integers; write one of the numbers as 1.0");
}

Json finite(double value) {
    if (!std::isfinite(value)) throw ValueError("the result is no finite number");
    return value;
}

/// One operation: on two integers where its result is one, else on two doubles.
struct Binary {
    std::string_view sign;
    int precedence;
    Json (*of_integers)(std::int64_t, std::int64_t);
    double (*of_numbers)(double, double);
};

Json floored(std::int64_t a, std::int64_t b) {
    if (b == 0) throw ValueError("division by zero");
    if (b == -1 && a == INT64_MIN) too_large();
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Json remainder_of(std::int64_t a, std::int64_t b) {
    if (b == 0) throw ValueError("division by zero");
    std::int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double divided(double a, double b) {
    if (b == 0) throw ValueError("division by zero");
    return a / b;
}

Json power_of(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) return finite(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    std::int64_t result = 1;
    for (bool more = exponent > 0; more; more = exponent > 0) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) too_large();
        exponent >>= 1;
        if (exponent && __builtin_mul_overflow(base, base, &base)) too_large();
    }
    return result;
}

template <auto with_overflow>
Json checked(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (with_overflow(a, b, &result)) too_large();
    return result;
}
bool add(std::int64_t a, std::int64_t b, std::int64_t* result) { return __builtin_add_overflow(a, b, result); }
bool subtract(std::int64_t a, std::int64_t b, std::int64_t* result) { return __builtin_sub_overflow(a, b, result); }
bool multiply(std::int64_t a, std::int64_t b, std::int64_t* result) { return __builtin_mul_overflow(a, b, result); }

Json negative(const Json& value) {
    return value.is_integer() ? checked<subtract>(0, value.as_integer()) : Json(-value.as_number());
}

constexpr int unary_precedence = 3;
/// Longer signs stand before those that they begin with.
const Binary binaries[] = {
    {"**", 4, power_of, [](double a, double b) { return std::pow(a, b); }},
    {"//", 2, floored, [](double a, double b) { return std::floor(divided(a, b)); }},
    {"+", 1, checked<add>, [](double a, double b) { return a + b; }},
    {"-", 1, checked<subtract>, [](double a, double b) { return a - b; }},
    {"*", 2, checked<multiply>, [](double a, double b) { return a * b; }},
    {"/", 2, nullptr, divided},
    {"%", 2, remainder_of,
     [](double a, double b) {
         double rest = std::fmod(a, b == 0 ? divided(a, b) : b);
         return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
     }},
};

struct Function {
    std::string_view name;
    std::size_t least, most;  // how many arguments
    Json (*value)(const std::vector<Json>& arguments);
};

double first(const std::vector<Json>& arguments) { return arguments[0].as_number(); }
/// A double as an integer: what rounding gives.
Json whole(double value) {
    if (!(std::abs(value) < 9.2e18)) too_large();
    return static_cast<std::int64_t>(value);
}
Json extreme(const std::vector<Json>& arguments, bool least) {
    auto below = [](const Json& a, const Json& b) { return a.as_number() < b.as_number(); };
    return least ? *std::min_element(arguments.begin(), arguments.end(), below)
                 : *std::max_element(arguments.begin(), arguments.end(), below);
}

const Function functions[] = {
    {"min", 1, 100, [](const std::vector<Json>& a) { return extreme(a, true); }},
    {"max", 1, 100, [](const std::vector<Json>& a) { return extreme(a, false); }},
    {"abs", 1, 1, [](const std::vector<Json>& a) { return first(a) < 0 ? negative(a[0]) : a[0]; }},
    {"floor", 1, 1, [](const std::vector<Json>& a) { return whole(std::floor(first(a))); }},
    {"ceil", 1, 1, [](const std::vector<Json>& a) { return whole(std::ceil(first(a))); }},
    {"round", 1, 1, [](const std::vector<Json>& a) { return whole(std::nearbyint(first(a))); }},
    {"sqrt", 1, 1, [](const std::vector<Json>& a) { return finite(std::sqrt(first(a))); }},
    {"log", 1, 1, [](const std::vector<Json>& a) { return finite(std::log(first(a))); }},
    {"exp", 1, 1, [](const std::vector<Json>& a) { return finite(std::exp(first(a))); }},
};

std::vector<std::string_view> function_names() {
    std::vector<std::string_view> names;
    for (const Function& function : functions) names.push_back(function.name);
    return names;
}

/// Precedence climbing (Richards, 1969) over the text itself.
class Reader {
  public:
    Reader(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}

    Json all() {
        Json value = expression(1);
        if (!rest().empty()) throw ValueError(text("'", rest(), "' is left over; an operator is missing before it"));
        return value;
    }

  private:
    std::string_view rest() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
        return text_.substr(at_);
    }
    bool take(std::string_view sign) {
        if (!rest().starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }
    static const Json& number(const Json& value, std::string_view sign) {
        if (!value.is_number()) throw ValueError(text("'", sign, "' takes numbers, found ", value.describe()));
        return value;
    }

    /// Everything that binds at least as tightly as `least`.
    Json expression(int least) {
        if (++depth_ > deepest) throw ValueError(text("nested more than ", deepest, " deep"));
        Json left = unary();
        for (const Binary* binary; (binary = next_binary(least));) {
            at_ += binary->sign.size();
            // ** groups from the right, and its exponent may have a sign: 2 ** -1.
            Json right = binary->sign == "**" ? expression(unary_precedence) : expression(binary->precedence + 1);
            left = applied(*binary, number(left, binary->sign), number(right, binary->sign));
        }
        --depth_;
        return left;
    }
    const Binary* next_binary(int least) {
        for (const Binary& binary : binaries) {
            if (rest().starts_with(binary.sign)) return binary.precedence >= least ? &binary : nullptr;
        }
        return nullptr;
    }
    static Json applied(const Binary& binary, const Json& a, const Json& b) {
        if (a.is_integer() && b.is_integer() && binary.of_integers)
            return binary.of_integers(a.as_integer(), b.as_integer());
        return finite(binary.of_numbers(a.as_number(), b.as_number()));
    }

    Json unary() {
        for (std::string_view sign : {"-", "+"}) {
            if (!take(sign)) continue;
            Json value = number(expression(unary_precedence), sign);
            return sign == "-" ? negative(value) : value;
        }
        return atom();
    }
    Json atom() {
        std::string_view left = rest();
        if (left.empty()) throw ValueError("a number or a name is missing at the end");
        if (take("(")) {
            Json value = expression(1);
            if (!take(")")) throw ValueError("')' is missing");
            return value;
        }
        if (is_digit(left[0]) || left[0] == '.') return literal(left);
        if (is_letter(left[0])) return name_or_call(left);
        throw ValueError(text("'", left.substr(0, 1), "' is no part of an expression; it takes numbers, names, ",
                              "+ - * / // % ** and parentheses"));
    }
    Json literal(std::string_view left) {
        std::int64_t integer = 0;
        double value = 0;
        auto [whole_end, whole_error] = std::from_chars(left.data(), left.data() + left.size(), integer);
        auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), value);
        bool is_whole = whole_error == std::errc() && whole_end == end;
        if (error != std::errc()) throw ValueError(text("'", left, "' is no number"));
        at_ += static_cast<std::size_t>(end - left.data());
        if (at_ < text_.size() && is_letter(text_[at_]))
            throw ValueError(text("'", left, "': an operator is missing behind the number"));
        return is_whole ? Json(integer) : finite(value);
    }
    Json name_or_call(std::string_view left) {
        std::size_t end = 0;
        while (end < left.size() && (is_letter(left[end]) || is_digit(left[end]) || left[end] == '.')) ++end;
        std::string_view name = left.substr(0, end);
        at_ += end;
        if (!take("(")) return lookup_(name);
        for (const Function& function : functions) {
            if (function.name == name) return call(function);
        }
        throw ValueError(text("there is no function '", name, "'", did_you_mean(name, function_names())));
    }
    Json call(const Function& function) {
        std::vector<Json> arguments;
        do arguments.push_back(number(expression(1), function.name));
        while (take(","));
        if (!take(")")) throw ValueError(text("')' is missing behind the arguments of ", function.name));
        if (arguments.size() < function.least || arguments.size() > function.most)
            throw ValueError(text(function.name, " takes ", function.least, " argument, found ", arguments.size()));
        return function.value(arguments);
    }

    std::string_view text_;
    const Lookup& lookup_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Json evaluate(std::string_view expression, const Lookup& lookup) { return Reader(expression, lookup).all(); }

bool is_variable_name(std::string_view word) {
    if (word.empty() || !is_letter(word[0]) || word == "env") return false;
    return std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace weft::train
