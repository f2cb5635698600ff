#include "weft/backend/cpu/emit/registers.h"

#include <algorithm>
#include <limits>

#include "weft/base/error.h"
#include "weft/base/integers.h"

namespace weft::cpu::emit {
namespace {

constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();

/// For every value, the demands that take it, in order; and how far one has come.
class Uses {
  public:
    Uses(std::span<const Demand> demands, std::size_t values) : first_(values + 1, 0), next_(values) {
        for (const Demand& demand : demands)
            for (std::int32_t value : demand.takes)
                if (value >= 0) ++first_[at(value) + 1];
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        std::copy(first_.begin(), first_.end() - 1, next_.begin());
        where_.resize(at(first_.back()));
        for (std::size_t i = 0; i < demands.size(); ++i)
            for (std::int32_t value : demands[i].takes)
                if (value >= 0) where_[at(next_[at(value)]++)] = static_cast<std::int32_t>(i);
        std::copy(first_.begin(), first_.end() - 1, next_.begin());
    }
    /// The first use after demand `now`.
    std::int32_t after(std::int32_t value, std::int32_t now) {
        std::int32_t& next = next_[at(value)];
        while (next < first_[at(value) + 1] && where_[at(next)] <= now) ++next;
        return next < first_[at(value) + 1] ? where_[at(next)] : never;
    }

  private:
    std::vector<std::int32_t> first_, next_, where_;
};

class Allocator {
  public:
    Allocator(std::span<const Demand> demands, std::span<const ValueInfo> values, std::array<int, bank_count> available)
        : demands_(demands),
          values_(values),
          uses_(demands, values.size()),
          home_(values.size(), -1),
          slot_(values.size(), -1) {
        for (std::size_t bank = 0; bank < bank_count; ++bank) holds_[bank].assign(at(available[bank]), -1);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i].pinned >= 0) occupy(static_cast<std::int32_t>(i), values[i].pinned);
        }
    }

    Allocation run() {
        result_.movements.reserve(demands_.size() + demands_.size() / 8 + 16);
        for (now_ = 0; now_ < static_cast<std::int32_t>(demands_.size()); ++now_) perform();
        return std::move(result_);
    }

  private:
    const ValueInfo& info(std::int32_t value) const { return values_[at(value)]; }
    std::vector<std::int32_t>& holds(std::int32_t value) { return holds_[static_cast<std::size_t>(info(value).bank)]; }
    void occupy(std::int32_t value, std::int32_t number) {
        home_[at(value)] = number;
        holds(value)[at(number)] = value;
    }
    void leave(std::int32_t value) {
        holds(value)[at(home_[at(value)])] = -1;
        home_[at(value)] = -1;
    }

    void perform() {
        const Demand& demand = demands_[at(now_)];
        if (demand.clobbers) leave_all(demand);
        for (std::int32_t value : demand.takes) {
            if (value >= 0 && home_[at(value)] < 0) fill(value, demand);
        }
        // In registers, not in a Movement that is written by parts and then read as a whole, which a processor waits for.
        auto home = [&](std::size_t i) { return demand.takes[i] >= 0 ? home_[at(demand.takes[i])] : -1; };
        const std::int32_t first = home(0), second = home(1), third = home(2);
        for (std::size_t i = 3; i-- > 0;)
            if (demand.takes[i] >= 0) release_if_dead(demand.takes[i], now_);
        std::int32_t to = -1;
        if (demand.gives >= 0) {
            std::int32_t left = -1;
            auto prefer = [&](std::int32_t value, std::int32_t number) {
                if (number >= 0 && info(value).bank == info(demand.gives).bank && holds(value)[at(number)] < 0)
                    left = number;
            };
            prefer(demand.takes[0], first), prefer(demand.takes[1], second), prefer(demand.takes[2], third);
            to = choose(demand.gives, demand, left);
            occupy(demand.gives, to);
        }
        result_.movements.push_back({Movement::Kind::perform, now_, to, {first, second, third}, -1});
        if (demand.gives >= 0) release_if_dead(demand.gives, now_);
    }

    void release_if_dead(std::int32_t value, std::int32_t now) {
        if (uses_.after(value, now) != never) return;
        if (home_[at(value)] >= 0 && info(value).pinned < 0) leave(value);
        if (slot_[at(value)] >= 0) {
            free_slots_.push_back(slot_[at(value)]);
            slot_[at(value)] = -1;
        }
    }

    /// A call loses every register: what is needed after it goes to memory.
    void leave_all(const Demand& demand) {
        for (auto& bank : holds_)
            for (std::int32_t value : bank)
                if (value >= 0) evict(value);
        promise(demand.takes[0] < 0, "a call takes its operands from memory");
    }

    void evict(std::int32_t value) {
        promise(info(value).pinned < 0, "a pinned register is never taken");
        if (!info(value).invariant && slot_[at(value)] < 0) {
            if (free_slots_.empty()) {
                slot_[at(value)] = result_.slots++;
            } else {
                slot_[at(value)] = free_slots_.back();
                free_slots_.pop_back();
            }
            result_.movements.push_back(
                {Movement::Kind::spill, value, home_[at(value)], {-1, -1, -1}, slot_[at(value)]});
            ++result_.spills;
        }
        leave(value);
    }

    void fill(std::int32_t value, const Demand& demand) {
        std::int32_t number = choose(value, demand, -1);
        occupy(value, number);
        result_.movements.push_back({Movement::Kind::fill, value, number, {-1, -1, -1}, slot_[at(value)]});
    }

    /// A register for the value: the one that an operand has `left`, if any, a free one, or that of the value needed last.
    std::int32_t choose(std::int32_t value, const Demand& demand, std::int32_t left) {
        if (left >= 0) return left;
        auto& bank = holds(value);
        std::int32_t furthest = -1, distance = -1;
        for (std::size_t i = 0; i < bank.size(); ++i) {
            if (bank[i] < 0) return static_cast<std::int32_t>(i);
            if (info(bank[i]).pinned >= 0 || std::count(demand.takes.begin(), demand.takes.end(), bank[i])) continue;
            std::int32_t next = uses_.after(bank[i], now_);
            if (next > distance) furthest = static_cast<std::int32_t>(i), distance = next;
        }
        promise(furthest >= 0, "there are registers for the operands of one line");
        evict(bank[at(furthest)]);
        return furthest;
    }

    std::span<const Demand> demands_;
    std::span<const ValueInfo> values_;
    Uses uses_;
    std::vector<std::int32_t> home_, slot_;                    // by value: its register, its place in memory
    std::array<std::vector<std::int32_t>, bank_count> holds_;  // by register: its value
    std::vector<std::int32_t> free_slots_;
    std::int32_t now_ = 0;
    Allocation result_;
};

