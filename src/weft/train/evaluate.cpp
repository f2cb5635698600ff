#include "weft/train/evaluate.h"

namespace weft::train {
namespace {

std::string usual_set(const Phase& phase) { return phase.set("test") ? "test" : "valid"; }

}  // namespace

KeptModel::KeptModel(const Run& run, std::string named)
    : phase(run.kept_phase()),
      name(named.empty() ? usual_set(phase) : std::move(named)),
      set(run.prepared(name)),
      network(run.network(set)) {}

Evaluation evaluate(const KeptModel& kept) {
    Objective objective(kept.phase, kept.network);
    Gathered gathered(kept.phase.monitor, objective.names(), {Gathered::Of::set});
    Evaluation found;
    found.sums = objective.evaluate(kept.set, [&](const Judged& batch) { gathered.add(batch); });
    gathered.write(found.figures, kept.phase.monitor, Gathered::Of::set, kept.name);
    return found;
}

}  // namespace weft::train
