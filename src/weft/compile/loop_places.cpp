// Where everything of a loop lies in its scratch memory, and how addresses go on from block to block.
#include <algorithm>
#include <bit>

#include "weft/base/integers.h"
#include "weft/compile/loop_binding.h"

namespace weft {

void LoopKernel::find_moves(Phase& phase) const {
    std::int64_t blocks = reverse_ ? -phase.at_once : phase.at_once;
    std::vector<Phase::Move> moves;
    for (std::size_t o = 0; o < phase.outputs.size(); ++o) {
        const Output& output = phase.outputs[o];
        if (output.collected.size() > 1) phase.several.push_back(o);
        if (std::ranges::count(output.carries, condition_)) phase.of_condition = o;
    }
    for (const OperandTable::Patch& patch : phase.table->outside()) {
        bool leaf = patch.base.kind == Base::leaf;
        std::size_t i = at(patch.base.index);
        const std::vector<Row>* rows = leaf ? nullptr : &phase.outputs[i].collected;
        std::size_t slice = leaf            ? given_[phase.leaves[i].input].slice
                            : rows->empty() ? 0
                                            : result_slices_[(*rows)[0].result];
        bool carried = leaf ? phase.leaves[i].input < carried_ : !phase.outputs[i].carries.empty();
        if (carried)
            phase.turns.push_back(patch);
        else if (slice > 0)
            moves.push_back({patch.position, 1, blocks * static_cast<std::int64_t>(slice)});
    }
    std::ranges::sort(moves, {}, &Phase::Move::position);
    for (const Phase::Move& move : moves) {
        Phase::Move* last = phase.moves.empty() ? nullptr : &phase.moves.back();
        if (last && last->bytes == move.bytes && last->position + last->count == move.position)
            ++last->count;
        else
            phase.moves.push_back(move);
    }
}

// What is carried lies in turn in two places, or a row further on: from the third block on its address goes on by what only the block's parity
// says, so neighbours in the table are moved by one instruction, and nothing is looked up.
void LoopKernel::find_swings(Phase& phase) const {
    std::int64_t blocks = reverse_ ? -phase.at_once : phase.at_once;
    std::vector<const Output*> of_carry(carried_, nullptr);
    for (const Output& output : phase.outputs)
        for (std::size_t carry : output.carries) of_carry[carry] = &output;
    std::vector<Phase::Swing> swings;
    for (const OperandTable::Patch& patch : phase.turns) {
        bool leaf = patch.base.kind == Base::leaf;
        const Output* output = leaf ? of_carry[at(patch.base.index)] : &phase.outputs[at(patch.base.index)];
        if (!output) continue;  // carried through as it is
        Phase::Swing swing{patch.position, 1, {0, 0}};
        if (!output->collected.empty()) {
            std::size_t slice = result_slices_[output->collected[0].result];
            swing.bytes[0] = swing.bytes[1] = blocks * static_cast<std::int64_t>(slice);
        } else {
            std::int64_t between =
                static_cast<std::int64_t>(output->spare[1]) - static_cast<std::int64_t>(output->spare[0]);
            swing.bytes[0] = leaf ? between : -between, swing.bytes[1] = -swing.bytes[0];
        }
        swings.push_back(swing);
    }
    std::ranges::sort(swings, {}, &Phase::Swing::position);
    for (const Phase::Swing& swing : swings) {
        Phase::Swing* last = phase.swings.empty() ? nullptr : &phase.swings.back();
        if (last && std::ranges::equal(last->bytes, swing.bytes) && last->position + last->count == swing.position)
            ++last->count;
        else
            phase.swings.push_back(swing);
    }
}

// Small ones side by side.
void LoopKernel::place_spares(Phase& phase, std::size_t turn) {
    constexpr std::size_t line = 64;
    for (Output& output : phase.outputs) {
        bool whole = phase.whole != none && &output == &phase.outputs[phase.whole];
        if (whole && turn == 1) output.spare[1] = output.spare[0];
        if (whole ? turn == 1 : output.carries.empty()) continue;
        std::size_t step = std::min(std::bit_ceil(std::max<std::size_t>(output.bytes, 1)), line);
        output.spare[turn] = scratch_bytes_ = (scratch_bytes_ + step - 1) / step * step;
        scratch_bytes_ += output.bytes;
    }
    scratch_bytes_ = aligned(scratch_bytes_);
}

void LoopKernel::place_scratch() {
    std::size_t most = 0;
    auto take = [&](std::size_t bytes) {
        std::size_t place = scratch_bytes_;
        scratch_bytes_ += aligned(bytes);
        return place;
    };
    for (const Phase& phase : phases_) most = std::max(most, phase.step->arena_bytes);
    (void)take(most);  // stands first
    carries_at_ = take(carried_ * sizeof(void*)), bases_at_ = take(inputs_ * sizeof(void*));
    results_at_ = take(results_.size() * sizeof(void*));
    for (Phase& phase : phases_) {
        phase.alternates = phase.moves.empty() && std::ranges::none_of(phase.outputs, [](const Output& output) {
                               return !output.carries.empty() && !output.collected.empty();
                           });
        phase.table_at = take(phase.table->empty().size() * sizeof(void*) * (phase.alternates ? 2 : 1));
        phase.addresses_at = take((phase.leaves.size() + phase.outputs.size()) * sizeof(void*));
        for (const OperandTable::Shared& shared : phase.table->shared()) phase.shared_at.push_back(take(shared.bytes));
        for (std::size_t turn : {0, 1}) place_spares(phase, turn);
    }
    most = 0;
    for (Input& input : given_) {
        if (!input.copy) continue;
        input.copied = take(input.bytes);
        most = std::max(most, input.copy->scratch_bytes());
    }
    copy_scratch_at_ = take(most);
}

}  // namespace weft
