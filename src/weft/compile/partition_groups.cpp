// Partition: which entries one kernel computes.
#include <algorithm>
#include <numeric>

#include "weft/compile/partitioner.h"
#include "weft/compile/scatters.h"
#include "weft/ops/recompute.h"

namespace weft {

// What is read inside one of them and nowhere else is computed there: an elementwise entry all of whose readers are.
void Partitioner::absorb() {
    constexpr std::int32_t nobody = -2, several = -1;
    inside_.assign(static_cast<std::size_t>(count_), -1);
    if (!options_.fuse) return;
    written_ = written_in_place(graph_, plan_);
    std::vector<std::int32_t> readers(static_cast<std::size_t>(count_), nobody);  // the one in which all are
    for (std::int32_t output : graph_.outputs) readers[static_cast<std::size_t>(output)] = several;
    for (std::int32_t e = count_; e-- > 0;) {
        std::int32_t into = several, of_readers = readers[static_cast<std::size_t>(e)];
        bool scatters = family(e) == Family::scatter;
        if ((joins(e) || scatters) && place(e).kind == Place::slot) {
            into = e;
        } else if (of_readers >= 0 && elementwise(e) && absorbed_[of_readers] < options_.longest &&
                   node(e).shape == node(joined(of_readers)).shape && may_wait(e, of_readers)) {
            into = inside_[static_cast<std::size_t>(e)] = of_readers;
            ++absorbed_[into];
        }
        if (picked(e)) into = several;  // what it reads comes from memory
        auto inputs = graph_.inputs(e);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            std::int32_t& all = readers[static_cast<std::size_t>(inputs[i])];
            std::int32_t mine = scatters && i != 1 ? several : into;
            all = all == nobody || all == mine ? mine : several;
        }
    }
}

// Scatters run late, and over what they change: their loops read nothing that another step would rather write over.
bool Partitioner::may_wait(std::int32_t e, std::int32_t reader) const {
    auto inputs = graph_.inputs(e);
    return family(reader) != Family::scatter || std::none_of(inputs.begin(), inputs.end(), [&](std::int32_t input) {
               return written_[static_cast<std::size_t>(memory_below(plan_, input))];
           });
}

// A scatter whose loop would cost more memory than its updates is a library's after all.
void Partitioner::release_scatters() {
    std::map<std::int32_t, std::vector<std::int32_t>> members;
    for (std::int32_t e = 0; e < count_; ++e) {
        std::int32_t in = inside_[static_cast<std::size_t>(e)];
        if (in >= 0 && family(in) == Family::scatter) members[in].push_back(e);
    }
    for (const auto& [_, taken] : members)
        if (costs_memory(graph_, plan_, taken))
            for (std::int32_t e : taken) inside_[static_cast<std::size_t>(e)] = -1;
}

void Partitioner::group_elementwise() {
    parent_.resize(static_cast<std::size_t>(count_));
    std::iota(parent_.begin(), parent_.end(), 0);
    find_levels();
    if (!options_.fuse) return;
    move_to_readers();
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>>
        readers;  // (memory read, level) -> entries
    for (std::int32_t e = 0; e < count_; ++e) {
        if (!elementwise(e) || inside_[static_cast<std::size_t>(e)] >= 0) continue;
        for (std::int32_t input : graph_.inputs(e)) {
            if (together(e, input) && level(e) == level(input)) join(e, input);
            bool memory = place(input).kind != Place::literal && !counted(input);
            if (!memory || node(input).shape.empty() || picked(e)) continue;
            auto& list = readers[{input, level(e)}];
            for (std::int32_t other : list) {
                if (node(other).shape == node(e).shape) {
                    join(e, other);
                    break;
                }
            }
            list.push_back(e);
        }
    }
}

void Partitioner::find_levels() {
    levels_.assign(static_cast<std::size_t>(count_), 0);
    std::vector<bool> there(static_cast<std::size_t>(count_), false);  // in memory before anything runs
    for (std::int32_t e = 0; e < count_; ++e) {
        bool view = place(e).kind == Place::view, leaf = place(e).kind == Place::leaf;
        bool free = view || leaf || place(e).kind == Place::literal;
        there[static_cast<std::size_t>(e)] = free && (!view || there[static_cast<std::size_t>(place(e).index)]);
        for (std::int32_t input : graph_.inputs(e)) {
            bool leafy = there[static_cast<std::size_t>(input)] || made(input);
            bool waits = node(e).operation == &recompute_operation && input == graph_.inputs(e)[1];
            bool passes = !waits && (free || leafy || together(e, input));
            level(e) = std::max(level(e), passes ? level(input) : level(input) + 1);
        }
    }
}

// A value made from one array and read only by later kernels (the mask of a relu, momentum times velocity) is made there: the
// array is read again instead of the value written and read. Its level rises to its first reader's, so levels still hold.
void Partitioner::move_to_readers() {
    std::vector<std::int32_t> first_reader(static_cast<std::size_t>(count_), -1);
    std::vector<bool> held(static_cast<std::size_t>(count_), false);
    for (std::int32_t output : graph_.outputs) held[static_cast<std::size_t>(output)] = true;
    for (std::int32_t e = count_; e-- > 0;) {
        auto i = static_cast<std::size_t>(e);
        bool free = elementwise(e) && inside_[i] < 0 && !held[i];
        bool light = arrays_read(e) == 1 || picked(e);
        if (free && first_reader[i] > level(e) && light) level(e) = first_reader[i];
        for (std::int32_t input : graph_.inputs(e)) {
            auto k = static_cast<std::size_t>(input);
            if (!together(e, input)) held[k] = true;
            first_reader[k] = first_reader[k] < 0 ? level(e) : std::min(first_reader[k], level(e));
        }
    }
}

// Operands of the entry's own shape.
std::size_t Partitioner::arrays_read(std::int32_t e) {
    std::size_t count = 0;
    for (std::int32_t input : graph_.inputs(e))
        count += place(input).kind != Place::literal && node(input).shape == node(e).shape;
    return count;
}

// Whether a value may pass from `input` to `e` inside one kernel.
bool Partitioner::together(std::int32_t e, std::int32_t input) {
    if (!options_.fuse || !elementwise(input) || picked(e)) return false;
    std::int32_t in = inside_[static_cast<std::size_t>(input)];
    if (in >= 0) return in == e || in == inside_[static_cast<std::size_t>(e)];
    return elementwise(e) && inside_[static_cast<std::size_t>(e)] < 0 && node(e).shape == node(input).shape;
}

std::int32_t Partitioner::root(std::int32_t e) {
    while (parent_[static_cast<std::size_t>(e)] != e) {
        auto& up = parent_[static_cast<std::size_t>(e)];
        up = parent_[static_cast<std::size_t>(up)];
        e = up;
    }
    return e;
}

}  // namespace weft
