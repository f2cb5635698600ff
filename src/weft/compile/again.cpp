#include "weft/compile/again.h"

#include <algorithm>
#include <set>

#include "weft/base/integers.h"
#include "weft/compile/row_steps.h"
#include "weft/compile/step_maker.h"

namespace weft {
namespace {

constexpr std::int32_t nowhere = -1;

// When slots are written and read. Time runs in halves of steps: step s takes place at 2 s + 1, what is made again for it at 2 s.
struct Touches {
    std::int32_t written = nowhere;
    std::vector<std::int32_t> read;  // rising
    std::int32_t last() const { return read.empty() ? written : read.back(); }
};

// A value that is made again.
struct Again {
    std::int32_t slot, reader;          // the step in front of which it is made
    bool within = false;                // that step computes it instead of reading it
    std::vector<std::int32_t> members;  // computed for it, inputs first
    std::vector<std::int32_t> bases;    // slots that these read
    std::int32_t time() const { return 2 * reader; }
};

class Remaker {
  public:
    Remaker(Plan& plan, const Graph& graph, const std::vector<std::size_t>& bytes, std::size_t least)
        : plan_(plan), graph_(graph), bytes_(bytes), least_(least), touches_(plan.slots.size()) {}

    void run() {
        find_touches();
        find_candidates();
        while (true) {
            auto fullest = static_cast<std::int32_t>(std::max_element(alive_.begin(), alive_.end()) - alive_.begin());
            bool found = std::any_of(candidates_.begin(), candidates_.end(),
                                     [&](std::int32_t slot) { return spare(slot, fullest); });
            if (!found) break;
        }
        if (!chosen_.empty()) write();
    }

  private:
    const Place& place(std::int32_t e) const { return plan_.places[at(e)]; }
    const Shape& shape(std::int32_t e) const { return graph_.node(e).shape; }
    bool is_elementwise(std::int32_t e) const {
        bool computed = place(e).kind == Place::slot || place(e).kind == Place::fused;
        return computed && graph_.node(e).operation->family == Family::elementwise;
    }

    void find_touches();
    void find_candidates();
    void add_life(std::int32_t first, std::int32_t last, std::int64_t bytes);
    bool spare(std::int32_t slot, std::int32_t fullest);
    bool find_members(std::int32_t e, std::int32_t fullest, Again& again, std::size_t depth = 0) const;
    bool waits(std::int32_t slot, std::int32_t fullest) const;
    bool computes_within(const Step& step, std::int32_t slot) const;
    bool lowers(const Again& again, std::int32_t before, std::int32_t fullest);
    void write();
    void leave_first(std::int32_t slot, StepMaker& maker);

