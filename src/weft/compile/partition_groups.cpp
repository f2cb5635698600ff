// Partition: which entries one kernel computes.
#include <algorithm>
#include <numeric>

#include "weft/base/content_table.h"
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
                   same_shape(e, joined(of_readers)) && may_wait(e, of_readers)) {
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
    // (memory read, level, shape) -> an entry. The key is these themselves.
    ContentTable<std::int32_t> readers;
    readers.reserve(static_cast<std::size_t>(count_));
    std::int32_t number = -1;  // the last one
    for (std::int32_t e = 0; e < count_; ++e) {
        if (!elementwise(e) || inside_[static_cast<std::size_t>(e)] >= 0) continue;
        if (options_.numbers && node(e).shape.empty()) {
            if (number >= 0 && level(number) == level(e)) join(e, number);
            number = e;
        }
        for (std::int32_t input : graph_.inputs(e)) {
            if (together(e, input) && level(e) == level(input)) join(e, input);
            bool memory = place(input).kind != Place::literal && !counted(input);
            if (!memory || node(input).shape.empty() || picked(e)) continue;
            auto two = [](std::int32_t a, std::int32_t b) {
                return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
            };
            auto shape = static_cast<std::uint64_t>(shapes_[static_cast<std::size_t>(e)]);
            auto [alike, fresh] = readers.known(key_near({two(input, level(e)), shape}, input), e);
            if (!fresh) join(e, alike);
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

// A value read only by later kernels (the mask of a relu, momentum times velocity, the slope of a gelu) is made there, with all that
// it alone is made of, where that comes from one array, or from two that lie in memory anyway and of which one is read so late anyway:
// these are read again instead of values written and read, and no more is kept. Its level rises to its first reader's, so levels
// still hold.
void Partitioner::move_to_readers() {
    constexpr int most_rounds = 4;  // each leaves fewer to move; what is left then only costs memory
    Moves moves;
    moves.stays.assign(static_cast<std::size_t>(count_), false);
    for (int round = 0; round < most_rounds; ++round) {
        if (!find_late(moves)) return;
        if (!leave_mixed(moves)) break;
    }
    find_late(moves);
    for (std::int32_t e = 0; e < count_; ++e)
        if (moves.late[static_cast<std::size_t>(e)]) level(e) = moves.to[static_cast<std::size_t>(e)];
}

// Which entries may wait for their first reader, if all do that may; whether there are such.
bool Partitioner::find_late(Moves& moves) {
    auto size = static_cast<std::size_t>(count_);
    moves.late.assign(size, false), moves.held.assign(size, false), moves.to.assign(size, -1),
        moves.last.assign(size, -1);
    for (std::int32_t output : graph_.outputs) moves.held[static_cast<std::size_t>(output)] = true;
    bool any = false;
    for (std::int32_t e = count_; e-- > 0;) {
        auto i = static_cast<std::size_t>(e);
        bool free = elementwise(e) && inside_[i] < 0 && !moves.held[i] && !moves.stays[i];
        moves.late[i] = free && moves.to[i] > level(e);
        any = any || moves.late[i];
        std::int32_t runs = moves.late[i] ? moves.to[i] : level(e);
        for (std::int32_t input : graph_.inputs(e)) {
            auto k = static_cast<std::size_t>(input);
            if (!together(e, input)) moves.held[k] = true;
            if (!moves.late[i]) moves.last[k] = std::max(moves.last[k], runs);
            moves.to[k] = moves.to[k] < 0 ? runs : std::min(moves.to[k], runs);
        }
    }
    return any;
}

// Entries that are made of more than they may be stay where they are; whether there are such.
bool Partitioner::leave_mixed(Moves& moves) {
    std::vector<SmallVector<std::int32_t, 2>> sources(static_cast<std::size_t>(count_));
    bool any = false;
    for (std::int32_t e = 0; e < count_; ++e) {
        auto i = static_cast<std::size_t>(e);
        if (!moves.late[i]) continue;
        auto& mine = sources[i];
        bool few = true;
        auto add = [&](std::int32_t source) {
            if (std::find(mine.begin(), mine.end(), source) != mine.end()) return;
            few = few && mine.size() < 2;
            if (few) mine.push_back(source);
        };
        for (std::int32_t input : graph_.inputs(e)) {
            if (place(input).kind == Place::literal || !same_shape(input, e)) continue;
            if (!moves.late[static_cast<std::size_t>(input)]) add(input);
            for (std::int32_t source : sources[static_cast<std::size_t>(input)]) add(source);
        }
        auto last = [&](std::int32_t source) { return moves.last[static_cast<std::size_t>(source)]; };
        auto lies_anyway = [&](std::int32_t source) {
            return !elementwise(source) || moves.held[static_cast<std::size_t>(source)] || last(source) > level(source);
        };
        if (few && mine.size() == 2)
            few = lies_anyway(mine[0]) && lies_anyway(mine[1]) && std::max(last(mine[0]), last(mine[1])) >= moves.to[i];
        if (few || picked(e)) continue;
        moves.stays[i] = any = true;
        moves.late[i] = false, mine.clear();
    }
    return any;
}

// Whether a value may pass from `input` to `e` inside one kernel.
bool Partitioner::together(std::int32_t e, std::int32_t input) {
    if (!options_.fuse || !elementwise(input) || picked(e)) return false;
    std::int32_t in = inside_[static_cast<std::size_t>(input)];
    if (in >= 0) return in == e || in == inside_[static_cast<std::size_t>(e)];
    return elementwise(e) && inside_[static_cast<std::size_t>(e)] < 0 && same_shape(e, input);
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
