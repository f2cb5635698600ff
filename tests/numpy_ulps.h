// NumPy's validation set of mathematical functions, from the folder of judges: an argument, the value, and how many numbers off is
// allowed. Callers: whatever evaluates functions, in tests/kernel and tests/backend.
#pragma once

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "weft/base/environment.h"
#include "weft/kernel/function.h"

namespace weft {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
struct JudgedValue {
    T argument, value;
    double allowed;
};

struct NumpyUlps {
    std::map<const Function*, std::vector<JudgedValue<float>>> float32;
    std::map<const Function*, std::vector<JudgedValue<double>>> float64;

    template <class T>
    auto& of() {
        if constexpr (sizeof(T) == 4)
            return float32;
        else
            return float64;
    }
};

inline constexpr const char* no_numpy_ulps =
    "neither WEFT_JUDGES nor WEFT_DATA/../judges has numpy-ulp.tar.xz (or tar with xz is missing)";

/// Whether the value is NaN where it must be, else at most `allowed` numbers from where it must be.
template <class T>
bool meets(T got, const JudgedValue<T>& judged) {
    if (std::isnan(got) || std::isnan(judged.value)) return std::isnan(got) && std::isnan(judged.value);
    auto place = [](T x) {  // numbers in order
        auto bits = std::bit_cast<BitsOf<T>>(x), sign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
        return bits & sign ? -static_cast<double>(bits - sign) : static_cast<double>(bits);
    };
    BitsOf<T> a = std::bit_cast<BitsOf<T>>(got), b = std::bit_cast<BitsOf<T>>(judged.value);
    bool same_sign = std::signbit(got) == std::signbit(judged.value);
    double distance =
        same_sign ? static_cast<double>(a > b ? a - b : b - a) : std::fabs(place(got) - place(judged.value));
    return distance <= judged.allowed;
}

/// The file of one function: lines "np.float32,0xargument,0xvalue,allowed", others are comments.
inline void read_numpy_ulps(std::ifstream& file, const Function* function, NumpyUlps& set) {
    for (std::string line; std::getline(file, line);) {
        bool single = line.starts_with("np.float32,"), wide = line.starts_with("np.float64,");
        if (!single && !wide) continue;
        char* end = nullptr;
        std::uint64_t in = std::strtoull(line.c_str() + 11, &end, 16), out = std::strtoull(end + 1, &end, 16);
        double allowed = std::strtod(end + 1, &end);
        auto number = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
        if (single)
            set.float32[function].push_back({number(in), number(out), allowed});
        else
            set.float64[function].push_back({std::bit_cast<double>(in), std::bit_cast<double>(out), allowed});
    }
}

/// Nothing where there is no such set.
inline std::optional<NumpyUlps> numpy_ulps() {
    std::filesystem::path judges;
    if (auto folder = environment("WEFT_JUDGES"))
        judges = *folder;
    else if (auto data = environment("WEFT_DATA"))
        judges = std::filesystem::path(*data) / ".." / "judges";
    if (judges.empty() || !std::filesystem::exists(judges / "numpy-ulp.tar.xz")) return std::nullopt;
    auto to = std::filesystem::temp_directory_path() / ("weft-numpy-ulp-" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(to);
    std::string command = "tar xf '" + (judges / "numpy-ulp.tar.xz").string() + "' -C '" + to.string() + "'";
    if (std::system(command.c_str()) != 0) return std::nullopt;
    const std::map<std::string, const Function*> names{
        {"arccos", &acos_function},   {"arccosh", &acosh_function}, {"arcsin", &asin_function},
        {"arcsinh", &asinh_function}, {"arctan", &atan_function},   {"arctanh", &atanh_function},
        {"cbrt", &cbrt_function},     {"cos", &cos_function},       {"cosh", &cosh_function},
        {"exp", &exp_function},       {"exp2", &exp2_function},     {"expm1", &expm1_function},
        {"log", &log_function},       {"log10", &log10_function},   {"log1p", &log1p_function},
        {"log2", &log2_function},     {"sin", &sin_function},       {"sinh", &sinh_function},
        {"tan", &tan_function},       {"tanh", &tanh_function}};
    NumpyUlps set;
    for (const auto& [name, function] : names) {
        std::ifstream file(to / "numpy-ulp" / ("umath-validation-set-" + name + ".csv"));
        read_numpy_ulps(file, function, set);
    }
    std::filesystem::remove_all(to);
    return set;
}

}  // namespace weft
