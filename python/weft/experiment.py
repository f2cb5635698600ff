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
    run.eval(), run.sample(count=20), run.show(), run.plot("digits.svg")
    experiment.sweep("runs/rates", over={"optimizer.momentum.lr": [0.1, 0.01]}).best
    experiment.cv("runs/folds", folds=5).means["test.error"]

Each kind of part (`weft help`) is a name here: data, prepare, augment, model, join, init, cost, optimizer, schedule, channel, stop, distribution.
What is in one comes from the registry that files are read by: dir(model), help(model.linear). Options that are words of Python end in an
underscore: stop.no_improvement(of="valid.error", for_=3).
"""
import collections as _collections
import inspect as _inspect
import keyword as _keyword
import os as _os
import pathlib as _pathlib
import warnings as _warnings

from . import _core
from ._search import Search, Trial, search as _search

__all__ = ["Answers", "Experiment", "Likelihood", "LogZ", "Run", "Search", "Trial", "load", "plot"]

Answers = _collections.namedtuple("Answers", "outputs classes probabilities")
Answers.__doc__ = """What a run's model says of examples: what the network gives, and, where its cost is of classes, each example's class and the
probability of each class (None where there are none).

>>> wf.experiment.Answers([0.5], None, None).outputs
[0.5]
"""


LogZ = _collections.namedtuple("LogZ", "value low high")
LogZ.__doc__ = """An estimate of the logarithm of a Boltzmann machine's normalising constant, and the interval in which it lies.

>>> wf.experiment.LogZ(-3.0, -3.1, -2.9).value
-3.0
"""

Likelihood = _collections.namedtuple("Likelihood", "mean bound log_z log_z_from_above exact_log_z black_and_white")
Likelihood.__doc__ = """How probable a model takes a set to be: `mean`, nats an example; `bound`: it is one from below. Of Boltzmann machines also log Z: by annealing
(a LogZ), the other way round (`reverse=True`), exactly where few units allow it; each None where there is none. `black_and_white`: the data
are, else nothing of this is a probability.

>>> wf.experiment.Likelihood(-98.2, True, None, None, None, True).bound
True
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
    return name + "_" * _keyword.iskeyword(name)


def _plain(name):
    return name[:-1] if name.endswith("_") and _keyword.iskeyword(name[:-1]) else name


def _signature(found):
    """The option that may stand without its name, then the others."""
    options = sorted(found["options"], key=lambda option: option[0] != found["bare"])
    kinds = _inspect.Parameter
    return _inspect.Signature([
        kinds(_pythonic(name), kinds.POSITIONAL_OR_KEYWORD if name == found["bare"] else kinds.KEYWORD_ONLY,
              default=kinds.empty if required else fallback) for name, required, fallback in options])


_KINDS = {name: Kind(name, doc) for name, doc in _core.experiment_kinds()}


def __getattr__(name):
    if name in _KINDS:
        return _KINDS[name]
    raise AttributeError(f"module 'weft.experiment' has no attribute '{name}'")


def __dir__():
    return sorted({*__all__, *_KINDS})


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

    A data set may be arrays, NumPy's or weft's: (x, y), or {"x": x, "y": y}, rows of x (n, ...) and what they should give; several inputs or
    targets as {name: array}. Integers in y are class numbers. They are copied; ShapeError if they do not hold as many rows. The run keeps their
    shapes, dtypes and MD5 alone, so Run(folder, data=...) wants them again.

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
        self._core.save(_os.fspath(path))

    def dry_run(self):
        """What `weft train --dry-run` prints: shapes, parameters, memory and work of a step. No data are read."""
        return self._core.dry_run()

    def train(self, folder, on_epoch=None):
        """Trains it in a folder, which must be new or empty, and gives the Run. on_epoch is called with each line of the log, a dict. Ctrl-C
        leaves a checkpoint: Run(folder).resume() goes on, to the bytes of a run that was not stopped."""
        run = Run._of(_core.Run.create(_os.fspath(folder), self._core))
        run.train(on_epoch)
        return run

    def sweep(self, folder, jobs=1, retry=False, on_trial=None, **keys):
        """Trains it with other values of some keys, as `weft sweep` does, each trial a run in the folder, and gives the Search. keys: those of
        `sweep:` (`weft help experiment`), in place of the experiment's own: over={"optimizer.sgd.lr": [0.1, 0.01]} or distributions,
        method="grid", "random" or "halving", runs, minimize or maximize, ...

        jobs: so many processes at a time; with 1 this one trains, a trial after the other. on_trial: called with each Trial that ends. retry:
        trials that failed are tried again. The folder is new, empty, or that of the same sweep, which goes on where it was stopped (Ctrl-C) or
        killed. ConfigError of a mistake in any trial comes before one is trained; what fails later is a Trial with an error.

        >>> from weft.experiment import Experiment, data, distribution
        >>> experiment = Experiment(data={"train": data.digits(size=60), "prepare": ["flatten"]}, model={"linear": 10}, cost="cross_entropy",
        ...                         optimizer={"sgd": {"lr": 0.1}}, stop_when={"epochs": 1})
        >>> search = experiment.sweep("runs/drawn", method="random", runs=2, over={"optimizer.sgd.lr": distribution.log_uniform([1e-4, 0.1])})
        >>> search.best.run.log[-1]["train.loss"] == search.best.figure
        True
        """
        return _search(self._core, "sweep", keys, _pathlib.Path(folder), jobs, retry, on_trial, Run)

    def cv(self, folder, jobs=1, retry=False, on_trial=None, **keys):
        """Cross-validates it, as `weft cv` does: a trial for each fold of the training set, which learns from the others, prepares by what they
        alone teach, and is judged by it. keys: those of `cv:`: folds (5), repeats (1), stratified, seed. The rest as in sweep().

        >>> from weft.experiment import Experiment, data
        >>> experiment = Experiment(data={"train": data.digits(size=60), "prepare": ["flatten"]}, model={"linear": 10}, cost="cross_entropy",
        ...                         optimizer="sgd", stop_when={"epochs": 1})
        >>> mean, deviation = experiment.cv("runs/folds", folds=3).means["test.error"]
        """
        return _search(self._core, "cv", keys, _pathlib.Path(folder), jobs, retry, on_trial, Run)

    def __eq__(self, other):
        return isinstance(other, Experiment) and self.config == other.config

    __hash__ = None

    def __str__(self):
        return self._core.yaml().rstrip("\n")

    def __repr__(self):
        return f"Experiment:\n{self}"


