// Experiments (train/): descriptions made of Python's values, what the registry says of each part, and runs. weft/experiment.py gives them
// their names.

#include "bind.h"
#include "description.h"
#include "weft/backend/machine.h"
#include "weft/look/figures.h"
#include "weft/look/run_report.h"
#include "weft/look/samples.h"
#include "weft/train/compose.h"
#include "weft/train/described.h"
#include "weft/train/dry_run.h"
#include "weft/train/evaluate.h"
#include "weft/train/likelihood.h"
#include "weft/train/predict.h"
#include "weft/train/registry.h"
#include "weft/train/sample.h"
#include "weft/train/sample_text.h"
#include "weft/train/yaml.h"

namespace weft::python {
namespace {

const train::Entry& entry_of(const std::string& kind, const std::string& name) {
    for (const train::Entry* entry : train::kind_named(kind).entries)
        if (entry->name == name) return *entry;
    (void)train::help_on_entry(train::kind_named(kind), name);  // says which is nearest
    throw InternalError("no entry " + name);
}

nb::dict entry_as_dict(const std::string& kind, const train::Entry& entry) {
    nb::dict found;
    nb::list options;
    for (const Option& option : entry.options)
        options.append(nb::make_tuple(option.name, option.required, python_value(option.fallback)));
    found["bare"] = entry.bare, found["options"] = options,
    found["help"] = train::help_on_entry(train::kind_named(kind), entry.name);
    return found;
}

/// Whoever watches from Python: called with each line of the log.
struct PythonWatcher : train::Watcher {
    explicit PythonWatcher(nb::object on_epoch) : on_epoch(std::move(on_epoch)) {}
    void epoch(const Json& line, bool) override {
        interrupts.call(on_epoch, [&] { return python_value(line); });
    }
    void ended(const Json& line) override { epoch(line, false); }
    nb::object on_epoch;
    Interrupts interrupts;
};

/// What to warn of; empty: nothing.
std::string train_run(train::Run& run, Given on_epoch) {
    PythonWatcher watcher(nb::borrow(on_epoch));
    train::Outcome outcome = without_gil([&] { return run.train(watcher, [&] { return watcher.interrupts.stop(); }); });
    watcher.interrupts.rethrow();
    return outcome.divergence ? outcome.divergence->said : "";
}

/// What the network gives, classes and probabilities, where there are some, of one output.
nb::tuple predicted(const train::Run& run, const nb::dict& given, const std::string& output) {
    train::Arrays arrays;
    for (auto [name, values] : given) {
        Tensor x = tensor(values, "predict");
        compute(x);
        arrays.emplace(nb::cast<std::string>(name), contiguous(x.array()));
    }
    std::vector<std::vector<Tensor>> parts(3);
    without_gil([&] {
        data::Dataset examples = train::prepared_examples(run, arrays, "the examples");
        train::predict(run, examples, [&](const std::vector<train::Answers>& batch) {
            auto found = std::find_if(batch.begin(), batch.end(), [&](const auto& one) { return one.name == output; });
            if (found == batch.end()) {
                std::string names;
                for (const train::Answers& one : batch) names += text(names.empty() ? "" : ", ", "'", one.name, "'");
                throw ConfigError(text("the run has no output '", output, "'; there are ", names));
            }
            for (auto [to, values] :
                 {std::pair(0, &found->outputs), std::pair(1, &found->classes), std::pair(2, &found->probabilities)})
                if (!values->dims.empty()) parts[static_cast<std::size_t>(to)].push_back(Tensor(*values));
        });
    });
    auto joined = [](const std::vector<Tensor>& rows) {
        return rows.empty() ? nb::object(nb::none()) : object_of(concatenate(rows, 0));
    };
    return nb::make_tuple(joined(parts[0]), joined(parts[1]), joined(parts[2]));
}

nb::object python_log_partition(const std::optional<nn::LogPartition>& z) {
    if (!z) return nb::none();
    return nb::make_tuple(z->value, z->low, z->high);
}

nb::dict likelihood_of(const train::Run& run, const std::string& set, std::int64_t draws, std::int64_t chains,
                       std::int64_t temperatures, bool reverse) {
    train::Likelihood found = without_gil([&] {
        train::LikelihoodOptions options{.draws = draws, .reverse = reverse};
        options.annealing.runs = chains, options.annealing.temperatures = temperatures;
        options.train = [&run] { return run.prepared("train"); };
        train::KeptModel kept(run, set);
        return train::likelihood(kept.phase, kept.network, kept.set, options);
    });
    nb::dict all;
    all["mean"] = found.mean, all["bound"] = found.bound;
    all["log_z"] = python_log_partition(found.log_partition);
    all["log_z_from_above"] = python_log_partition(found.log_partition_from_above);
    all["exact_log_z"] = found.exact_log_partition ? nb::object(nb::float_(*found.exact_log_partition)) : nb::none();
    all["black_and_white"] = found.black_and_white;
    return all;
}

nb::object sample_of(const train::Run& run, std::int64_t count, std::int64_t seed, std::int64_t steps,
                     std::int64_t walk, double temperature, const std::optional<std::string>& out) {
    Array samples = without_gil([&] {
        if (seed < 0) throw ConfigError(text("a seed of ", seed, ": seeds are integers from 0 on"));
        if (out) look::check_samples_name(*out);
        Array made = train::sample(run, {.count = count,
                                         .seed = static_cast<std::uint64_t>(seed),
                                         .steps = steps,
                                         .walk = walk,
                                         .temperature = temperature});
        if (out && walk > 0) look::write_samples(*out, made, walk);
        if (out && walk == 0) look::write_samples(*out, made);
        return made;
    });
    return object_of(Tensor(samples));
}

/// What programs other than training do with a run.
void bind_kept_model(nb::class_<train::Run>& run) {
    run.def("predict", predicted)
        .def("eval",
             [](const train::Run& self, const std::string& set) {
                 return python_value(without_gil([&] { return train::evaluate(train::KeptModel(self, set)).figures; }));
             })
        .def("likelihood", likelihood_of)
        .def("sample", sample_of)
        .def("writes_text", [](const train::Run& self) { return without_gil([&] { return is_text_model(self); }); })
        .def("sample_text",
             [](const train::Run& self, std::int64_t count, std::int64_t seed, double temperature,
                const std::string& prompt) {
                 if (seed < 0) throw ConfigError(text("a seed of ", seed, ": seeds are integers from 0 on"));
                 return without_gil([&] {
                     return train::sample_text(self, {.count = count,
                                                      .seed = static_cast<std::uint64_t>(seed),
                                                      .temperature = temperature,
                                                      .prompt = prompt});
                 });
             })
        .def("show", [](const train::Run& self) {
            return without_gil([&] { return look::write_report(self, machine()).string(); });
        });
}

/// Which knows what it was before its variables had values, for a search to try others.
train::Experiment experiment_of(const Json& written) { return train::Experiment(train::compose(written), written); }

void bind_runs(nb::module_& m) {
    m.def("plot_runs",
          [](const std::vector<std::string>& folders, const std::string& file, const std::optional<std::string>& glob) {
              without_gil([&] { look::write_plot(file, folders, glob); });
          });
    nb::class_<train::Run> run(m, "Run");
    run.def_static("create",
                   [](const std::string& folder, const train::Experiment& experiment) {
                       return without_gil([&] {
                           (void)train::networks_of(experiment);
                           return train::Run::create(folder, experiment);
                       });
                   })
        .def_static("open",
                    [](const std::string& folder, Given sets) {
                        Description given = described(sets);  // holds its arrays meanwhile
                        Json placed = train::placed(given.value, here());
                        return without_gil([&] { return train::Run::open(folder, placed); });
                    })
        .def_static("exists", [](const std::string& folder) { return train::Run::exists(folder); })
        .def("train", train_run)
        .def("folder", [](const train::Run& run) { return run.folder().string(); })
        .def("kept", [](const train::Run& run) { return run.kept().string(); })
        .def("experiment", [](const train::Run& run) { return run.experiment(); })
        .def("log", [](const train::Run& run) {
            nb::list lines;
            std::filesystem::path file = run.folder() / "log.jsonl";
            if (!std::filesystem::exists(file)) return lines;
            for (const Json& line : train::read_log(file)) lines.append(python_value(line));
            return lines;
        });
    bind_kept_model(run);
}

}  // namespace

void bind_experiment(nb::module_& m) {
    nb::class_<Description>(m, "Description")
        .def("__eq__",
             [](const Description& self, Given other) {
                 return nb::isinstance<Description>(other) && self.value == nb::cast<Description&>(other).value;
             })
        .def("tree", [](const Description& self) { return python_value(self.value); })
        .def("text", [](const Description& self) { return train::yaml_text(self.value); });
    m.def("experiment_kinds", [] {
        nb::list names;
        for (const train::Kind& kind : train::kinds()) names.append(nb::make_tuple(kind.name, kind.doc));
        return names;
    });
    m.def("experiment_entries", [](const std::string& kind) {
        std::vector<std::string> names;
        for (const train::Entry* entry : train::kind_named(kind).entries) names.push_back(entry->name);
        return names;
    });
    m.def("experiment_entry",
          [](const std::string& kind, const std::string& name) { return entry_as_dict(kind, entry_of(kind, name)); });
    m.def("experiment_part", [](const std::string& kind, const std::string& name, Given options) {
        Description given = described(options);
        return Description{train::part(kind, name, given.value, here()), given.held};
    });
    nb::class_<train::Experiment>(m, "Experiment")
        .def("__init__",
             [](train::Experiment* self, Given tree) {
                 Description given = described(tree);  // holds arrays until the experiment does
                 Json written = train::placed(given.value, here());
                 without_gil([&] { new (self) train::Experiment(experiment_of(written)); });
             })
        .def_static("load",
                    [](const std::string& file, const std::vector<std::string>& assignments) {
                        return without_gil([&] { return experiment_of(train::written_in(file, assignments)); });
                    })
        .def("config", [](const train::Experiment& self) { return python_value(self.config); })
        .def("yaml", &train::Experiment::yaml)
        .def("save", [](const train::Experiment& self, const std::string& file) { self.save(file); })
        .def("dry_run",
             [](const train::Experiment& self) { return without_gil([&] { return train::dry_run(self); }); });
    m.def("help_on_experiment", &train::help_on_experiment);
    bind_runs(m);
}

}  // namespace weft::python
