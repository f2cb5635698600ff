// What a Loop says of the addresses that it is run with (Access::alignment), ready to be checked each time it runs.
// Always: a wrong fact is an InternalError before anything is read or written, never a wrong result.
// Callers: the interpreter, backend/cpu.
#pragma once

#include "weft/kernel/loop.h"

namespace weft {

class AddressFacts {
  public:
    AddressFacts() = default;
    explicit AddressFacts(const Loop& loop);
    /// InternalError that names the load or store, its address and the alignment that was promised.
    void check(const void* const* loads, const void* const* stores) const {
        if ((broken(loads_, loads) | broken(stores_, stores)) != 0) refuse(loads, stores);
    }

  private:
    /// Of neighbours, which steps of loops have by the hundred.
    struct Fact {
        std::size_t number, count;
        std::uintptr_t mask;  // bits that are 0 in such an address
    };
    static std::uintptr_t broken(const std::vector<Fact>& facts, const void* const* addresses) {
        std::uintptr_t broken = 0;
        for (const Fact& fact : facts) {
            std::uintptr_t some = 0, others = 0;  // which need not wait for each other
            const void* const* here = addresses + fact.number;
            std::size_t i = 0;
            for (; i + 1 < fact.count; i += 2) {
                some |= reinterpret_cast<std::uintptr_t>(here[i]);
                others |= reinterpret_cast<std::uintptr_t>(here[i + 1]);
            }
            if (i < fact.count) some |= reinterpret_cast<std::uintptr_t>(here[i]);
            broken |= (some | others) & fact.mask;
        }
        return broken;
    }
    [[noreturn]] void refuse(const void* const* loads, const void* const* stores) const;
    std::vector<Fact> loads_, stores_;
};

}  // namespace weft
