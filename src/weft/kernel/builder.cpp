#include "weft/kernel/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "weft/base/error.h"
#include "weft/kernel/element.h"

namespace weft {

Literal literal_as(DType dtype, const Literal& value) {
    return with_dtype(dtype, [&](auto tag) -> Literal {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
            return Literal(std::complex<double>(value.as<T>()));
        } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
            return Literal(static_cast<float>(value.as<T>()));
        } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            bool inexact = value.kind == Kind::floating || value.kind == Kind::complex;
            return inexact ? Literal(element::convert<T>(value.real)) : Literal(value.as<T>());
        } else {
            return Literal(value.as<T>());
        }
    });
}

namespace {

std::uint32_t content_hash(const Instruction& at) {
    Hasher hasher;
    hasher.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(at.c)) << 32 |
               static_cast<std::uint64_t>(at.opcode) << 16 | static_cast<std::uint64_t>(at.dtype) << 8 |
               static_cast<std::uint64_t>(at.kind));
    hasher.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(at.a)) << 32 | static_cast<std::uint32_t>(at.b));
    hasher.add(at.first ^ at.second * 31);
    return static_cast<std::uint32_t>(hasher.result().low);
}

}  // namespace

// Where the instruction is known, or may be written.
std::size_t ProgramBuilder::slot_of(const Instruction& instruction, std::uint32_t hash) const {
    std::size_t mask = slots_.size() - 1, place = hash & mask;
    auto other = [&](const Slot& slot) {
        return slot.at >= 0 && (slot.hash != hash || program_.code[static_cast<std::size_t>(slot.at)] != instruction);
    };
    while (other(slots_[place])) place = (place + 1) & mask;
    return place;
}

void ProgramBuilder::expect(std::size_t instructions) {
    if (!slots_.empty()) return;
    program_.code.reserve(instructions);
    slots_.resize(std::bit_ceil(std::max<std::size_t>(32, 2 * instructions + 2)));
}

void ProgramBuilder::widen() {
    std::vector<Slot> before = std::exchange(slots_, {});
    slots_.resize(std::max<std::size_t>(32, 2 * before.size()));
    for (const Slot& slot : before)
        if (slot.at >= 0) slots_[slot_of(program_.code[static_cast<std::size_t>(slot.at)], slot.hash)] = slot;
}

Scalar ProgramBuilder::record(const Instruction& instruction) {
    if (2 * (program_.code.size() + 1) > slots_.size()) widen();
    std::uint32_t hash = content_hash(instruction);
    Slot& slot = slots_[slot_of(instruction, hash)];
    if (slot.at < 0) {
        slot = {static_cast<std::int32_t>(program_.code.size()), hash};
        program_.code.push_back(instruction);
    }
    return Scalar(this, instruction.dtype, slot.at);
}

Scalar ProgramBuilder::input(DType dtype) {
    auto number = static_cast<std::int32_t>(program_.inputs.size());
    program_.inputs.push_back(dtype);
    return record({.opcode = Opcode::input, .dtype = dtype, .a = number});
}

void ProgramBuilder::output(Scalar value) {
    promise(value.builder() == this, "an output is a value of the builder that it leaves");
    program_.outputs.push_back(value.id());
}

Scalar ProgramBuilder::constant(DType dtype, const Literal& value) {
    return record(Instruction::constant(dtype, literal_as(dtype, value)));
}

Scalar ProgramBuilder::emit(Opcode opcode, DType dtype, std::span<const Scalar> operands, const Function* function) {
    Instruction instruction = function ? Instruction::call(dtype, *function) : Instruction{.dtype = dtype};
    instruction.opcode = opcode;
    std::int32_t* slots[] = {&instruction.a, &instruction.b, &instruction.c};
    promise(operands.size() <= 3, "an instruction has at most three operands");
    for (std::size_t i = 0; i < operands.size(); ++i) {
        promise(operands[i].builder() == this, "an operand is a value of the builder that records it");
        *slots[i] = operands[i].id();
    }
    return record(instruction);
}

Program ProgramBuilder::take() {
    Program full = std::exchange(program_, {});
    slots_.clear();
    std::vector<char> needed(full.code.size(), 0);
    for (std::int32_t output : full.outputs) needed[static_cast<std::size_t>(output)] = 1;
    for (std::size_t i = full.code.size(); i-- > 0;) {
        const Instruction& at = full.code[i];
        if (!needed[i] || at.opcode == Opcode::input) continue;
        for (std::int32_t operand : {at.a, at.b, at.c}) {
            if (operand >= 0) needed[static_cast<std::size_t>(operand)] = 1;
        }
    }
    auto count = static_cast<std::size_t>(std::count(needed.begin(), needed.end(), 1));
    if (count == full.code.size()) {  // most often: a large one is not copied
        verify(full);
        return full;
    }
    Program kept{.code = {}, .inputs = std::move(full.inputs), .outputs = {}};
    kept.code.reserve(count);
    std::vector<std::int32_t> renamed(full.code.size(), -1);
    for (std::size_t i = 0; i < full.code.size(); ++i) {
        if (!needed[i]) continue;
        Instruction at = full.code[i];
        if (at.opcode != Opcode::input) {
            for (std::int32_t* operand : {&at.a, &at.b, &at.c}) {
                if (*operand >= 0) *operand = renamed[static_cast<std::size_t>(*operand)];
            }
        }
        renamed[i] = static_cast<std::int32_t>(kept.code.size());
        kept.code.push_back(at);
    }
    for (std::int32_t output : full.outputs) kept.outputs.push_back(renamed[static_cast<std::size_t>(output)]);
    verify(kept);
    return kept;
}

}  // namespace weft
