// What goes on from step to step, and from phase to phase.
#include <map>

#include "weft/base/error.h"
#include "weft/optim/batch_method.h"
#include "weft/train/network.h"

namespace weft::train {
namespace {

std::map<std::string, Parameter> cells_by_name(const Network& network) {
    std::map<std::string, Parameter> all;
    for (const nn::NamedParameter& cell : nn::named(network.model)) all.emplace(cell.name, cell.parameter);
    return all;
}

}  // namespace

void check_carried(const Phase& phase, const Network& network, std::int64_t examples) {
    const Json& carry = network.carries;
    if (carry.is_null()) return;
    if (phase.shuffle)
        carry.refuse(
            "carry: each row of a batch goes on where the same row of the batch before ended, and shuffled data do "
            "not; add "
            "`shuffle: false` to `data:`");
    if (const Json* lanes = phase.set("train")->options().find("lanes");
        lanes && lanes->as_integer() != phase.batch_size)
        carry.refuse(text("carry: the text has ", lanes->as_integer(), " `lanes` and a batch ", phase.batch_size,
                          " rows; a row goes on in the next batch where both are the same"));
    if (phase.last == data::Last::keep && examples % phase.batch_size != 0)
        carry.refuse(text("carry: the state of ", phase.batch_size, " rows goes on from step to step, but of ",
                          examples, " examples the last batch has ", examples % phase.batch_size,
                          "; leave it out by `last: drop`"));
    Schedules schedules;
    if (dynamic_cast<optim::BatchMethod*>(optimizer_of(phase.optimizer, schedules).get()))
        carry.refuse(text("carry: ", phase.optimizer.entry->name,
                          " evaluates a batch several times, and a state goes on once; take another optimizer"));
}

void check_handed_on(const Network& from, const Network& to, const Phase& phase) {
    std::map<std::string, Parameter> before = cells_by_name(from);
    std::size_t same = 0;
    for (const auto& [name, cell] : cells_by_name(to)) {
        auto known = before.find(name);
        if (known == before.end()) continue;
        ++same;
        if (known->second.shape() == cell.shape() && known->second.dtype() == cell.dtype()) continue;
        phase.model.refuse(
            text("'", name, "' has shape ", cell.shape(), " here and ", known->second.shape(),
                 " in the phase before, from which it would be handed on; give one of the layers another `name:`"));
    }
    if (same == 0)
        phase.model.refuse(
            "no parameter is called as one of the phase before, so nothing would be handed on; give layers that are "
            "the same the same `name:`");
}

void hand_on(const Network& from, Network& to) {
    std::map<std::string, Parameter> before = cells_by_name(from);
    for (auto& [name, cell] : cells_by_name(to)) {
        if (auto known = before.find(name); known != before.end()) Parameter(cell).set(known->second.value());
    }
}

}  // namespace weft::train