class Run(_Face):
    """A folder in which an experiment was, or is being, trained: the program's `weft show`, `plot`, `predict` take it, too. `data`: the arrays
    that it learned from, {"train": (x, y)}, if these were in memory and shall be read again; ConfigError if they are others.

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

    def __init__(self, folder, data={}):
        self._core = _core.Run.open(_os.fspath(folder), data)

    @property
    def folder(self):
        return _pathlib.Path(self._core.folder())

    @property
    def kept(self):
        """The checkpoint of the best model, or of the last: wf.load(run.kept / "model.safetensors")."""
        return _pathlib.Path(self._core.kept())

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

    def resume(self, on_epoch=None):
        """Goes on where the run stopped, as `weft resume` does. on_epoch is called with each line of the log, a dict. A loss that stops being
        finite is a RuntimeWarning. ConfigError if another process, or thread, trains the run."""
        if said := self._core.train(on_epoch):
            _warnings.warn(said, RuntimeWarning, stacklevel=2)

    train = resume

    def eval(self, data=None):
        """The figures of the kept model on a set of the experiment, "test" if there is one, else "valid": a dict as a line of the log has them.
        ConfigError names the sets there are.

        >>> wf.experiment.Run("runs/first").eval(data="train").keys()
        dict_keys(['train.loss', 'train.error'])
        """
        return self._core.eval(data or "")

    def likelihood(self, data=None, draws=100, chains=100, temperatures=1000, reverse=False):
        """How probable the kept model takes a set to be, a Likelihood: of a network with a variational layer a bound by so many `draws` of each
        example's code (Burda, Grosse and Salakhutdinov, 2016), of an rbm or a dbm by annealed importance sampling with `chains` through
        `temperatures` (Neal, 2001), `reverse`: also the other way round. ConfigError if the model is none of these."""
        found = self._core.likelihood(data or "", draws, chains, temperatures, reverse)
        for name in ["log_z", "log_z_from_above"]:
            found[name] = found[name] and LogZ(*found[name])
        return Likelihood(**found)

    def sample(self, count=None, seed=1, steps=1000, walk=0, temperature=1, out=None, prompt=None):
        """Examples that the kept model makes up (adversarial, variational, rbm, dbm), as data were before they were prepared: a Tensor, float32
        (count, ...).

        seed: of the draws. steps: of the chains of an rbm or a dbm. walk: above 0, so many steps from one draw of the code to the next.
        temperature: the deviation of the code's numbers; below 1 samples are surer and more alike. out: a file for them, too, .png (one picture
        of all) or .npy. count: 100 if left out. ConfigError if the model makes no examples, ValueError if its preparation has no inverse.

        Of a model of texts (data of `text`): a str of count symbols, 400 if left out, that go on from `prompt`, each drawn from
        softmax(scores / temperature); out: a text file. ConfigError if the text had not a symbol of the prompt."""
        if self._core.writes_text():
            return self._written(400 if count is None else count, seed, temperature, prompt or "", out)
        if prompt is not None:
            raise _core.ConfigError("prompt is for models of texts; this run's data are no `text`")
        count = 100 if count is None else count
        return self._core.sample(count, seed, steps, walk, temperature, None if out is None else _os.fspath(out))

    def _written(self, count, seed, temperature, prompt, out):
        written = self._core.sample_text(count, seed, temperature, prompt)
        if out is not None:
            _pathlib.Path(out).write_text(prompt + written + "\n", encoding="utf-8")
        return written

    def show(self):
        """Writes the run's report, one HTML file, and gives its path. ConfigError if no epoch has ended.

        >>> wf.experiment.Run("runs/first").show().name
        'report.html'
        """
        return _pathlib.Path(self._core.show())

    def plot(self, out, channel=None):
        """Draws the run's figures over its epochs into a file that ends with .svg, .png or .html, and gives its path; see plot()."""
        return plot([self], out, channel)

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
    return Experiment._of(_core.Experiment.load(_os.fspath(path), list(set)))


def plot(runs, out, channel=None):
    """Draws the figures of runs (Run, or their folders) over their epochs, in one file that ends with .svg, .png or .html, and gives its path.
    channel: a glob of those to draw, as in "valid.*"; all if left out. ConfigError names the nearest figure there is.

    >>> wf.experiment.plot(["runs/first"], "loss.svg", channel="*.loss").name
    'loss.svg'
    """
    folders = [_os.fspath(run.folder if isinstance(run, Run) else run) for run in runs]
    _core.plot_runs(folders, _os.fspath(out), channel)
    return _pathlib.Path(out)
