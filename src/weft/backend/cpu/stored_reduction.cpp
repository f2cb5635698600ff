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
        if (!follows(map, reduction) || !lay_out(map, reduction)) return;
        if (folds_rows(map.program, length_)) {
            Dims dims = kept_;
            dims.push_back(length_);
            emit(map, reduction, dims, streams_, results_);
            rows_in_task_ = std::max<std::int64_t>(1, task_elements / length_);
        } else if (length_ > row_chunk && folds_rows((length_ - 1) % row_chunk + 1)) {
            prepare_chunks(map, reduction);
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
    void run(void* const* operands, std::byte* scratch) const override {
        const void* const* loads = const_cast<const void* const*>(operands);
        of_map_.check(loads, loads + loads_);
        of_reduction_.check(loads + loads_, loads + loads_ + 1);
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
    /// The space, and what moves how along it: whether machine code may run there.
    bool lay_out(const Loop& map, const Loop& reduction) {
        Loop both = reduction;  // over whose box all lie; what the map stores is the last load
        both.loads = map.loads;
        both.loads.push_back(map.stores[0]);
        LoopLayout layout = layout_of(both);
        if (layout.reduced.size() != 1) return false;
        kept_ = layout.kept;
        length_ = layout.reduced[0], rows_ = element_count(kept_);
        for (std::size_t i = 0; i < both.loads.size(); ++i) {
            const Access& access = both.loads[i];
            streams_.push_back(
                {access.dtype, layout.loads[i], i < loads_ && fetched_ahead(access), false, access.next});
        }
        const Stream& made = streams_.back();
        if (made.strides.back() != static_cast<std::int64_t>(size_of(made.memory))) return false;
        for (std::size_t i = 0; i < reduction.stores.size(); ++i) {
            const Access& store = reduction.stores[i];
            if (store.dtype != reduction.program.dtype(reduction.program.outputs[i])) return false;
            results_.push_back({store.dtype, layout.stores[i]});
        }
        return true;
    }

    void emit(const Loop& map, const Loop& reduction, const Dims& dims, std::vector<Stream> loads,
              const std::vector<Stream>& results) {
        Stream made = loads.back();
        loads.pop_back();
        code_ = emit::EmittedRows(chained(map.program, reduction.program), dims, loads, reduction.reductions, results,
                                  {made});
    }

    /// Rows beyond a chunk: each chunk is a row of its own, whose results wait in scratch and are joined in their order.
    void prepare_chunks(const Loop& map, const Loop& reduction) {
        for (const Stream& result : results_)
            if (!result.contiguous(kept_)) return;
        std::vector<Stream> along = streams_, once = results_;
        for (Stream& stream : along) stream.strides = {stream.strides.back()};
        for (Stream& stream : once) stream.strides = {};
        emit(map, reduction, {row_chunk}, along, once);
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

    AddressFacts of_map_, of_reduction_;
    std::size_t loads_;
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

std::unique_ptr<Kernel> stored_reduction(const Loop& map, const Loop& reduction) {
    auto kernel = std::make_unique<StoredReduction>(map, reduction);
    if (!*kernel) return nullptr;
    return kernel;
}

}  // namespace weft::cpu
