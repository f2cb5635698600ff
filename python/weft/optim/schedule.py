"""Rates that change: each function gives a schedule, which is asked at every step, `optimizer.lr = rate(step=..., epoch=...)`. Steps count from 0, epochs
from 1; per says which of them time is counted in. Formulas are PyTorch's lr_scheduler's where it has them; they keep no state.
"""
from .. import _core

__all__ = ["Schedule", "adjust", "constant", "cosine", "cosine_restarts", "exponential", "inverse_time", "linear", "milestones", "one_cycle", "plateau", "polynomial", "step", "warm_up"]


class Schedule:
    """A rate over time. rate(step, epoch) is a number; figures: one of each epoch done, for plateau and adjust.

    >>> wf.optim.schedule.cosine(1.0, 0.0, 10)(epoch=6)
    0.5
    """

    def __init__(self, core):
        self._core = core

    def __call__(self, step=0, epoch=1, figures=()):
        return self._core.at(step, epoch, list(figures))


def _per(per):
    if per not in ("epoch", "step"):
        raise ValueError(f"schedule: per is {per!r}; time is counted per 'epoch' or per 'step'")
    return per


def constant(value):
    """The same rate throughout.

    >>> wf.optim.schedule.constant(0.5)(epoch=3)
    0.5
    """
    return Schedule(_core.schedule_constant(value))


def step(start, factor, every, per="epoch"):
    """start, multiplied by factor after every so many epochs or steps.

    >>> wf.optim.schedule.step(1.0, 0.5, 3)(epoch=4)
    0.5
    """
    return Schedule(_core.schedule_step(start, factor, every, _per(per)))


def milestones(start, factor, epochs):
    """start, multiplied by factor at the start of each of these epochs.

    >>> wf.optim.schedule.milestones(1.0, 0.5, [2, 5])(epoch=5)
    0.25
    """
    return Schedule(_core.schedule_milestones(start, factor, list(epochs)))


def exponential(start, factor, least=0.0, per="epoch"):
    """start, multiplied by factor after each epoch or step, never below least.

    >>> wf.optim.schedule.exponential(1.0, 0.5)(epoch=3)
    0.25
    """
    return Schedule(_core.schedule_exponential(start, factor, least, _per(per)))


def linear(start, end, first, last, per="epoch"):
    """start up to epoch (or step) `first`, end from `last` on, a straight line between.

    >>> wf.optim.schedule.linear(1.0, 0.0, 1, 5)(epoch=3)
    0.5
    """
    return Schedule(_core.schedule_linear(start, end, first, last, _per(per)))


def cosine(start, end, total, per="epoch"):
    """Half a cosine from start to end after `total` epochs or steps (Loshchilov & Hutter, 2017).

    >>> wf.optim.schedule.cosine(1.0, 0.5, 4)(epoch=5)
    0.5
    """
    return Schedule(_core.schedule_cosine(start, end, total, _per(per)))


def cosine_restarts(start, end, period, factor=1, per="epoch"):
    """Half a cosine again and again, each time `factor` times as long.

    >>> wf.optim.schedule.cosine_restarts(1.0, 0.0, 2, 2)(epoch=3)
    1.0
    """
    return Schedule(_core.schedule_cosine_restarts(start, end, period, factor, _per(per)))


def polynomial(start, end, total, power=1.0, per="epoch"):
    """end + (start - end) * (1 - t / total)**power, and end from then on.

    >>> wf.optim.schedule.polynomial(1.0, 0.0, 4, power=2)(epoch=3)
    0.25
    """
    return Schedule(_core.schedule_polynomial(start, end, total, power, _per(per)))


def inverse_time(start, rate, power=1.0, per="epoch"):
    """start / (1 + rate * t)**power.

    >>> wf.optim.schedule.inverse_time(1.0, 0.5)(epoch=3)
    0.5
    """
    return Schedule(_core.schedule_inverse_time(start, rate, power, _per(per)))


def one_cycle(most, total, rising=0.3, div=25.0, final_div=1e4, anneal="cosine", per="step"):
    """Up from most / div in the first part of the time, down to most / div / final_div at its end (Smith & Topin, 2018).

    >>> wf.optim.schedule.one_cycle(1.0, 100)(step=29)
    1.0
    """
    if anneal not in ("cosine", "linear"):
        raise ValueError(f"one_cycle: anneal is {anneal!r}; it is 'cosine' or 'linear'")
    return Schedule(_core.schedule_one_cycle(most, total, rising, div, final_div, anneal == "linear", _per(per)))


def plateau(start, mode="min", factor=0.1, patience=10, cooldown=0, threshold=1e-4, least=0.0):
    """start, multiplied by factor each time when the figures have not become better for more than `patience` epochs.

    >>> wf.optim.schedule.plateau(1.0, patience=1)(figures=[3.0, 3.0, 3.0])
    0.1
    """
    if mode not in ("min", "max"):
        raise ValueError(f"plateau: mode is {mode!r}; it is 'min' or 'max'")
    return Schedule(_core.schedule_plateau(start, mode == "max", factor, patience, cooldown, threshold, least))


def adjust(start, high=1.0, shrink=0.99, low=0.99, grow=1.01, least=1e-7, most=1.0):
    """start; after each epoch but the first times shrink where the figure is above high times the one before, else times grow where it is above
    low times that (Pylearn2's MonitorBasedLRAdjuster).

    >>> wf.optim.schedule.adjust(0.1, shrink=0.5)(figures=[3.0, 4.0])
    0.05
    """
    return Schedule(_core.schedule_adjust(start, high, shrink, low, grow, least, most))


def warm_up(after, steps):
    """The schedule `after` (or a number), risen to in a straight line over the first steps.

    >>> wf.optim.schedule.warm_up(1.0, 4)(step=1)
    0.5
    """
    if not isinstance(after, Schedule):
        after = constant(after)
    return Schedule(_core.schedule_warm_up(after._core, steps))