    Plan& plan_;
    const Graph& graph_;
    const std::vector<std::size_t>& bytes_;
    std::size_t least_;
    std::vector<Touches> touches_;
    std::vector<std::int64_t> alive_;       // bytes, at each time
    std::vector<std::int32_t> candidates_;  // slots, the largest first
    std::set<std::int32_t> kept_;           // slots that others are made of again
    std::vector<Again> chosen_;
};

void Remaker::find_touches() {
    for (std::int32_t s = 0; at(s) < plan_.steps.size(); ++s) {
        for (std::int32_t slot : plan_.steps[at(s)].stores) touches_[at(slot)].written = 2 * s + 1;
        for (std::int32_t load : plan_.steps[at(s)].loads) {
            std::int32_t slot = slot_below(plan_, load);
            if (slot < 0) continue;
            std::vector<std::int32_t>& read = touches_[at(slot)].read;
            if (read.empty() || read.back() != 2 * s + 1) read.push_back(2 * s + 1);
        }
    }
    alive_.assign(2 * plan_.steps.size() + 1, 0);
    for (std::size_t slot = 0; slot < touches_.size(); ++slot)
        if (touches_[slot].written >= 0)
            add_life(touches_[slot].written, touches_[slot].last(), static_cast<std::int64_t>(bytes_[slot]));
}

void Remaker::add_life(std::int32_t first, std::int32_t last, std::int64_t bytes) {
    for (std::int32_t time = first; time <= last; ++time) alive_[at(time)] += bytes;
}

// Large elementwise values, the largest first. Indices are none: they may be checked before other steps than those that read them.
void Remaker::find_candidates() {
    std::set<std::int32_t> pointing;
    for (const Step& step : plan_.steps) {
        bool library = step.kind == Step::library, picks = step.kind == Step::scatter || step.kind == Step::loop;
        Family family = library ? graph_.node(step.members[0]).operation->family : Family::elementwise;
        picks |= family == Family::gather || family == Family::scatter;
        for (std::size_t i = 0; i < step.loads.size(); ++i)
            if (picks || pointed(step, i)) pointing.insert(slot_below(plan_, step.loads[i]));
        for (const Step& part : step.parts)
            for (std::size_t i = 0; i < part.loads.size(); ++i)
                if (pointed(part, i)) pointing.insert(slot_below(plan_, part.loads[i]));
    }
    for (std::int32_t slot = 0; at(slot) < plan_.slots.size(); ++slot) {
        std::int32_t e = plan_.slots[at(slot)].entry;
        bool large = bytes_[at(slot)] >= least_ && !touches_[at(slot)].read.empty();
        if (large && is_elementwise(e) && place(e).index == slot && !pointing.contains(slot))
            candidates_.push_back(slot);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [&](std::int32_t a, std::int32_t b) { return bytes_[at(a)] > bytes_[at(b)]; });
}

// Whether the slot's value need not lie in memory when most does: it is made again behind that.
bool Remaker::spare(std::int32_t slot, std::int32_t fullest) {
    Touches& touches = touches_[at(slot)];
    auto next = std::upper_bound(touches.read.begin(), touches.read.end(), fullest);
    if (kept_.contains(slot) || touches.written >= fullest || next == touches.read.end()) return false;
    std::int32_t before = next == touches.read.begin() ? touches.written : *std::prev(next);
    if (before >= fullest || *next % 2 == 0) return false;
    Again again{slot, *next / 2, false, {}, {}};
    again.within = std::next(next) == touches.read.end() && computes_within(plan_.steps[at(again.reader)], slot);
    if (!find_members(plan_.slots[at(slot)].entry, fullest, again) || !lowers(again, before, fullest)) return false;
    std::erase(candidates_, slot);
    for (std::int32_t base : again.bases) {
        kept_.insert(base);
        std::vector<std::int32_t>& read = touches_[at(base)].read;
        std::int32_t time = again.time() + again.within;
        auto place = std::lower_bound(read.begin(), read.end(), time);
        if (place == read.end() || *place != time) read.insert(place, time);
    }
    touches.read.erase(next, touches.read.end());
    chosen_.push_back(std::move(again));
    return true;
}

// Whether a slot is in memory then in any case: it is no candidate that was made again, and its readers are on both sides.
bool Remaker::waits(std::int32_t slot, std::int32_t fullest) const {
    return touches_[at(slot)].written <= fullest && touches_[at(slot)].last() >= fullest;
}

// What computes `e` of slots that wait there anyway, or are small beside it, of leaves, numbers and what loops make.
bool Remaker::find_members(std::int32_t e, std::int32_t fullest, Again& again, std::size_t depth) const {
    constexpr std::size_t deepest = 8, small = 16;
    if (std::find(again.members.begin(), again.members.end(), e) != again.members.end()) return true;
    if (depth == deepest) return false;
    for (std::int32_t input : graph_.inputs(e)) {
        const Place& below = place(memory_below(plan_, input));
        if (below.kind == Place::leaf || below.kind == Place::literal || below.kind == Place::made) continue;
        if (is_elementwise(input) && shape(input) == shape(e)) {
            Again deeper = again;
            if (find_members(input, fullest, deeper, depth + 1)) {
                again = std::move(deeper);
                continue;
            }
        }
        std::int32_t slot = slot_below(plan_, input);
        bool stored = slot >= 0 && below.kind == Place::slot && touches_[at(slot)].written >= 0;
        bool there = stored && (waits(slot, fullest) || (touches_[at(slot)].written < again.time() &&
                                                         bytes_[at(slot)] * small <= bytes_[at(again.slot)]));
        bool dropped = std::any_of(chosen_.begin(), chosen_.end(), [&](const Again& a) { return a.slot == slot; });
        if (!there || dropped) return false;
        if (std::find(again.bases.begin(), again.bases.end(), slot) == again.bases.end()) again.bases.push_back(slot);
    }
    again.members.push_back(e);
    return true;
}

// A loop that reads the value point by point, and computes something already, may compute it, too: it needs no memory at all. (What is
// joined as it lies is joined by other kernels than what is computed.)
bool Remaker::computes_within(const Step& step, std::int32_t slot) const {
    bool loop = step.kind == Step::map || (step.kind == Step::reduce && step.members.size() > 1);
    if (!loop || !step.indexed.empty()) return false;
    std::int32_t e = plan_.slots[at(slot)].entry;
    return shape(step.space) == shape(e) && std::all_of(step.loads.begin(), step.loads.end(), [&](std::int32_t load) {
               return slot_below(plan_, load) != slot || load == e;
           });
}

// Whether less lives at the fullest time, and nowhere more than did there, if it is made again; then `alive_` says so.
bool Remaker::lowers(const Again& again, std::int32_t before, std::int32_t fullest) {
    auto bytes = [&](std::int32_t slot) { return static_cast<std::int64_t>(bytes_[at(slot)]); };
    std::int32_t end = again.time() + again.within;  // of what it is made of
    bool unread = before == touches_[at(again.slot)].written;
    auto change = [&](std::int64_t sign) {
        add_life(before + !unread, end - !again.within, -sign * bytes(again.slot));
        for (std::int32_t base : again.bases) add_life(touches_[at(base)].last() + 1, end, sign * bytes(base));
    };
    std::int64_t most = alive_[at(fullest)];
    change(1);
    bool less =
        alive_[at(fullest)] <= most - bytes(again.slot) / 2 && *std::max_element(alive_.begin(), alive_.end()) <= most;
    if (!less) change(-1);
    return less;
}

// The steps with what was chosen, each in front of its reader or within it.
void Remaker::write() {
    StepMaker maker(graph_, plan_);
    std::vector<std::vector<Step>> before(plan_.steps.size());
    for (const Again& again : chosen_) {
        std::int32_t e = plan_.slots[at(again.slot)].entry;
        Step& reader = plan_.steps[at(again.reader)];
        if (again.within) {
            for (std::int32_t member : again.members)
                if (std::find(reader.members.begin(), reader.members.end(), member) == reader.members.end())
                    maker.compute_within(reader, member);
        } else {
            maker.map(again.members, [&](std::int32_t member) { return member == e; });
            before[at(again.reader)].push_back(std::move(plan_.steps.back()));
            plan_.steps.pop_back();
        }
        if (touches_[at(again.slot)].read.empty()) leave_first(again.slot, maker);
    }
    std::vector<Step> steps;
    steps.reserve(plan_.steps.size() + chosen_.size());
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
        for (Step& made : before[s]) steps.push_back(std::move(made));
        steps.push_back(std::move(plan_.steps[s]));
    }
    plan_.steps = std::move(steps);
}

// Nothing reads what the first step stores any more: it does not, or, if parts of itself do, keeps it inside.
void Remaker::leave_first(std::int32_t slot, StepMaker& maker) {
    Step& step = plan_.steps[at(touches_[at(slot)].written / 2)];
    if (step.kind == Step::map && step.stores.size() > 1) maker.leave_unstored(step, slot);
    if (step.kind != Step::rows) return;
    bool read = false;
    for (const Step& part : step.parts)
        for (std::int32_t load : part.loads) read |= slot_below(plan_, load) == slot;
    for (Step& part : step.parts) {
        if (std::find(part.stores.begin(), part.stores.end(), slot) == part.stores.end()) continue;
        if (!read && (part.kind != Step::map || part.stores.size() < 2)) return;
        if (!read) maker.leave_unstored(part, slot);
    }
    if (read && !rows_lead(plan_.slots[at(slot)].order, step.leading)) return;
    std::erase(step.stores, slot);
    if (read) step.inside.push_back(slot);
}

}  // namespace

void make_again(Plan& plan, const Graph& graph, const std::vector<std::size_t>& bytes, std::size_t least) {
    Remaker(plan, graph, bytes, least).run();
}

}  // namespace weft
