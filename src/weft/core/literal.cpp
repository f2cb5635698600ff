#include "weft/core/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

namespace weft {
namespace {

void print(std::ostream& out, double value) {
    char buffer[32];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out.write(buffer, end - buffer);
}

}  // namespace

bool Literal::fits(DType dtype) const {
    if ((kind != Kind::signed_integer && kind != Kind::unsigned_integer) || !is_integer(dtype)) return true;
    return with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            if (kind == Kind::unsigned_integer) return std::in_range<T>(static_cast<std::uint64_t>(integer));
            return std::in_range<T>(integer);
        }
        return true;
    });
}

bool Literal::same(const Literal& other) const {
    return kind == other.kind && integer == other.integer &&
           std::bit_cast<std::uint64_t>(real) == std::bit_cast<std::uint64_t>(other.real) &&
           std::bit_cast<std::uint64_t>(imaginary) == std::bit_cast<std::uint64_t>(other.imaginary);
}

std::ostream& operator<<(std::ostream& out, const Literal& literal) {
    switch (literal.kind) {
        case Kind::boolean:
            return out << (literal.integer ? "True" : "False");
        case Kind::signed_integer:
            return out << literal.integer;
        case Kind::unsigned_integer:
            return out << static_cast<std::uint64_t>(literal.integer);
        case Kind::floating:
            print(out, literal.real);
            return out;
        case Kind::complex:
            out << '(';
            print(out, literal.real);
            out << (std::signbit(literal.imaginary) ? "" : "+");
            print(out, literal.imaginary);
            return out << "j)";
    }
    __builtin_unreachable();
}

}  // namespace weft
