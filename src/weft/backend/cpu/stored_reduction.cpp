#include "weft/backend/cpu/stored_reduction.h"

#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/reduction_kernel.h"
#include "weft/base/integers.h"
#include "weft/kernel/address_facts.h"

namespace weft::cpu {
namespace {

/// The second program behind the first, whose only output is all that it reads. The outputs of both leave it.
Program chained(const Program& first, const Program& second) {
    Program both = first;
    std::vector<std::int32_t> moved;  // of the second's instructions: their place in both
    for (const Instruction& at : second.code) {
        if (at.opcode == Opcode::input) {
            moved.push_back(first.outputs[0]);
            continue;
        }
        Instruction behind = at;
        for (std::int32_t* operand : {&behind.a, &behind.b, &behind.c})
            if (*operand >= 0) *operand = moved[static_cast<std::size_t>(*operand)];
        moved.push_back(static_cast<std::int32_t>(both.code.size()));
        both.code.push_back(behind);
    }
    for (std::int32_t output : second.outputs) both.outputs.push_back(moved[static_cast<std::size_t>(output)]);
    return both;
}

/// Whether every point of the reduction reads what the map has stored there, in the type that it was computed in.
bool follows(const Loop& map, const Loop& reduction) {
    auto plain = [](const Access& access) { return access.plain(); };
    bool maps = !map.reduces() && !map.scatter && map.stores.size() == 1 && plain(map.stores[0]) &&
                std::all_of(map.loads.begin(), map.loads.end(), plain);
    bool reduces = reduction.reduces() && !reduction.scan && reduction.loads.size() == 1 && plain(reduction.loads[0]);
    if (!maps || !reduces || map.dims != reduction.dims) return false;
    const Access &made = map.stores[0], &read = reduction.loads[0];
    DType computed = map.program.dtype(map.program.outputs[0]);
    return made.strides == read.strides && made.dtype == computed && read.dtype == computed &&
           reduction.program.inputs[0] == computed;
}

class StoredReduction final : public Kernel {
  public:
    StoredReduction(const Loop& map, const Loop& reduction)
        : of_map_(map), of_reduction_(reduction), loads_(map.loads.size()) {
        if (!follows(map, reduction)) return;
        Loop both = reduction;  // over whose box all lie; what the map stores is the last load
        both.loads = map.loads;
        both.loads.push_back(map.stores[0]);
        LoopLayout layout = layout_of(both);
        if (layout.reduced.size() != 1) return;
        length_ = layout.reduced[0], rows_ = element_count(layout.kept);
        Dims dims = layout.kept;
        dims.push_back(length_);
        std::vector<Stream> streams;
        for (std::size_t i = 0; i < both.loads.size(); ++i)
            streams.push_back({both.loads[i].dtype, layout.loads[i], i < loads_ && fetched_ahead(both.loads[i])});
        Stream made = streams.back();
        streams.pop_back();
        bool in_order = made.strides.back() == static_cast<std::int64_t>(size_of(made.memory));
        if (!in_order || !folds_rows(length_)) return;
        std::vector<Stream> results;
        for (std::size_t i = 0; i < reduction.stores.size(); ++i) {
            const Access& store = reduction.stores[i];
            if (store.dtype != reduction.program.dtype(reduction.program.outputs[i])) return;
            results.push_back({store.dtype, layout.stores[i]});
        }
        code_ = emit::EmittedRows(chained(map.program, reduction.program), dims, streams, reduction.reductions, results,
                                  {made});
        rows_in_task_ = std::max<std::int64_t>(1, task_elements / length_);
        tasks_ = divide_up(rows_, rows_in_task_);
        slots_ = slots_for(tasks_);
        thread_bytes_ = aligned(code_.scratch_bytes());
    }
    explicit operator bool() const { return static_cast<bool>(code_); }

    std::string_view by() const override { return "emitter"; }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * thread_bytes_; }
    void run(void* const* operands, std::byte* scratch) const override {
        const void* const* loads = const_cast<const void* const*>(operands);
        of_map_.check(loads, loads + loads_);
        of_reduction_.check(loads + loads_, loads + loads_ + 1);
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::int64_t first = task * rows_in_task_, rows = std::min(rows_in_task_, rows_ - first);
            code_.run(first * length_, rows * length_, scratch + static_cast<std::size_t>(slot) * thread_bytes_,
                      [&](std::size_t i) { return loads[i]; });
        });
    }

  private:
    AddressFacts of_map_, of_reduction_;
    std::size_t loads_;
    emit::EmittedRows code_;
    std::int64_t length_ = 0, rows_ = 0, rows_in_task_ = 1, tasks_ = 0;
    int slots_ = 1;
    std::size_t thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> stored_reduction(const Loop& map, const Loop& reduction) {
    auto kernel = std::make_unique<StoredReduction>(map, reduction);
    if (!*kernel) return nullptr;
    return kernel;
}

}  // namespace weft::cpu
