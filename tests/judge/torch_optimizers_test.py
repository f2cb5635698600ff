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
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}],
    "Adam": [{}, {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3}],
    "RMSprop": [{}, {"lr": 0.1, "alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.1}],
    "Adagrad": [{}, {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1}],
}


@unittest.skipIf(LACKS, f"PyTorch's optimizers: {LACKS}")
class Optimizers(unittest.TestCase):
    def test_each_goes_where_pytorchs_goes(self):
        rng = np.random.default_rng(3)
        starts, grads = [rng.normal(size=(3, 2)), rng.normal(size=4)], [[rng.normal(size=(3, 2)), rng.normal(size=4)] for _ in range(10)]
        for name, every in OPTIONS.items():
            for options in every:
                mine = [wf.Parameter(wf.asarray(start), name=str(i)) for i, start in enumerate(starts)]
                theirs = [torch.tensor(start, requires_grad=True) for start in starts]
                first, second = getattr(wf.optim, name)(mine, **options), getattr(torch.optim, name)(theirs, **options)
                for grad in grads:
                    first.step([wf.asarray(g) for g in grad])
                    for parameter, g in zip(theirs, grad):
                        parameter.grad = torch.tensor(g)
                    second.step()
                for found, expected in zip(mine, theirs):
                    with self.subTest(f"{name} {options}"):
                        np.testing.assert_allclose(np.asarray(found.value), expected.detach().numpy(), rtol=1e-10)

    def test_gradients_are_clipped_alike(self):
        grads = [np.arange(6.0).reshape(2, 3), np.ones(2)]
        theirs = [torch.zeros(2, 3), torch.zeros(2)]
        for parameter, g in zip(theirs, grads):
            parameter.grad = torch.tensor(g, dtype=torch.float32)
        torch.nn.utils.clip_grad_norm_(theirs, 2.0)
        for found, parameter in zip(wf.optim.clip_grad_norm([wf.asarray(g) for g in grads], 2.0), theirs):
            np.testing.assert_allclose(np.asarray(found), parameter.grad.numpy(), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
