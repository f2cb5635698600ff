#include "weft/kernel/function_program.h"

#include <array>
#include <map>
#include <mutex>

#include "weft/kernel/elementary.h"
#include "weft/kernel/recorded.h"

namespace weft {
namespace {

template <class T, class Body>
Program record(bool complete, Body body) {
    Recording recording(complete);
    Recorded<T> x{recording.builder().input(dtype_of<T>)};
    recording.builder().output(body(x).s);
    if (recording.rare()) recording.builder().output(*recording.rare());
    return recording.builder().take();
}

std::optional<Program> recorded(const Function& function, DType dtype, bool complete) {
    if (dtype != DType::float32 || &function == &sin_function || &function == &cos_function) return std::nullopt;
#define WEFT_FUNCTION_1(name, ...)
#define WEFT_FUNCTION_2(name, ...)
#define WEFT_POLYNOMIAL_1(name, ...)   \
    if (&function == &name##_function) \
        return record<float>(complete, [](Recorded<float> x) { return elementary::name(x); });
#include "weft/kernel/functions.inc"
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
    return std::nullopt;
}

const Program* kept(const Function& function, DType dtype, bool complete) {
    static std::mutex mutex;
    static std::map<std::tuple<const Function*, DType, bool>, std::optional<Program>> programs;
    std::lock_guard lock(mutex);
    auto [at, fresh] = programs.try_emplace({&function, dtype, complete});
    if (fresh) at->second = recorded(function, dtype, complete);
    return at->second ? &*at->second : nullptr;
}

}  // namespace

const Program* program_of(const Function& function, DType dtype) { return kept(function, dtype, true); }
const Program* common_program_of(const Function& function, DType dtype) { return kept(function, dtype, false); }

}  // namespace weft
