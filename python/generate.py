"""Writes weft/_elementwise.py, and weft/_special.py with those of scipy.special: a Python function for each elementwise operation of
weft's registry, so that adding a record in C++ adds the function here. Called by the build: generate.py FOLDER, where the extension _core lies.
"""
import importlib.util
import sys
from pathlib import Path

ARGUMENTS = {1: "x", 2: "x1, x2", 3: "x1, x2, x3"}
# Written by hand, with options or other names (weft/*.py); not for users.
LEFT_OUT = {"clip", "where", "gated_multiply", "conj"}
# A function that is scipy.special's by its own name is in weft.special alone; but for these, which arrays have anywhere else too.
ALSO_ON_TOP = {"digamma", "erf", "erfc", "erfinv", "i0", "xlogy"}
SPECIAL = "scipy.special."
# The array API's name where weft's own differs.
RENAMED = {"hypot": "hypot"}

HEAD = '''"""Elementwise functions, generated from weft's registry of operations. Inputs are arrays or numbers and are broadcast."""
from . import _core

'''
FUNCTION = '''
def {name}({arguments}, /):
    """{doc}"""
    return _core.{operation}({arguments})
'''


def load(folder):
    [path] = [p for p in Path(folder).glob("_core*.so")]
    spec = importlib.util.spec_from_file_location("_core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function(name, row):
    operation, arity, doc, _numpy, _torch, differentiable = row
    more = "" if differentiable else "\n\n    Not differentiable.\n    "
    doc = doc.replace("\\", "\\\\")
    return FUNCTION.format(name=name, operation=operation, arguments=ARGUMENTS[arity], doc=doc + more)


def write_special(folder, operations):
    """weft/_special.py: scipy.special's functions under its names."""
    rows = sorted((row[3].removeprefix(SPECIAL), row) for row in operations if row[3].startswith(SPECIAL))
    text = [HEAD.replace("Elementwise functions", "Special functions")] + [function(name, row) for name, row in rows]
    text.append(f"\n\n__all__ = {[name for name, _ in rows]!r}\n")
    Path(folder, "_special.py").write_text("".join(text))


def main(folder):
    operations = [row for row in load(folder).elementwise_operations() if row[0] not in LEFT_OUT and row[1] in ARGUMENTS]
    write_special(folder, operations)
    operations = [row for row in operations if row[3] != SPECIAL + row[0] or row[0] in ALSO_ON_TOP]
    names = {name for name, *_ in operations}
    text, aliases = [HEAD], []
    for row in sorted(operations):
        name, numpy = row[0], row[3]
        text.append(function(name, row))
        if numpy and numpy.isidentifier() and numpy not in names:
            aliases.append((numpy, name))
            names.add(numpy)
    text.append("\n\n# NumPy's names for the same.\n")
    text += [f"{alias} = {name}\n" for alias, name in aliases]
    text.append(f"\n__all__ = {sorted(names)!r}\n")
    Path(folder, "_elementwise.py").write_text("".join(text))


if __name__ == "__main__":
    main(sys.argv[1])
