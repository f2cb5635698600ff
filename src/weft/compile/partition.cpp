// Partition: which entries are computed together. Elementwise entries of one shape are fused when a value passes between them
// directly or they read the same memory; a chain that only a reduction, scan or scatter reads becomes part of it. A gather that only one
// kernel reads is a load of that kernel's loop (gathers.h), and here like an elementwise entry whose operands come from memory.
//
// Why no cycle can arise: every entry has a level, which grows by one whenever a value passes through memory. Entries of one kernel
// have one level and one shape, so a path that leaves a kernel ends on a higher level and never comes back.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "weft/compile/device.h"
#include "weft/compile/gathers.h"
#include "weft/compile/made.h"
#include "weft/compile/order.h"
#include "weft/compile/plan.h"
#include "weft/compile/row_groups.h"
#include "weft/compile/scatters.h"
#include "weft/compile/step_maker.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/recompute.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

class Partitioner {
  public:
    Partitioner(const Graph& graph, const PartitionOptions& options)
        : graph_(graph),
          options_(options),
          count_(static_cast<std::int32_t>(graph.entries.size())),
          maker_(graph, plan_) {}

    Plan plan() {
        plan_.structure = graph_.structure;
        plan_.places.resize(static_cast<std::size_t>(count_));
        if (options_.fuse) made_ = made_in_loops(graph_), loops_ = gathers_in_loops(graph_, made_);
        place_leaves_and_views();
        absorb();
        release_scatters();
        group_elementwise();
        place_outputs();
        make_steps();
        order_steps(plan_, graph_);
        if (options_.fuse && options_.rows) group_rows(plan_, graph_), order_steps(plan_, graph_);
        return std::move(plan_);
    }

  private:
    const Node& node(std::int32_t e) const { return graph_.node(e); }
    Family family(std::int32_t e) const { return node(e).operation->family; }
    Place& place(std::int32_t e) { return plan_.places[static_cast<std::size_t>(e)]; }
    bool elementwise(std::int32_t e) {
        return place(e).kind == Place::fused && (family(e) == Family::elementwise || picked(e));
    }

    // A gather that is a load of the loop that reads it: it is computed there as if it were elementwise.
    bool picked(std::int32_t e) const { return options_.fuse && loops_.gathers[static_cast<std::size_t>(e)]; }
    bool shown(std::int32_t e) const { return options_.fuse && loops_.indices[static_cast<std::size_t>(e)]; }

    // What is made where it is read, or a view of it: it passes through no memory.
    bool made(std::int32_t e) const {
        return plan_.places[static_cast<std::size_t>(memory_below(plan_, e))].kind == Place::made;
    }

    void put_in_slot(std::int32_t e, Axes order = {}) {
        place(e).kind = Place::slot;
        place(e).contiguous = order.empty();
        place(e).index = maker_.new_slot(e, std::move(order));
    }

    // Whether strides can say a reshape: of dense memory always; of other memory when only axes of size one come or go.
    bool reshape_is_view(std::int32_t e, std::int32_t from) {
        if (place(from).contiguous) return true;
        auto proper = [](const Shape& shape) {
            Shape kept;
            for (Size size : shape)
                if (!(size == Size(1))) kept.push_back(size);
            return kept;
        };
        return proper(node(e).shape) == proper(node(from).shape);
    }

    void place_leaves_and_views() {
        std::int32_t leaves = 0;
        orders_.resize(static_cast<std::size_t>(count_));
        for (std::int32_t e = 0; e < count_; ++e) {
            const Graph::Entry& entry = graph_.entries[static_cast<std::size_t>(e)];
            if (entry.leaf) {
                bool plain = !node(e).computed || node(e).value.contiguous();
                place(e) = {Place::leaf, leaves++, plain, {}};
            } else if (node(e).operation == &constant_operation) {
                place(e) = {Place::literal, -1, false, node(e).attributes_as<ConstantAttributes>().value};
            } else if (options_.fuse && made_[static_cast<std::size_t>(e)]) {
                place(e) = {Place::made, -1, true, {}};
            } else if (family(e) == Family::view || passes_on(e) || shown(e)) {
                place_view(e, graph_.inputs(e)[0]);
            } else if (family(e) == Family::reduce) {
                put_in_slot(e);
            } else if (family(e) != Family::elementwise && !picked(e)) {
                put_in_slot(e, cpu_compiler().preferred_order(*node(e).operation, node(e).shape.size()));
            }
            orders_[static_cast<std::size_t>(e)] = order_of(e);
            if (elementwise(e))
                place(e).contiguous = orders_[static_cast<std::size_t>(e)].empty();  // when it comes to memory
        }
    }

