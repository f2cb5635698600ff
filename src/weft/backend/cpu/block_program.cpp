#include "weft/backend/cpu/block_program.h"

#include <algorithm>
#include <cstring>

#include "weft/base/error.h"

namespace weft::cpu {
namespace {

class Preparation {
  public:
    Preparation(const Program& program, const std::vector<Feed>& feeds, const BlockLoops& loops)
        : program_(program), feeds_(feeds), loops_(loops) {
        result_.slots = static_cast<std::int32_t>(program.code.size());
        result_.inputs.assign(program.inputs.size(), -1);
        result_.input_types = program.inputs;
        types_.reserve(program.code.size());
        result_.steps.reserve(program.code.size());
        for (const Instruction& at : program.code) types_.push_back(at.dtype);
    }

    BlockProgram run(bool copy_inputs) {
        mark_uniform();
        for (std::size_t i = 0; i < program_.code.size(); ++i) place(static_cast<std::int32_t>(i));
        for (std::int32_t position : program_.outputs) add_output(position, copy_inputs);
        fuse();
        assign_registers();
        find_hazards();
        return std::move(result_);
    }

  private:
    const Instruction& code(std::int32_t position) const { return program_.code[static_cast<std::size_t>(position)]; }
    bool uniform(std::int32_t position) const { return uniform_[static_cast<std::size_t>(position)]; }

    void mark_uniform() {
        for (const Instruction& at : program_.code) {
            bool same = true;
            if (at.opcode == Opcode::input) {
                same = feeds_[static_cast<std::size_t>(at.a)] == Feed::uniform;
            } else {
                std::int32_t operands[] = {at.a, at.b, at.c};
                for (int n = 0; n < operand_count(at); ++n) same = same && uniform(operands[n]);
            }
            uniform_.push_back(same);
        }
    }

    void place(std::int32_t position) {
        const Instruction& at = code(position);
        if (at.opcode == Opcode::input) {
            result_.inputs[static_cast<std::size_t>(at.a)] = position;
            if (uniform(position)) result_.cells.push_back(position);
        } else if (at.opcode == Opcode::constant) {
            add_constant(position, at);
        } else {
            add_step(position, at);
        }
    }

    void add_constant(std::int32_t position, const Instruction& at) {
        BlockProgram::Constant constant{};
        with_dtype(at.dtype, [&](auto tag) {
            auto value = at.literal().as<typename decltype(tag)::Type>();
            std::memcpy(constant.bytes, &value, sizeof value);
        });
        result_.constants.emplace_back(position, constant);
    }

    void add_step(std::int32_t position, const Instruction& at) {
        DType operand = program_.dtype(at.opcode == Opcode::select ? at.b : at.a);
        BlockProgram::At step{loops_.step(at, operand), {0, at.function()}, position, {at.a, at.b, at.c}};
        if (!step.step) throw InternalError(text("block evaluator: no loop for ", name_of(at.opcode), " of ", operand));
        if (uniform(position)) {
            result_.cells.push_back(position);
            result_.once.push_back(step);
            return;
        }
        for (int n = 0; n < operand_count(at); ++n) {
            if (!uniform(step.operands[n])) continue;
            if (takes_uniform(at, operand))
                step.info.uniform |= 1u << n;
            else
                step.operands[n] = spread(step.operands[n]);
        }
        result_.steps.push_back(step);
        opcodes_.push_back(at.dtype == DType::float32 ? at.opcode : Opcode::input);
    }

    /// A new slot.
    std::int32_t slot(DType dtype) {
        types_.push_back(dtype);
        return result_.slots++;
    }

    /// The slot in which a uniform value fills a block.
    std::int32_t spread(std::int32_t position) {
        for (const auto& done : result_.spreads) {
            if (done.from == position) return done.to;
        }
        std::int32_t to = slot(program_.dtype(position));
        result_.spreads.push_back({position, to, size_of(program_.dtype(position))});
        return to;
    }

