"""Writes weft/_elementwise.py: a Python function for each elementwise operation of weft's registry, so that adding a record in C++ adds
the function here. Called by the build: generate.py FOLDER, where the extension _core lies.
"""
import importlib.util
import sys
from pathlib import Path

ARGUMENTS = {1: "x", 2: "x1, x2", 3: "x1, x2, x3"}
# Written by hand, with options or other names (weft/*.py); not for users.
LEFT_OUT = {"clip", "where", "gated_multiply", "conj"}
# The array API's name where weft's own differs.
RENAMED = {"hypot": "hypot"}

HEAD = '''"""Elementwise functions, generated from weft's registry of operations. Inputs are arrays or numbers and are broadcast."""
from . import _core

'''
FUNCTION = '''
def {name}({arguments}, /):
    """{doc}"""
    return _core.{name}({arguments})
'''


def load(folder):
    [path] = [p for p in Path(folder).glob("_core*.so")]
    spec = importlib.util.spec_from_file_location("_core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder):
    operations = [row for row in load(folder).elementwise_operations() if row[0] not in LEFT_OUT]
    names = {name for name, *_ in operations}
    text, aliases = [HEAD], []
    for name, arity, doc, numpy, _torch, differentiable in sorted(operations):
        if arity not in ARGUMENTS:
            continue
        more = "" if differentiable else "\n\n    Not differentiable.\n    "
        doc = doc.replace("\\", "\\\\")
        text.append(FUNCTION.format(name=name, arguments=ARGUMENTS[arity], doc=doc + more))
        if numpy and numpy.isidentifier() and numpy not in names:
            aliases.append((numpy, name))
            names.add(numpy)
    text.append("\n\n# NumPy's names for the same.\n")
    text += [f"{alias} = {name}\n" for alias, name in aliases]
    text.append(f"\n__all__ = {sorted(names)!r}\n")
    Path(folder, "_elementwise.py").write_text("".join(text))


if __name__ == "__main__":
    main(sys.argv[1])
