"""Looking inside a program, settings, and files of arrays."""
import os

from . import _core
from ._trees import flatten, is_array

__all__ = ["Explanation", "config", "explain", "load", "save"]

Explanation = _core.Explanation


def explain(f, *args, **kwargs) -> Explanation:
    """How f(*args) is computed, or a tensor that is not computed yet: .graph, .rewrites, .plan, .kernels (the text that was compiled), .memory,
    .timings. Prints as text, shows as a page in a notebook. It runs the program a few times.

    >>> print(wf.explain(lambda x: wf.exp(x) + 1, wf.asarray([1., 2.])).plan)  # doctest: +ELLIPSIS
    0: map of exp %1, add %3...
    """
    if callable(f) and not is_array(f):
        with _core.KeepPending():
            f = f(*args, **kwargs)
    leaves, _, _ = flatten(f)
    return _core.explain([leaf for leaf in leaves if is_array(leaf)])


class Config:
    """weft's settings, each readable and writable.

    debug: "nan" names the first operation, with its line, that made a NaN or an infinity; "rewrites" runs each rewrite both ways and names one
    that changes a result; "trace" prints operations as they run; "" none; several with commas. show: the stages that are printed when a program
    is prepared: graph, rewrites, plan, kernels, memory, all. threads: how many compute.

    >>> wf.config.debug = "nan"
    >>> wf.config.debug
    'nan'
    >>> wf.config.debug = ""
    """
    __slots__ = ()

    debug = property(lambda self: _core.debug(), lambda self, names: _core.set_debug(names or ""))
    show = property(lambda self: _core.shown(), lambda self, names: _core.set_shown(names or ""))
    threads = property(lambda self: _core.threads(), lambda self, count: _core.set_threads(count))

    def __repr__(self):
        return f"weft.config(debug={self.debug!r}, show={self.show!r}, threads={self.threads})"


config = Config()


def outline(tree, name, arrays):
    """A tree as JSON that names its arrays; other leaves stand in it themselves."""
    if isinstance(tree, dict):
        for key in tree:
            if not isinstance(key, str):
                raise TypeError(f"save: keys are strings, not {key!r}")
        return {"dict": {key: outline(part, f"{name}.{key}" if name else key, arrays) for key, part in tree.items()}}
    if isinstance(tree, (list, tuple)):
        parts = [outline(part, f"{name}.{i}" if name else str(i), arrays) for i, part in enumerate(tree)]
        return {"list" if isinstance(tree, list) else "tuple": parts}
    if is_array(tree):
        name = name or "array"
        if name in arrays:
            raise ValueError(f"save: two arrays would have the name {name!r}")
        arrays[name] = tree.value if isinstance(tree, _core.Parameter) else tree
        return {"array": name}
    if tree is None or isinstance(tree, (bool, int, float, str)):
        return {"value": tree}
    raise TypeError(f"save: a {type(tree).__name__} is neither an array nor a dict, list, tuple, number or string")


def save(tree, path):
    """Writes arrays to a safetensors file: one, or a tree of them (dicts, lists, tuples; numbers and strings may stand between), or a module's
    state. Names are the ways to them: "layers.0.weight". The file is replaced as a whole or not at all.

    >>> wf.save({"w": wf.ones(2), "steps": 3}, "weights.safetensors")
    >>> wf.load("weights.safetensors")
    {'w': array([1., 1.], dtype=float32), 'steps': 3}
    """
    if hasattr(tree, "state_dict"):
        tree = dict(tree.state_dict())
    arrays = {}
    form = outline(tree, "", arrays)
    import json   # not with weft: it would take a tenth of the time that loading weft takes
    _core.save_arrays(os.fspath(path), list(arrays), list(arrays.values()), {"weft.tree": json.dumps(form)})


def load(path):
    """What save() wrote, in the same form; of another safetensors file a dict of its arrays. FileError names what is wrong with a file.

    >>> wf.save([wf.ones(2), wf.zeros(1)], "two.safetensors")
    >>> wf.load("two.safetensors")
    [array([1., 1.], dtype=float32), array([0.], dtype=float32)]
    """
    arrays, metadata = _core.load_arrays(os.fspath(path))
    if "weft.tree" not in metadata:
        return arrays

    def built(form):
        (kind, value), = form.items()
        if kind == "dict":
            return {key: built(part) for key, part in value.items()}
        if kind in ("list", "tuple"):
            parts = [built(part) for part in value]
            return parts if kind == "list" else tuple(parts)
        return arrays[value] if kind == "array" else value
    try:
        import json
        return built(json.loads(metadata["weft.tree"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return arrays      # the outline was written by somebody else
