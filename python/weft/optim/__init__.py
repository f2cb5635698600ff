"""Optimizers: they give parameters new values by gradients, by themselves or inside of one compiled step (weft.train_step). Names, arguments
and defaults are PyTorch's. weft.optim.schedule has rates that change.

    model = wf.nn.Linear(3, 1)
    optimizer = wf.optim.Adam(model.parameters(), lr=1e-2)
    loss, grads = wf.value_and_grad(loss_function)(model, x, y)
    optimizer.step(grads)
"""
from . import schedule
from ._batch import LBFGS, ConjugateGradient
from ._optimizer import Optimizer, clip_grad_norm, clip_grad_value
from ._rules import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lion, Muon, NAdam, RAdam, RMSprop

__all__ = ["LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ConjugateGradient", "Lion", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop",
           "clip_grad_norm", "clip_grad_value", "schedule"]
