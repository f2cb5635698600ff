// Loops in memory between guard pages, for the tests of the emitter: what the interpreter leaves there and what a prepared loop does.
// Callers: tests/emit.
#pragma once

#include <gtest/gtest.h>

#include "backend/random_loop.h"
#include "effort.h"
#include "guarded.h"
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"
#include "weft/found.h"
#include "weft/kernel/address_facts.h"
#include "weft/kernel/interpreter.h"

namespace weft {

/// What a test that skips lacks.
inline constexpr const char* no_emitter =
    "this build or processor has no emitter (it needs xbyak, and x86-64 with AVX2)";

using cpu::Isa;
using cpu::emit::EmitOptions;

/// The instruction sets that are emitted for on this machine; none without xbyak.
inline std::vector<Isa> emitted_isas() {
    std::vector<Isa> isas;
#if WEFT_HAVE_XBYAK
    for (Isa isa : cpu::usable_isas())
        if (isa != Isa::baseline) isas.push_back(isa);
#endif
    return isas;
}

/// Loops become machine code so, until this ends.
class Emitting {
  public:
    explicit Emitting(cpu::emit::Emission choice) : before_(cpu::emit::emission()) { cpu::emit::use_emission(choice); }
    ~Emitting() { cpu::emit::use_emission(before_); }

  private:
    cpu::emit::Emission before_;
};

class UseIsa {
  public:
    explicit UseIsa(Isa isa) : before_(cpu::best_isa()) { cpu::use_isa(isa); }
    ~UseIsa() { cpu::use_isa(before_); }

  private:
    Isa before_;
};

inline Guarded& arena(std::size_t number) {
    static std::vector<std::unique_ptr<Guarded>> arenas;
    while (arenas.size() <= number) arenas.push_back(std::make_unique<Guarded>());
    return *arenas[number];
}

struct Case : LoopCase {
    bool at_end = true;
};

/// As if the loop were a block of large arrays: what follows is fetched, results are stored past the caches.
inline void let_pass(Loop& loop) {
    for (auto* accesses : {&loop.loads, &loop.stores})
        for (Access& access : *accesses) access.passes = std::size_t{1} << 30;
}

/// All that can be said of how the case's memory lies between its guards: each access is aligned as its address is.
inline void promise_alignments(Case& c) {
    std::size_t next = 0;
    auto promise = [&](Access& access, const Memory& memory) {
        if (memory.bytes.empty()) return;
        auto address =
            reinterpret_cast<std::uintptr_t>(arena(next++).place(memory.bytes.size(), c.at_end) + memory.first);
        std::uintptr_t lowest = address & (0 - address);
        if (access.source == Source::memory && lowest >= size_of(access.dtype))
            access.alignment = std::min<std::uintptr_t>(lowest, Guarded::page);
    };
    for (std::size_t i = 0; i < c.loads.size(); ++i) promise(c.loop.loads[i], c.loads[i]);
    for (std::size_t i = 0; i < c.stores.size(); ++i) promise(c.loop.stores[i], c.stores[i]);
}

inline std::vector<std::vector<std::byte>> expected_of(const LoopCase& c) {
    std::vector<Memory> stores = c.stores, loads = c.loads;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (Memory& memory : loads) from.push_back(memory.data());
    for (Memory& memory : stores) to.push_back(memory.data());
    interpret(c.loop, from.data(), to.data());
    std::vector<std::vector<std::byte>> result;
    for (Memory& memory : stores) result.push_back(memory.bytes);
    return result;
}

inline std::vector<std::vector<std::byte>> run_guarded(const Case& c, const cpu::PreparedLoop& prepared) {
    std::vector<const void*> from;
    std::vector<void*> to;
    std::vector<std::byte*> starts;
    std::size_t next = 0;
    for (Memory memory : c.loads)
        from.push_back(memory.bytes.empty() ? memory.data()
                                            : arena(next++).place(memory.bytes, c.at_end) + memory.first);
    for (const Memory& memory : c.stores) {
        starts.push_back(arena(next++).place(memory.bytes, c.at_end));
        to.push_back(starts.back() + memory.first);
    }
    AddressFacts(c.loop).check(from.data(), to.data());
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    prepared.run(from.data(), to.data(), static_cast<std::byte*>(scratch->data()));
    std::vector<std::vector<std::byte>> result;
    for (std::size_t i = 0; i < starts.size(); ++i)
        result.emplace_back(starts[i], starts[i] + c.stores[i].bytes.size());
    return result;
}

inline std::string options_text(Isa isa, const EmitOptions& options) {
    return text(cpu::name_of(isa), ", unroll ", options.unroll, ", registers ", options.registers,
                options.half ? ", half vectors" : "", options.masked ? ", masked" : "");
}

/// Compares on one instruction set; zeros of either sign may be taken for equal.
inline void expect_bits(const Case& c, const std::vector<std::vector<std::byte>>& expected, Isa isa,
                        const EmitOptions& options, const std::string& name) {
    UseIsa use(isa);
    auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
    ASSERT_TRUE(prepared) << name << ": " << options_text(isa, options) << '\n' << c.loop;
    auto got = run_guarded(c, *prepared);
    for (std::size_t i = 0; i < got.size(); ++i) {
        std::int64_t at = difference(c.loop.stores[i].dtype, expected[i], got[i]);
        ASSERT_EQ(at, -1) << name << ": " << options_text(isa, options) << ", store " << i << '\n' << c.loop;
    }
}

/// Without guards: what a prepared loop leaves in its stores.
inline std::vector<std::vector<std::byte>> run_plain(LoopCase c, const cpu::PreparedLoop& prepared,
                                                     bool in_place = false) {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (Memory& memory : c.loads) from.push_back(memory.data());
    for (Memory& memory : c.stores) to.push_back(memory.data());
    if (in_place) to[0] = c.loads[0].data();
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    prepared.run(from.data(), to.data(), static_cast<std::byte*>(scratch->data()));
    std::vector<std::vector<std::byte>> result;
    for (Memory& memory : c.stores) result.push_back(memory.bytes);
    if (in_place) result[0] = c.loads[0].bytes;
    return result;
}

inline void expect_same(const LoopCase& c, const std::vector<std::vector<std::byte>>& expected,
                        const std::vector<std::vector<std::byte>>& got, const std::string& name) {
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(difference(c.loop.stores[i].dtype, expected[i], got[i]), -1) << name << ", store " << i << '\n'
                                                                               << c.loop;
}

}  // namespace weft
