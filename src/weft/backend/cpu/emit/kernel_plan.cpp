#include "weft/backend/cpu/emit/kernel_plan.h"

#include <algorithm>

#include "weft/base/integers.h"

namespace weft::cpu::emit {
namespace {

constexpr int least_registers = 5;            // beside accumulators
constexpr int fill_registers = 3;             // that operands from memory may need at once
constexpr std::size_t unrolled_lines = 1600;  // beyond, more vectors only make the code longer
// Of a chain, whose lines wait for each other, 33 KB of code for two vectors run at half the time of one, 61 KB for four at a third.
constexpr std::size_t unrolled_chain = 8000;
constexpr int spilled = 8;                // registers of a chain that may be missing
constexpr int latency = 4, window = 256;  // cycles of a common instruction; instructions that a processor looks ahead
constexpr int many_constants = 8;         // that do not find registers beside those in which all lanes are summed
constexpr int unroll_spare = 4;           // registers for constants wanted beside two vectors, where all need one

bool commutes(VectorOp op) {
    switch (op) {
        case VectorOp::add:
        case VectorOp::multiply:
        case VectorOp::int_add:
        case VectorOp::int_multiply:
        case VectorOp::bit_and:
        case VectorOp::bit_or:
        case VectorOp::bit_xor:
            return true;
        default:
            return false;
    }
}

/// Whether the second operand, but not the first, may lie in memory.
bool takes_memory(VectorOp op) {
    switch (op) {
        case VectorOp::subtract:
        case VectorOp::divide:
        case VectorOp::lesser:
        case VectorOp::greater:
        case VectorOp::int_subtract:
        case VectorOp::compare:
        case VectorOp::int_compare:
        case VectorOp::select:
            return true;
        default:
            return false;
    }
}

class Planner {
  public:
    Planner(VectorCode code, const PlanOptions& options) : options_(options) {
        plan_.code = std::move(code);
        plan_.lane_bytes = plan_.code.lane_bytes();
        plan_.lanes = options.vector_bytes / plan_.lane_bytes;
        keeps_register_.assign(plan_.code.lines.size(), false);
        auto constants = std::count_if(plan_.code.lines.begin(), plan_.code.lines.end(),
                                       [](const Line& at) { return at.op == VectorOp::constant; });
        reads_memory_ = options.reads_memory && at(constants) <= most_whole_constants;
        many_constants_ = constants >= many_constants;
        const auto& complete = plan_.code.order;
        const auto& common = plan_.code.common.empty() ? complete : plan_.code.common;
        std::vector<bool> in_row(plan_.code.lines.size(), false);
        sort_out(common, body_lines_, in_row);
        bool leaves_once = std::any_of(common.begin(), common.end(), [&](std::int32_t number) {
            return line(number).op == VectorOp::leave && line(number).once;
        });
        if (leaves_once) common_row_lines_ = take_marked(in_row);
        sort_out(complete, rest_lines_, in_row);
        if (plan_.code.common.empty())  // in their order: numbers are stored there, early
            std::copy_if(complete.begin(), complete.end(), std::back_inserter(row_lines_),
                         [&](std::int32_t number) { return in_row[at(number)]; });
        else
            row_lines_ = take_marked(in_row);
    }

    std::optional<KernelPlan> run() {
        if ((plan_.code.joins() || plan_.code.accumulates()) && !reserve_accumulators()) return std::nullopt;
        find_homes();
        measure();
        choose_unroll();
        reserve_waiting();
        choose_pins();
        plan_.row = row_part(row_lines_);
        plan_.body = body_part(body_lines_, plan_.unroll);
        plan_.rest = body_part(rest_lines_, 1);
        // What is joined has a register for each vector side by side, and leaves the common path with all of them.
        if (!common_row_lines_.empty()) plan_.common_row = row_part(common_row_lines_);
        bool leaves = !plan_.code.common.empty() && !plan_.code.joins() && !plan_.code.accumulates();
        if (leaves) plan_.common_rest = body_part(body_lines_, 1);
        for (const Part* part : {&plan_.row, &plan_.body, &plan_.rest, &plan_.common_rest, &plan_.common_row})
            plan_.spill_slots = std::max(plan_.spill_slots, part->allocation.slots);
        return std::move(plan_);
    }

