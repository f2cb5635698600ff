#include "weft/compile/order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "weft/base/error.h"
#include "weft/graph/operation.h"
#include "weft/ops/recompute.h"

namespace weft {
namespace {

// For each step the steps that read what it writes, and how many it waits for itself.
struct Dependencies {
    std::vector<std::vector<std::size_t>> readers;
    std::vector<std::size_t> waiting;

    explicit Dependencies(const Plan& plan) : readers(plan.steps.size()), waiting(plan.steps.size(), 0) {
        std::vector<std::size_t> writer(plan.slots.size());
        for (std::size_t s = 0; s < plan.steps.size(); ++s) {
            for (std::int32_t slot : plan.steps[s].stores) writer[static_cast<std::size_t>(slot)] = s;
        }
        for (std::size_t s = 0; s < plan.steps.size(); ++s) {
            std::vector<std::size_t> from;
            for (std::int32_t load : plan.steps[s].loads) {
                std::int32_t slot = slot_below(plan, load);
                if (slot >= 0) from.push_back(writer[static_cast<std::size_t>(slot)]);
            }
            std::sort(from.begin(), from.end());
            from.erase(std::unique(from.begin(), from.end()), from.end());
            for (std::size_t f : from) readers[f].push_back(s), ++waiting[s];
        }
    }

    void let_first(std::size_t first, std::size_t then) { readers[first].push_back(then), ++waiting[then]; }

    // Whether each step comes after `s` in any order.
    std::vector<bool> after(std::size_t s) const {
        std::vector<bool> reached(readers.size(), false);
        std::vector<std::size_t> stack{s};
        while (!stack.empty()) {
            std::size_t at = stack.back();
            stack.pop_back();
            for (std::size_t reader : readers[at]) {
                if (!reached[reader]) stack.push_back(reader);
                reached[reader] = true;
            }
        }
        return reached;
    }
};

void let_scatters_wait(const Plan& plan, const Graph& graph, Dependencies& dependencies) {
    auto scattering = [&](const Step& step) { return scatters(step, graph); };
    if (std::none_of(plan.steps.begin(), plan.steps.end(), scattering)) return;
    std::map<std::int32_t, std::vector<std::size_t>> readers;  // of an entry's memory
    std::vector<std::size_t> writer(plan.slots.size());
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (std::int32_t load : plan.steps[s].loads) readers[memory_below(plan, load)].push_back(s);
        for (std::int32_t slot : plan.steps[s].stores) writer[static_cast<std::size_t>(slot)] = s;
    }
    auto waits_for = [&](std::size_t s, std::size_t other) {
        return std::any_of(plan.steps[s].loads.begin(), plan.steps[s].loads.end(), [&](std::int32_t load) {
            std::int32_t slot = slot_below(plan, load);
            return slot >= 0 && writer[static_cast<std::size_t>(slot)] == other;
        });
    };
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        if (!scatters(plan.steps[s], graph)) continue;
        std::vector<std::size_t> others = readers[memory_below(plan, plan.steps[s].loads[0])];
        std::erase_if(others, [&](std::size_t other) { return other == s || waits_for(s, other); });
        if (others.empty()) continue;
        std::vector<bool> after = dependencies.after(s);
        for (std::size_t other : others)
            if (!after[other]) dependencies.let_first(other, s);
    }
}

