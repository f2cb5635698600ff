#include "weft/compile/loop_numbers.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/numbers.h"
#include "weft/compile/plan_cache.h"
#include "weft/compile/small_branches.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

constexpr std::int64_t most_elements = 256;     // of an array
constexpr std::size_t most_expressions = 2048;  // of a step

bool maps_only(Family family) {
    return family == Family::elementwise || family == Family::view || family == Family::constant ||
           family == Family::leaf;
}

bool has_known_sizes(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](Size size) { return size.known(); });
}

/// A loop, and what it becomes.
class Numbered {
  public:
    Numbered(const LoopAttributes& a, std::span<const Layout> inputs, std::span<const LoopResultAttributes> results)
        : a_(a), layouts_(inputs), results_(results) {}

    std::optional<LoopOfNumbers> made(const BindOptions& options) {
        if (!is_small()) return {};
        Graph step = rewritten_for(gathered(), options);
        Kernels kernels;
        for (std::size_t e = 0; e < step.entries.size(); ++e) {
            const Node& node = step.node(static_cast<std::int32_t>(e));
            if (!has_known_sizes(node.shape) || element_count(dims_of(node.shape)) > most_elements) return {};
            if (!step.entries[e].leaf && !maps_only(node.operation->family)) kernels.add(node);
        }
        if (kernels.time == 0) return {};  // many steps are computed at once as they are
        place_inputs();
        auto outputs = by_numbers(step, placeholders_, most_expressions);
        if (!outputs || !freeze_step(*outputs)) return {};
        for (const Tensor& x : loop_.loop.step->nodes) loop_.instructions += instructions_of(*x.node());
        if (!pays(kernels)) return {};
        place_results();
        return std::move(loop_);
    }

  private:
    /// What kernels of arrays take, with the maps around them, in instructions (0.15 to 0.22 ns on a Zen 4): a reduction passes its row thrice.
    struct Kernels {
        std::int64_t time = 0;
        bool multiplies = false;
        void add(const Node& node) {
            constexpr std::int64_t of_join = 250, of_reduction = 510, of_first_product = 250, of_product = 350;
            constexpr std::int64_t shortest_sum = 7, of_short_sums = 150;
            Family family = node.operation->family;
            bool product = family == Family::contraction;
            if (product && node.inputs[0]->shape.back().value() < shortest_sum) time += of_short_sums;
            time += product                    ? (multiplies ? of_product : of_first_product)
                    : family == Family::reduce ? of_reduction
                                               : of_join;
            multiplies |= product;
        }
    };

    // Against these: instructions. A number that comes from memory or stays there in each step takes as long as some of them; so does what comes
    // or stays once for all steps that are computed at once, less often.
    bool pays(const Kernels& kernels) const {
        constexpr std::int64_t of_step = 100, of_stream = 5, of_input = 2;
        auto streams = static_cast<std::int64_t>(loop_.loop.sliced);
        for (const LoopResultAttributes& result : results_)
            if (result.collected)
                streams += element_count(dims_of(a_.step->nodes[static_cast<std::size_t>(result.value)].shape()));
        auto others = static_cast<std::int64_t>(loop_.inputs.size() - loop_.loop.sliced + loop_.loop.carried);
        std::int64_t all =
            loop_.instructions + of_stream * streams + of_input * others / numbers_at_once(loop_.instructions);
        return all <= of_step + kernels.time;
    }

    bool is_small() const {
        constexpr std::int64_t least_steps = 64;  // fewer are not worth the making of code
        if (a_.carried == 0 || (!a_.condition && a_.length.value() < least_steps)) return false;
        return std::all_of(a_.step->nodes.begin(),
                           a_.step->nodes.begin() + static_cast<std::ptrdiff_t>(a_.step->inputs),
                           [](const Tensor& x) { return element_count(dims_of(x.shape())) <= most_elements; });
    }

