// Maps by machine code: stretches of the box, each by itself.
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/emit/emitted_rows.h"

namespace weft::cpu::emit {
namespace {

class EmittedMap final : public PreparedLoop {
  public:
    EmittedMap(EmittedRows rows, std::size_t loads, const Dims& dims) : rows_(std::move(rows)), loads_(loads) {
        elements_ = element_count(dims);
        std::int64_t inner = dims.empty() ? 1 : dims.back();
        // Whole rows where they are short; parts of a row that end with a line of the cache where it is long.
        if (inner > 0 && inner <= task_elements)
            cut_ = task_elements / inner * inner;
        else
            cut_ = task_elements;
        tasks_ = divide_up(elements_, cut_);
        slots_ = slots_for(tasks_);
    }
    std::string_view by() const override { return "emitter"; }
    std::size_t scratch_bytes() const override {
        return static_cast<std::size_t>(slots_) * aligned(rows_.scratch_bytes());
    }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::int64_t start = task * cut_;
            auto base = [&](std::size_t i) { return i < loads_ ? loads[i] : stores[i - loads_]; };
            rows_.run(start, std::min(cut_, elements_ - start),
                      scratch + static_cast<std::size_t>(slot) * aligned(rows_.scratch_bytes()), base);
        });
    }

  private:
    EmittedRows rows_;
    std::size_t loads_;
    std::int64_t elements_ = 0, cut_ = 1, tasks_ = 0;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_emitted_map(const Loop& loop, const CompileOptions* options) {
    LoopLayout layout = layout_of(loop);
    std::vector<Stream> loads, stores;
    for (std::size_t i = 0; i < layout.loads.size(); ++i) loads.push_back({loop.loads[i].dtype, layout.loads[i]});
    for (std::size_t i = 0; i < layout.stores.size(); ++i) stores.push_back({loop.stores[i].dtype, layout.stores[i]});
    EmittedRows rows(loop.program, layout.kept, loads, stores, options);
    if (!rows) return nullptr;
    return std::make_unique<EmittedMap>(std::move(rows), loads.size(), layout.kept);
}

}  // namespace weft::cpu::emit
