// How wide the vectors of the instruction set are that a source is compiled for. Callers: loops in the compilers' own vectors (isa/).
#pragma once

namespace weft::cpu::WEFT_ISA {

#if defined(WEFT_ISA_avx512)
constexpr int vector_bytes = 64;
#elif defined(WEFT_ISA_avx2)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

}  // namespace weft::cpu::WEFT_ISA
