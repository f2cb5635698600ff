#include "weft/search/trial.h"

#include "weft/look/run_report.h"
#include "weft/train/compose.h"
#include "weft/train/run.h"

namespace weft::search {

Ended train_trial(const Order& order, const Environment& environment, const std::function<bool()>& stop) try {
    train::Watcher nobody;
    train::Run run = train::Run::begun_or_new(order.run, train::Experiment(train::compose_file(order.file)));
    train::Outcome outcome = run.train(nobody, stop);
    if (outcome.interrupted) return {order.trial, true, "interrupted"};
    try {
        (void)look::write_report(run, environment);
    } catch (const std::exception&) {  // `weft show` says why
    }
    bool useless = outcome.divergence && !outcome.divergence->kept_finite;
    return {order.trial, false, useless ? outcome.divergence->said : ""};
} catch (const std::exception& error) {
    return {order.trial, false, error.what()};
}

}  // namespace weft::search
