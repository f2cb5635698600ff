// Partition: steps, and slots for what passes between them, from entries that are placed and grouped.
#include <algorithm>

#include "weft/compile/partitioner.h"

namespace weft {

void Partitioner::make_steps() {
    std::vector<std::vector<std::int32_t>> kernels = kernels_of_groups();
    stored_elementwise_.assign(static_cast<std::size_t>(count_), false);
    find_needed();
    release_gathers(kernels);
    release_drawn();
    for (std::int32_t e = 0; e < count_; ++e) {
        if (needed_[static_cast<std::size_t>(e)] && elementwise(e)) {
            put_in_slot(e, orders_[static_cast<std::size_t>(e)]);
            stored_elementwise_[static_cast<std::size_t>(e)] = true;
        }
    }
    auto stored = [&](std::int32_t e) -> bool { return stored_elementwise_[static_cast<std::size_t>(e)]; };
    for (auto& members : kernels) maker_.map(members, stored);
    auto inside = [pairs = pairs_inside()](std::int32_t e) {
        std::vector<std::int32_t> members;
        for (auto at = std::lower_bound(pairs.begin(), pairs.end(), std::pair(e, 0)); at != pairs.end(); ++at) {
            if (at->first != e) break;
            members.push_back(at->second);
        }
        return members;
    };
    for (std::int32_t e = 0; e < count_; ++e) {
        if (place(e).kind != Place::slot || stored(e)) continue;
        if (copies_.contains(e))
            maker_.copy(graph_.inputs(e)[0], place(e).index);
        else if (joins(e))
            maker_.reduce(e, inside(e));
        else if (family(e) == Family::region)
            maker_.region(e);
        else if (scatters_in_loop(e))
            maker_.scatter(e, inside(e));
        else
            maker_.library(e);
    }
    find_outputs();
}

// Kernels: groups of elementwise entries, cut where they are too long (a cut follows the order of entries, so it is safe).
std::vector<std::vector<std::int32_t>> Partitioner::kernels_of_groups() {
    std::map<std::int32_t, std::vector<std::int32_t>> groups;
    for (std::int32_t e = 0; e < count_; ++e) {
        if (elementwise(e) && inside_[static_cast<std::size_t>(e)] < 0) groups[root(e)].push_back(e);
    }
    kernel_of_.assign(static_cast<std::size_t>(count_), -1);
    std::vector<std::vector<std::int32_t>> kernels;
    for (auto& [_, members] : groups) {
        for (std::size_t first = 0; first < members.size(); first += options_.longest) {
            std::size_t last = std::min(members.size(), first + options_.longest);
            kernels.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(first),
                                 members.begin() + static_cast<std::ptrdiff_t>(last));
            for (std::int32_t e : kernels.back())
                kernel_of_[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(kernels.size()) - 1;
        }
    }
    return kernels;
}

// In which reductions or scatters entries are computed, and these, in order.
std::vector<std::pair<std::int32_t, std::int32_t>> Partitioner::pairs_inside() const {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int32_t e = 0; e < count_; ++e) {
        std::int32_t in = inside_[static_cast<std::size_t>(e)];
        if (in > e) pairs.emplace_back(in, e);
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void Partitioner::find_needed() {
    needed_.assign(static_cast<std::size_t>(count_), false);
    for (std::int32_t e = 0; e < count_; ++e) {
        for (std::int32_t input : graph_.inputs(e)) {
            auto i = static_cast<std::size_t>(input);
            std::int32_t mine = inside_[static_cast<std::size_t>(e)], theirs = inside_[i];
            bool same = picked(e)     ? false
                        : theirs >= 0 ? theirs == e || theirs == mine
                                      : elementwise(e) && mine < 0 && kernel_of_[i] >= 0 &&
                                            kernel_of_[i] == kernel_of_[static_cast<std::size_t>(e)];
            if (!same) needed_[i] = true;
        }
    }
    for (std::int32_t output : graph_.outputs) needed_[static_cast<std::size_t>(output)] = true;
}

// A gather whose result others read too is a library's after all, which copies what stands behind an index at once.
void Partitioner::release_gathers(std::vector<std::vector<std::int32_t>>& kernels) {
    for (std::int32_t e = 0; e < count_; ++e) {
        auto i = static_cast<std::size_t>(e);
        if (!picked(e) || !needed_[i]) continue;
        loops_.gathers[i] = false;
        std::erase(kernels[static_cast<std::size_t>(kernel_of_[i])], e);
        put_in_slot(e);
        for (std::int32_t index : graph_.inputs(e)) {
            if (!shown(index)) continue;
            loops_.indices[static_cast<std::size_t>(index)] = false;
            put_in_slot(index);
            stored_elementwise_[static_cast<std::size_t>(index)] = true;
            kernels.push_back({index});
        }
    }
    std::erase_if(kernels, [](const std::vector<std::int32_t>& members) { return members.empty(); });
}

// Random bits that several kernels read are drawn once, into memory.
void Partitioner::release_drawn() {
    std::map<std::int32_t, std::set<std::pair<int, std::int32_t>>> kernels;  // that read them: kind and number
    for (std::int32_t e = 0; e < count_; ++e) {
        if (place(e).kind == Place::view || place(e).kind == Place::made) continue;
        std::int32_t in = inside_[static_cast<std::size_t>(e)];
        std::pair<int, std::int32_t> kernel{0, e};
        if (in >= 0)
            kernel = {0, in};
        else if (elementwise(e))
            kernel = {1, kernel_of_[static_cast<std::size_t>(e)]};
        for (std::int32_t input : graph_.inputs(e))
            if (made(input) && !counted(input)) kernels[memory_below(plan_, input)].insert(kernel);
    }
    for (const auto& [drawn, readers] : kernels)
        if (readers.size() > 1) put_in_slot(drawn);
}

// Whether a scatter is a loop: nothing that it joins lies in memory, or its updates are a number.
bool Partitioner::scatters_in_loop(std::int32_t e) const {
    if (!options_.fuse || family(e) != Family::scatter) return false;
    std::int32_t updates = joined(e);
    return inside_[static_cast<std::size_t>(updates)] == e || made(updates) ||
           plan_.places[static_cast<std::size_t>(updates)].kind == Place::literal;
}

// Where the outputs of the graph are: a slot, a view of one, a copy.
void Partitioner::find_outputs() {
    plan_.outputs.assign(graph_.outputs.size(), -1);
    plan_.output_views.assign(graph_.outputs.size(), false);
    std::map<std::int32_t, std::int32_t> copied;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
        std::int32_t output = graph_.outputs[i];
        if (output_copies_.contains(output)) {
            auto [at, fresh] = copied.try_emplace(output, -1);
            if (fresh) at->second = maker_.new_slot(output), maker_.copy(output, at->second);
            plan_.outputs[i] = at->second;
            continue;
        }
        std::int32_t base = output;
        while (place(base).kind == Place::view) base = place(base).index;
        if (place(base).kind == Place::slot) plan_.outputs[i] = place(base).index;
        plan_.output_views[i] = true;
    }
}

}  // namespace weft
