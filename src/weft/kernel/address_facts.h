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
        std::uintptr_t broken = 0;
        for (const Fact& fact : loads_) broken |= reinterpret_cast<std::uintptr_t>(loads[fact.number]) & fact.mask;
        for (const Fact& fact : stores_) broken |= reinterpret_cast<std::uintptr_t>(stores[fact.number]) & fact.mask;
        if (broken != 0) refuse(loads, stores);
    }

  private:
    struct Fact {
        std::size_t number;
        std::uintptr_t mask;  // bits that are 0 in such an address
    };
    [[noreturn]] void refuse(const void* const* loads, const void* const* stores) const;
    std::vector<Fact> loads_, stores_;
};

}  // namespace weft