    // The operand itself, lying in memory already: there is nothing to compute.
    bool passes_on(std::int32_t e) {
        bool same = node(e).operation == &stop_gradient_operation || node(e).operation == &positive_operation;
        return same && options_.fuse && !elementwise(graph_.inputs(e)[0]);
    }

    void place_view(std::int32_t e, std::int32_t from) {
        if (place(from).kind == Place::literal) {
            place(e) = place(from);
            return;
        }
        bool reshapes = node(e).operation == &reshape_operation;
        if (reshapes && !reshape_is_view(e, from))
            copies_.insert(e), put_in_slot(e);
        else
            place(e) = {Place::view, from, (reshapes || family(e) != Family::view) && place(from).contiguous, {}};
    }

    // The order in which an entry lies in memory: a slot's own; an elementwise entry's is that of the first operand of its shape
    // that has one (values after a window operation lie channels-last, and what is computed from them stays so).
    Axes order_of(std::int32_t e) {
        if (place(e).kind == Place::slot) return plan_.slots[static_cast<std::size_t>(place(e).index)].order;
        if (!elementwise(e) || picked(e)) return {};
        for (std::int32_t input : graph_.inputs(e)) {
            const Axes& order = orders_[static_cast<std::size_t>(input)];
            if (!order.empty() && node(input).shape == node(e).shape) return order;
        }
        return {};
    }

    // Reductions, scans and scatters join what is computed in them: this input.
    bool joins(std::int32_t e) const { return family(e) == Family::reduce || family(e) == Family::scan; }
    std::int32_t joined(std::int32_t e) const { return graph_.inputs(e)[family(e) == Family::scatter ? 1 : 0]; }

