"""Experiments as values: what a file of `weft train` describes, with the same names, checks, messages and bytes.

    from weft.experiment import Experiment, cost, data, model, optimizer, prepare, stop

    experiment = Experiment(
        data={"train": data.digits(size=4000), "valid": data.digits(split="valid", size=1000), "prepare": [prepare.scale([0, 1]), prepare.flatten]},
        model=[model.linear(100), model.relu, model.linear(10)],
        cost=[cost.cross_entropy, cost.weight_decay(1e-4)],
        optimizer=optimizer.momentum(lr=0.1),
        stop_when=stop.epochs(5))
    experiment.save("digits.yaml")             # what `weft train digits.yaml` takes
    run = experiment.train("runs/digits", on_epoch=print)
    run.predict(pictures).classes

Each kind of part (`weft help`) is a name here: data, prepare, augment, model, join, init, cost, optimizer, schedule, channel, stop, distribution.
What is in one comes from the registry that files are read by: dir(model), help(model.linear). Options that are words of Python end in an
underscore: stop.no_improvement(of="valid.error", for_=3).
"""
import collections
import inspect
import keyword
import os
import pathlib
import warnings

from . import _core

__all__ = ["Answers", "Experiment", "Run", "load"]

Answers = collections.namedtuple("Answers", "outputs classes probabilities")
Answers.__doc__ = """What a run's model says of examples: what the network gives, and, where its cost is of classes, each example's class and the
probability of each class (None where there are none).

>>> wf.experiment.Answers([0.5], None, None).outputs
[0.5]
"""


class Part:
    """A name of a file with its options, checked when it was made. str() is what stands in the file."""
    __slots__ = ("_description", "_kind")

    def __init__(self, kind, description):
        self._kind, self._description = kind, description

    @property
    def tree(self):
        """As plain values: {"linear": {"units": 10}}."""
        return self._description.tree()

    def __eq__(self, other):
        return isinstance(other, Part) and (self._kind, self._description) == (other._kind, other._description)

    __hash__ = None

    def __str__(self):
        return self._description.text().strip()

    def __repr__(self):
        return f"<{self._kind} {self}>"


class Maker:
    """Makes parts of one name. A part without options needs no call: model.relu."""

    def __init__(self, kind, name, found):
        self.__name__ = self.__qualname__ = name
        self.__module__ = __name__
        self.__doc__ = found["help"]
        self._kind, self._bare = kind, found["bare"]
        self.__signature__ = _signature(found)

    def __call__(self, *values, **options):
        if len(values) > 1:
            raise TypeError(f"{self._kind}.{self.__name__}: one value stands without a name, {len(values)} were given")
        given = {_plain(name): value for name, value in options.items()}
        if values and given and not self._bare:
            raise TypeError(f"{self._kind}.{self.__name__}: options are given by name")
        if values and given:
            given = {self._bare: values[0], **given}
        elif values:
            given = values[0]
        return Part(self._kind, _core.experiment_part(self._kind, self.__name__, given if given != {} else None))

    @property
    def _description(self):
        return self()._description

    def __repr__(self):
        return f"<{self._kind} {self.__name__}{self.__signature__}>"


class Kind:
    """The parts of one kind, by name."""

    def __init__(self, name, doc):
        self.__name__ = name
        self.__doc__ = f"Parts of an experiment: {doc}. dir() lists them, help() of one shows its options."

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            found = _core.experiment_entry(self.__name__, _plain(name))
        except _core.ConfigError as error:
            raise AttributeError(f"wf.experiment.{self.__name__}: {error}") from None
        maker = Maker(self.__name__, _plain(name), found)
        self.__dict__[name] = maker
        return maker

    def __dir__(self):
        return sorted(_pythonic(name) for name in _core.experiment_entries(self.__name__))

    def __repr__(self):
        return f"<kind {self.__name__}: {', '.join(dir(self))}>"


def _pythonic(name):
    return name + "_" * keyword.iskeyword(name)


def _plain(name):
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _signature(found):
    """The option that may stand without its name, then the others."""
    options = sorted(found["options"], key=lambda option: option[0] != found["bare"])
    kinds = inspect.Parameter
    return inspect.Signature([
        kinds(_pythonic(name), kinds.POSITIONAL_OR_KEYWORD if name == found["bare"] else kinds.KEYWORD_ONLY,
              default=kinds.empty if required else fallback) for name, required, fallback in options])


_KINDS = {name: Kind(name, doc) for name, doc in _core.experiment_kinds()}