// Scatters into leaves, also one after another: they run when nothing else can, so that what their indices are is known before the
// first of them writes over a parameter.
std::vector<bool> scatters_into_leaves(const Plan& plan, const Graph& graph) {
    std::vector<std::int32_t> writer(plan.slots.size(), -1);
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        for (std::int32_t slot : plan.steps[s].stores)
            writer[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(s);
    std::vector<bool> into_leaf(plan.steps.size(), false), known(plan.steps.size(), false);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        std::vector<std::size_t> chain;  // down to the array that the first one changes, or to one that is known
        bool leaf = false;
        for (std::size_t at = s; scatters(plan.steps[at], graph);) {
            if (known[at]) leaf = into_leaf[at];
            if (known[at]) break;
            chain.push_back(at);
            const Place& place = plan.places[static_cast<std::size_t>(memory_below(plan, plan.steps[at].loads[0]))];
            leaf = place.kind == Place::leaf;
            if (place.kind != Place::slot) break;
            at = static_cast<std::size_t>(writer[static_cast<std::size_t>(place.index)]);
        }
        for (std::size_t link : chain) known[link] = true, into_leaf[link] = leaf;
    }
    return into_leaf;
}

std::int32_t number_of(const Step& step) { return step.members.empty() ? step.space : step.members.back(); }

// By which entry a step's turn comes: its own. In programs that compute again to save memory, a step whose results nothing else reads (the
// gradient of a weight) comes behind the last other reader of what it reads, so that this is kept no longer for it.
std::vector<std::int32_t> turns(const Plan& plan, const Graph& graph) {
    std::vector<std::int32_t> turn;
    for (const Step& step : plan.steps) turn.push_back(number_of(step));
    bool frugal = std::any_of(graph.entries.begin(), graph.entries.end(), [](const Graph::Entry& entry) {
        return !entry.leaf && entry.node->operation == &recompute_operation;
    });
    if (!frugal) return turn;
    std::set<std::int32_t> read;  // slots
    for (const Step& step : plan.steps)
        for (std::int32_t load : step.loads) read.insert(slot_below(plan, load));
    auto last = [&](const Step& step) {
        return std::none_of(step.stores.begin(), step.stores.end(),
                            [&](std::int32_t slot) { return read.contains(slot); });
    };
    std::map<std::int32_t, std::int32_t> last_reader;  // of an entry's memory
    for (const Step& step : plan.steps) {
        if (last(step)) continue;
        for (std::int32_t load : step.loads) {
            std::int32_t& known = last_reader[memory_below(plan, load)];
            known = std::max(known, number_of(step));
        }
    }
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        if (!last(plan.steps[s])) continue;
        std::int32_t behind = 0;
        for (std::int32_t load : plan.steps[s].loads) {
            auto at = last_reader.find(memory_below(plan, load));
            behind = std::max(behind, at == last_reader.end() ? load : at->second);
        }
        turn[s] = behind;
    }
    return turn;
}

// An output that may be written over a leaf comes behind the leaf's other readers.
void let_outputs_wait(const Plan& plan, const std::vector<std::int32_t>& donors, Dependencies& dependencies) {
    std::map<std::int32_t, std::vector<std::size_t>> readers;  // of a leaf, by its number
    std::vector<std::int32_t> writer(plan.slots.size(), -1);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (std::int32_t slot : plan.steps[s].stores)
            writer[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(s);
        for (std::int32_t load : plan.steps[s].loads) {
            const Place& place = plan.places[static_cast<std::size_t>(memory_below(plan, load))];
            if (place.kind == Place::leaf) readers[place.index].push_back(s);
        }
    }
    for (std::size_t i = 0; i < donors.size() && i < plan.outputs.size(); ++i) {
        if (donors[i] < 0 || plan.outputs[i] < 0) continue;
        auto s = static_cast<std::size_t>(writer[static_cast<std::size_t>(plan.outputs[i])]);
        std::vector<std::size_t>& others = readers[donors[i]];
        others.erase(std::unique(others.begin(), others.end()), others.end());
        if (others.size() < 2) continue;
        std::vector<bool> after = dependencies.after(s);
        for (std::size_t other : others)
            if (other != s && !after[other]) dependencies.let_first(other, s);
    }
}

