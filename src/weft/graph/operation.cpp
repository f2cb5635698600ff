#include "weft/graph/operation.h"

#include <algorithm>
#include <mutex>

namespace weft {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<const Operation*> operations;
    static Registry& get() {
        static Registry* registry =
            new Registry;  // never destroyed: records of any program may register and look up at any time
        return *registry;
    }
};

}  // namespace

std::string_view name_of(Family family) {
    static constexpr std::string_view names[] = {
        "leaf",        "constant", "elementwise", "reduce", "view",          "join",    "scan",   "gather",   "scatter",
        "contraction", "window",   "sort",        "random", "factorization", "fourier", "region", "composite"};
    return names[static_cast<std::size_t>(family)];
}

// Cold, as other functions that run when a program starts, and seldom after: such code lies together, and other pages stay untouched.
[[gnu::cold]] bool register_operation(const Operation& operation) {
    Registry& registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    auto& list = registry.operations;
    auto at = std::lower_bound(list.begin(), list.end(), operation.name,
                               [](auto* a, std::string_view name) { return a->name < name; });
    list.insert(at, &operation);
    return true;
}

std::span<const Operation* const> all_operations() { return Registry::get().operations; }

const Operation* find_operation(std::string_view name) {
    for (const Operation* operation : all_operations()) {
        if (operation->name == name) return operation;
    }
    return nullptr;
}

}  // namespace weft