  private:
    const Line& line(std::int32_t number) const { return plan_.code.line(number); }
    bool in_register(std::int32_t number) const { return number >= 0 && line(number).lane != Lane::none; }
    Bank bank(std::int32_t number) const {
        return line(number).lane == Lane::mask && !options_.masks_are_vectors ? Bank::masks : Bank::vectors;
    }

    void sort_out(const std::vector<std::int32_t>& order, std::vector<std::int32_t>& each, std::vector<bool>& in_row) {
        for (std::int32_t number : order) {
            calls_ = calls_ || line(number).op == VectorOp::outside;
            if (!line(number).once)
                each.push_back(number);
            else if (line(number).op != VectorOp::constant)
                in_row[at(number)] = true;
        }
    }

    static std::vector<std::int32_t> take_marked(std::vector<bool>& marked) {
        std::vector<std::int32_t> numbers;
        for (std::size_t i = 0; i < marked.size(); ++i)
            if (marked[i]) numbers.push_back(static_cast<std::int32_t>(i));
        marked.assign(marked.size(), false);
        return numbers;
    }

    /// The last registers of the bank, out of the allocator's sight.
    bool reserve_accumulators() {
        for (std::size_t i = 0; i < bank_count; ++i) options_.registers[i] -= options_.joining[i];
        if (plan_.code.joins()) {
            options_.unroll = joined_lanes / plan_.lanes;
            auto stores = std::count_if(plan_.code.streams.begin(), plan_.code.streams.end(),
                                        [](const StreamKind& stream) { return in_lanes(stream.mode); });
            plan_.sums_in_frame = stores == 1 && sums_belong_in_frame();
            options_.registers[0] -= plan_.sums_in_frame ? 1 : static_cast<int>(stores) * options_.unroll;
        } else {
            --options_.registers[0];
        }
        plan_.accumulators_at = options_.registers[0];
        return (!calls_ || plan_.code.accumulates()) && options_.registers[0] >= least_registers;
    }

    /// A sum for each of 64 lanes takes most registers of a small bank. Of long functions (exponentials) a vector that is brought from memory and
    /// back costs less than constants that are read there, and one vector at a time: softmaxes of 1,024 on a Zen 3 took 0.93 of the time.
    bool sums_belong_in_frame() const {
        auto folded = std::find_if(plan_.code.streams.begin(), plan_.code.streams.end(),
                                   [](const StreamKind& stream) { return in_lanes(stream.mode); });
        bool sum = folded->mode == Mode::folded && folded->reduction == Reduction::sum && is_floating(folded->memory);
        return options_.long_rows && reads_memory_ && many_constants_ && sum && plan_.code.common.empty() && !calls_;
    }

    /// Whether what is accumulated may wait in registers, of which there are many.
    bool has_room_to_wait() const {
        constexpr int many = 24;
        return plan_.code.accumulates() && !calls_ && plan_.code.common.empty() && options_.registers[0] >= many;
    }

    /// Those that the values side by side and some constants leave.
    void reserve_waiting() {
        if (!has_room_to_wait()) return;
        auto stores = std::count_if(plan_.code.streams.begin(), plan_.code.streams.end(),
                                    [](const StreamKind& stream) { return stream.mode == Mode::accumulated; });
        int wanted = static_cast<int>(stores) * plan_.unroll;
        int used = pressure_of(plan_.unroll, Bank::vectors) + static_cast<int>(invariants_.size());
        if (used + wanted + fill_registers > options_.registers[0]) return;
        options_.registers[0] -= wanted;
        plan_.waiting_at = options_.registers[0];
    }

    void find_homes() {
        plan_.homes.assign(plan_.code.lines.size(), -1);
        uses_.assign(plan_.code.lines.size(), 0);
        for (const auto* lines : {&body_lines_, &rest_lines_}) {
            for (std::int32_t number : *lines) {
                for (std::int32_t operand : {line(number).a, line(number).b, line(number).c}) {
                    if (!in_register(operand) || !line(operand).once) continue;
                    if (lines == &body_lines_ && uses_[at(operand)]++ == 0) invariants_.push_back(operand);
                    bool constant = line(operand).op == VectorOp::constant;
                    if (!constant && plan_.homes[at(operand)] < 0) plan_.homes[at(operand)] = plan_.home_count++;
                }
            }
        }
    }

