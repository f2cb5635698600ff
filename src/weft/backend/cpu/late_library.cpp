#include "weft/backend/cpu/late_library.h"

#include <dlfcn.h>

#include <mutex>

namespace weft::cpu {
namespace {

struct State {
    void* (*open)() = nullptr;  // null: it was linked
    std::once_flag once;
    void* handle = RTLD_DEFAULT;
    bool there = true;
};

State& state_of(LateLibrary library) {
    static State states[2];
    return states[static_cast<int>(library)];
}

const State& opened(LateLibrary library) {
    State& state = state_of(library);
    std::call_once(state.once, [&state] {
        if (!state.open) return;
        state.handle = state.open();
        state.there = state.handle != nullptr;
    });
    return state;
}

}  // namespace

[[gnu::cold]] void open_late(LateLibrary library, void* (*open)()) { state_of(library).open = open; }

bool is_there(LateLibrary library) { return opened(library).there; }

void* symbol_of(LateLibrary library, const char* name) {
    const State& state = opened(library);
    return state.there ? dlsym(state.handle, name) : nullptr;
}

}  // namespace weft::cpu
