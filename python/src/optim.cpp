// Optimizers (optim/): what changes Parameters by gradients.

#include "object.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/batch_method.h"
#include "weft/optim/lion.h"
#include "weft/optim/muon.h"
#include "weft/optim/schedule.h"
#include "weft/optim/sgd.h"

namespace weft::python {
namespace {

using namespace optim;

std::vector<Parameter> cells(nb::handle list) {
    std::vector<Parameter> all;
    for (nb::handle cell : list) all.push_back(nb::cast<Parameter>(cell));
    return all;
}

using Number = std::optional<double>;

/// What closures give: a loss and its gradients, flattened by Python.
BatchMethod::Measure measure_of(const nb::callable& closure) {
    return [closure](std::vector<Tensor>& gradients) {
        nb::object given = closure();
        gradients = tensors(given[1], "step");
        return nb::cast<double>(given[0]);
    };
}

void bind_rules(nb::module_& m) {
    nb::class_<SGD, Optimizer>(m, "SGD").def(
        "__init__", [](SGD* self, double lr, double momentum, double dampening, double weight_decay, bool nesterov) {
            new (self) SGD({lr, momentum, dampening, weight_decay, nesterov});
        });
    nb::class_<Adam, Optimizer>(m, "Adam").def(
        "__init__", [](Adam* self, double lr, double beta1, double beta2, double eps, double weight_decay, bool amsgrad,
                       bool decoupled) {
            new (self) Adam({lr, beta1, beta2, eps, weight_decay, amsgrad, decoupled});
        });
    nb::class_<AdamW, Optimizer>(m, "AdamW")
        .def("__init__",
             [](AdamW* self, double lr, double beta1, double beta2, double eps, double weight_decay, bool amsgrad) {
                 new (self) AdamW({lr, beta1, beta2, eps, weight_decay, amsgrad});
             });
    nb::class_<NAdam, Optimizer>(m, "NAdam")
        .def("__init__", [](NAdam* self, double lr, double beta1, double beta2, double eps, double weight_decay,
                            double momentum_decay, bool decoupled) {
            new (self) NAdam({lr, beta1, beta2, eps, weight_decay, momentum_decay, decoupled});
        });
    nb::class_<RAdam, Optimizer>(m, "RAdam")
        .def("__init__",
             [](RAdam* self, double lr, double beta1, double beta2, double eps, double weight_decay, bool decoupled) {
                 new (self) RAdam({lr, beta1, beta2, eps, weight_decay, decoupled});
             });
    nb::class_<Adamax, Optimizer>(m, "Adamax")
        .def("__init__", [](Adamax* self, double lr, double beta1, double beta2, double eps, double weight_decay) {
            new (self) Adamax({lr, beta1, beta2, eps, weight_decay});
        });
    nb::class_<Lion, Optimizer>(m, "Lion").def(
        "__init__", [](Lion* self, double lr, double beta1, double beta2, double weight_decay) {
            new (self) Lion({lr, beta1, beta2, weight_decay});
        });
    nb::class_<Muon, Optimizer>(m, "Muon").def(
        "__init__", [](Muon* self, double lr, double weight_decay, double momentum, bool nesterov, double a, double b,
                       double c, double eps, std::int64_t steps, bool match_rms_adamw, Number others_lr) {
            std::optional<MuonOthers> others;
            if (others_lr) others = MuonOthers{*others_lr};
            new (self) Muon({lr, weight_decay, momentum, nesterov, a, b, c, eps, steps, match_rms_adamw, others});
        });
    nb::class_<RMSprop, Optimizer>(m, "RMSprop")
        .def("__init__", [](RMSprop* self, double lr, double alpha, double eps, double weight_decay, double momentum,
                            bool centered) {
            new (self) RMSprop({lr, alpha, eps, weight_decay, momentum, centered});
        });
    nb::class_<Adagrad, Optimizer>(m, "Adagrad")
        .def("__init__",
             [](Adagrad* self, double lr, double lr_decay, double weight_decay, double initial, double eps) {
                 new (self) Adagrad({lr, lr_decay, weight_decay, initial, eps});
             });
    nb::class_<Adadelta, Optimizer>(m, "Adadelta")
        .def("__init__", [](Adadelta* self, double lr, double rho, double eps, double weight_decay) {
            new (self) Adadelta({lr, rho, eps, weight_decay});
        });
}

void bind_batch_methods(nb::module_& m) {
    nb::class_<BatchMethod, Optimizer>(m, "BatchMethod")
        .def("minimise", [](BatchMethod& self, Given parameters, const nb::callable& closure) {
            std::vector<Parameter> all = cells(parameters);
            return self.minimise(all, measure_of(closure));
        });
    nb::class_<LBFGS, BatchMethod>(m, "LBFGS")
        .def("__init__", [](LBFGS* self, double lr, std::int64_t max_iter, std::int64_t max_eval, double tolerance_grad,
                            double tolerance_change, std::int64_t history, const std::string& search) {
            new (self)
                LBFGS({lr, max_iter, max_eval, tolerance_grad, tolerance_change, history, line_search_named(search)});
        });
    nb::class_<ConjugateGradient, BatchMethod>(m, "ConjugateGradient")
        .def("__init__", [](ConjugateGradient* self, const std::string& formula, const std::string& search,
                            std::int64_t iterations, double lr, bool across) {
            Conjugate conjugate = formula == "none"              ? Conjugate::none
                                  : formula == "fletcher_reeves" ? Conjugate::fletcher_reeves
                                                                 : Conjugate::polak_ribiere;
            new (self) ConjugateGradient({conjugate, line_search_named(search, strict_wolfe), iterations, lr, across});
        });
}

void bind_schedules(nb::module_& m) {
    using schedule::Per;
    auto per = [](const std::string& name) { return name == "step" ? Per::step : Per::epoch; };
    using History = std::vector<double>;
    nb::class_<Schedule>(m, "Schedule")
        .def("at", [](const Schedule& self, std::int64_t step, std::int64_t epoch, const History& figures) {
            std::function<History(const std::string&)> history = [&](const std::string&) { return figures; };
            return self({step, epoch, &history});
        });
    m.def("schedule_constant", [](double value) { return Schedule(value); });
    m.def("schedule_step", [=](double from, double factor, std::int64_t every, const std::string& unit) {
        return schedule::step(from, factor, every, per(unit));
    });
    m.def("schedule_milestones", [](double from, double factor, const std::vector<std::int64_t>& epochs) {
        return schedule::milestones(from, factor, epochs);
    });
    m.def("schedule_exponential", [=](double from, double factor, double least, const std::string& unit) {
        return schedule::exponential(from, factor, least, per(unit));
    });
    m.def("schedule_linear",
          [=](double from, double to, std::int64_t first, std::int64_t last, const std::string& unit) {
              return schedule::linear(from, to, first, last, per(unit));
          });
    m.def("schedule_cosine", [=](double from, double to, std::int64_t total, const std::string& unit) {
        return schedule::cosine(from, to, total, per(unit));
    });
    m.def("schedule_cosine_restarts",
          [=](double from, double to, std::int64_t period, std::int64_t factor, const std::string& unit) {
              return schedule::cosine_restarts(from, to, period, factor, per(unit));
          });
    m.def("schedule_polynomial",
          [=](double from, double to, std::int64_t total, double power, const std::string& unit) {
              return schedule::polynomial(from, to, total, power, per(unit));
          });
    m.def("schedule_inverse_time", [=](double from, double rate, double power, const std::string& unit) {
        return schedule::inverse_time(from, rate, power, per(unit));
    });
    m.def("schedule_one_cycle", [=](double most, std::int64_t total, double rising, double start, double end,
                                    bool lines, const std::string& unit) {
        return schedule::one_cycle({most, total, rising, start, end, lines, per(unit)});
    });
    m.def("schedule_plateau", [](double from, bool more, double factor, std::int64_t patience, std::int64_t cooldown,
                                 double threshold, double least) {
        return schedule::plateau({from, "", more, factor, patience, cooldown, threshold, least});
    });
    m.def("schedule_adjust",
          [](double from, double high, double shrink, double low, double grow, double least, double most) {
              return schedule::adjust({from, "", high, shrink, low, grow, least, most});
          });
    m.def("schedule_warm_up",
          [](const Schedule& after, std::int64_t steps) { return schedule::warm_up(after, steps); });
}

}  // namespace

void bind_optim(nb::module_& m) {
    nb::class_<Group>(m, "Group").def("__init__", [](Group* self, std::string match, double lr, Number decay) {
        new (self) Group{std::move(match), lr, decay};
    });
    nb::class_<Constraint>(m, "Constraint")
        .def("__init__", [](Constraint* self, std::string match, Number most_column, Number least_column,
                            Number most_row, Number most_kernel, Number most_number, bool non_negative) {
            new (self) Constraint{std::move(match), most_column, least_column, most_row,
                                  most_kernel,      most_number, non_negative};
        });
    nb::class_<Optimizer>(m, "Optimizer")
        .def("update",
             [](Optimizer& self, Given parameters, Given gradients) {
                 std::vector<Parameter> all = cells(parameters);
                 std::vector<Tensor> given = tensors(gradients, "step");
                 self.step(all, given);
             })
        .def("prepare", [](Optimizer& self, Given parameters) { self.prepare(cells(parameters)); })
        .def("cells",
             [](const Optimizer& self) {
                 nb::list all;
                 for (const Parameter& cell : self.state()) all.append(nb::cast(cell));
                 return all;
             })
        .def("rates",
             [](const Optimizer& self) {
                 nb::list all;
                 for (std::string_view name : self.rates()) all.append(nb::str(name.data(), name.size()));
                 return all;
             })
        .def("configure",
             [](Optimizer& self, bool maximize, std::int64_t accumulate, double value, double each, double norm,
                const std::vector<Constraint>& constraints, bool average, Number decay, std::int64_t start,
                const std::vector<Group>& groups) {
                 StepOptions options{.maximize = maximize,
                                     .accumulate = accumulate,
                                     .clip_value = value,
                                     .clip_each_norm = each,
                                     .clip_norm = norm,
                                     .constraints = constraints};
                 if (average) options.average = Averaging{decay, start};
                 self.set_groups(groups);
                 self.configure(options);
             })
        .def("use_averages", &Optimizer::use_averages)
        .def("get", [](const Optimizer& self, const std::string& rate) { return self.get(rate); })
        .def("set", [](Optimizer& self, const std::string& rate, double value) { self.set(rate, value); });
    bind_rules(m);
    bind_batch_methods(m);
    bind_schedules(m);
    m.def("clip_value",
          [](Given gradients, double most) { return list_of(clip_value(tensors(gradients, "clip_value"), most)); });
    m.def("clip_norm",
          [](Given gradients, double most) { return list_of(clip_norm(tensors(gradients, "clip_norm"), most)); });
}

}  // namespace weft::python