    std::vector<ValueInfo> values(int copies, bool row) const {
        std::vector<ValueInfo> values(plan_.code.lines.size() * static_cast<std::size_t>(copies));
        for (std::size_t i = 0; i < plan_.code.lines.size(); ++i) {
            auto number = static_cast<std::int32_t>(i);
            for (int copy = 0; copy < copies; ++copy)
                values[i + static_cast<std::size_t>(copy) * plan_.code.lines.size()].bank = bank(number);
            bool constant = line(number).op == VectorOp::constant;
            values[i].invariant = constant || (line(number).once && !row);
        }
        for (auto [number, place] : plan_.pinned) {
            if (!row || line(number).op == VectorOp::constant) values[at(number)].pinned = place;
        }
        return values;
    }

    Demand demand(std::int32_t number, int copy) const {
        const Line& what = line(number);
        auto shift = copy * static_cast<std::int32_t>(plan_.code.lines.size());
        Demand result;
        if (what.lane != Lane::none) result.gives = number + shift;
        const std::int32_t operands[] = {what.a, what.b, what.c};
        for (std::size_t i = 0; i < 3; ++i)
            if (in_register(operands[i])) result.takes[i] = operands[i] + (line(operands[i]).once ? 0 : shift);
        result.clobbers = what.op == VectorOp::outside;
        return result;
    }

    /// Leaves to the instruction, where it may have an operand in memory, what lies there anyway: constants, and outside of the part that makes
    /// them what is the same for a row. A vector that is brought to a register takes one of those that wait for what is computed (Zen 3).
    void read_memory(Part::Task& task, Demand& demand, bool row) const {
        if (!reads_memory_) return;
        const Line& what = line(task.line);
        auto lies = [&](std::int32_t operand) {
            if (!in_register(operand) || keeps_register_[at(operand)] || bank(operand) != Bank::vectors) return false;
            return line(operand).op == VectorOp::constant ||
                   (!row && line(operand).once && plan_.homes[at(operand)] >= 0);
        };
        bool product = what.op == VectorOp::fma;
        if (lies(what.b) && (product || commutes(what.op) || takes_memory(what.op))) {
            task.second = what.b;
        } else if (lies(what.a) && (product || commutes(what.op))) {
            task.second = what.a;
            demand.takes[0] = demand.takes[1];
        }
        if (task.second >= 0) demand.takes[1] = -1;
        if (!product || !lies(what.c)) return;
        task.third = what.c;
        demand.takes[2] = -1;
    }

    std::vector<Demand> demands_of(const std::vector<std::int32_t>& lines, int copies, Part& part) const {
        std::vector<Demand> demands;
        demands.reserve(lines.size() * static_cast<std::size_t>(copies));
        part.tasks.reserve(demands.capacity());
        for (int first = 0; first < copies; first += together_) {
            for (std::int32_t number : lines) {
                for (int copy = first; copy < std::min(first + together_, copies); ++copy) {
                    part.tasks.push_back({number, copy, false});
                    demands.push_back(demand(number, copy));
                    read_memory(part.tasks.back(), demands.back(), false);
                }
            }
        }
        return demands;
    }

    /// Vectors side by side need that many times the registers of one.
    void measure() {
        Part unused;
        std::vector<Demand> demands = demands_of(body_lines_, 1, unused);
        std::vector<ValueInfo> each = values(1, false);
        for (Bank bank : {Bank::vectors, Bank::masks})
            pressure_[static_cast<std::size_t>(bank)] = pressure(demands, each, bank);
    }
    int pressure_of(int copies, Bank bank) const { return copies * pressure_[static_cast<std::size_t>(bank)]; }

    /// Long chains, where each line waits for the one before, need other vectors to work on meanwhile: the processor looks ahead over its
    /// window alone.
    bool is_chain() const { return latency * depth() > window; }

    /// As many vectors side by side as registers and code allow, up to some.
    int most_together() const {
        bool chain = is_chain();
        int wanted = std::min(unroll_spare, static_cast<int>(invariants_.size()));
        int spare = (reads_memory_ ? 0 : wanted) - (chain ? spilled : 0);
        auto fits = [&](int copies) {
            std::size_t lines = body_lines_.size() * static_cast<std::size_t>(copies);
            return lines <= (chain ? unrolled_chain : unrolled_lines) &&
                   pressure_of(copies, Bank::vectors) + spare <= options_.registers[0] &&
                   pressure_of(copies, Bank::masks) <= options_.registers[1];
        };
        int most = chain || has_room_to_wait() ? 4 : 2;
        while (most > 1 && !fits(most)) --most;
        return most;
    }

