// The instruction sets that weft's own kernels are compiled for, and the one in use: the best that the processor has,
// unless WEFT_ISA or use_isa() says otherwise. Sources below isa/ are compiled once a set, each in a namespace named
// after it. Callers: the dispatch of each kernel in backend/cpu, tests.
#pragma once

#include <span>
#include <string_view>

// The namespaces that exist in this build; each kernel's table is declared in every one of them by this list.
#if defined(__x86_64__)
#define WEFT_FOR_EACH_ISA(X) X(baseline) X(avx2) X(avx512)
#define WEFT_OF_ISA(isa, member) \
    ((isa) == Isa::avx512 ? avx512::member : (isa) == Isa::avx2 ? avx2::member : baseline::member)
#else
#define WEFT_FOR_EACH_ISA(X) X(baseline)
#define WEFT_OF_ISA(isa, member) baseline::member
#endif
// A member of the namespace of the set in use: a table or a function that a source below isa/ defines once a set.
#define WEFT_OF_BEST_ISA(member) WEFT_OF_ISA(best_isa(), member)

// Those whose loops are compiled. A sanitized build has one set of loops, the best that its processor runs, under every name: the sources
// are the same, and three times what there is to find takes three times as long to compile.
#if defined(WEFT_ONLY_ISA)
#define WEFT_FOR_EACH_COMPILED_ISA(X) X(WEFT_ONLY_ISA)
#else
#define WEFT_FOR_EACH_COMPILED_ISA(X) WEFT_FOR_EACH_ISA(X)
#endif

#if defined(__x86_64__) && (!defined(WEFT_ONLY_ISA) || WEFT_ONLY_ISA_avx512)
#define WEFT_COMPILES_AVX512 1
#else
#define WEFT_COMPILES_AVX512 0
#endif

namespace weft::cpu {

#if defined(WEFT_ONLY_ISA)
namespace WEFT_ONLY_ISA {}
#if !WEFT_ONLY_ISA_baseline
namespace baseline = WEFT_ONLY_ISA;
#endif
#if !WEFT_ONLY_ISA_avx2
namespace avx2 = WEFT_ONLY_ISA;
#endif
#if !WEFT_ONLY_ISA_avx512
namespace avx512 = WEFT_ONLY_ISA;
#endif
#endif

#define WEFT_ISA_ENUMERATOR(name) name,
enum class Isa { WEFT_FOR_EACH_ISA(WEFT_ISA_ENUMERATOR) };
#undef WEFT_ISA_ENUMERATOR

/// The set in use.
Isa best_isa();
/// The sets that this processor runs, worst first.
std::span<const Isa> usable_isas();
/// From now on `isa`, which must be usable (ValueError); for tests.
void use_isa(Isa isa);
std::string_view name_of(Isa isa);
/// The processors that were measured. What is best on one of them is a loss on another: how far ahead memory is asked for, how many rows a product's
/// tile has, who copies its panels. zen3 is AMD's without vectors of 512 bits, also those before it, of which none was measured; intel (an Emerald
/// Rapids) stands for all others.
#define WEFT_FOR_EACH_PROCESSOR(X) X(intel) X(zen3) X(zen4) X(zen5)
#define WEFT_PROCESSOR_ENUMERATOR(name) name,
enum class Processor : unsigned char { WEFT_FOR_EACH_PROCESSOR(WEFT_PROCESSOR_ENUMERATOR) };
#undef WEFT_PROCESSOR_ENUMERATOR
/// The one for which kernels are chosen: this one, unless WEFT_PROCESSOR or use_processor() says otherwise.
Processor processor();
/// From now on as for this one, its halves too (use_halves); for tests, so that any machine tests what was chosen for others. No choice asks for
/// instructions: which there are says best_isa(). Results are the same, but for large products that a library would take.
void use_processor(Processor kind);
std::string_view name_of(Processor kind);
/// A Zen 5 reads an array faster when loops ask for what lies far ahead, by which a Zen 4 loses.
inline bool is_zen5() { return processor() == Processor::zen5; }
inline bool is_zen4() { return processor() == Processor::zen4; }
inline bool is_zen3() { return processor() == Processor::zen3; }
/// What was measured on an Intel is chosen. A Zen 3 does well by that (of its time with what a Zen 4 wants: softmax 0.95, gradient of layer norm 0.93,
/// products 0.93 to 1.0).
inline bool is_no_zen() { return !is_zen4() && !is_zen5(); }
/// Whether this is one of Intel's, whatever is chosen: their first approximations of inverses are given to the bit.
bool is_intel();
/// Whether its vectors of 512 bits are computed as two halves, so that half a vector takes half of the time: a Zen 4's are.
bool computes_in_halves();
/// From now on as if so, or not; for tests. Results are the same, but for large products that a library would take.
void use_halves(bool use);
/// Whether avx512's products of bfloat16 take the processor's instruction for pairs of them (AVX512_BF16).
bool multiplies_pairs();
/// From now on without it, or with it where the processor has it; for tests.
void use_pairs(bool use);
/// Whether products of bfloat16 are made by AMX, the processor's unit for tiles of matrices: where it is there, avx512 is in use, the system lets
/// this process have it (asked for by the first call), and WEFT_AMX is not off. Their last bits are others.
bool multiplies_tiles();
/// From now on without it, or with it where it may be had; for tests.
void use_tiles(bool use);

}  // namespace weft::cpu
