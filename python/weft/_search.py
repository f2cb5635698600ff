"""Searches around an experiment: trials in a folder, trained here one after the other, or by several processes of Python. Caller: experiment.py."""
import collections as _collections
import os as _os
import signal as _signal
import sys as _sys

from . import _core

Trial = _collections.namedtuple("Trial", "number values figure epoch seconds figures error run")
Trial.__doc__ = """One trial of a search: its number, from 1; what was different in it, {key: value}; the figure by which trials are compared and the epoch of
the model that has it; its seconds; all figures of that model, {channel: value}; why there are none, or an empty text; and its Run. Of a
trial that failed figure, epoch and run are None.

>>> wf.experiment.Trial(1, {"optimizer.sgd.lr": 0.1}, 0.25, 3, 1.5, {"valid.error": 0.25}, "", None).figure
0.25
"""


class Search:
    """What a search has come to: Experiment.sweep and Experiment.cv give it. str() is the table of its trials.

    trials: all that have ended, a Trial each, the best first. best: the first of these, None if none ended well. means: of each figure its mean
    and its standard deviation (with n - 1) over the trials, {channel: (mean, deviation)}: what cross-validation is for. folder: where their
    runs lie, with sweep.html (or cv.html), a page that shows them.

    >>> from weft.experiment import Experiment, data
    >>> experiment = Experiment(data={"train": data.digits(size=60), "prepare": ["flatten"]}, model={"linear": 10}, cost="cross_entropy",
    ...                         optimizer={"sgd": {"lr": 0.1}}, stop_when={"epochs": 1})
    >>> search = experiment.sweep("runs/rates", over={"optimizer.sgd.lr": [1e-9, 1e-5]})
    >>> search.best.values, len(search.trials)
    ({'optimizer.sgd.lr': 1e-05}, 2)
    """

    def __init__(self, folder, kind, trials, means, table):
        self.folder, self.kind, self.trials, self.means, self._table = folder, kind, trials, means, table

    @property
    def best(self):
        return next((trial for trial in self.trials if not trial.error), None)

    @property
    def page(self):
        """The file that shows the trials: a table, and a chart for each key."""
        return self.folder / f"{self.kind}.html"

    def __str__(self):
        widths = [max(map(len, column)) for column in zip(*self._table)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in self._table)

    def __repr__(self):
        return f"Search({str(self.folder)!r}, {len(self.trials)} trials)"


def search(core, kind, keys, folder, jobs, retry, on_trial, opened):
    """Trains the trials of an experiment, `core`. opened: makes a Run of a folder."""
    def as_trial(number, values, figure, epoch, seconds, figures, error, run):
        return Trial(number, values, figure, epoch, seconds, figures or {}, error, None if error else opened(run))

    trials = _core.Trials.of(core, kind, keys)
    told = on_trial and (lambda found: on_trial(as_trial(*found)))
    command = _command() if jobs > 1 else []
    found, means, table = trials.search(_os.fspath(folder), jobs, retry, command, told)
    return Search(folder, kind, [as_trial(*one) for one in found], means, table)


def _command():
    """How a process is called that trains a trial; file, folder and threads follow. It finds weft where this one did."""
    if not _sys.executable:
        raise _core.ConfigError("no other process can be started: sys.executable is empty; jobs=1 trains the trials one after the other")
    return [_sys.executable, "-c", f"import sys; sys.path[:] = {_sys.path!r}; from weft._search import train_trial; train_trial(*sys.argv[1:])"]


def train_trial(file, run, threads):
    """What such a process does. It ends with 0; with 130 if it was asked to stop, and can go on; else with 3, and says why."""
    _signal.signal(_signal.SIGTERM, _signal.default_int_handler)
    _core.set_threads(int(threads))
    try:
        stopped, error = _core.train_trial(file, run)
    except KeyboardInterrupt:
        stopped, error = True, "interrupted"
    if error:
        print(error, file=_sys.stderr)
    _sys.exit(130 if stopped else 3 if error else 0)