    void add_output(std::int32_t position, bool copy_inputs) {
        BlockProgram::Output output{position, program_.dtype(position), -1, {}};
        if (uniform(position)) {
            output.slot = spread(position);
        } else if (code(position).opcode == Opcode::input && copy_inputs) {
            const Instruction& at = code(position);
            output.slot = slot(at.dtype);
            result_.steps.push_back({loops_.step(at, at.dtype), {}, output.slot, {position, -1, -1}});
            opcodes_.push_back(Opcode::input);
        }
        result_.outputs.push_back(output);
    }

    /// Puts a float32 step into the one step that uses its value, where there is a loop for both together.
    void fuse() {
        std::vector<std::int32_t> uses(static_cast<std::size_t>(result_.slots), 0), maker(uses.size(), -1);
        for (const auto& step : result_.steps) {
            for (std::int32_t operand : step.operands) {
                if (operand >= 0) ++uses[static_cast<std::size_t>(operand)];
            }
        }
        for (const auto& output : result_.outputs) uses[static_cast<std::size_t>(output.slot)] += 2;
        std::vector<bool> gone(result_.steps.size(), false);
        for (std::size_t i = 0; i < result_.steps.size(); ++i) {
            auto& step = result_.steps[i];
            maker[static_cast<std::size_t>(step.out)] = static_cast<std::int32_t>(i);
            for (int k = 1; k >= 0; --k) {
                if (step.operands[k] < 0) continue;
                auto operand = static_cast<std::size_t>(step.operands[k]);
                if (uses[operand] != 1 || maker[operand] < 0) continue;
                auto from = static_cast<std::size_t>(maker[operand]);
                if (!fuse_into(step, opcodes_[i], k, result_.steps[from], opcodes_[from])) continue;
                gone[from] = true;
                opcodes_[i] = Opcode::input;  // a pair takes no third
                break;
            }
        }
        std::size_t kept = 0;
        for (std::size_t i = 0; i < result_.steps.size(); ++i) {
            if (!gone[i]) result_.steps[kept++] = result_.steps[i];
        }
        result_.steps.resize(kept);
    }

    bool fuse_into(BlockProgram::At& step, Opcode opcode, int k, const BlockProgram::At& from, Opcode before) {
        if (opcode == Opcode::call) {
            if (before != Opcode::negative && before != Opcode::subtract) return false;
            if (!loops_.takes_before(step.info.function)) return false;
            step.info.before = before;
            step.info.uniform = from.info.uniform;
            std::copy(std::begin(from.operands), std::end(from.operands), step.operands);
            return true;
        }
        Step pair = loops_.pair(before, opcode, k == 1);
        if (!pair) return false;
        std::int32_t other = step.operands[1 - k];
        bool uniform = (step.info.uniform >> (1 - k)) & 1;
        step = {pair,
                {from.info.uniform | (uniform ? 4u : 0u), nullptr},
                step.out,
                {from.operands[0], from.operands[1], other}};
        return true;
    }

    DType type(std::int32_t slot) const { return types_[static_cast<std::size_t>(slot)]; }

    std::int32_t new_register() { return result_.registers++; }

