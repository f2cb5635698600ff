#include "weft/autodiff/scalar_graph.h"

#include <map>
#include <mutex>

#include "weft/kernel/builder.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

using Key = std::tuple<Opcode, const Function*, DType>;

// The one instruction that an operation's body is for this type, if it is one on its operands in order. (A record whose body does not
// take a type that the record says it takes stands for none: that is its own tests' matter.)
std::optional<Key> instruction_of(const Operation& operation, DType dtype) try {
    if (operation.family != Family::elementwise || operation.condition || &operation == &astype_operation)
        return std::nullopt;
    if (!operation.takes || !operation.takes(dtype) || (operation.meet && operation.meet(dtype) != dtype))
        return std::nullopt;
    ProgramBuilder builder;
    std::vector<Scalar> operands;
    for (int i = 0; i < operation.arity; ++i) operands.push_back(builder.input(dtype));
    Scalar result = operation.body(operands, nullptr);
    if (!result.builder()) return std::nullopt;
    builder.output(result);
    Program program = builder.take();
    const Instruction& last = program.code[static_cast<std::size_t>(program.outputs[0])];
    std::int32_t used[] = {last.a, last.b, last.c};
    if (operand_count(last) != operation.arity || last.opcode == Opcode::input) return std::nullopt;
    for (int i = 0; i < operation.arity; ++i) {
        const Instruction& from = program.code[static_cast<std::size_t>(used[i])];
        if (from.opcode != Opcode::input || from.a != i) return std::nullopt;
    }
    return Key{last.opcode, last.function(), dtype};
} catch (const Error&) {
    return std::nullopt;
}

// The operation whose value is this instruction: found by asking each record, so there is no table to keep in step.
const Operation& operation_for(Opcode opcode, const Function* function, DType dtype) {
    static std::mutex mutex;
    static auto* known = new std::map<DType, std::map<Key, const Operation*>>;
    std::lock_guard lock(mutex);
    auto [at, fresh] = known->try_emplace(dtype);
    if (fresh) {
        for (const Operation* operation : all_operations()) {
            if (auto key = instruction_of(*operation, dtype)) at->second.try_emplace(*key, operation);
        }
    }
    auto found = at->second.find(Key{opcode, function, dtype});
    if (found != at->second.end()) return *found->second;
    throw NotDifferentiable(text("no operation on ", dtype, " stands for '",
                                 function ? function->name : name_of(opcode),
                                 "', which a derivative needs; give the operation .partial"));
}

}  // namespace

Scalar ScalarGraph::scalar(const Tensor& tensor) {
    if (tensors_.empty()) tensors_.reserve(8);  // few derivatives take more
    tensors_.push_back(tensor);
    return Scalar(this, tensor.dtype(), static_cast<std::int32_t>(tensors_.size()) - 1);
}

Tensor ScalarGraph::tensor(const Scalar& scalar, DType dtype) {
    if (!scalar.builder()) return weft::constant(scalar.literal(), dtype);
    return tensors_[static_cast<std::size_t>(scalar.id())];
}

Scalar ScalarGraph::constant(DType dtype, const Literal& value) { return scalar(weft::constant(value, dtype)); }

Scalar ScalarGraph::emit(Opcode opcode, DType dtype, std::span<const Scalar> operands, const Function* function) {
    SmallVector<const Tensor*, 3> inputs;
    for (const Scalar& operand : operands) inputs.push_back(&tensors_[static_cast<std::size_t>(operand.id())]);
    auto operand = [&](std::size_t i) { return Operand(*inputs[i], where_); };
    switch (opcode) {
        case Opcode::select:
            return scalar(where(operand(0), operand(1), operand(2)));
        case Opcode::cast:
            return scalar(astype(operand(0), dtype));
        case Opcode::fma:
            return scalar(operand(0) * operand(1) + operand(2));
        case Opcode::multiply:
            if (operands[0].id() == operands[1].id() && !is_complex(dtype)) return scalar(square(operand(0)));
            break;
        default:
            break;
    }
    const Operation& operation = operation_for(opcode, function, inputs[0]->dtype());
    std::array<Tensor, 3> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) given[i] = *inputs[i];
    return scalar(make_node(operation, std::span<const Tensor>(given.data(), inputs.size()), nullptr, where_));
}

}  // namespace weft