// Steps that write next to nothing beside what they read.
std::vector<bool> shrinking(const Plan& plan, const std::vector<std::size_t>& bytes) {
    constexpr std::size_t nothing = 64 << 10, part = 8;
    std::vector<bool> shrinks;
    for (const Step& step : plan.steps) {
        std::set<std::int32_t> read;
        for (std::int32_t load : step.loads) read.insert(slot_below(plan, load));
        std::size_t from = 0, to = 0;
        for (std::int32_t slot : read)
            if (slot >= 0) from += bytes[static_cast<std::size_t>(slot)];
        for (std::int32_t slot : step.stores) to += bytes[static_cast<std::size_t>(slot)];
        shrinks.push_back(to <= std::max(nothing, from / part));
    }
    return shrinks;
}

// Each step has a key; of those that may run the one with the least goes first.
template <class Key>
void sort_steps(Plan& plan, Dependencies& dependencies, Key key) {
    auto later = [&](std::size_t a, std::size_t b) { return key(a) > key(b); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        if (dependencies.waiting[s] == 0) ready.push(s);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        std::size_t s = ready.top();
        ready.pop();
        order.push_back(s);
        for (std::size_t reader : dependencies.readers[s])
            if (--dependencies.waiting[reader] == 0) ready.push(reader);
    }
    promise(order.size() == plan.steps.size(), "the steps of a plan have an order (partition made no cycle)");
    std::vector<Step> ordered;
    ordered.reserve(order.size());
    for (std::size_t s : order) ordered.push_back(std::move(plan.steps[s]));
    plan.steps = std::move(ordered);
}

}  // namespace

std::int32_t memory_below(const Plan& plan, std::int32_t entry) {
    while (plan.places[static_cast<std::size_t>(entry)].kind == Place::view)
        entry = plan.places[static_cast<std::size_t>(entry)].index;
    return entry;
}

bool scatters(const Step& step, const Graph& graph) {
    bool library = step.kind == Step::library;
    return step.kind == Step::scatter || (library && graph.node(step.members[0]).operation->family == Family::scatter);
}

bool pointed(const Step& step, std::size_t load) {
    return std::any_of(step.indexed.begin(), step.indexed.end(),
                       [&](const IndexedLoad& at) { return load >= at.load && load <= at.load + at.indices; });
}

bool joins_rows(const Step& part, std::size_t leading) {
    return part.kind == Step::reduce && leading > 0 && part.axes.size() == leading &&
           std::all_of(part.axes.begin(), part.axes.end(),
                       [&](std::int64_t axis) { return static_cast<std::size_t>(axis) < leading; });
}

std::int32_t slot_below(const Plan& plan, std::int32_t entry) {
    const Place* place = &plan.places[static_cast<std::size_t>(entry)];
    while (place->kind == Place::view) place = &plan.places[static_cast<std::size_t>(place->index)];
    return place->kind == Place::leaf ? -1 : place->index;
}

void order_steps(Plan& plan, const Graph& graph) {
    Dependencies dependencies(plan);
    let_scatters_wait(plan, graph, dependencies);
    std::vector<bool> waits = scatters_into_leaves(plan, graph);
    std::vector<std::int32_t> turn = turns(plan, graph);
    sort_steps(plan, dependencies,
               [&](std::size_t s) { return std::tuple(bool(waits[s]), turn[s], number_of(plan.steps[s]), s); });
}

void order_steps(Plan& plan, const Graph& graph, const std::vector<std::size_t>& bytes,
                 const std::vector<std::int32_t>& donors) {
    Dependencies dependencies(plan);
    let_scatters_wait(plan, graph, dependencies);
    let_outputs_wait(plan, donors, dependencies);
    std::vector<bool> waits = scatters_into_leaves(plan, graph), soon = shrinking(plan, bytes);
    std::vector<std::int32_t> turn = turns(plan, graph);
    sort_steps(plan, dependencies, [&](std::size_t s) {
        return std::tuple(bool(waits[s]), !soon[s], turn[s], number_of(plan.steps[s]), s);
    });
}

}  // namespace weft
