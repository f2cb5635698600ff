// One run of a loop: phase after phase, block after block of steps.
#include <algorithm>
#include <cstring>

#include "weft/compile/loop_binding.h"

namespace weft {

/// One run: where everything lies now.
class LoopRun {
  public:
    LoopRun(const LoopKernel& kernel, void* const* operands, std::byte* scratch, std::int64_t row)
        : k_(kernel),
          results_(reinterpret_cast<void**>(scratch + kernel.results_at_)),
          scratch_(scratch),
          carries_(reinterpret_cast<void**>(scratch + kernel.carries_at_)),
          bases_(reinterpret_cast<void**>(scratch + kernel.bases_at_)) {
        auto from_row = [&](void* base, std::size_t bytes) {
            return static_cast<std::byte*>(base) + static_cast<std::size_t>(row) * bytes;
        };
        for (std::size_t i = 0; i < k_.inputs_; ++i) {
            void* array = dense(i, operands[k_.given_[i].array]);
            bases_[i] = from_row(static_cast<std::byte*>(array) + k_.given_[i].offset, k_.given_[i].row);
        }
        for (std::size_t i = 0; i < k_.results_.size(); ++i) {
            const OfArray& place = k_.result_places_[i];
            void* shown = static_cast<std::byte*>(operands[k_.arrays_ + place.array]) + place.offset;
            results_[i] = from_row(shown, k_.result_rows_[i]);
        }
        std::copy(bases_, bases_ + k_.carried_, carries_);
        for (const LoopKernel::OfCarried& of : k_.of_carried_) {
            if (of.collected) put(this->row({of.result, 0, true}, 0), carries_[of.carry], k_.given_[of.carry].carried);
        }
    }

    void all() {
        for (const LoopKernel::Phase& phase : k_.phases_) run_phase(phase, phase.blocks);
        // Of a block in which the loop ended, step by step.
        if (!k_.phases_.empty() && k_.phases_.back().whole != LoopKernel::none)
            run_phase(k_.phases_[0], k_.phases_.back().at_once);
        for (const LoopKernel::OfCarried& of : k_.of_carried_)
            if (!of.collected) put(results_[of.result], carries_[of.carry], k_.given_[of.carry].carried);
    }

  private:
    using Phase = LoopKernel::Phase;
    using Output = LoopKernel::Output;

    void* dense(std::size_t i, void* given) {
        const LoopKernel::Input& input = k_.given_[i];
        if (!input.copy) return given;
        void* operands[] = {given, scratch_ + input.copied};
        input.copy->run(operands, scratch_ + k_.copy_scratch_at_);
        return operands[1];
    }

    static void put(void* place, const void* from, std::size_t bytes) {
        if (place != from) std::memcpy(place, from, bytes);
    }

    /// Where the slice of a step lies in an array of all.
    void* slice_of(void* base, std::size_t bytes, std::int64_t step, bool trail = false) const {
        std::int64_t slice = k_.reverse_ ? k_.length_ - (trail ? 0 : 1) - step : step;
        return static_cast<std::byte*>(base) + static_cast<std::size_t>(slice) * bytes;
    }
    void* row(const LoopKernel::Row& row, std::int64_t first) const {
        return slice_of(results_[row.result], k_.result_slices_[row.result], first + row.step, row.trail);
    }

    // Whether there is a further step.
    bool goes_on() const {
        return k_.condition_ == LoopKernel::none || *static_cast<const bool*>(carries_[k_.condition_]);
    }
    /// What is said of the steps that are made, and where: nothing of a loop of a known number, which collects what it makes.
    struct Ends {
        const bool* further[2] = {&yes, &yes};  // after each even, each odd block, whether there is a further one
        const bool* whole = &yes;               // whether there was a further step after each but the last of a block
        static constexpr bool yes = true;
    };
    Ends ends_of(const Phase& phase) const {
        Ends ends;
        if (k_.condition_ == LoopKernel::none) return ends;
        auto place = [&](std::size_t output, std::size_t turn) {
            return reinterpret_cast<const bool*>(scratch_ + phase.outputs[output].spare[turn]);
        };
        for (std::size_t turn : {0, 1})
            ends.further[turn] = phase.of_condition == LoopKernel::none
                                     ? static_cast<const bool*>(carries_[k_.condition_])  // carried through as it is
                                     : place(phase.of_condition, turn);
        if (phase.whole != LoopKernel::none) ends.whole = place(phase.whole, 0);
        return ends;
    }

    void run_phase(const Phase& phase, std::int64_t blocks) {
        if (!goes_on()) return;
        table_ = reinterpret_cast<void**>(scratch_ + phase.table_at);
        leaves_ = reinterpret_cast<void**>(scratch_ + phase.addresses_at);
        made_ = leaves_ + phase.leaves.size();
        const std::vector<void*>& empty = phase.table->empty();
        std::copy(empty.begin(), empty.end(), table_);
        phase.table->place_arena(table_, scratch_);
        place(phase);
        share(phase);
        const Ends ends = ends_of(phase);
        void** turns[] = {table_ + empty.size(), table_};
        std::int64_t block = 0;
        for (; block < blocks && (block == 0 || *ends.further[(block - 1) & 1]); ++block) {
            if (block > 1 && !leaves_to_results(phase, block)) {
                if (phase.alternates && block == 2) std::copy_n(turns[1], empty.size(), turns[0]);
                if (phase.alternates) table_ = turns[block & 1];
                if (!phase.alternates || block == 2) swing(phase, block);
            } else if (block > 0) {
                go_on(phase, block);
            }
            run_steps(phase);
            if (!*ends.whole) break;
            for (std::size_t o : phase.several) put_in_rows(phase, o, block);
        }
        hand_on(phase, block);
    }