def __getattr__(name):
    if name in _KINDS:
        return _KINDS[name]
    raise AttributeError(f"module 'weft.experiment' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_KINDS})


class _Face:
    """What a C++ object, `core`, looks like from Python."""

    @classmethod
    def _of(cls, core):
        made = object.__new__(cls)
        made._core = core
        return made


class Experiment(_Face):
    """What is trained, on which data, at what cost, how, until when: the keys of a file (`weft help experiment`), as keywords; parts are made by
    their kind, or written as a file has them ("relu", {"linear": 10}). ConfigError names the line and a way out; no data are read.

    >>> from weft.experiment import Experiment, cost, data, model, optimizer
    >>> experiment = Experiment(data={"train": data.digits(size=100), "prepare": ["flatten"]}, model=model.linear(10),
    ...                         cost=cost.cross_entropy, optimizer=optimizer.sgd(lr=0.1), stop_when={"epochs": 2})
    >>> print(experiment)
    data: {train: {digits: {size: 100}}, prepare: [flatten]}
    model: {linear: 10}
    cost: cross_entropy
    optimizer: {sgd: {lr: 0.1}}
    stop_when: {epochs: 2}
    >>> experiment.config["batch_size"]
    100
    """

    def __init__(self, **keys):
        self._core = _core.Experiment(keys)

    @property
    def config(self):
        """All of it as plain values, every default filled in: what a run keeps as config.yaml."""
        return self._core.config()

    def save(self, path):
        """Writes the file that describes it; JSON if its name ends so."""
        self._core.save(os.fspath(path))

    def dry_run(self):
        """What `weft train --dry-run` prints: shapes, parameters, memory and work of a step. No data are read."""
        return self._core.dry_run()

    def train(self, folder, on_epoch=None):
        """Trains it in a folder, which must be new or empty, and gives the Run. on_epoch is called with each line of the log, a dict. Ctrl-C
        leaves a checkpoint: Run(folder).train() goes on, to the bytes of a run that was not stopped."""
        run = Run._of(_core.Run.create(os.fspath(folder), self._core))
        run.train(on_epoch)
        return run

    def __eq__(self, other):
        return isinstance(other, Experiment) and self.config == other.config

    __hash__ = None

    def __str__(self):
        return self._core.yaml().rstrip("\n")

    def __repr__(self):
        return f"Experiment:\n{self}"


class Run(_Face):
    """A folder in which an experiment was, or is being, trained: the program's `weft show`, `plot`, `predict` take it, too.

    >>> from weft.experiment import Experiment, cost, data, model, optimizer
    >>> experiment = Experiment(data={"train": data.digits(size=100), "prepare": [{"scale": [0, 1]}, "flatten"]},
    ...                         model=model.linear(10), cost=cost.cross_entropy, optimizer=optimizer.sgd(lr=0.1), stop_when={"epochs": 2})
    >>> run = experiment.train("runs/first")
    >>> [line["epoch"] for line in run.log]
    [1, 2, 2]
    >>> run.figures("train.loss")[1] < run.figures("train.loss")[0]
    True
    >>> run.predict(wf.zeros((5, 28, 28))).probabilities.shape
    (5, 10)
    """

    def __init__(self, folder):
        self._core = _core.Run.open(os.fspath(folder))

    @property
    def folder(self):
        return pathlib.Path(self._core.folder())

    @property
    def kept(self):
        """The checkpoint of the best model, or of the last: wf.load(run.kept / "model.safetensors")."""
        return pathlib.Path(self._core.kept())

    @property
    def experiment(self):
        return Experiment._of(self._core.experiment())

    @property
    def log(self):
        """Its lines as dicts: an epoch each, and a last one, {"final": True}, of the model that is kept."""
        return self._core.log()

    def figures(self, channel):
        """One figure of each epoch, as of "valid.error"."""
        return [line[channel] for line in self.log if channel in line and "epoch" in line and "final" not in line]

    def train(self, on_epoch=None):
        """Goes on where the run stopped, as `weft resume` does. A loss that stops being finite is a RuntimeWarning. ConfigError if another
        process, or thread, trains it."""
        if said := self._core.train(on_epoch):
            warnings.warn(said, RuntimeWarning, stacklevel=2)

    def predict(self, x, output=""):
        """Answers to examples as the run's data were before they were prepared: an array (n, ...), or a dict of them by the inputs' names.
        output: the path of a layer that has a cost of its own, in place of what the network gives."""
        return Answers(*self._core.predict(x if isinstance(x, dict) else {"x": x}, output))

    def __repr__(self):
        return f"Run({str(self.folder)!r})"


def load(path, set=()):
    """The experiment of a file, YAML or JSON, as `weft train` reads it; set: values to replace, as its --set takes them.

    >>> with open("small.yaml", "w") as file:
    ...     _ = file.write("data: {train: {digits: {size: 100}}, prepare: [flatten]}\\nmodel: {linear: 10}\\ncost: cross_entropy\\noptimizer: sgd\\n")
    >>> wf.experiment.load("small.yaml", set=["batch_size=20"]).config["batch_size"]
    20
    """
    return Experiment._of(_core.Experiment.load(os.fspath(path), list(set)))
