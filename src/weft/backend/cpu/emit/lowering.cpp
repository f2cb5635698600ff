#include "weft/backend/cpu/emit/lowering.h"

#include <algorithm>
#include <array>

#include "weft/backend/cpu/emit/vector_arithmetic.h"
#include "weft/base/error.h"
#include "weft/kernel/function_program.h"

namespace weft::cpu::emit {
namespace {

using Value = VectorArithmetic::Value;

/// Bits that are taken for a bool need not be 0 or 1, and complex numbers have no lane.
bool lowers(const Program& program) {
    auto complex = [](DType dtype) { return is_complex(dtype); };
    if (std::any_of(program.inputs.begin(), program.inputs.end(), complex)) return false;
    return std::none_of(program.code.begin(), program.code.end(), [&](const Instruction& at) {
        bool truth = at.opcode == Opcode::bitcast && (at.dtype == DType::bool_ || program.dtype(at.a) == DType::bool_);
        return is_complex(at.dtype) || truth;
    });
}

/// What a program comes to for a vector, in cycles of an Intel with AVX-512: of its unit for divisions and roots, and of all others (two at a time).
struct Cycles {
    double roots = 0, divisions = 0, others = 0, steps = 0;  // steps: of roots by multiplications

    void add(const Program& program, int deep) {
        for (const Instruction& at : program.code) {
            if (at.opcode == Opcode::input || at.opcode == Opcode::constant) continue;
            const Program* inside = at.opcode == Opcode::call && deep > 0
                                        ? common_program_of(*at.function(), at.dtype, Scaling::masked)
                                        : nullptr;
            if (inside)
                add(*inside, deep - 1);
            else if (at.opcode == Opcode::square_root && at.dtype == DType::float32)
                roots += 12.5, steps += 7.5;
            else if (at.opcode == Opcode::square_root)
                roots += 23, steps += 16;
            else if (at.opcode == Opcode::divide)
                divisions += at.dtype == DType::float32 ? 10.5 : 21;
            else
                others += at.dtype == DType::float64 ? 0.7 : 0.5;  // of doubles what asinh takes
        }
    }
    bool less_by_steps() const {
        return std::max(divisions, others + steps) < 0.9 * std::max(divisions + roots, others);
    }
};

/// Whether roots are better made by multiplications: not where the unit works beside much else (asinh took 1.2 of its time so, of doubles 1.1; rsqrt 0.6, 0.42).
bool has_roots_by_steps(const Program& program) {
    Cycles cycles;
    cycles.add(program, 2);
    return cycles.roots > 0 && cycles.less_by_steps();
}

class Lowering {
  public:
    Lowering(std::span<const StreamKind> loads, std::span<const StreamKind> stores, Isa isa, bool masked)
        : loops_(block_loops(isa)),
          scaling_(isa != best_wide() ? Scaling::steps
                   : masked           ? Scaling::masked
                                      : Scaling::clamped),
          arithmetic_(builder_, scaling_) {
        auto& streams = builder_.code().streams;
        streams.assign(loads.begin(), loads.end());
        streams.insert(streams.end(), stores.begin(), stores.end());
        once_alone_ = !builder_.code().joins() && !builder_.code().accumulates() &&
                      std::all_of(loads.begin(), loads.end(), [](const StreamKind& stream) {
                          return stream.mode == Mode::uniform || stream.mode == Mode::same_number;
                      });
    }

    /// First without what few arguments need; if that left something out, then all of it.
    VectorCode run(const Program& program, std::size_t loads) {
        // Elsewhere first approximations may be others than those that were tried.
        roots_by_steps_ = scaling_ != Scaling::steps && is_intel() && has_roots_by_steps(program);
        whole_path(program, loads);
        if (!rare_.empty()) {
            builder_.end_common(rare_);
            common_ = false;
            whole_path(program, loads);
        }
        return builder_.take();
    }

  private:
    void whole_path(const Program& program, std::size_t loads) {
        std::vector<Value> outputs = body(
            program, [&](std::size_t number) { return load(number, program.inputs[number]); }, false);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            store(loads + i, outputs[i], program.dtype(program.outputs[i]));
    }

    static constexpr Isa best_wide() {
#if defined(__x86_64__)
        return Isa::avx512;
#else
        return Isa::baseline;
#endif
    }

    /// The values of the outputs. Inputs are asked for where they are first used.
    template <class Input>
    std::vector<Value> body(const Program& program, Input input, bool in_function) {
        std::vector<Value> values(program.code.size(), -1);
        auto value = [&](std::int32_t position) -> Value {
            if (position < 0) return -1;
            Value& known = values[static_cast<std::size_t>(position)];
            if (known < 0) known = input(static_cast<std::size_t>(program.code[static_cast<std::size_t>(position)].a));
            return known;
        };
        for (std::size_t i = 0; i < program.code.size(); ++i) {
            const Instruction& at = program.code[i];
            if (at.opcode == Opcode::input) continue;
            int count = operand_count(at);
            Value a = count > 0 ? value(at.a) : -1, b = count > 1 ? value(at.b) : -1, c = count > 2 ? value(at.c) : -1;
            values[i] = step(program, at, a, b, c, in_function);
        }
        std::vector<Value> outputs;
        for (std::int32_t position : program.outputs) outputs.push_back(value(position));
        return outputs;
    }

