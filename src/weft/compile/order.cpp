#include "weft/compile/order.h"

#include <algorithm>
#include <queue>

#include "weft/base/error.h"

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
};

}  // namespace

std::int32_t slot_below(const Plan& plan, std::int32_t entry) {
    const Place* place = &plan.places[static_cast<std::size_t>(entry)];
    while (place->kind == Place::view) place = &plan.places[static_cast<std::size_t>(place->index)];
    return place->kind == Place::leaf ? -1 : place->index;
}

void order_steps(Plan& plan) {
    Dependencies dependencies(plan);
    auto key = [&](std::size_t s) {
        const Step& step = plan.steps[s];
        return std::pair(step.members.empty() ? step.space : step.members.back(), s);
    };
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
    for (std::size_t s : order) ordered.push_back(std::move(plan.steps[s]));
    plan.steps = std::move(ordered);
}

}  // namespace weft