    // One step: what is carried after it, then what is collected of it.
    Graph gathered() {
        std::vector<Tensor> nodes = with_small_branches_chosen(a_.step->nodes);
        std::vector<Node*> tops, leaves;
        for (std::size_t i = 0; i < a_.step->inputs; ++i) leaves.push_back(nodes[i].node());
        for (std::size_t i = 0; i < a_.carried; ++i) tops.push_back(nodes[at(a_.step->outputs[i])].node());
        for (const LoopResultAttributes& result : results_)
            if (is_value(result)) tops.push_back(nodes[static_cast<std::size_t>(result.value)].node());
        return gather(tops, leaves);
    }
    bool is_value(const LoopResultAttributes& result) const {
        return result.collected && static_cast<std::size_t>(result.value) >= a_.carried;
    }

    void place_inputs() {
        for (std::size_t i = 0; i < layouts_.size(); ++i) {
            const Layout& layout = layouts_[i];
            bool sliced = i >= a_.carried && i < a_.carried + a_.sliced;
            auto size = static_cast<std::int64_t>(size_of(layout.dtype));
            Dims dims(layout.dims.begin() + sliced, layout.dims.end()),
                strides(layout.strides.begin() + sliced, layout.strides.end());
            first_.push_back(loop_.inputs.size());
            if (i == a_.carried) loop_.loop.carried = loop_.inputs.size();
            placeholders_.emplace_back();
            for (std::int64_t place : places_of(dims, strides)) {
                loop_.inputs.push_back({i, place * size, sliced ? layout.strides[0] * size : 0});
                placeholders_.back().push_back(input(step_value_name, Shape{}, layout.dtype));
            }
            if (sliced) loop_.loop.sliced += placeholders_.back().size();
        }
        if (layouts_.size() == a_.carried) loop_.loop.carried = loop_.inputs.size();
    }

    // What is collected and carried on as well is no trail: it is said by another node.
    bool freeze_step(const std::vector<ArrayNumbers>& outputs) {
        KeepPending keep;
        std::vector<Tensor> flat, placeholders;
        for (const ArrayNumbers& numbers : placeholders_)
            placeholders.insert(placeholders.end(), numbers.begin(), numbers.end());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            for (const Tensor& x : outputs[i]) {
                bool carried = i >= a_.carried && x.node()->operation->family == Family::leaf;
                flat.push_back(!carried ? x : x.dtype() == DType::bool_ ? x | x : positive(x));
            }
        }
        Frozen frozen = freeze(placeholders, flat);
        if (!frozen.captured.empty()) return false;
        loop_.loop.step = frozen.region;
        loop_.loop.length = a_.length, loop_.loop.reverse = a_.reverse;
        if (a_.condition) loop_.loop.condition = first_[*a_.condition];
        return true;
    }

    void place_results() {
        std::size_t next = loop_.loop.carried;  // among the region's outputs
        for (std::size_t r = 0; r < results_.size(); ++r) {
            const Node& whole = *a_.step->nodes[static_cast<std::size_t>(results_[r].value)].node();
            std::int64_t count = element_count(dims_of(whole.shape)),
                         size = static_cast<std::int64_t>(size_of(whole.dtype));
            for (std::int64_t e = 0; e < count; ++e) {
                std::int64_t value =
                    is_value(results_[r])
                        ? loop_.loop.step->outputs[next++]
                        : static_cast<std::int64_t>(first_[static_cast<std::size_t>(results_[r].value)]) + e;
                loop_.results.push_back({results_[r].collected, value});
                loop_.places.push_back({r, e * size, count * size});
            }
        }
    }

    const LoopAttributes& a_;
    std::span<const Layout> layouts_;
    std::span<const LoopResultAttributes> results_;
    std::vector<std::size_t> first_;          // number of each input
    std::vector<ArrayNumbers> placeholders_;  // of each input
    LoopOfNumbers loop_;
};

}  // namespace

std::int64_t numbers_at_once(std::int64_t instructions) {
    constexpr std::int64_t most_instructions = 1000, most = 64;
    return std::clamp<std::int64_t>(most_instructions / std::max<std::int64_t>(instructions, 1), 1, most);
}

std::optional<LoopOfNumbers> loop_of_numbers(const LoopAttributes& loop, std::span<const Layout> inputs,
                                             std::span<const LoopResultAttributes> results,
                                             const BindOptions& options) {
    KeepPending keep;
    return Numbered(loop, inputs, results).made(options);
}

}  // namespace weft