[[noreturn]] void refuse(std::size_t movement, std::string_view what, std::int32_t value) {
    throw InternalError(text("register allocation: movement ", movement, " ", what, " (value ", value, ")"));
}

}  // namespace

Allocation allocate(std::span<const Demand> demands, std::span<const ValueInfo> values,
                    std::array<int, bank_count> available) {
    return Allocator(demands, values, available).run();
}

int pressure(std::span<const Demand> demands, std::span<const ValueInfo> values, Bank bank) {
    Uses uses(demands, values.size());
    int alive = 0, most = 0;
    auto counts = [&](std::int32_t value) {
        return value >= 0 && !values[at(value)].invariant && values[at(value)].bank == bank;
    };
    for (std::size_t i = 0; i < demands.size(); ++i) {
        auto now = static_cast<std::int32_t>(i);
        const auto& takes = demands[i].takes;
        for (std::size_t k = 0; k < 3; ++k) {
            bool again = std::find(takes.begin(), takes.begin() + static_cast<std::ptrdiff_t>(k), takes[k]) !=
                         takes.begin() + static_cast<std::ptrdiff_t>(k);
            if (counts(takes[k]) && !again && uses.after(takes[k], now) == never) --alive;
        }
        if (counts(demands[i].gives)) {
            most = std::max(most, ++alive);
            if (uses.after(demands[i].gives, now) == never) --alive;
        }
    }
    return most;
}

void verify(const Allocation& allocation, std::span<const Demand> demands, std::span<const ValueInfo> values,
            std::array<int, bank_count> available) {
    std::array<std::vector<std::int32_t>, bank_count> holds;
    for (std::size_t bank = 0; bank < bank_count; ++bank) holds[bank].assign(at(available[bank]), -1);
    std::vector<std::int32_t> memory(at(allocation.slots), -1);
    auto in = [&](std::int32_t value, std::int32_t number) -> std::int32_t& {
        return holds[static_cast<std::size_t>(values[at(value)].bank)].at(at(number));
    };
    std::vector<std::int32_t> pinned;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].pinned < 0) continue;
        pinned.push_back(static_cast<std::int32_t>(i));
        in(pinned.back(), values[i].pinned) = pinned.back();
    }
    auto check_pinned = [&](std::size_t movement) {
        for (std::int32_t value : pinned)
            if (in(value, values[at(value)].pinned) != value) refuse(movement, "overwrote a pinned register", value);
    };
    std::int32_t next = 0;
    for (std::size_t i = 0; i < allocation.movements.size(); ++i) {
        const Movement& movement = allocation.movements[i];
        if (movement.kind == Movement::Kind::spill) {
            if (in(movement.what, movement.to) != movement.what) refuse(i, "spills another value", movement.what);
            memory.at(at(movement.slot)) = movement.what;
        } else if (movement.kind == Movement::Kind::fill) {
            bool there = values[at(movement.what)].invariant || memory.at(at(movement.slot)) == movement.what;
            if (!there) refuse(i, "fills from another value's place", movement.what);
            in(movement.what, movement.to) = movement.what;
        } else {
            if (movement.what != next++) refuse(i, "leaves the order", movement.what);
            const Demand& demand = demands[at(movement.what)];
            for (std::size_t k = 0; k < 3; ++k) {
                std::int32_t value = demand.takes[k];
                if (value >= 0 && in(value, movement.from[k]) != value) refuse(i, "reads another value", value);
            }
            if (demand.clobbers)
                for (auto& bank : holds) std::fill(bank.begin(), bank.end(), -1);
            if (demand.gives >= 0) in(demand.gives, movement.to) = demand.gives;
        }
        check_pinned(i);
    }
    if (next != static_cast<std::int32_t>(demands.size())) refuse(allocation.movements.size(), "is missing", next);
}

}  // namespace weft::cpu::emit