    bool leaves_to_results(const Phase& phase, std::int64_t block) const {
        return block + 1 == phase.blocks && &phase == &k_.phases_.back();
    }

    /// Where a block writes an output: where it stays, if there is such a place; else in turn, since the block reads the last one.
    void* place_of(const Phase& phase, const Output& output, std::int64_t block) const {
        bool ends = block + 1 == phase.blocks;
        std::int64_t first = phase.first + block * phase.at_once;
        if (!output.collected.empty()) return row(output.collected[0], first);
        if (ends && !output.last.empty() && &phase == &k_.phases_.back()) return results_[output.last[0]];
        return scratch_ + output.spare[block & 1];
    }

    // The first block of a phase.
    void place(const Phase& phase) {
        for (std::size_t i = 0; i < phase.leaves.size(); ++i) {
            const LoopKernel::Leaf& leaf = phase.leaves[i];
            leaves_[i] = i < k_.carried_ ? carries_[i] : bases_[leaf.input];
            if (std::size_t bytes = k_.given_[leaf.input].slice)
                leaves_[i] = slice_of(bases_[leaf.input], bytes, phase.first + leaf.step);
        }
        for (std::size_t o = 0; o < phase.outputs.size(); ++o) made_[o] = place_of(phase, phase.outputs[o], 0);
        phase.table->place_outside(table_, {leaves_, phase.leaves.size()}, {made_, phase.outputs.size()});
    }

    void move(const Phase& phase) {
        for (const Phase::Move& move : phase.moves) add(move.position, move.count, move.bytes);
    }
    void add(std::uint32_t position, std::uint32_t count, std::int64_t bytes) {
        void** place = table_ + position;
        std::uint32_t i = 0;
        for (; i + 3 < count; i += 4)
            for (std::uint32_t k = i; k < i + 4; ++k) place[k] = static_cast<std::byte*>(place[k]) + bytes;
        for (; i < count; ++i) place[i] = static_cast<std::byte*>(place[i]) + bytes;
    }

    // The second block, and one that leaves what is carried where results are.
    void go_on(const Phase& phase, std::int64_t block) {
        move(phase);
        hand_on(phase, block);
        std::copy(carries_, carries_ + k_.carried_, leaves_);
        for (std::size_t o = 0; o < phase.outputs.size(); ++o) made_[o] = place_of(phase, phase.outputs[o], block);
        for (const OperandTable::Patch& patch : phase.turns)
            OperandTable::place(table_, patch, {leaves_, phase.leaves.size()}, {made_, phase.outputs.size()});
    }

    // Any other.
    void swing(const Phase& phase, std::int64_t block) {
        move(phase);
        for (const Phase::Swing& swing : phase.swings) add(swing.position, swing.count, swing.bytes[block & 1]);
    }

    // What kernels keep of matrices that are the same in each step.
    void share(const Phase& phase) {
        for (std::size_t i = 0; i < phase.shared_at.size(); ++i) {
            const OperandTable::Shared& shared = phase.table->shared()[i];
            std::byte* place = scratch_ + phase.shared_at[i];
            phase.step->steps[shared.step].kernel->share(table_ + phase.table->first(shared.step), place);
            for (std::uint32_t position : shared.positions) table_[position] = place;
        }
    }

    void run_steps(const Phase& phase) {
        const std::vector<BoundStep>& steps = phase.step->steps;
        std::byte* scratch = scratch_ + phase.step->scratch_offset;
        std::size_t s = 0;
        try {
            for (; s < steps.size(); ++s) steps[s].kernel->run(table_ + phase.table->first(s), scratch);
        } catch (Error& error) {
            error.add(weft::place(error.where.line() ? error.where : steps[s].fails_at));
            error.where = {};  // it has been said
            throw;
        }
    }

    void put_in_rows(const Phase& phase, std::size_t o, std::int64_t block) {
        const Output& output = phase.outputs[o];
        for (const LoopKernel::Row& to : output.collected)
            put(row(to, phase.first + block * phase.at_once), place_of(phase, output, block), output.bytes);
    }

    // What is carried, where the block before this one left it.
    void hand_on(const Phase& phase, std::int64_t block) {
        if (block == 0) return;
        for (const Output& output : phase.outputs)
            for (std::size_t carry : output.carries) carries_[carry] = place_of(phase, output, block - 1);
    }

    const LoopKernel& k_;
    void** results_;
    std::byte* scratch_;
    void **carries_, **bases_;                                        // what is carried; inputs
    void **table_ = nullptr, **leaves_ = nullptr, **made_ = nullptr;  // of the phase that runs
};

void LoopKernel::run_rows(void* const* operands, std::byte* scratch, std::int64_t first) const {
    LoopRun(*this, operands, scratch, first).all();
}

}  // namespace weft
