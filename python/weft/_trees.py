"""Trees: tensors in dicts, lists, tuples, named tuples, dataclasses and modules. A tree is flattened to its leaves and built again around
others. An object of another class is a tree if it has __tree__() -> (what tells its form apart, its parts) and __tree_with__(parts)."""
from numbers import Integral

from . import _core


def is_dataclass(value):
    return hasattr(type(value), "__dataclass_fields__")


def flatten(tree):
    """(leaves, a function from as many new leaves to the tree around them, what tells trees of this form apart)."""
    leaves = []
    form = note(tree, leaves)
    return leaves, lambda new: rebuild(tree, iter(new)), form


def note(tree, leaves):
    if isinstance(tree, dict):
        return "dict", tuple((key, note(tree[key], leaves)) for key in sorted(tree, key=str))
    if isinstance(tree, (list, tuple)):
        return type(tree), tuple(note(part, leaves) for part in tree)
    if is_dataclass(tree) and not isinstance(tree, type):
        return type(tree), tuple(note(getattr(tree, name), leaves) for name in tree.__dataclass_fields__)
    if hasattr(type(tree), "__tree__"):
        form, parts = tree.__tree__()
        return form, tuple(note(part, leaves) for part in parts)
    if tree is None:
        return None
    leaves.append(tree)
    return "leaf"


def rebuild(tree, leaves):
    if isinstance(tree, dict):
        built = {key: rebuild(tree[key], leaves) for key in sorted(tree, key=str)}
        return {key: built[key] for key in tree}
    if isinstance(tree, (list, tuple)):
        parts = [rebuild(part, leaves) for part in tree]
        if isinstance(tree, list):
            return parts
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if is_dataclass(tree) and not isinstance(tree, type):
        return type(tree)(**{name: rebuild(getattr(tree, name), leaves) for name in tree.__dataclass_fields__})
    if hasattr(type(tree), "__tree__"):
        return tree.__tree_with__([rebuild(part, leaves) for part in tree.__tree__()[1]])
    return None if tree is None else next(leaves)


def spread(prefix, tree, what):
    """A list with an entry for each leaf of the tree, from a tree that may end earlier: what stands there holds for all leaves below."""
    if prefix is None or isinstance(prefix, Integral):
        leaves = []
        note(tree, leaves)
        return [prefix] * len(leaves)
    parts, of_prefix = children(tree), children(prefix)
    if parts is None or of_prefix is None or isinstance(tree, dict) != isinstance(prefix, dict) or len(parts) != len(of_prefix):
        raise ValueError(f"{what}: {prefix!r} does not fit {shown(tree)}; give an int or None, or a tree of them that begins as it does")
    if isinstance(tree, dict) and set(tree) != set(prefix):
        raise ValueError(f"{what}: keys {sorted(prefix, key=str)} do not fit keys {sorted(tree, key=str)}")
    return [entry for part, below in zip(parts, of_prefix) for entry in spread(below, part, what)]


def children(tree):
    """The parts of a tree that is no leaf, in the order of its leaves; None of a leaf."""
    if isinstance(tree, dict):
        return [tree[key] for key in sorted(tree, key=str)]
    if isinstance(tree, (list, tuple)):
        return list(tree)
    if is_dataclass(tree) and not isinstance(tree, type):
        return [getattr(tree, name) for name in tree.__dataclass_fields__]
    return None


def shown(tree):
    parts = children(tree)
    return "one value" if parts is None else f"a {type(tree).__name__} of {len(parts)}"


def places(tree, name):
    """What to call each leaf in an error: "argument 0['w'][1]"."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [place for key in sorted(tree, key=str) for place in places(tree[key], f"{name}[{key!r}]")]
    if isinstance(tree, (list, tuple)):
        return [place for i, part in enumerate(tree) for place in places(part, f"{name}[{i}]")]
    if is_dataclass(tree) and not isinstance(tree, type):
        return [place for field in tree.__dataclass_fields__ for place in places(getattr(tree, field), f"{name}.{field}")]
    return [name]


def is_array(leaf):
    """A tensor, a parameter, or what shows its memory; not a plain number."""
    return isinstance(leaf, (_core.Tensor, _core.Parameter)) or hasattr(type(leaf), "__array__") or hasattr(type(leaf), "__dlpack__")


def inexact(leaf):
    return (is_array(leaf) and _core.as_dtype(leaf.dtype).kind in "fc") or isinstance(leaf, (float, complex))
