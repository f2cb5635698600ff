"""Writes weft/_elementwise.py, and weft/_special.py with those of scipy.special: a Python function for each elementwise operation of
weft's registry, so that adding a record in C++ adds the function here. Called by the build: generate.py FOLDER, where the extension _core lies.

Each has an example whose expected result is not weft's own: it is the record's reference in long double, else the record's formula with
Python's mathematics. Only what neither gives (digamma, bits of floating numbers) shows what weft computed; NumPy judges all in the tests.
"""
import importlib
import math
import sys
import types
from pathlib import Path

ARGUMENTS = {1: "x", 2: "x1, x2", 3: "x1, x2, x3"}
# Written by hand, with options or other names (weft/*.py); not for users.
LEFT_OUT = {"clip", "where", "gated_multiply", "conj", "astype", "lambertw", "gelu_slope", "exp_of_negative", "exp_raised", "fused_multiply_add", "normal_or_zero"}
# A function that is scipy.special's by its own name is in weft.special alone; but for these, which arrays have anywhere else too.
ALSO_ON_TOP = {"digamma", "erf", "erfc", "erfinv", "i0", "xlogy"}
SPECIAL = "scipy.special."

HEAD = '''"""Elementwise functions, generated from weft's registry of operations. Inputs are arrays or numbers and are broadcast."""
from . import _core

'''
FUNCTION = '''
{name} = _core.described("{operation}", "{name}", __name__, """{name}({arguments}, /)
--

{doc}

>>> {call}
{result}
""")
'''

# The numbers of an example, by type and place: such as tell operands and their order apart.
FLOATS = [[-1.5, 0.0, 2.5], [2.0, -1.0, 2.5], [0.5, 0.5, 0.5]]
WHOLE = {"weft.int64": [[1, 5, 12], [3, 3, 2], [1, 1, 1]], "weft.bool": [[False, True, True], [False, False, True], [True, True, True]]}
WITHIN = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0]


def load(folder):
    """The extension alone, in a package without the modules that are still to be written."""
    package = sys.modules["weft"] = types.ModuleType("weft")
    package.__path__ = [str(folder)]
    return importlib.import_module("weft._core")


class Where:
    """Python's mathematics by the names that formulas use."""

    NAMES = {"where": lambda c, a, b: a if c else b, "min": min, "max": max, "abs": abs, "round": round, "inf": math.inf, "nan": math.nan,
             "real": lambda z: complex(z).real, "imag": lambda z: complex(z).imag, "True": True, "False": False,
             "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "__builtins__": {}}

    @classmethod
    def value(cls, formula, operands):
        """The formula at one point; None where Python cannot say."""
        formula, _, named = formula.partition(" where ")
        if named or not formula:
            return None
        try:
            return eval(formula, {**vars(math), **cls.NAMES, **operands})
        except (ArithmeticError, NameError, TypeError, ValueError):
            return None


def operand(low, high, place):
    """Three numbers of a domain, or what there is."""
    if all(low <= x <= high for x in FLOATS[place]):
        return FLOATS[place]
    inside = [x for x in WITHIN if low <= x <= high]
    if len(inside) < 3:
        return [round(low + (high - low) * part, 2) for part in (0.25, 0.5, 0.75)]
    middle = (len(inside) - 3) // 2
    return inside[middle:middle + 3]


def operands(core, record):
    """Arguments that the operation takes, as lists: floating numbers, else integers, else truth values."""
    count, domain = record["arity"], record["domain"]
    ranges = [domain[min(i, len(domain) - 1)] if domain else (-3, 3) for i in range(count)]
    floats = [operand(*ranges[i], i) for i in range(count)]
    if record["formula"] in ("real(x)", "imag(x)"):
        floats = [[3 + 4j, 1 - 2j]]
    if record["name"].startswith("is") and count == 1:
        floats = [[1.0, math.inf, math.nan]]
    if record["name"].startswith("logical"):
        return WHOLE["weft.bool"][:count]
    try:
        getattr(core, record["name"])(*(core.asarray(x, None, None) for x in floats))
        return floats
    except core.DTypeError:
        return WHOLE["weft.int64"][:count]


def written(x):
    """A list as one writes it: 1. for 1.0, wf.nan for NaN."""
    def number(value):
        if isinstance(value, float):
            return f"wf.{value!r}" if not math.isfinite(value) else repr(value).removesuffix("0") if value == int(value) else repr(value)
        return repr(value).strip("()")
    return f"wf.asarray([{', '.join(map(number, x))}])"


def expected(core, record, rows):
    """What stands below the call: the reference's numbers in the dtype of weft's result."""
    arrays = [core.asarray(row, None, None) for row in rows]
    shown = getattr(core, record["name"])(*arrays)
    found = []
    for point in zip(*rows):
        plain = all(isinstance(x, (int, float)) for x in point)
        value = core.oracle(record["name"], [float(x) for x in point]) if plain else None
        if value is None:
            value = Where.value(record["formula"], dict(zip(record["operands"], point)))
        if value is None or value != value:   # where the formula has no value (0 / 0), the function may have one
            return repr(shown)
        found.append(value)
    if str(shown.dtype) == "weft.bool":
        found = [x % 2 == 1 if x in (-1, -2) else bool(x) for x in found]   # ~True is -2 in Python
    return repr(core.astype(core.asarray(found, None, None), shown.dtype))


def function(core, name, record, space="wf"):
    """The text of a function of this name, which users call as space.name."""
    doc = record["doc"].replace("\\", "\\\\") + ("" if record["differentiable"] else "\n\nNot differentiable.")
    rows = operands(core, record)
    return FUNCTION.format(name=name, operation=record["name"], arguments=ARGUMENTS[record["arity"]], doc=doc,
                           call=f"{space}.{name}({', '.join(map(written, rows))})", result=expected(core, record, rows))


def write_special(core, folder, records):
    """weft/_special.py: scipy.special's functions under its names."""
    found = sorted(((record["numpy"].removeprefix(SPECIAL), record) for record in records if record["numpy"].startswith(SPECIAL)), key=lambda pair: pair[0])
    text = [HEAD.replace("Elementwise functions", "Special functions")]
    text += [function(core, name, record, "wf.special") for name, record in found]
    text.append(f"\n\n__all__ = {[name for name, _ in found]!r}\n")
    Path(folder, "_special.py").write_text("".join(text))


def main(folder):
    core = load(folder)
    records = [record for record in core.operation_records()
               if record["family"] == "elementwise" and record["name"] not in LEFT_OUT and record["arity"] in ARGUMENTS]
    write_special(core, folder, records)
    records = [record for record in records if record["numpy"] != SPECIAL + record["name"] or record["name"] in ALSO_ON_TOP]
    names = {record["name"] for record in records}
    text, aliases = [HEAD], []
    for record in sorted(records, key=lambda record: record["name"]):
        name, numpy = record["name"], record["numpy"]
        text.append(function(core, name, record))
        if numpy.isidentifier() and numpy not in names:
            aliases.append((numpy, name))
            names.add(numpy)
    text.append("\n\n# NumPy's names for the same.\n")
    text += [f"{alias} = {name}\n" for alias, name in aliases]
    text.append(f"\n__all__ = {sorted(names)!r}\n")
    Path(folder, "_elementwise.py").write_text("".join(text))


if __name__ == "__main__":
    main(sys.argv[1])
