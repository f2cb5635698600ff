#include "weft/runtime/allowance.h"

#include <algorithm>

namespace weft {
namespace {

/// The maker's mutex is held already; of another only if nobody else has it: who waits for the other way round would wait forever.
std::unique_lock<std::mutex> hold(Allowance::Holder& holder, const Allowance::Holder& maker) {
    if (&holder == &maker) return {};
    return {holder.mutex, std::try_to_lock};
}

}  // namespace

void Allowance::enter(Holder& holder) {
    std::lock_guard lock(mutex_);
    holders_.push_back(&holder);
}

void Allowance::leave(Holder& holder) {
    std::lock_guard lock(mutex_);
    std::erase(holders_, &holder);
}

Allowance::Oldest Allowance::oldest(Holder& maker) const {
    Oldest found;
    for (Holder* holder : holders_) {
        std::unique_lock<std::mutex> lock = hold(*holder, maker);
        if (holder != &maker && !lock) continue;
        Holder::Has has = holder->has(holder == &maker);
        found.programs += has.programs, found.bytes += has.bytes;
        if (has.oldest < found.used) found.of = holder, found.used = has.oldest;
    }
    return found;
}

void Allowance::make_room(Holder& maker) {
    std::vector<std::shared_ptr<void>> gone;  // outlives the lock
    std::lock_guard lock(mutex_);
    for (;;) {
        Oldest found = oldest(maker);
        if (!found.of || (found.programs <= most_programs_ && found.bytes <= most_bytes_)) return;
        std::unique_lock<std::mutex> held = hold(*found.of, maker);
        if (found.of != &maker && !held) continue;  // it runs now: another is the oldest
        gone.push_back(found.of->oldest_taken(found.of == &maker));
    }
}

}  // namespace weft
