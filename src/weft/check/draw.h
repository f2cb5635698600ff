// What operations are checked on: numbers drawn from a seed, and the ways in which the same numbers can lie in memory.
// Always: the same seed gives the same numbers on every machine. Callers: check/, tests.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "weft/core/array.h"
#include "weft/graph/operation.h"

namespace weft {

class Draw {
  public:
    explicit Draw(std::string_view seed);
    std::uint64_t bits();  ///< SplitMix64 (Steele, Lea & Flood, 2014)
    double uniform(double low, double high);
    std::int64_t below(std::int64_t n);  ///< 0 .. n - 1
    /// Row-major numbers of the domain; without one: floats of [-3, 3], small and middling integers.
    Array array(DType dtype, const Dims& dims, const Domain* domain = nullptr);
    Array indices(DType dtype, const Dims& dims,
                  std::int64_t below);  ///< from the front and (signed types) from the end

  private:
    double number(DType dtype, const Domain* domain);
    std::uint64_t state_;
};

/// How an array lies in memory.
enum class Form : std::uint8_t { contiguous, transposed, strided, reversed, shifted, repeated };
inline constexpr std::array all_forms{Form::contiguous, Form::transposed, Form::strided,
                                      Form::reversed,   Form::shifted,    Form::repeated};
std::string_view name_of(Form form);
/// The same numbers, lying so. `repeated` is the exception: along the first axis all are what stood first, with stride 0.
Array laid_out(const Array& array, Form form);

/// NaN, infinities, zeros, denormals and the ends of the type's range (integers: the ends and what is near 0); what is above `limit` is `limit`.
Array special_values(DType dtype, double limit = std::numeric_limits<double>::infinity());

}  // namespace weft