    /// What joins takes a given number of vectors at a time, one for each of its registers; not all of them side by side, if that would leave
    /// constants and values in memory (softmax of 1,000 x 1,024 doubles 4,760 cycles a row, 3,000 so). Where the common path may be left, all
    /// must have been looked at before the first is joined: the complete path takes them all again.
    void choose_unroll() {
        if (calls_)
            plan_.unroll = 1;
        else if (options_.unroll > 0)
            plan_.unroll = options_.unroll;
        else
            plan_.unroll = std::min(most_together(), options_.most);
        bool in_turn = plan_.code.joins() && plan_.code.common.empty() && !calls_;
        plan_.chain = is_chain();
        together_ = in_turn ? std::min(most_together(), plan_.unroll) : plan_.unroll;
    }

    /// Lines of the longest chain in which each needs the one before.
    int depth() const {
        std::vector<int> depths(plan_.code.lines.size(), 0);
        int most = 0;
        for (std::int32_t number : body_lines_) {
            int before = 0;
            for (std::int32_t operand : {line(number).a, line(number).b, line(number).c})
                if (operand >= 0) before = std::max(before, depths[at(operand)]);
            most = std::max(most, depths[at(number)] = before + 1);
        }
        return most;
    }

    /// The invariants used most often, as far as there are registers that no vector's own values need.
    void choose_pins() {
        if (calls_) return;  // a call would lose them
        int taken = std::max(pressure_of(together_, Bank::vectors), fill_registers + 1);
        if (plan_.sums_in_frame) taken = std::max(taken, 1 + plan_.unroll / 2);  // in which they are folded
        int free = options_.registers[0] - taken;
        std::erase_if(invariants_, [&](std::int32_t number) { return bank(number) != Bank::vectors; });
        if (static_cast<int>(invariants_.size()) > free) free -= reads_memory_ ? 1 : fill_registers;
        std::stable_sort(invariants_.begin(), invariants_.end(),
                         [&](std::int32_t x, std::int32_t y) { return uses_[at(x)] > uses_[at(y)]; });
        int next = options_.registers[0];
        for (std::int32_t number : invariants_) {
            if (free-- <= 0) break;
            plan_.pinned.emplace_back(number, --next);
            keeps_register_[at(number)] = true;
        }
    }

    Part row_part(const std::vector<std::int32_t>& lines) const {
        Part part;
        std::vector<Demand> demands;
        for (std::int32_t number : lines) {
            part.tasks.push_back({number, 0, false});
            demands.push_back(demand(number, 0));
            read_memory(part.tasks.back(), demands.back(), true);
            if (plan_.homes[at(number)] < 0) continue;
            demands.push_back({.takes = {number, -1, -1}});
            part.tasks.push_back({number, 0, true});
        }
        return allocated(std::move(part), demands, values(1, true));
    }

    Part body_part(const std::vector<std::int32_t>& lines, int copies) const {
        Part part;
        std::vector<Demand> demands = demands_of(lines, copies, part);
        return allocated(std::move(part), demands, values(copies, false));
    }

    Part allocated(Part part, const std::vector<Demand>& demands, const std::vector<ValueInfo>& values) const {
        part.allocation = allocate(demands, values, options_.registers);
#ifndef NDEBUG
        verify(part.allocation, demands, values, options_.registers);
#else
        if (options_.registers[0] < 15) verify(part.allocation, demands, values, options_.registers);
#endif
        return part;
    }

    PlanOptions options_;
    KernelPlan plan_;
    std::vector<std::int32_t> row_lines_, common_row_lines_, body_lines_, rest_lines_, invariants_;
    std::vector<int> uses_;
    std::vector<bool> keeps_register_;
    bool reads_memory_ = false, many_constants_ = false;
    std::array<int, bank_count> pressure_{};
    int together_ = 1;  // vectors of a part that are computed side by side
    bool calls_ = false;
};

}  // namespace

std::optional<KernelPlan> plan_kernel(VectorCode code, const PlanOptions& options) {
    return Planner(std::move(code), options).run();
}

}  // namespace weft::cpu::emit
