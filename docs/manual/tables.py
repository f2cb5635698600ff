"""Tables for who comes from another system. What NumPy and PyTorch call an operation is the registry's and the package's own knowledge; what is
between systems (transformations, layers) is written in tables/*.txt: theirs | weft's | note. A name of weft's that is not there is said to be
missing, so that a table never promises. Callers: build.py."""
import inspect
from pathlib import Path

import weft

from . import public
from .reference import code, escaped, link, table

HERE = Path(__file__).resolve().parent / "tables"


def known(name):
    """Whether weft has it: a public name, or a method, `weft.Tensor.sum`."""
    if name in public.by_name():
        return True
    owner, _, member = name.rpartition(".")
    return owner in public.by_name() and hasattr(public.by_name()[owner].value, member)


def shown(names):
    """weft's side of a row: links where there is such a name; what is written in quotes stands as it is."""
    cells = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name.startswith("'"):
            cells.append(code(name.strip("'")))
        elif known(name):
            cells.append(link(name) if name in public.by_name() else link(name, name.rpartition(".")[0]))
        else:
            cells.append(f"({code(name)}: not there yet)")
    return ", ".join(cells)


def by_hand(system):
    rows = []
    for line in (HERE / f"{system}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            theirs, ours, note = (part.strip() for part in line.split(" | "))
            rows.append((", ".join(code(name.strip()) for name in theirs.split(";")), shown(ours), escaped(note)))
    return ".. rst-class:: systems\n\n" + table(rows, (system_name(system), "weft", "note"), [40, 26, 34])


def system_name(system):
    return {"pytorch": "PyTorch", "jax": "JAX", "theano": "Theano"}[system]


# NumPy --------------------------------------------------------------------------------------------------------------------------------

SPACES = ["", "linalg", "fft", "random"]
NOT_FUNCTIONS = ("test", "show_config", "show_runtime", "info", "get_include")


def numpy_functions(numpy):
    """NumPy's public functions by path, as its modules list them."""
    found = {}
    for space in SPACES:
        module = getattr(numpy, space) if space else numpy
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name, None)
            if callable(value) and not isinstance(value, type) and not name.startswith("_") and name not in NOT_FUNCTIONS:
                found[f"{space}.{name}".strip(".")] = value
    return found


# Arguments about the memory that NumPy writes into, which weft's functions have nowhere (said once, on the page).
ABOUT_MEMORY = {"out", "where", "casting", "order", "subok", "like", "device"}


def arguments_lacking(theirs, ours):
    """NumPy's named arguments that weft's function has not."""
    if hasattr(theirs, "nin"):      # a ufunc: its named arguments are all about memory
        return []
    try:
        mine = inspect.signature(ours).parameters
        names = [p.name for p in inspect.signature(theirs).parameters.values() if p.kind != p.VAR_POSITIONAL and p.kind != p.VAR_KEYWORD]
    except (TypeError, ValueError):
        return []
    if any(p.kind == p.VAR_KEYWORD for p in mine.values()):
        return []
    required = sum(p.default is p.empty for p in mine.values())
    return [name for name in names[required:] if name not in mine and name not in ABOUT_MEMORY]


def other_names():
    """weft's name by NumPy's, where a record says that they are one and the names differ."""
    found = {}
    for name, record in public.records().items():
        if record["numpy"] and "weft." + record["numpy"] != name:
            found[record["numpy"]] = name
    return found


def from_scipy():
    """scipy.special, where weft has a namespace for it."""
    mine = public.modules().get("weft.special")
    try:
        import scipy.special
    except ImportError:
        return ""
    if not mine:
        return ""
    theirs = [name for name in scipy.special.__all__ if name.islower() and callable(getattr(scipy.special, name))]
    there = [link(f"weft.special.{name}") for name in sorted(theirs) if known(f"weft.special.{name}")]
    missing = [code(name) for name in sorted(theirs) if not known(f"weft.special.{name}")]
    return "SciPy's special functions\n-------------------------\n\n" + columns(there) + "Not there:\n\n" + columns(missing)


def columns(names):
    """A paragraph of names; a line each, for Sphinx limits their length."""
    return ",\n".join(names) + "\n\n"


def from_numpy():
    try:
        import numpy
    except ImportError:
        return "(NumPy was not there when this page was made.)\n\n"
    theirs, others, here = numpy_functions(numpy), other_names(), public.by_name()
    same = {path: here["weft." + path] for path in theirs if "weft." + path in here}
    renamed = {path: others[path] for path in theirs if path in others and path not in same}
    lacking = {path: arguments_lacking(theirs[path], thing.value) for path, thing in same.items() if thing.is_function}
    missing = sorted(set(theirs) - set(same) - set(renamed))
    text = f"Of NumPy {numpy.__version__}'s {len(theirs)} functions, weft has {len(same)} under the same name and {len(renamed)} under another.\n\n"
    text += "Another name\n------------\n\n" + table([(code(path), link(name)) for path, name in sorted(renamed.items())], ("NumPy", "weft"))
    text += "The same name, without some arguments\n-------------------------------------\n\n"
    text += table([(link("weft." + path), ", ".join(map(code, names))) for path, names in sorted(lacking.items()) if names], ("function", "arguments of NumPy's that weft's has not"))
    text += "The same name, with all arguments\n---------------------------------\n\n" + columns([link("weft." + path) for path in sorted(same) if not lacking.get(path)])
    return text + "Not there\n---------\n\n" + columns([code(path) for path in missing]) + from_scipy()


# PyTorch ------------------------------------------------------------------------------------------------------------------------------

def from_pytorch():
    rows = [(code("torch." + record["torch"]), link(name)) for name, record in public.records().items() if record["torch"]]
    functional = [(code("torch." + name.removeprefix("weft.")), link(name)) for name in public.by_name() if name.startswith("weft.nn.") and not name.rpartition(".")[2].startswith("_")]
    return by_hand("pytorch") + "Functions\n---------\n\n" + table(sorted(set(rows + functional)), ("PyTorch", "weft"))


# Errors -------------------------------------------------------------------------------------------------------------------------------

def errors():
    """All of them, with Python's classes that they are, and what they say of themselves; and where their pages are."""
    things = public.errors()
    rows = [(f":doc:`{thing.value.__name__}`", ", ".join(base.__name__ for base in thing.value.__bases__), escaped(thing.value.__doc__)) for thing in things]
    return table(rows, ("error", "is also a", "means"), [24, 30, 46]) + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {thing.value.__name__}\n" for thing in things) + "\n"


def pages():
    return {"errors": errors(), "numpy": from_numpy(), "pytorch": from_pytorch(), "jax": by_hand("jax"), "theano": by_hand("theano")}