    // What is read inside one of them and nowhere else is computed there: an elementwise entry all of whose readers are.
    void absorb() {
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
    bool may_wait(std::int32_t e, std::int32_t reader) const {
        auto inputs = graph_.inputs(e);
        return family(reader) != Family::scatter || std::none_of(inputs.begin(), inputs.end(), [&](std::int32_t input) {
                   return written_[static_cast<std::size_t>(memory_below(plan_, input))];
               });
    }

    // A scatter whose loop would cost more memory than its updates is a library's after all.
    void release_scatters() {
        std::map<std::int32_t, std::vector<std::int32_t>> members;
        for (std::int32_t e = 0; e < count_; ++e) {
            std::int32_t in = inside_[static_cast<std::size_t>(e)];
            if (in >= 0 && family(in) == Family::scatter) members[in].push_back(e);
        }
        for (const auto& [_, taken] : members)
            if (costs_memory(graph_, plan_, taken))
                for (std::int32_t e : taken) inside_[static_cast<std::size_t>(e)] = -1;
    }

    // Whether a scatter is a loop: nothing that it joins lies in memory, or its updates are a number.
    bool scatters_in_loop(std::int32_t e) const {
        if (!options_.fuse || family(e) != Family::scatter) return false;
        std::int32_t updates = joined(e);
        return inside_[static_cast<std::size_t>(updates)] == e || made(updates) ||
               plan_.places[static_cast<std::size_t>(updates)].kind == Place::literal;
    }

    void group_elementwise() {
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

    bool counted(std::int32_t e) const { return made(e) && graph_.inputs(memory_below(plan_, e)).empty(); }

    std::int32_t& level(std::int32_t e) { return levels_[static_cast<std::size_t>(e)]; }

    void find_levels() {
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
    void move_to_readers() {
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
    std::size_t arrays_read(std::int32_t e) {
        std::size_t count = 0;
        for (std::int32_t input : graph_.inputs(e))
            count += place(input).kind != Place::literal && node(input).shape == node(e).shape;
        return count;
    }

    // Whether a value may pass from `input` to `e` inside one kernel.
    bool together(std::int32_t e, std::int32_t input) {
        if (!options_.fuse || !elementwise(input) || picked(e)) return false;
        std::int32_t in = inside_[static_cast<std::size_t>(input)];
        if (in >= 0) return in == e || in == inside_[static_cast<std::size_t>(e)];
        return elementwise(e) && inside_[static_cast<std::size_t>(e)] < 0 && node(e).shape == node(input).shape;
    }

    std::int32_t root(std::int32_t e) {
        while (parent_[static_cast<std::size_t>(e)] != e) {
            auto& up = parent_[static_cast<std::size_t>(e)];
            up = parent_[static_cast<std::size_t>(up)];
            e = up;
        }
        return e;
    }
    void join(std::int32_t a, std::int32_t b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }

    // Outputs that are numbers, or views that repeat elements, come to memory by a copy; other views show their base's memory.
    void place_outputs() {
        for (std::int32_t output : graph_.outputs) {
            std::int32_t base = output;
            bool repeats = false;
            while (place(base).kind == Place::view) {
                repeats |= node(base).operation == &broadcast_to_operation;
                base = place(base).index;
            }
            if (place(output).kind == Place::literal || (repeats && place(output).kind == Place::view)) {
                output_copies_.insert(output);
            }
        }
    }

    void make_steps() {
        // Kernels: groups of elementwise entries, cut where they are too long (a cut follows the order of entries, so it is safe).
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
        find_needed();
        release_gathers(kernels);
        release_drawn();
        for (std::int32_t e = 0; e < count_; ++e) {
            if (needed_[static_cast<std::size_t>(e)] && elementwise(e)) {
                put_in_slot(e, orders_[static_cast<std::size_t>(e)]);
                stored_elementwise_.insert(e);
            }
        }
        for (auto& members : kernels)
            maker_.map(members, [&](std::int32_t e) { return stored_elementwise_.contains(e); });
        for (std::int32_t e = 0; e < count_; ++e) {
            if (place(e).kind != Place::slot || stored_elementwise_.contains(e)) continue;
            if (copies_.contains(e))
                maker_.copy(graph_.inputs(e)[0], place(e).index);
            else if (joins(e))
                maker_.reduce(e, inside_);
            else if (scatters_in_loop(e))
                maker_.scatter(e, inside_);
            else
                maker_.library(e);
        }
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

    // A gather whose result others read too is a library's after all, which copies what stands behind an index at once.
    void release_gathers(std::vector<std::vector<std::int32_t>>& kernels) {
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
                stored_elementwise_.insert(index);
                kernels.push_back({index});
            }
        }
        std::erase_if(kernels, [](const std::vector<std::int32_t>& members) { return members.empty(); });
    }

    // Random bits that several kernels read are drawn once, into memory.
    void release_drawn() {
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

    void find_needed() {
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

    const Graph& graph_;
    const PartitionOptions& options_;
    std::int32_t count_;
    Plan plan_;
    StepMaker maker_;
    std::vector<bool> made_;  // what loops make where they read it
    LoopGathers loops_;       // gathers that are loads of loops
    std::vector<std::int32_t> inside_, levels_, parent_, kernel_of_;
    std::vector<bool> needed_, written_;
    std::vector<Axes> orders_;
    std::set<std::int32_t> copies_, output_copies_, stored_elementwise_;
    std::map<std::int32_t, std::size_t> absorbed_;
};

}  // namespace

Plan make_plan(const Graph& graph, const PartitionOptions& options) { return Partitioner(graph, options).plan(); }

}  // namespace weft
