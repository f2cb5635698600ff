"""What a user of the package can name: found by walking it, so nothing is listed by hand. Callers: every other module here, the tests."""
import importlib
import inspect
import pkgutil
import types
from dataclasses import dataclass, field
from functools import cache

import weft

PLAIN = (int, float, type(None))    # constants
TYPES = "weft._core"                # where types are written in C++: Tensor, DType, Parameter


@dataclass
class Thing:
    """A public function, class, error or constant, with all of its names; the first is the one it is shown under."""
    value: object
    names: list[str] = field(default_factory=list)

    @property
    def name(self):
        return self.names[0]

    @property
    def page(self):
        return "constants" if self.is_constant else self.name

    @property
    def is_error(self):
        return isinstance(self.value, type) and issubclass(self.value, BaseException)

    @property
    def is_class(self):
        return isinstance(self.value, type) and not self.is_error

    @property
    def is_function(self):
        return inspect.isroutine(self.value)

    @property
    def is_constant(self):
        return isinstance(self.value, (*PLAIN, weft.DType))

    @property
    def home(self):
        """The module whose documentation says what it belongs to."""
        return getattr(self.value, "__module__", None) or self.name.rpartition(".")[0]


def modules(private=False):
    """The package's modules by name, the shallowest first; without private ones unless they are asked for."""
    found = {"weft": weft}
    for info in pkgutil.walk_packages(weft.__path__, "weft."):
        if private or not any(part.startswith("_") for part in info.name.split(".")):
            if info.name != "weft._core":
                found[info.name] = importlib.import_module(info.name)
    return dict(sorted(found.items(), key=lambda item: (item[0].count("."), item[0])))


def names_of(module):
    """The names that a module gives its users."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(name for name, value in vars(module).items() if not name.startswith("_") and belongs(value))


def belongs(value):
    """Whether it is weft's, and not what a module has imported for itself."""
    if isinstance(value, types.ModuleType):
        return False
    if inspect.isroutine(value) or isinstance(value, type):
        return str(getattr(value, "__module__", None)).split(".")[0] == "weft"
    return isinstance(value, PLAIN) or type(value).__module__.split(".")[0] == "weft"


@cache
def things():
    """Everything public, by name."""
    found, plain = {}, []
    for path, module in modules().items():
        for name in names_of(module):
            value = getattr(module, name)
            full = f"{path}.{name}"
            if isinstance(value, PLAIN):     # constants may be one object and mean two things
                plain.append(Thing(value, [full]))
            else:
                found.setdefault(id(value), Thing(value)).names.append(full)
    for thing in found.values():   # its own name before others, the shallowest before deeper ones
        own = getattr(thing.value, "__name__", None)
        thing.names.sort(key=lambda name: (name.count("."), name.rpartition(".")[2] != own, name))
    return sorted([*found.values(), *plain], key=lambda thing: thing.name.lower())


@cache
def by_name():
    """Things by every name they have."""
    return {name: thing for thing in things() for name in thing.names}


def functions():
    return [thing for thing in things() if thing.is_function]


def classes():
    return [thing for thing in things() if thing.is_class]


def errors():
    """weft's own; a name for one of Python's (weft.linalg.LinAlgError) needs no page."""
    return [thing for thing in things() if thing.is_error and belongs(thing.value)]


def constants():
    return [thing for thing in things() if thing.is_constant]


def objects():
    """What is neither, such as settings: an instance with attributes of its own."""
    return [thing for thing in things() if not (thing.is_function or thing.is_class or thing.is_error or thing.is_constant)]


@cache
def records():
    """The registry's records by the name of the public function that shows them."""
    every = weft._core.operation_records()
    named = {record["name"]: record for record in every}
    special = {record["numpy"]: record for record in every if record["numpy"].startswith("scipy.special.")}
    found = {}
    for thing in functions():
        module, _, name = thing.name.removeprefix("weft.").rpartition(".")
        if module == "special" and f"scipy.special.{name}" in special:     # SciPy's name, which need not be the record's
            found[thing.name] = special[f"scipy.special.{name}"]
        own = named.get(getattr(thing.value, "__name__", ""))
        if not own or module == "special" or own["family"] == "elementwise" and thing.home != "weft._elementwise":
            continue
        # One name may mean two things (split, random.split): NumPy's name tells. linalg has some that NumPy has above it.
        if not module or own["numpy"] == f"{module}.{name}" or module == "linalg" and "." not in own["numpy"]:
            found[thing.name] = own
    return found
