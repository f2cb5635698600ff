"""Trees: tensors in dicts, lists, tuples, named tuples, dataclasses and modules. A tree is flattened to its leaves and built again around
others. An object of another class is a tree if it has __tree__() -> (what tells its form apart, its parts) and __tree_with__(parts)."""
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


def is_array(leaf):
    """A tensor, a parameter, or what shows its memory; not a plain number."""
    return isinstance(leaf, (_core.Tensor, _core.Parameter)) or hasattr(type(leaf), "__array__") or hasattr(type(leaf), "__dlpack__")
