// Searches (search/search.h): trials of an experiment, trained one after the other here, or by processes of Python. weft/_search.py says how
// such a process is called, and what its results look like.

#include "weft/search/search.h"

#include "bind.h"
#include "description.h"
#include "weft/backend/machine.h"
#include "weft/base/error.h"
#include "weft/search/report.h"
#include "weft/search/trial.h"
#include "weft/train/described.h"
#include "weft/train/folds.h"
#include "weft/train/sweep.h"

namespace weft::python {
namespace {

/// A description in which `name:` has these keys, too; what it had of others stays.
Json with_keys(Json description, const char* name, nb::handle given) {
    Json keys = train::placed(described(given).value, here());
    std::vector<Json::Member> members;
    const Json* before = description.find(name);
    if (before && before->is_object())
        for (const Json::Member& member : before->members())
            if (!keys.find(member.key)) members.push_back(member);
    for (const Json::Member& member : keys.members()) members.push_back(member);
    Json all = Json::object(std::move(members));
    all.set_where(keys.where());
    description[name] = all;
    return description;
}

train::Trials trials_of(const train::Experiment& experiment, const std::string& kind, Given keys) {
    bool sweep = kind == "sweep";
    Json written = with_keys(sweep ? experiment.written : experiment.description, kind.c_str(), keys);
    return without_gil([&] { return sweep ? train::sweep_of(written) : train::cross_validation_of(written); });
}

nb::dict values_of(const train::Trials& trials, std::int64_t number) {
    nb::dict values;
    const train::Trial& trial = trials.trials[static_cast<std::size_t>(number - 1)];
    for (std::size_t i = 0; i < trials.keys.size(); ++i) values[trials.keys[i].c_str()] = python_value(trial.values[i]);
    return values;
}

/// number, values, figure, epoch, seconds, figures, error, folder of the run.
nb::tuple python_result(const train::Trials& trials, const std::string& folder, const train::TrialResult& result) {
    bool good = result.error.empty();
    auto if_good = [&](nb::object value) { return good ? value : nb::none(); };
    return nb::make_tuple(result.trial, values_of(trials, result.trial), if_good(nb::float_(result.figure)),
                          if_good(nb::int_(result.epoch)), result.seconds, python_value(result.figures), result.error,
                          search::run_of(trials, folder, result.trial).string());
}

nb::list python_results(const train::Trials& trials, const std::string& folder,
                        const std::vector<train::TrialResult>& results) {
    nb::list all;
    for (const train::TrialResult& result : results) all.append(python_result(trials, folder, result));
    return all;
}

/// Of each figure the mean and the deviation over what ended.
nb::dict spreads_of(const std::vector<train::TrialResult>& results) {
    nb::dict all;
    for (const train::Spread& one : train::spreads(results))
        all[one.figure.c_str()] = nb::make_tuple(one.mean, one.deviation);
    return all;
}

/// The words that call a process which trains a trial; those that depend on the trial stand at the end.
search::Command command_of(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    return [words](const search::Order& order) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {order.file.string(), order.run.string(), std::to_string(order.threads)});
        return all;
    };
}

/// The results, the best first, their spreads, and the table as a text.
nb::tuple search_of(const train::Trials& trials, const std::string& folder, std::int64_t jobs, bool retry,
                    const std::vector<std::string>& command, Given on_trial) {
    Interrupts interrupts;
    nb::object told = nb::borrow(on_trial);
    search::Options options{
        .command = command_of(command),
        .environment = machine(),
        .jobs = jobs,
        .retry = retry,
        .stop = [&] { return interrupts.stop(); },
        .ended = [&](const train::TrialResult& result,
                     const auto&) { interrupts.call(told, [&] { return python_result(trials, folder, result); }); }};
    search::Found found = without_gil([&] { return search::run(trials, folder, options); });
    interrupts.rethrow();
    std::vector<train::TrialResult> ranked = trials.ranked(found.results);
    nb::list table;
    for (const std::vector<std::string>& row : search::table_of(trials, found.results)) table.append(nb::cast(row));
    return nb::make_tuple(python_results(trials, folder, ranked), spreads_of(ranked), table);
}

/// Whether it was stopped, and what else ended it early.
nb::tuple train_trial(const std::string& file, const std::string& run) {
    Interrupts interrupts;
    search::Ended ended = without_gil(
        [&] { return search::train_trial({.file = file, .run = run}, machine(), [&] { return interrupts.stop(); }); });
    interrupts.rethrow();
    return nb::make_tuple(ended.stopped, ended.error);
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<train::Trials>(m, "Trials")
        .def_static("of", trials_of)
        .def("search", search_of)
        .def("kind", [](const train::Trials& self) { return self.kind; });
    m.def("train_trial", train_trial);
}

}  // namespace weft::python
