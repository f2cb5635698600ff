#include "weft/check/check.h"

#include <iostream>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/check/cases.h"
#include "weft/check/derivatives.h"
#include "weft/check/maps.h"
#include "weft/check/values.h"

namespace weft {
namespace {

bool always(const Operation&) { return true; }
bool several(const Operation& operation) { return plain_elementwise(operation) && operation.arity > 1; }
bool judged(const Operation& operation) { return plain_elementwise(operation) && operation.oracle != nullptr; }
bool lacks_derivative(const Operation& operation) { return !has_derivative(operation); }
bool of_complex(const Operation& operation) {
    DType type = operation.meet ? operation.meet(DType::complex128) : DType::complex128;
    return has_derivative(operation) && (!plain_elementwise(operation) || !operation.takes || operation.takes(type));
}
bool fusible(const Operation& operation) {
    return operation.family != Family::constant && operation.family != Family::random;
}

constexpr Check checks[] = {
    {"values", "what the plan computes is what the interpreter computes, for every dtype and size", always,
     check_values},
    {"layouts", "it does not matter how the inputs lie in memory", fusible, check_layouts},
    {"specials", "NaN, infinities, zeros, denormals and the ends of a type give what the interpreter gives",
     plain_elementwise, check_specials},
    {"accuracy", "the value lies within the units in the last place that the record states", judged, check_accuracy},
    {"promotion", "operands of two types meet in the promoted type, plain numbers take the tensor's", several,
     check_promotion},
    {"fusion", "fused into what stands around it, the result is the same", fusible, check_fusion},
    {"refusals", "types and shapes that it does not take are typed errors that name it", plain_elementwise,
     check_refusals},
    {"derivatives", "jvp is what differences give, and vjp is its transpose", has_derivative, check_derivatives},
    {"second_derivatives", "the same holds of the gradient", has_derivative, check_second_derivatives},
    {"complex_derivatives", "both hold of complex numbers, by real and imaginary parts", of_complex,
     check_complex_derivatives},
    {"missing_derivative", "a derivative that does not exist is refused by name", lacks_derivative,
     check_missing_derivative},
    {"maps", "mapped by vmap it gives what a loop gives, its derivatives too, and so does a map of a map",
     can_be_mapped, check_maps},
};

}  // namespace

std::span<const Check> all_checks() { return checks; }

int check(std::string_view name) {
    const Operation* operation = find_operation(name);
    if (!operation) {
        std::vector<std::string_view> names;
        for (const Operation* known : all_operations()) names.push_back(known->name);
        throw ValueError(text("check: there is no operation '", name, "'", did_you_mean(name, names)));
    }
    std::size_t run = 0, failed = 0;
    for (const Check& check : all_checks()) {
        if (!check.applies(*operation)) continue;
        Failures failures = check.run(*operation);
        ++run, failed += !failures.empty();
        for (const std::string& failure : failures) std::cout << check.name << ": " << failure << '\n';
    }
    std::cout << name << ": " << run << " checks, " << failed << " failed\n";
    return failed == 0 ? 0 : 1;
}

}  // namespace weft