    Value step(const Program& program, const Instruction& at, Value a, Value b, Value c, bool in_function) {
        std::optional<Value> result;
        switch (at.opcode) {
            case Opcode::constant:
                return arithmetic_.constant(at.dtype, at.literal());
            case Opcode::cast:
                result = arithmetic_.cast(a, program.dtype(at.a), at.dtype);
                break;
            case Opcode::bitcast:
                return arithmetic_.bitcast(a, program.dtype(at.a), at.dtype);
            case Opcode::equal:
            case Opcode::not_equal:
            case Opcode::less:
            case Opcode::less_equal:
                return arithmetic_.compare(at.opcode, program.dtype(at.a), a, b);
            case Opcode::select:
                return arithmetic_.select(a, b, c);
            case Opcode::fma:
                return arithmetic_.fma(at.dtype, a, b, c);
            case Opcode::call:
                result = inlined(at, {a, b, c});
                break;
            case Opcode::multiply:
                if (in_function && is_floating(at.dtype)) return arithmetic_.multiply_in_function(at.dtype, a, b);
                result = arithmetic_.binary(at.opcode, at.dtype, a, b);
                break;
            default:
                if (at.opcode == Opcode::square_root && size_of(at.dtype) >= 4 && roots_by_steps_ && common_)
                    return root_by_steps(a, at.dtype);
                result = operand_count(at) == 1 ? arithmetic_.unary(at.opcode, at.dtype, a)
                                                : arithmetic_.binary(at.opcode, at.dtype, a, b);
        }
        return result ? *result : outside(program, at, {a, b, c});
    }

    std::optional<Value> inlined(const Instruction& at, std::array<Value, 3> operands) {
        auto find = common_ ? common_program_of : program_of;
        const Program* inside = find(*at.function(), at.dtype, scaling_);
        if (!inside) return std::nullopt;
        auto results = body(
            *inside, [&](std::size_t number) { return operands[number]; }, true);
        // What leaves the common path once a row would leave it for every vector: such calls are served in full, unless there are no others.
        if (results.size() > 1 && builder_.line(results[1]).once && !once_alone_) {
            const Program* complete = program_of(*at.function(), at.dtype, scaling_);
            return body(
                *complete, [&](std::size_t number) { return operands[number]; }, true)[0];
        }
        if (results.size() > 1) rare_.push_back(results[1]);
        return results[0];
    }

    Value root_by_steps(Value a, DType dtype) {
        if (builder_.line(a).once) return *arithmetic_.unary(Opcode::square_root, dtype, a);
        auto [root, otherwise] =
            dtype == DType::float64 ? arithmetic_.double_root_by_steps(a) : arithmetic_.root_by_steps(a);
        rare_.push_back(otherwise);
        return root;
    }

    Value load(std::size_t number, DType dtype) {
        DType memory = builder_.code().streams[number].memory;
        if (memory == DType::bfloat16 && dtype == DType::float32)
            return arithmetic_.widen(load(number, memory), memory);
        return builder_.add({.op = VectorOp::load, .lane = lane_of(dtype), .immediate = number});
    }

    void store(std::size_t number, Value value, DType dtype) {
        DType memory = builder_.code().streams[number].memory;
        if (memory == DType::bfloat16 && dtype == DType::float32) {
            value = arithmetic_.round_to(value, memory);
            dtype = memory;
        }
        const Line& made = builder_.line(value);
        bool rounded = made.op == VectorOp::float_to_half || made.op == VectorOp::round_to_half;
        if (memory == DType::float16 && rounded) {  // storing rounds, too
            value = made.a;
            dtype = DType::float32;
        }
        builder_.add({.op = VectorOp::store, .from = lane_of(dtype), .a = value, .immediate = number});
    }

    /// The block evaluator's loop, called for one vector.
    Value outside(const Program& program, const Instruction& at, std::array<Value, 3> operands) {
        auto& code = builder_.code();
        const std::int32_t positions[] = {at.a, at.b, at.c};
        Outside call{loops_.step(at, program.dtype(at.a)), at.function()};
        promise(call.step != nullptr, "every verified instruction has its loop");
        Line line{.op = VectorOp::outside, .immediate = code.outsides.size()};
        std::int32_t* stored[] = {&line.a, &line.b, &line.c};
        for (int n = 0; n < operand_count(at); ++n) {
            DType dtype = program.dtype(positions[n]);
            call.operands[n] = place(dtype);
            *stored[n] = builder_.add({.op = VectorOp::local_store,
                                       .from = lane_of(dtype),
                                       .a = operands[static_cast<std::size_t>(n)],
                                       .immediate = static_cast<std::uint64_t>(call.operands[n])});
        }
        call.result = place(at.dtype);
        code.outsides.push_back(call);
        std::int32_t called = builder_.add(line);
        return builder_.add({.op = VectorOp::local_load,
                             .lane = lane_of(at.dtype),
                             .a = called,
                             .immediate = static_cast<std::uint64_t>(call.result)});
    }

    std::int32_t place(DType dtype) {
        auto& places = builder_.code().places;
        places.push_back(dtype);
        return static_cast<std::int32_t>(places.size()) - 1;
    }

    BlockLoops loops_;
    Scaling scaling_;
    bool roots_by_steps_ = false;
    bool common_ = true;
    bool once_alone_;  // all is computed once a row, as in a loop of numbers
    std::vector<Value> rare_;
    VectorBuilder builder_;
    VectorArithmetic arithmetic_;
};

}  // namespace

std::optional<VectorCode> lower(const Program& program, std::span<const StreamKind> loads,
                                std::span<const StreamKind> stores, Isa isa, bool masked) {
    if (!lowers(program)) return std::nullopt;
    return Lowering(loads, stores, isa, masked).run(program, loads.size());
}

}  // namespace weft::cpu::emit
