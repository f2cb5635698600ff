// Binding: from when until when values live, whose memory becomes whose, and the arena.
#include <algorithm>

#include "weft/compile/binder.h"
#include "weft/compile/in_place.h"
#include "weft/compile/index_checks.h"

namespace weft {

void Binder::find_lifetimes() {
    last_read_.assign(plan_.slots.size(), -1);
    first_.assign(plan_.slots.size(), -1);  // stays so for slots that live inside a step
    leaf_last_.assign(graph_.leaves.size(), -1);
    again_.assign(plan_.slots.size(), -1);
    for (std::int32_t s = 0; at(s) < plan_.steps.size(); ++s) {
        for (std::int32_t slot : plan_.steps[at(s)].stores) {
            if (first_[at(slot)] < 0) {
                first_[at(slot)] = last_read_[at(slot)] = s;
            } else {
                again_[at(slot)] = static_cast<std::int32_t>(first_.size());
                first_.push_back(s), last_read_.push_back(s);
            }
        }
        for (std::int32_t load : plan_.steps[at(s)].loads) {
            const Base& base = views_[at(load)].base;
            if (base.kind == Base::arena) last_read_[life_of(base.index, s)] = s;
            if (base.kind == Base::leaf) leaf_last_[at(base.index)] = s;
        }
    }
}

std::size_t Binder::life_of(std::int32_t slot, std::int32_t step) const {
    std::int32_t again = again_[at(slot)];
    return at(again >= 0 && step >= first_[at(again)] ? again : slot);
}

bool Binder::may_take(const Step& step, std::int32_t slot, const Base& base) const {
    return may_write_over(plan_, graph_, views_, step, slot, base);
}

// Scatters one after another, each over what the one before it left: all of them write to the last one's memory. Not over a part of something
// larger, for which there is no room.
void Binder::merge_scatters() {
    for (std::int32_t slot : plan_.outputs) {
        if (slot < 0 || start_.size() > at(output_of_[at(slot)])) continue;
        std::int32_t start = slot;
        while (true) {
            const Step& step = plan_.steps[at(first_[at(start)])];
            if (!scatters(step, graph_) || holds_pieces(start)) break;
            const Base base = views_[at(step.loads[0])].base;
            bool dies = base.kind == Base::arena && last_read_[at(base.index)] == first_[at(start)] &&
                        !holds_pieces(base.index) && slot_bytes(base.index) == slot_bytes(start);
            if (!dies || !may_take(step, start, base)) break;
            start = base.index;
            output_of_[at(start)] = output_of_[at(slot)];
        }
        start_.push_back(start);
    }
    for (View& view : views_.all())
        if (view.base.kind == Base::arena && output_of_[at(view.base.index)] >= 0)
            view.base = {Base::output, output_of_[at(view.base.index)]};
}

void Binder::choose_donors() {
    std::vector<bool> taken(graph_.leaves.size(), false);  // or shown: an output is a view of it
    for (std::int32_t output : graph_.outputs) {
        const Base& base = views_[at(output)].base;
        if (base.kind == Base::leaf) taken[at(base.index)] = true;
    }
    std::vector<int> times(plan_.slots.size(), 0);  // that a slot is an output
    for (std::int32_t slot : plan_.outputs)
        if (slot >= 0) ++times[at(slot)];
    for (std::size_t i = 0; i < options_.donors.size() && i < plan_.outputs.size(); ++i) {
        std::int32_t donor = options_.donors[i], slot = plan_.outputs[i];
        if (donor < 0 || slot < 0 || taken[at(donor)] || times[at(slot)] != 1) continue;
        std::int32_t start = start_[at(output_of_[at(slot)])];
        if (holds_pieces(start)) continue;
        const Step& step = plan_.steps[at(first_[at(start)])];
        bool reads_last = leaf_last_[at(donor)] == first_[at(start)];
        if (!reads_last || !may_take(step, start, {Base::leaf, donor})) continue;
        binding_->outputs[at(output_of_[at(slot)])].donor = donor;
        taken[at(donor)] = true;
    }
}

// What a donor holds must not be lost to an index that a later step refuses: it is checked before the first donor is written
// over, or, where that cannot be, that one is not.
void Binder::protect_donors() {
    auto written = [&](std::size_t output) { return first_[at(start_[output])]; };
    while (true) {
        checks_at_ = -1;
        for (std::size_t i = 0; i < binding_->outputs.size(); ++i) {
            bool sooner = checks_at_ < 0 || written(i) < checks_at_;
            if (binding_->outputs[i].donor >= 0 && sooner) checks_at_ = written(i);
        }
        if (checks_at_ < 0) return;
        auto late = late_checks(plan_, graph_, checks_at_, [&](std::int32_t index) {
            std::int32_t slot = slot_below(plan_, index);
            return slot < 0 || (first_[at(slot)] >= 0 && first_[at(slot)] < checks_at_);
        });
        if (late) {
            late_ = std::move(*late);
            return;
        }
        for (std::size_t i = 0; i < binding_->outputs.size(); ++i)
            if (written(i) == checks_at_) binding_->outputs[i].donor = -1;
    }
}

void Binder::plan_arena() {
    std::vector<std::int32_t> slots(first_.size());  // of each life
    for (std::int32_t slot = 0; at(slot) < plan_.slots.size(); ++slot) {
        slots[at(slot)] = slot;
        if (again_[at(slot)] >= 0) slots[at(again_[at(slot)])] = slot;
    }
    std::vector<Lifetime> lifetimes(first_.size());
    for (std::size_t life = 0; life < lifetimes.size(); ++life) {
        if (output_of_[at(slots[life])] >= 0 || first_[life] < 0 || lies_within(slots[life])) continue;
        lifetimes[life] = {slot_bytes(slots[life]), first_[life], last_read_[life], -1};
    }
    for (std::int32_t slot = 0; at(slot) < host_.size(); ++slot)  // a join's result lives from its first piece on
        for (std::int32_t host = host_[at(slot)]; host >= 0; host = host_[at(host)])
            lifetimes[at(host)].first = std::min(lifetimes[at(host)].first, first_[at(slot)]);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) reuse_in_place(static_cast<std::int32_t>(s), lifetimes);
    MemoryPlan memory = plan_memory(lifetimes);
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        const Lifetime& life = lifetimes[i];
        if (life.bytes == 0) continue;
        binding_->placements.push_back({plan_.slots[at(slots[i])].entry, memory.offsets[i], life.bytes, life.first,
                                        life.last, life.may_reuse >= 0});
    }
    offsets_ = std::move(memory.offsets);
    binding_->scratch_offset = memory.bytes;
}

void Binder::reuse_in_place(std::int32_t s, std::vector<Lifetime>& lifetimes) {
    const Step& step = plan_.steps[at(s)];
    std::vector<std::size_t> taken;
    for (std::int32_t slot : step.stores) {
        if (output_of_[at(slot)] >= 0 || lies_within(slot)) continue;
        Layout stored = slot_layout(slot);
        for (std::int32_t load : step.loads) {
            const Base& base = views_[at(load)].base;
            if (base.kind != Base::arena || base.index == slot) continue;
            // Asked first: may_take() looks at all that a map of a thousand loads reads.
            if (step.kind == Step::map && !lies_alike(views_[at(load)], stored)) continue;
            std::size_t dying = life_of(base.index, s);
            bool free = last_read_[dying] == s && std::find(taken.begin(), taken.end(), dying) == taken.end();
            if (!free || !may_take(step, slot, base)) continue;
            lifetimes[life_of(slot, s)].may_reuse = static_cast<std::int32_t>(dying);
            taken.push_back(dying);
            break;
        }
    }
}

}  // namespace weft
