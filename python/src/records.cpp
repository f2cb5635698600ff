// The registry as documentation reads it: what each record of an operation says of itself.

#include "object.h"
#include "weft/ops/formula.h"

namespace weft::python {
namespace {

nb::dict as_dict(const Operation& operation) {
    nb::dict record;
    record["name"] = std::string(operation.name);
    record["family"] = std::string(name_of(operation.family));
    record["arity"] = operation.arity;
    record["doc"] = std::string(operation.doc);
    record["numpy"] = std::string(operation.numpy);
    record["torch"] = std::string(operation.torch);
    record["differentiable"] = operation.differentiable;
    record["composite"] = operation.composite || operation.family == Family::composite;
    record["ulp"] = operation.ulp;
    nb::list domain, samples;
    for (const Domain& range : operation.domain) domain.append(nb::make_tuple(range.low, range.high));
    for (const Sample& sample : operation.samples) samples.append(std::string(sample.numpy));
    record["domain"] = domain;
    record["samples"] = samples;
    bool pointwise = operation.family == Family::elementwise;
    record["operands"] = pointwise ? operand_names(operation) : std::vector<std::string>();
    record["formula"] = pointwise ? value_formula(operation) : "";
    record["partials"] = pointwise ? partial_formulas(operation) : std::vector<std::string>();
    return record;
}

}  // namespace

void bind_records(nb::module_& module) {
    module.def("operation_records", [] {
        nb::list list;
        for (const Operation* operation : all_operations()) list.append(as_dict(*operation));
        return list;
    });
    // The value by the record's own reference in long double, which shares no code with what kernels run; None where there is none.
    module.def("oracle", [](const std::string& name, const std::vector<double>& operands) -> nb::object {
        const Operation* operation = find_operation(name);
        if (!operation || !operation->oracle || static_cast<int>(operands.size()) != operation->arity)
            return nb::none();
        std::vector<long double> wide(operands.begin(), operands.end());
        return nb::float_(static_cast<double>(operation->oracle(wide)));
    });
}

}  // namespace weft::python
