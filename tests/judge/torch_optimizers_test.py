"""Optimizers against PyTorch's: the same starts, gradients and options give the same parameters."""
import os
import sys
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import torch
    import weft as wf
    LACKS = None
except ImportError as error:
    LACKS = str(error)

OPTIONS = {
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01, "maximize": True}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}],
    "Adam": [{}, {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}, {"lr": 0.1, "betas": (0.8, 0.6), "amsgrad": True, "maximize": True},
             {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}],
    "NAdam": [{}, {"lr": 0.1, "weight_decay": 0.3, "momentum_decay": 0.1}, {"lr": 0.1, "weight_decay": 0.3, "decoupled_weight_decay": True, "maximize": True}],
    "RAdam": [{}, {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3}, {"lr": 0.1, "weight_decay": 0.3, "decoupled_weight_decay": True, "maximize": True}],
    "Adamax": [{}, {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3, "maximize": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.7, "eps": 1e-2, "weight_decay": 0.3, "maximize": True}],
    "RMSprop": [{}, {"lr": 0.1, "alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [{}, {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1, "maximize": True}],
}
# What PyTorch keeps in float32 (NAdam's product of momenta) bounds how near two trajectories can be.
RTOL = {"NAdam": 1e-6}


def paths(name, options, starts, grads):
    """The parameters after the steps: weft's, PyTorch's."""
    mine = [wf.Parameter(wf.asarray(start), name=str(i)) for i, start in enumerate(starts)]
    theirs = [torch.tensor(start, requires_grad=True) for start in starts]
    first, second = getattr(wf.optim, name)(mine, **options), getattr(torch.optim, name)(theirs, **options)
    for grad in grads:
        first.step([wf.asarray(g) for g in grad])
        for parameter, g in zip(theirs, grad):
            parameter.grad = torch.tensor(g)
        second.step()
    return [np.asarray(p.value) for p in mine], [p.detach().numpy() for p in theirs]


def drawn(seed, shapes, steps):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes], [[rng.normal(size=shape) for shape in shapes] for _ in range(steps)]


