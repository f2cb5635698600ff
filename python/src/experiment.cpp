// Experiments (train/): descriptions made of Python's values, what the registry says of each part, and runs. weft/experiment.py gives them
// their names.

#include <chrono>
#include <cstring>

#include "bind.h"
#include "weft/backend/machine.h"
#include "weft/data/held.h"
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

/// A part, or anything else of a file, as Python holds it, and the arrays that are named in it.
struct Description {
    Json value;
    std::vector<data::Hold> held = {};
};

Json number_of_description(nb::handle object) {
    PyNumberMethods* number = Py_TYPE(object.ptr())->tp_as_number;
    if (PyIndex_Check(object.ptr())) return integer(object, "an experiment");
    if (number && number->nb_float) return as_double(object, "an experiment");
    throw DTypeError(text("an experiment is described by numbers, texts, lists, dicts and its parts, not by '",
                          Py_TYPE(object.ptr())->tp_name, "'; arrays stand as (x, y) where a data set does"));
}

/// NumPy's, weft's and others' arrays; not their scalars.
bool is_array(nb::handle object) {
    bool kind =
        is_tensor(object.ptr()) || nb::hasattr(object, "__array_interface__") || nb::hasattr(object, "__dlpack__");
    return kind && nb::hasattr(object, "ndim") && nb::cast<std::int64_t>(object.attr("ndim")) > 0;
}

bool is_arrays(nb::handle object) {
    if (!PyDict_Check(object.ptr())) return is_array(object);
    for (auto [key, value] : nb::borrow<nb::dict>(object))
        if (!PyUnicode_Check(key.ptr()) || !is_array(value)) return false;
    return PyDict_Size(object.ptr()) > 0;
}

/// Turns Python's values into those of a file, and gathers the arrays that stand for data sets.
class Describer {
  public:
    std::vector<data::Hold> held;

    /// None, numbers (NumPy's too), texts, paths, lists, dicts, parts, and data sets of arrays. DTypeError of anything else.
    Json of(nb::handle object) {
        PyObject* given = object.ptr();
        if (object.is_none()) return {};
        if (nb::isinstance<Description>(object)) {
            const Description& part = nb::cast<Description&>(object);
            held.insert(held.end(), part.held.begin(), part.held.end());
            return part.value;
        }
        if (PyBool_Check(given)) return given == Py_True;
        if (PyUnicode_Check(given)) return nb::cast<std::string>(object);
        if (PyDict_Check(given)) return mapping(nb::borrow<nb::dict>(object));
        if (PyList_Check(given) || PyTuple_Check(given) || PyRange_Check(given)) return list(object);
        if (nb::hasattr(object, "_description")) return of(object.attr("_description"));
        if (nb::hasattr(object, "__fspath__")) return nb::cast<std::string>(nb::str(object));
        return number_of_description(object);
    }

  private:
    Json mapping(const nb::dict& given) {
        if (given.contains("x") && is_arrays(given["x"])) {
            if (given.size() != 2 || !given.contains("y"))
                throw ConfigError("a data set of arrays is {\"x\": x, \"y\": y}, or (x, y)");
            return arrays(given["x"], given["y"]);
        }
        std::vector<Json::Member> members;
        for (auto [key, value] : given) {
            if (!PyUnicode_Check(key.ptr())) throw ConfigError("the keys of an experiment's mappings are strings");
            members.push_back({nb::cast<std::string>(key), of(value), {}});
        }
        return Json::object(std::move(members));
    }
    Json list(nb::handle given) {
        if (nb::len(given) == 2 && is_arrays(given[0])) return arrays(given[0], given[1]);
        Json all = Json::array();
        for (nb::handle item : given) all.push_back(of(item));
        return all;
    }
    Json arrays(nb::handle x, nb::handle y) {
        data::Held set = data::hold(named_arrays(x, "x"), named_arrays(y, "y"));
        held.insert(held.end(), set.keep.begin(), set.keep.end());
        return set.description;
    }
    /// Copies, which nobody changes.
    static data::NamedArrays named_arrays(nb::handle given, const char* usual) {
        data::NamedArrays all;
        auto add = [&](const std::string& name, nb::handle values) {
            Tensor made = tensor(values, "data");
            compute(made);
            Array from = contiguous(made.array()), own = Array::empty(from.dtype, from.dims);
            std::memcpy(own.address(), from.address(), from.bytes());
            all.emplace_back(name, own);
        };
        if (PyDict_Check(given.ptr()))
            for (auto [name, values] : nb::borrow<nb::dict>(given)) add(nb::cast<std::string>(nb::str(name)), values);
        else
            add(usual, given);
        return all;
    }
};

nb::object python_value(const Json& value) {
    switch (value.kind()) {
        case Json::Kind::null:
            return nb::none();
        case Json::Kind::boolean:
            return nb::bool_(value.as_bool());
        case Json::Kind::integer:
            return nb::int_(value.as_integer());
        case Json::Kind::number:
            return nb::float_(value.as_number());
        case Json::Kind::string:
            return nb::str(value.as_string().c_str(), value.as_string().size());
        case Json::Kind::array: {
            nb::list list;
            for (const Json& item : value.items()) list.append(python_value(item));
            return list;
        }
        case Json::Kind::object:
            break;
    }
    nb::dict members;
    for (const Json::Member& member : value.members())
        members[nb::str(member.key.c_str(), member.key.size())] = python_value(member.value);
    return members;
}

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

/// Whoever watches from Python: called with each line of the log. What it raises ends the run at the next step.
class PythonWatcher : public train::Watcher {
  public:
    explicit PythonWatcher(nb::object on_epoch) : on_epoch_(std::move(on_epoch)) {}
    void epoch(const Json& line, bool) override { call(line); }
    void ended(const Json& line) override { call(line); }
    /// Asked after every step; signals wait for so long.
    bool stop() {
        auto now = std::chrono::steady_clock::now();
        if (raised_ || now - asked_ < std::chrono::milliseconds(50)) return raised_.has_value();
        asked_ = now;
        nb::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) raised_.emplace();
        return raised_.has_value();
    }
    void rethrow() {
        if (raised_) throw nb::python_error(*raised_);
    }

  private:
    void call(const Json& line) {
        if (raised_ || on_epoch_.is_none()) return;
        nb::gil_scoped_acquire held;
        try {
            on_epoch_(python_value(line));
        } catch (const nb::python_error& error) {
            raised_.emplace(error);
        }
    }
    nb::object on_epoch_;
    std::optional<nb::python_error> raised_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

/// What to warn of; empty: nothing.
std::string train_run(train::Run& run, Given on_epoch) {
    PythonWatcher watcher(nb::borrow(on_epoch));
    train::Outcome outcome = without_gil([&] { return run.train(watcher, [&] { return watcher.stop(); }); });
    watcher.rethrow();
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
                        Describer describer;
                        Json given = train::placed(describer.of(sets), here());
                        return without_gil([&] { return train::Run::open(folder, given); });
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
        Describer describer;
        Json value = train::part(kind, name, describer.of(options), here());
        return Description{std::move(value), std::move(describer.held)};
    });
    nb::class_<train::Experiment>(m, "Experiment")
        .def("__init__",
             [](train::Experiment* self, Given tree) {
                 Describer describer;  // holds arrays until the experiment does
                 Json given = train::placed(describer.of(tree), here());
                 without_gil([&] { new (self) train::Experiment(train::compose(std::move(given))); });
             })
        .def_static("load",
                    [](const std::string& file, const std::vector<std::string>& assignments) {
                        return without_gil([&] { return train::Experiment(train::compose_file(file, assignments)); });
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
