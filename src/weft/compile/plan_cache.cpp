#include "weft/compile/plan_cache.h"

#include <algorithm>
#include <mutex>

#include "weft/base/lru.h"
#include "weft/compile/parted_maps.h"
#include "weft/compile/stages.h"
#include "weft/rewrite/rewrite.h"

namespace weft {
namespace {

struct Caches {
    std::mutex mutex;
    Lru<Hash128, std::shared_ptr<const Plan>> plans{512};
    Lru<Hash128, std::shared_ptr<const Binding>> bindings{512};
    CacheCount count;
    static Caches& get() {
        static Caches* caches = new Caches;
        return *caches;
    }
};

Hash128 sized_key(const Graph& graph) {
    Hasher hasher;
    hasher.add(graph.structure.high), hasher.add(graph.structure.low);
    for (std::int64_t size : graph.sizes) hasher.add(static_cast<std::uint64_t>(size));
    hasher.add(rewriting_version());
    return hasher.result();
}

// One operation by itself is computed as it stands, so that a / a and a - a are NumPy's where a is 0 or infinite: rules that take numbers for
// finite have nothing to gain there.
const RewriteOptions& rewriting_of(const Graph& graph, const BindOptions& options, bool step = false) {
    if (options.products != MatmulPrecision::float32) return rewriting_in(options.products);
    auto computes = [](const Graph::Entry& e) {
        Family family = e.node->operation->family;
        return !e.leaf && family != Family::constant && family != Family::view;
    };
    bool exact = std::count_if(graph.entries.begin(), graph.entries.end(), computes) <= 1;
    return step ? step_rewriting(exact) : exact ? exact_rewriting() : default_rewriting();
}

}  // namespace

std::shared_ptr<const Plan> plan_for(const Graph& graph, const PartitionOptions& options) {
    promise(options.fuse && options.rows, "plans that are kept are those of programs");
    Caches& caches = Caches::get();
    Hash128 key = graph.structure;
    key.low ^= options.own_outputs | static_cast<std::uint64_t>(options.longest) << 1;
    {
        std::lock_guard lock(caches.mutex);
        if (auto* found = caches.plans.find(key)) return *found;
    }
    auto plan =
        std::make_shared<const Plan>(make_plan(graph, options));  // not under the lock: others may plan meanwhile
    std::lock_guard lock(caches.mutex);
    ++caches.count.plans_made;
    return caches.plans.insert(key, plan);
}

std::shared_ptr<const Binding> make_binding(const Graph& graph, BindOptions options, Stages* stages) {
    bool tells = stages || !shown_stages().empty();
    options.keep_loops |= tells;
    std::vector<Rewrite> trace;
    Graph rewritten = rewrite(graph, rewriting_of(graph, options), tells ? &trace : nullptr);
    if (std::optional<Graph> parted = parted_maps(rewritten)) rewritten = std::move(*parted);
    auto binding = weft::bind(plan_for(rewritten), rewritten, cpu_compiler(), options);
    if (tells) {
        Stages described = describe(graph, trace, rewritten, *binding);
        show(described);
        if (stages) *stages = std::move(described);
    }
    return binding;
}

std::shared_ptr<const Binding> make_step_binding(const Graph& graph, BindOptions options,
                                                 const KernelCompiler& compiler, StepForm form) {
    options.step_of_loop = true;
    if (form == StepForm::as_written) {
        auto plan = std::make_shared<const Plan>(make_plan(graph, {.fuse = false, .own_outputs = true}));
        return weft::bind(std::move(plan), graph, compiler, options);
    }
    if (form == StepForm::rewritten_before) {
        constexpr std::size_t longest =
            8192;  // numbers have no rows to be cut into: a second kernel would only pass them through memory
        return weft::bind(plan_for(graph, {.longest = longest, .numbers = true, .own_outputs = true}), graph, compiler,
                          options);
    }
    Graph rewritten = rewritten_for(graph, options, true);
    if (std::optional<Graph> parted = parted_maps(rewritten)) rewritten = std::move(*parted);
    return weft::bind(plan_for(rewritten, {.own_outputs = true}), rewritten, compiler, options);
}

Graph rewritten_for(const Graph& graph, const BindOptions& options, bool step) {
    return rewrite(graph, rewriting_of(graph, options, step));
}

std::shared_ptr<const Binding> binding_for(const Graph& graph) {
    Caches& caches = Caches::get();
    Hash128 key = sized_key(graph);
    {
        std::lock_guard lock(caches.mutex);
        if (auto* found = caches.bindings.find(key)) {
            ++caches.count.hits;
            return *found;
        }
    }
    auto binding = make_binding(graph);
    std::lock_guard lock(caches.mutex);
    ++caches.count.bindings_made;
    return caches.bindings.insert(key, binding);
}

CacheCount cache_count() {
    Caches& caches = Caches::get();
    std::lock_guard lock(caches.mutex);
    return caches.count;
}

void clear_caches() {
    Caches& caches = Caches::get();
    std::lock_guard lock(caches.mutex);
    caches.plans.clear();
    caches.bindings.clear();
}

}  // namespace weft