@unittest.skipIf(LACKS, f"PyTorch's optimizers: {LACKS}")
class Optimizers(unittest.TestCase):
    def test_each_goes_where_pytorchs_goes(self):
        starts, grads = drawn(3, [(3, 2), (4,)], 10)
        for name, every in OPTIONS.items():
            for options in every:
                for found, expected in zip(*paths(name, options, starts, grads)):
                    with self.subTest(f"{name} {options}"):
                        np.testing.assert_allclose(found, expected, rtol=RTOL.get(name, 1e-10))

    def test_muon_goes_near_pytorchs_which_iterates_in_bfloat16(self):
        starts, grads = drawn(4, [(5, 3), (2, 6)], 8)
        for options in ({}, {"lr": 0.1, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"}):
            for start, found, expected in zip(starts, *paths("Muon", options, starts, grads)):
                with self.subTest(f"Muon {options}"):      # a step's error is that of bfloat16, 2**-8, of its length
                    self.assertLess(np.linalg.norm(found - expected), 0.03 * np.linalg.norm(expected - start))

    def test_lbfgs_without_a_search_goes_where_pytorchs_goes(self):
        widths, start = np.array([1.0, 3.0, 10.0, 0.3]), np.array([1.0, -2.0, 0.5, 3.0])
        for options in ({"lr": 0.3, "max_iter": 4}, {"lr": 0.5, "max_iter": 3, "history_size": 2}, {"max_iter": 30, "lr": 0.9}):
            mine, theirs = wf.Parameter(wf.asarray(start), name="w"), torch.tensor(start, requires_grad=True)
            first, second = wf.optim.LBFGS([mine], **options), torch.optim.LBFGS([theirs], **options)
            loss = wf.value_and_grad(lambda w: wf.sum(wf.log(1 + wf.asarray(widths) * w ** 2)))

            def closure():
                second.zero_grad()
                total = (1 + torch.tensor(widths) * theirs ** 2).log().sum()
                total.backward()
                return total
            for step in range(4):
                before = first.step(lambda: loss(mine.value)), second.step(closure).item()
                with self.subTest(f"{options} {step}"):
                    self.assertAlmostEqual(*before, 8)
                    np.testing.assert_allclose(np.asarray(mine.value), theirs.detach().numpy(), rtol=1e-7, atol=1e-9)

    def test_schedules_give_pytorchs_rates(self):
        from torch.optim import lr_scheduler as theirs
        rates = wf.optim.schedule
        pairs = [(rates.step(0.5, 0.1, 3), lambda o: theirs.StepLR(o, 3)), (rates.milestones(0.5, 0.1, [3, 6]), lambda o: theirs.MultiStepLR(o, [2, 5])),
                 (rates.exponential(0.5, 0.9), lambda o: theirs.ExponentialLR(o, 0.9)), (rates.polynomial(0.5, 0.0, 8, 2.0), lambda o: theirs.PolynomialLR(o, 8, 2.0)),
                 (rates.cosine(0.5, 0.1, 12), lambda o: theirs.CosineAnnealingLR(o, 12, 0.1)),
                 (rates.cosine_restarts(0.5, 0.1, 2, 2), lambda o: theirs.CosineAnnealingWarmRestarts(o, 2, 2, 0.1)),
                 (rates.one_cycle(0.5, 12, per="epoch"), lambda o: theirs.OneCycleLR(o, 0.5, total_steps=12, cycle_momentum=False)),
                 (rates.one_cycle(0.5, 12, 0.5, anneal="linear", per="epoch"),
                  lambda o: theirs.OneCycleLR(o, 0.5, total_steps=12, pct_start=0.5, anneal_strategy="linear", cycle_momentum=False))]
        for i, (mine, make) in enumerate(pairs):
            optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
            scheduler = make(optimizer)
            for epoch in range(1, 12):
                with self.subTest(f"schedule {i}, epoch {epoch}"):
                    self.assertAlmostEqual(mine(epoch=epoch), optimizer.param_groups[0]["lr"], 12)
                optimizer.step()
                scheduler.step()

    def test_the_rate_falls_on_pytorchs_plateaus(self):
        figures = np.round(np.random.default_rng(5).normal(size=60).cumsum() * 0.1 + 3, 1)
        for options in ({"patience": 2}, {"patience": 0, "factor": 0.5, "cooldown": 3}, {"mode": "max", "patience": 1, "threshold": 0.1}):
            optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
            scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, min_lr=1e-3, **options)
            mine = wf.optim.schedule.plateau(0.5, least=1e-3, **options)
            for n, figure in enumerate(figures, 1):
                scheduler.step(figure)
                with self.subTest(f"{options} {n}"):
                    self.assertAlmostEqual(mine(epoch=n + 1, figures=figures[:n]), optimizer.param_groups[0]["lr"], 12)

    def test_means_are_those_of_pytorchs_averaged_models(self):
        starts, grads = drawn(6, [(4,)], 8)
        for average, theirs in (({}, None), ({"decay": 0.8}, torch.optim.swa_utils.get_ema_multi_avg_fn(0.8))):
            mine, model = wf.Parameter(wf.asarray(starts[0]), name="w"), torch.nn.ParameterList([torch.tensor(starts[0])])
            mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=theirs)
            first, second = wf.optim.SGD([mine], lr=0.1).configure(average=average), torch.optim.SGD(model.parameters(), lr=0.1)
            for (g,) in grads:
                first.step([wf.asarray(g)])
                model[0].grad = torch.tensor(g)
                second.step()
                mean.update_parameters(model)
            with first.averaged():
                np.testing.assert_allclose(np.asarray(mine.value), next(mean.parameters()).detach().numpy(), rtol=1e-12)
            np.testing.assert_allclose(np.asarray(mine.value), model[0].detach().numpy(), rtol=1e-12)

    def test_gradients_are_clipped_alike(self):
        grads = [np.arange(6.0).reshape(2, 3), np.ones(2)]
        theirs = [torch.zeros(2, 3), torch.zeros(2)]
        for parameter, g in zip(theirs, grads):
            parameter.grad = torch.tensor(g, dtype=torch.float32)
        torch.nn.utils.clip_grad_norm_(theirs, 2.0)
        for found, parameter in zip(wf.optim.clip_grad_norm([wf.asarray(g) for g in grads], 2.0), theirs):
            np.testing.assert_allclose(np.asarray(found), parameter.grad.numpy(), rtol=1e-5)

    def test_gradients_are_clipped_by_value_alike(self):
        grad = np.array([3.0, -0.2, -7.0])
        parameter = torch.zeros(3, dtype=torch.float64)
        parameter.grad = torch.tensor(grad)
        torch.nn.utils.clip_grad_value_([parameter], 0.5)
        np.testing.assert_array_equal(np.asarray(wf.optim.clip_grad_value([wf.asarray(grad)], 0.5)[0]), parameter.grad.numpy())


if __name__ == "__main__":
    unittest.main()
