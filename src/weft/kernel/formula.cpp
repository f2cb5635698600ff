#include "weft/kernel/formula.h"

#include <array>
#include <map>

#include "weft/base/error.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

// How tightly a text holds together, loosest first.
enum Level { comparison, bit_or, bit_xor, bit_and, shift, sum, product, sign, atom };

struct Text {
    std::string text;
    Level level = atom;
};

struct Infix {
    std::string_view sign;
    Level level;
};
const std::map<Opcode, Infix>& infixes() {
    static const std::map<Opcode, Infix> all{{Opcode::add, {"+", sum}},
                                             {Opcode::subtract, {"-", sum}},
                                             {Opcode::multiply, {"*", product}},
                                             {Opcode::divide, {"/", product}},
                                             {Opcode::remainder, {"%", product}},
                                             {Opcode::floor_divide, {"//", product}},
                                             {Opcode::bit_and, {"&", bit_and}},
                                             {Opcode::bit_or, {"|", bit_or}},
                                             {Opcode::bit_xor, {"^", bit_xor}},
                                             {Opcode::shift_left, {"<<", shift}},
                                             {Opcode::shift_right, {">>", shift}},
                                             {Opcode::equal, {"==", comparison}},
                                             {Opcode::less, {"<", comparison}},
                                             {Opcode::not_equal, {"!=", comparison}},
                                             {Opcode::less_equal, {"<=", comparison}}};
    return all;
}

/// The name of an opcode that is written as a function.
std::string function_name(const Instruction& at) {
    switch (at.opcode) {
        case Opcode::call:
            return std::string(at.function()->name);
        case Opcode::absolute:
            return "abs";
        case Opcode::square_root:
            return "sqrt";
        case Opcode::truncate:
            return "trunc";
        case Opcode::round_even:
            return "round";
        case Opcode::minimum:
            return "min";
        case Opcode::maximum:
            return "max";
        case Opcode::select:
            return "where";
        case Opcode::imaginary:
            return "imag";
        case Opcode::make_complex:
            return "complex";
        case Opcode::bitcast:
            return "bits";
        case Opcode::cast:
            return std::string(name_of(at.dtype));
        default:
            return std::string(name_of(at.opcode));  // floor, ceil, real
    }
}

class Writer {
  public:
    Writer(const Program& program, std::span<const std::string> inputs)
        : program_(program), inputs_(inputs), uses_(program.code.size()) {
        for (const Instruction& at : program.code)
            for (std::int32_t operand : operands(at)) ++uses_[static_cast<std::size_t>(operand)];
    }

    std::string write() {
        std::string text = of(program_.outputs.at(0)).text;
        // Names that the values behind other names need are added while these are written.
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const std::string& name = names_.at(named_[i]);
            text += (i == 0 ? " where " : ", ") + name + " = " + written(named_[i]).text;
        }
        return text;
    }

  private:
    static std::vector<std::int32_t> operands(const Instruction& at) {
        if (at.opcode == Opcode::input) return {};
        std::array<std::int32_t, 3> all{at.a, at.b, at.c};
        return {all.begin(), all.begin() + operand_count(at)};
    }
    /// Whether a value is short enough to be written as often as it is used.
    bool plain(std::int32_t position) const {
        const Instruction& at = program_.code[static_cast<std::size_t>(position)];
        if (at.opcode == Opcode::input || at.opcode == Opcode::constant) return true;
        for (std::int32_t operand : operands(at)) {
            Opcode inner = program_.code[static_cast<std::size_t>(operand)].opcode;
            if (inner != Opcode::input && inner != Opcode::constant) return false;
        }
        return operand_count(at) < 3;
    }

    Text of(std::int32_t position) {
        if (uses_[static_cast<std::size_t>(position)] < 2 || plain(position)) return written(position);
        auto [found, is_new] = names_.emplace(position, "");
        if (is_new) {
            static const std::array<const char*, 3> first{"u", "v", "w"};
            found->second = names_.size() <= first.size() ? first[names_.size() - 1] : text("u", names_.size());
            named_.push_back(position);
        }
        return {found->second};
    }
    std::string held(std::int32_t position, Level least) {
        Text text = of(position);
        return text.level < least ? "(" + text.text + ")" : text.text;
    }

    Text written(std::int32_t position) {
        const Instruction& at = program_.code[static_cast<std::size_t>(position)];
        if (at.opcode == Opcode::input) return {inputs_[static_cast<std::size_t>(at.a)]};
        if (at.opcode == Opcode::constant) {
            std::string number = text(at.literal());
            return {number, number[0] == '-' ? sign : atom};
        }
        if (at.opcode == Opcode::negative) return {"-" + held(at.a, sign), sign};
        if (at.opcode == Opcode::bit_not) return {"~" + held(at.a, sign), sign};
        if (at.opcode == Opcode::fma) {
            std::string factor = held(at.a, product) + " * ";
            factor += held(at.b, sign);
            return {factor + " + " + held(at.c, product), sum};
        }
        if (auto infix = infixes().find(at.opcode); infix != infixes().end()) {
            auto [symbol, level] = infix->second;
            // What stands to the right is held apart from its like: a - (b - c). Comparisons do not chain. The left side is written
            // first, so that names are given in the order in which they are read.
            std::string left = held(at.a, level == comparison ? bit_or : level);
            return {text(left, " ", symbol, " ", held(at.b, static_cast<Level>(level + 1))), level};
        }
        std::string arguments;
        for (std::int32_t operand : operands(at)) arguments += (arguments.empty() ? "" : ", ") + of(operand).text;
        return {function_name(at) + "(" + arguments + ")"};
    }

    const Program& program_;
    std::span<const std::string> inputs_;
    std::vector<int> uses_;
    std::map<std::int32_t, std::string> names_;
    std::vector<std::int32_t> named_;  // in the order in which they are explained
};

}  // namespace

std::string formula(const Program& program, std::span<const std::string> inputs) {
    return Writer(program, inputs).write();
}

}  // namespace weft
