#pragma once
#include <cstdlib>
#include "weft/backend/cpu/isa.h"
namespace weft::cpu {
inline unsigned long exp_env(const char* n, unsigned long d) { const char* v = std::getenv(n); return v ? std::strtoul(v, nullptr, 0) : d; }
inline bool no_zen_at(int i) { static const unsigned long m = exp_env("WEFT_NZ", 0); return (m >> i & 1) == 0 && is_no_zen(); }
inline bool zen4_at(int i) { static const unsigned long m = exp_env("WEFT_Z4", 0); return (m >> i & 1) || is_zen4(); }
}
