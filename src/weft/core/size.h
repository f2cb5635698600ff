// A size along an axis: a known number, or an expression over named sizes ("batch", "2*batch + 1", "batch//2") that is bound later.
// Arithmetic on sizes works for both, so a shape rule is written once. Sizes are values, eight bytes, compared by ==: equal
// expressions are one entry of a table that only grows with the number of distinct expressions a program writes.
// Callers: core/shape.h and every shape rule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

class Size {
  public:
    Size() = default;
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    Size(Integer value) : code_(static_cast<std::int64_t>(value)) {}
    /// A named size, known later. The same name is the same size.
    static Size symbol(std::string_view name);
    Size(const char* name) : Size(symbol(name)) {}

    /// A negative number is known too (reshape's -1); it is refused where a size is needed.
    bool known() const { return code_ > first_name + (std::int64_t{1} << 62); }
    /// The number; ShapeError if it is not known yet.
    std::int64_t value() const;
    std::string str() const;
    /// With every named size replaced by what `lookup` gives (nothing: it stays).
    Size substitute(const std::function<std::optional<std::int64_t>(std::string_view)>& lookup) const;

    friend bool operator==(Size a, Size b) { return a.code_ == b.code_; }
    friend Size operator+(Size a, Size b);
    friend Size operator-(Size a, Size b);
    friend Size operator*(Size a, Size b);
    /// Floor division; by zero is a ShapeError.
    friend Size operator/(Size a, Size b);
    friend std::ostream& operator<<(std::ostream& out, Size size) { return out << size.str(); }
    /// Eight bytes that tell sizes apart: for hashing.
    std::int64_t code() const { return code_; }

  private:
    friend struct SizeTable;
    static constexpr std::int64_t first_name = INT64_MIN;
    std::int64_t code_ = 0;  // the number; or, far below every size, first_name + index in the table of expressions
};

/// Whether a and b can be equal: certainly not only if both are known (or differ by a known number other than zero).
bool may_equal(Size a, Size b);

}  // namespace weft
