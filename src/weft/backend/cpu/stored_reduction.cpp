#include "weft/backend/cpu/stored_reduction.h"

#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/past_caches.h"
#include "weft/backend/cpu/reduction_kernel.h"
#include "weft/base/integers.h"
#include "weft/kernel/address_facts.h"
#include "weft/kernel/splice.h"

namespace weft::cpu {
namespace {

std::vector<Scalar> inputs_of(const Program& program, ProgramBuilder& builder) {
    std::vector<Scalar> inputs;
    for (DType dtype : program.inputs) inputs.push_back(builder.input(dtype));
    return inputs;
}

/// The second program behind the first, whose only output is all that it reads. The outputs of both leave it.
Program chained(const Program& first, const Program& second) {
    ProgramBuilder builder;
    std::vector<Scalar> made = splice(builder, first, inputs_of(first, builder)),
                        joined = splice(builder, second, made);
    for (const auto* outputs : {&made, &joined})
        for (const Scalar& output : *outputs) builder.output(output);
    return builder.take();
}

/// The second program beside the first, with inputs of its own; its only output leaves as number `output`.
Program beside(const Program& first, const Program& second, std::size_t output) {
    ProgramBuilder builder;
    std::vector<Scalar> all = splice(builder, first, inputs_of(first, builder));
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(output),
               splice(builder, second, inputs_of(second, builder))[0]);
    for (const Scalar& value : all) builder.output(value);
    return builder.take();
}

/// Whether a map's result is so large that it belongs past the caches, and not where what it reads lies.
bool goes_past(const Loop& map) {
    auto replaced = [](const Access& load) { return load.replaced; };
    return map.stores[0].passes >= past_bytes_of_blocks && std::none_of(map.loads.begin(), map.loads.end(), replaced);
}

/// Whether its rows fill whole vectors, which can be stored there.
bool fills_vectors(const Loop& map) {
    const Access& store = map.stores[0];
    bool aligned = store.alignment % 64 == 0 && store.alignment > 0 &&
                   map.dims.back() * static_cast<std::int64_t>(size_of(store.dtype)) % 64 == 0;
    return aligned && size_of(store.dtype) >= 4 && store.dtype == map.program.dtype(map.program.outputs[0]);
}

/// Whether what comes next is fetched while so much is computed, though the second-level cache might hold it: a softmax of 512 x 512 and 1,000 x 300
/// floats on an Emerald Rapids in 0.9 of its time; a layer norm, which computes little, in 1.1.
bool fetched_beside(const Program& program, const Access& load) {
    constexpr std::size_t half_the_cache = std::size_t{1} << 20;
    return is_no_zen() && load.plain() && load.passes >= half_the_cache && program.computes_much();
}

bool plain(const Access& access) { return access.plain(); }

/// A map to one result, of arrays as they lie.
bool maps(const Loop& loop) {
    return !loop.reduces() && !loop.scatter && loop.stores.size() == 1 && plain(loop.stores[0]) &&
           std::all_of(loop.loads.begin(), loop.loads.end(), plain);
}

bool reduces(const Loop& loop) {
    return loop.reduces() && !loop.scan && std::all_of(loop.loads.begin(), loop.loads.end(), plain);
}

/// Whether every point of the reduction reads what the map has stored there, in the type that it was computed in.
bool follows(const Loop& map, const Loop& reduction) {
    if (!maps(map) || reduction.loads.size() != 1 || map.dims != reduction.dims) return false;
    const Access &made = map.stores[0], &read = reduction.loads[0];
    DType computed = map.program.dtype(map.program.outputs[0]);
    return made.strides == read.strides && made.dtype == computed && read.dtype == computed &&
           reduction.program.inputs[0] == computed;
}

class StoredReduction final : public Kernel {
  public:
    StoredReduction(const Loop* map, const Loop& reduction, const Loop* behind, bool turns) : of_reduction_(reduction) {
        if (!reduces(reduction) || (map && !follows(*map, reduction)) || !(map || behind)) return;
        const Loop& first = map ? *map : reduction;
        loads_ = first.loads.size(), made_ = map ? 1 : 0;
        if (map) of_map_ = AddressFacts(*map);
        if (behind) {
            bool fits = maps(*behind) && !behind->loads.empty() && behind->dims == first.dims;
            past_ = fits && goes_past(*behind);
            if (!fits || (past_ && !fills_vectors(*behind)) || !(turns || ends_beside_block(first))) return;
            of_behind_ = AddressFacts(*behind), behind_loads_ = behind->loads.size();
        }
        if (!lay_out(map, reduction, behind)) return;
        if (folds_rows(first.program, length_, true)) {
            Dims dims = kept_;
            dims.push_back(length_);
            emit(map, reduction, dims, streams_, results_, behind);
            rows_in_task_ = std::max<std::int64_t>(1, task_elements / length_);
        } else if (!behind && length_ > row_chunk && folds_rows((length_ - 1) % row_chunk + 1)) {
            prepare_chunks(*map, reduction);
        }
        tasks_ = divide_up(rows_, rows_in_task_) * chunks_;
        slots_ = slots_for(tasks_);
        thread_bytes_ = aligned(code_.scratch_bytes());
    }
    explicit operator bool() const { return static_cast<bool>(code_); }

