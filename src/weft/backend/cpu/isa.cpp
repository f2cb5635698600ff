#include "weft/backend/cpu/isa.h"

#include <algorithm>
#include <atomic>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

#include "weft/base/environment.h"
#include "weft/base/error.h"

namespace weft::cpu {
namespace {

// By cpuid, never by the processor's name: names lie (a compiler's "native" may take half of the vector width).
bool runs(Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == Isa::avx512)
        return runs(Isa::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return isa == Isa::baseline;
}

constexpr Isa all_isas[] = {
#define WEFT_ISA_VALUE(name) Isa::name,
    WEFT_FOR_EACH_ISA(WEFT_ISA_VALUE)
#undef WEFT_ISA_VALUE
};

bool wants_tiles() {
    auto choice = environment("WEFT_AMX");
    if (!choice || *choice == "on") return true;
    if (*choice == "off") return false;
    throw ValueError(text("WEFT_AMX is '", *choice, "'; it may be on or off"));
}

/// The one of this name, among all that have one.
template <class Named>
Named named(const char* variable, const std::string& wanted, std::span<const Named> all, const char* rule) {
    std::string known;
    for (Named one : all) {
        if (name_of(one) == wanted) return one;
        known += (known.empty() ? "" : ", ") + std::string(name_of(one));
    }
    throw ValueError(text(variable, " is '", wanted, "', but ", rule, " ", known));
}

Isa chosen() {
    (void)wants_tiles();  // a mistake is said before any work
    std::span<const Isa> usable = usable_isas();
    auto wanted = environment("WEFT_ISA");
    return wanted ? named("WEFT_ISA", *wanted, usable, "this build on this processor runs") : usable.back();
}

std::atomic<Isa>& in_use() {
    static std::atomic<Isa> isa{chosen()};
    return isa;
}

// As cpuid counts AMD's processors. Of zen4_family those before it have no vectors of 512 bits.
constexpr unsigned zen4_family = 0x19, zen5_family = 0x1a;

unsigned family_of_amd() {
#if defined(__x86_64__)
    unsigned signature = 0, b = 0, c = 0, d = 0;
    if (__builtin_cpu_is("amd") && __get_cpuid(1, &signature, &b, &c, &d))
        return (signature >> 8 & 0xf) + (signature >> 20 & 0xff);
#endif
    return 0;
}

bool has_vectors_of_512() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

constexpr Processor all_processors[] = {
#define WEFT_PROCESSOR_VALUE(name) Processor::name,
    WEFT_FOR_EACH_PROCESSOR(WEFT_PROCESSOR_VALUE)
#undef WEFT_PROCESSOR_VALUE
};

Processor this_one() {
    unsigned family = family_of_amd();
    if (family == 0) return Processor::intel;
    if (family == zen5_family) return Processor::zen5;
    return !has_vectors_of_512() ? Processor::zen3 : family == zen4_family ? Processor::zen4 : Processor::intel;
}

Processor chosen_processor() {
    auto wanted = environment("WEFT_PROCESSOR");
    return wanted
               ? named("WEFT_PROCESSOR", *wanted, std::span<const Processor>(all_processors), "kernels are chosen for")
               : this_one();
}

std::atomic<Processor>& processor_in_use() {
    static std::atomic<Processor> kind{chosen_processor()};
    return kind;
}

std::atomic<bool>& halves_in_use() {
    static std::atomic<bool> use{is_zen4()};
    return use;
}

bool has_pairs() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

std::atomic<bool>& pairs_in_use() {
    static std::atomic<bool> use{has_pairs()};
    return use;
}

// AMX's registers are 8 KB that Linux saves only for processes that have asked (arch_prctl(2)): all threads have them then. It refuses where a
// thread's stack for signals is too small to save them.
bool may_have_tiles() {
#if WEFT_COMPILES_AVX512 && defined(__linux__)
    constexpr unsigned tiles_and_bfloat16 = 1u << 24 | 1u << 22;  // of cpuid 7, edx
    constexpr long request_permission = 0x1023, tile_data = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!runs(Isa::avx512) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    if ((d & tiles_and_bfloat16) != tiles_and_bfloat16) return false;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

bool has_tiles() {
    static const bool has = may_have_tiles();
    return has;
}

std::atomic<bool>& tiles_in_use() {
    static std::atomic<bool> use{wants_tiles() && has_tiles()};
    return use;
}

}  // namespace

Processor processor() { return processor_in_use().load(std::memory_order_relaxed); }
void use_processor(Processor kind) {
    processor_in_use() = kind;
    use_halves(kind == Processor::zen4);
}
bool is_intel() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}
bool computes_in_halves() { return halves_in_use().load(std::memory_order_relaxed); }
void use_halves(bool use) { halves_in_use() = use; }

bool multiplies_pairs() { return pairs_in_use().load(std::memory_order_relaxed); }
void use_pairs(bool use) { pairs_in_use() = use && has_pairs(); }

bool multiplies_tiles() {
#if WEFT_COMPILES_AVX512
    return best_isa() == Isa::avx512 && tiles_in_use().load(std::memory_order_relaxed);
#else
    return false;
#endif
}
void use_tiles(bool use) { tiles_in_use() = use && has_tiles(); }

Isa best_isa() { return in_use().load(std::memory_order_relaxed); }

std::span<const Isa> usable_isas() {
    static const std::vector<Isa> usable = [] {
        std::vector<Isa> list;
        std::copy_if(std::begin(all_isas), std::end(all_isas), std::back_inserter(list), runs);
        return list;
    }();
    return usable;
}

void use_isa(Isa isa) {
    if (!runs(isa)) throw ValueError(text("use_isa: this processor has no ", name_of(isa)));
    in_use().store(isa, std::memory_order_relaxed);
}

#define WEFT_QUOTED(name) #name,
std::string_view name_of(Processor kind) {
    static constexpr std::string_view names[] = {WEFT_FOR_EACH_PROCESSOR(WEFT_QUOTED)};
    return names[static_cast<std::size_t>(kind)];
}
std::string_view name_of(Isa isa) {
    static constexpr std::string_view names[] = {WEFT_FOR_EACH_ISA(WEFT_QUOTED)};
    return names[static_cast<std::size_t>(isa)];
}
#undef WEFT_QUOTED

}  // namespace weft::cpu
