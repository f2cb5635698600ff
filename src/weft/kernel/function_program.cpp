// What is recorded is run once a function: forced inlining would make this file the longest of all to compile, for nothing.
#define WEFT_INLINE_AS_COMPILER_LIKES
#include "weft/kernel/function_program.h"

#include <array>
#include <map>
#include <mutex>

#include "weft/kernel/elementary.h"
#include "weft/kernel/elementary/bessel.h"
#include "weft/kernel/elementary/gamma_function.h"
#include "weft/kernel/elementary/scaled_error.h"
#include "weft/kernel/recorded.h"
#include "weft/kernel/special.h"

namespace weft {
namespace {

/// How a function is recorded: see Recording.
struct Way {
    bool complete;
    Scaling scaling;
    auto operator<=>(const Way&) const = default;
};

template <int arity, class T, class Body>
Program record(Way way, Body body) {
    using V = Recorded<T>;
    Recording recording(way.complete, way.scaling);
    V x{Recording::input(V::dtype)};
    if constexpr (arity == 1) {
        return recording.take(V::dtype, body(x).number);
    } else {
        V y{Recording::input(V::dtype)};
        return recording.take(V::dtype, body(x, y).number);
    }
}

template <int arity, class Body>
std::optional<Program> record(DType dtype, Way way, Body body) {
    if (dtype == DType::float32) return record<arity, float>(way, body);
    if (dtype == DType::float64) return record<arity, double>(way, body);
    return std::nullopt;
}

std::optional<Program> recorded(const Function& function, DType dtype, Way way) {
#define WEFT_FUNCTION_1(name, ...)
#define WEFT_FUNCTION_2(name, ...)
#define WEFT_PROGRAM_1(name, ...) \
    if (&function == &name##_function) return record<1>(dtype, way, [](auto x) { return elementary::name(x); });
#define WEFT_PROGRAM_2(name, ...)      \
    if (&function == &name##_function) \
        return record<2>(dtype, way, [](auto x, auto y) { return elementary::name(x, y); });
#include "weft/kernel/functions.inc"
#define WEFT_FUNCTION_3(name, ...)
#define WEFT_PROGRAM_1(name, ...) \
    if (&function == &name##_function) return record<1>(dtype, way, [](auto x) { return elementary::name(x); });
#include "weft/kernel/special.inc"
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
#undef WEFT_FUNCTION_3
    return std::nullopt;
}

const Program* kept(const Function& function, DType dtype, Way way) {
    static std::mutex mutex;
    static std::map<std::tuple<const Function*, DType, Way>, std::optional<Program>> programs;
    std::lock_guard lock(mutex);
    auto [at, fresh] = programs.try_emplace({&function, dtype, way});
    if (fresh) at->second = recorded(function, dtype, way);
    return at->second ? &*at->second : nullptr;
}

}  // namespace

const Program* program_of(const Function& function, DType dtype, Scaling scaling) {
    return kept(function, dtype, {true, scaling});
}
const Program* common_program_of(const Function& function, DType dtype, Scaling scaling) {
    return kept(function, dtype, {false, scaling});
}

}  // namespace weft