    std::string_view by() const override { return "emitter"; }
    std::size_t scratch_bytes() const override {
        return shared_bytes_ + static_cast<std::size_t>(slots_) * thread_bytes_;
    }
    void finish() const override {
        if (past_) finish_past_caches();
    }
    std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const override {
        return chunks_ == 1 && rows_ > 0 ? code_.cursor_bytes(rows, step) : 0;
    }
    void start_rows(std::int64_t rows, std::int64_t first, void* const* operands, std::byte* cursor) const override {
        check_addresses(operands);
        code_.start_rows(
            rows, cursor, [&](std::size_t i) { return operands[i]; },
            [=, this](std::size_t i) { return is_of_behind(i) ? 0 : first; });
    }
    void run(void* const* operands, std::byte* scratch) const override {
        const void* const* loads = const_cast<const void* const*>(operands);
        check_addresses(operands);
        if (rows_ == 0) return;
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::byte* mine = scratch + shared_bytes_ + static_cast<std::size_t>(slot) * thread_bytes_;
            if (chunks_ > 1) return run_chunk(task / chunks_, task % chunks_, operands, scratch, mine);
            std::int64_t first = task * rows_in_task_, rows = std::min(rows_in_task_, rows_ - first);
            code_.run(first * length_, rows * length_, mine, [&](std::size_t i) { return loads[i]; });
        });
        for (std::size_t i = 0; chunks_ > 1 && i < joins_.size(); ++i)
            joins_[i]->join(operands[loads_ + 1 + i], nullptr, scratch + partials_at_[i], nullptr, chunks_, rows_,
                            rows_);
    }

  private:
    /// Processors of Intel store past the caches better beside other work: such stores take the places in which what is read waits for the
    /// second-level cache. Figures: compile/row_cuts.cpp. Beside squares alone, a layer norm's, both wait for memory: 1.40 to 1.62 ms.
    bool ends_beside_block(const Loop& first) const { return is_no_zen() && past_ && first.program.computes_much(); }
    bool is_of_behind(std::size_t stream) const {
        bool loads = stream >= loads_ && stream < loads_ + behind_loads_;
        return behind_loads_ > 0 && (loads || stream == streams_.size() - 1);
    }
    void check_addresses(void* const* operands) const {
        const void* const* loads = const_cast<const void* const*>(operands);
        std::size_t made = loads_ + behind_loads_, ended = made + made_;
        of_map_.check(loads, loads + made);
        if (behind_loads_ > 0) of_behind_.check(loads + loads_, loads + ended);
        of_reduction_.check(made_ ? loads + made : loads, loads + ended + (behind_loads_ > 0 ? 1 : 0));
    }
    /// The space, and what moves how along it: whether machine code may run there.
    bool lay_out(const Loop* map, const Loop& reduction, const Loop* behind) {
        Loop both = reduction;  // over whose box all lie; what maps store are the last loads
        if (map) both.loads = map->loads;
        if (behind) both.loads.insert(both.loads.end(), behind->loads.begin(), behind->loads.end());
        std::size_t loads = both.loads.size();
        if (map) both.loads.push_back(map->stores[0]);
        if (behind) both.loads.push_back(behind->stores[0]);
        LoopLayout layout = layout_of(both);
        if (layout.reduced.size() != 1) return false;
        kept_ = layout.kept;
        length_ = layout.reduced[0], rows_ = element_count(kept_);
        for (std::size_t i = 0; i < both.loads.size(); ++i) {
            const Access& access = both.loads[i];
            bool ahead = i < loads && (fetched_ahead(access) || (map && fetched_beside(map->program, access)));
            streams_.push_back({access.dtype, layout.loads[i], ahead, false, access.next, access.soon});
        }
        for (std::size_t i = loads; i < streams_.size(); ++i)
            if (streams_[i].strides.back() != static_cast<std::int64_t>(size_of(streams_[i].memory))) return false;
        for (std::size_t i = 0; i < reduction.stores.size(); ++i) {
            const Access& store = reduction.stores[i];
            if (store.dtype != reduction.program.dtype(reduction.program.outputs[i])) return false;
            results_.push_back({store.dtype, layout.stores[i]});
        }
        return true;
    }

    void emit(const Loop* map, const Loop& reduction, const Dims& dims, std::vector<Stream> loads,
              const std::vector<Stream>& results, const Loop* behind = nullptr) {
        auto first_made = loads.end() - static_cast<std::ptrdiff_t>(made_ + (behind ? 1 : 0));
        std::vector<Stream> made(first_made, loads.end());
        loads.erase(first_made, loads.end());
        Program both = map ? chained(map->program, reduction.program) : reduction.program;
        if (behind) both = beside(both, behind->program, made_);
        code_ = emit::EmittedRows(both, dims, loads, reduction.reductions, results, made, past_);
    }

    /// Rows beyond a chunk: each chunk is a row of its own, whose results wait in scratch and are joined in their order.
    void prepare_chunks(const Loop& map, const Loop& reduction) {
        for (const Stream& result : results_)
            if (!result.contiguous(kept_)) return;
        std::vector<Stream> along = streams_, once = results_;
        for (Stream& stream : along) stream.strides = {stream.strides.back()};
        for (Stream& stream : once) stream.strides = {};
        emit(&map, reduction, {row_chunk}, along, once);
        chunks_ = divide_up(length_, row_chunk);
        BlockLoops loops = block_loops(best_isa());
        for (std::size_t i = 0; i < results_.size(); ++i) {
            joins_.push_back(loops.reduce(reduction.reductions[i], results_[i].memory));
            partials_at_.push_back(shared_bytes_);
            shared_bytes_ += aligned(static_cast<std::size_t>(rows_ * chunks_) * size_of(results_[i].memory));
        }
    }

    void run_chunk(std::int64_t row, std::int64_t chunk, void* const* operands, std::byte* shared,
                   std::byte* mine) const {
        SmallVector<std::int64_t, 8> at(kept_.size() + 1, 0);  // the last: along the row
        unravel(row, kept_, at.data());
        std::int64_t first = chunk * row_chunk, partial = chunk * rows_ + row;
        code_.run(0, std::min(row_chunk, length_ - first), mine, [&](std::size_t i) -> const void* {
            if (i > loads_) {
                std::size_t result = i - loads_ - 1;
                return shared + partials_at_[result] +
                       static_cast<std::size_t>(partial) * size_of(results_[result].memory);
            }
            const Stream& stream = streams_[i];
            // By numbers: what stands for a made value is no address.
            auto address = reinterpret_cast<std::intptr_t>(operands[i]);
            return reinterpret_cast<const void*>(address + stream.offset(at.data()) + first * stream.strides.back());
        });
    }

    AddressFacts of_map_, of_reduction_, of_behind_;
    bool past_ = false;  // what the one behind stores goes past the caches
    std::size_t loads_ = 0, behind_loads_ = 0,
                made_ = 0;  // the map's or the reduction's; of the one behind; stores of a map
    emit::EmittedRows code_;
    Dims kept_;
    std::vector<Stream> streams_,
        results_;  // over the kept axes; the former along the row, too; last what the map stores
    std::int64_t length_ = 0, rows_ = 0, rows_in_task_ = 1, tasks_ = 0;
    std::int64_t chunks_ = 1;  // of a row
    std::vector<const ReduceLoops*> joins_;
    std::vector<std::size_t> partials_at_;  // in scratch, chunk by chunk
    int slots_ = 1;
    std::size_t shared_bytes_ = 0, thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> stored_reduction(const Loop* map, const Loop& reduction, const Loop* behind, bool turns) {
    auto kernel = std::make_unique<StoredReduction>(map, reduction, behind, turns);
    if (!*kernel) return nullptr;
    return kernel;
}

}  // namespace weft::cpu
