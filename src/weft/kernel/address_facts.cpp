#include "weft/kernel/address_facts.h"

#include "weft/base/error.h"

namespace weft {

AddressFacts::AddressFacts(const Loop& loop) {
    auto keep = [](const std::vector<Access>& accesses, std::vector<Fact>& facts) {
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (accesses[i].alignment == 0) continue;
            Fact* last = facts.empty() ? nullptr : &facts.back();
            if (last && last->mask == accesses[i].alignment - 1 && last->number + last->count == i)
                ++last->count;
            else
                facts.push_back({i, 1, accesses[i].alignment - 1});
        }
    };
    keep(loop.loads, loads_), keep(loop.stores, stores_);
}

void AddressFacts::refuse(const void* const* loads, const void* const* stores) const {
    auto look = [](std::string_view what, const std::vector<Fact>& facts, const void* const* addresses) {
        for (const Fact& fact : facts) {
            for (std::size_t i = fact.number; i < fact.number + fact.count; ++i) {
                if ((reinterpret_cast<std::uintptr_t>(addresses[i]) & fact.mask) == 0) continue;
                throw InternalError(text("loop: ", what, i, " is aligned to ", fact.mask + 1,
                                         " bytes, but its address is ", addresses[i]));
            }
        }
    };
    look("load ", loads_, loads), look("store ", stores_, stores);
    throw InternalError("loop: an address was refused that is aligned as promised");
}

}  // namespace weft