    /// Linear scan: a register is free again after the last step that reads its value; a step may write where it reads if the
    /// elements are equally wide.
    void assign_registers() {
        auto slots = static_cast<std::size_t>(result_.slots);
        result_.homes.assign(slots, -1);
        std::vector<std::int32_t> last(slots, -1);
        for (std::size_t i = 0; i < result_.steps.size(); ++i) {
            for (std::int32_t operand : result_.steps[i].operands) {
                if (operand >= 0) last[static_cast<std::size_t>(operand)] = static_cast<std::int32_t>(i);
            }
        }
        auto forever = static_cast<std::int32_t>(result_.steps.size());
        for (const auto& output : result_.outputs) last[static_cast<std::size_t>(output.slot)] = forever;
        for (const auto& spread : result_.spreads) settle(spread.to, last, forever);
        for (std::size_t i = 0; i < result_.inputs.size(); ++i) {
            if (result_.inputs[i] < 0) continue;
            if (feeds_[i] == Feed::stationary) settle(result_.inputs[i], last, forever);
            if (feeds_[i] == Feed::copied)
                settle(result_.inputs[i], last, last[static_cast<std::size_t>(result_.inputs[i])]);
        }
        std::vector<std::int32_t> free;
        for (std::size_t i = 0; i < result_.steps.size(); ++i) {
            const auto& step = result_.steps[i];
            std::vector<std::int32_t> wider;
            release(step, static_cast<std::int32_t>(i), last, free, wider);
            std::int32_t& home = result_.homes[static_cast<std::size_t>(step.out)];
            if (free.empty()) {
                home = new_register();
            } else {
                home = free.back();
                free.pop_back();
            }
            widen(step.out);
            free.insert(free.end(), wider.begin(), wider.end());
        }
    }

    void widen(std::int32_t slot) { result_.widest = std::max(result_.widest, size_of(type(slot))); }

    void settle(std::int32_t slot, std::vector<std::int32_t>& last, std::int32_t until) {
        result_.homes[static_cast<std::size_t>(slot)] = new_register();
        last[static_cast<std::size_t>(slot)] = until;
        widen(slot);
    }

    /// Frees the registers of operands that die at this step; those that the result must not overlap go to `wider`.
    void release(const BlockProgram::At& step, std::int32_t at, std::vector<std::int32_t>& last,
                 std::vector<std::int32_t>& free, std::vector<std::int32_t>& wider) {
        for (std::int32_t operand : step.operands) {
            if (operand < 0) continue;
            auto index = static_cast<std::size_t>(operand);
            if (last[index] != at || result_.homes[index] < 0) continue;
            last[index] = -1;  // an operand may stand twice
            bool alike = size_of(type(operand)) == size_of(type(step.out));
            (alike ? free : wider).push_back(result_.homes[index]);
        }
    }

    void find_hazards() {
        auto slots = static_cast<std::size_t>(result_.slots);
        std::vector<std::int32_t> maker(slots, -1), last(slots, -1);  // by the step that makes it, that reads it last
        for (std::size_t i = 0; i < result_.steps.size(); ++i) {
            maker[static_cast<std::size_t>(result_.steps[i].out)] = static_cast<std::int32_t>(i);
            for (std::int32_t operand : result_.steps[i].operands)
                if (operand >= 0) last[static_cast<std::size_t>(operand)] = static_cast<std::int32_t>(i);
        }
        std::vector<std::pair<std::int32_t, std::int32_t>> reads;  // the last of each input that is read in place
        for (std::size_t input = 0; input < result_.inputs.size(); ++input) {
            std::int32_t slot = result_.inputs[input];
            if (feeds_[input] == Feed::direct && slot >= 0)
                reads.emplace_back(static_cast<std::int32_t>(input), last[static_cast<std::size_t>(slot)]);
        }
        for (auto& output : result_.outputs) {
            output.made_by = maker[static_cast<std::size_t>(output.slot)];
            if (output.made_by < 0) continue;
            for (auto [input, read] : reads)
                if (read > output.made_by) output.read_later.push_back(input);
        }
    }

    const Program& program_;
    const std::vector<Feed>& feeds_;
    const BlockLoops& loops_;
    std::vector<bool> uniform_;
    std::vector<DType> types_;     // of the slots
    std::vector<Opcode> opcodes_;  // of the steps, as far as fuse() may look: input stands for anything else
    BlockProgram result_;
};

}  // namespace

BlockProgram prepare(const Program& program, const std::vector<Feed>& feeds, const BlockLoops& loops,
                     bool copy_inputs) {
    return Preparation(program, feeds, loops).run(copy_inputs);
}

}  // namespace weft::cpu
