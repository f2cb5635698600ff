// The oracle of the families factorization and fourier. Caller: runtime/interpreter.cpp.
#pragma once

#include "weft/ops/factorization.h"
#include "weft/runtime/interpreter_elements.h"

namespace weft::oracle {

void run_factorization(const Node& node, std::span<const Elements> from, const Elements& to);
void run_fourier(const Node& node, const Elements& from, const Elements& to);

}  // namespace weft::oracle
