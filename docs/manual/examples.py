"""Examples as tests: those of docstrings and of the pages written by hand. Callers: the tests, inquiry.py."""
import contextlib
import doctest
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import weft

from . import public

PAGES = Path(__file__).parent / "pages"
NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# Four units in the last place of float32: what libraries and processors may round otherwise.
RELATIVE = 4 * 2.0 ** -23


def names():
    """What every example finds."""
    return {"wf": weft, "np": np}


class Checker(doctest.OutputChecker):
    """Floating numbers may differ as rounding does, and be padded otherwise; everything else is as it stands there."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        if optionflags & doctest.ELLIPSIS and "..." in want:
            return False
        if NUMBER.sub("#", squeezed(want)) != NUMBER.sub("#", squeezed(got)):
            return False
        return all(map(close, NUMBER.findall(squeezed(want)), NUMBER.findall(squeezed(got))))


def squeezed(text):
    """Without blanks, so that 1.5 and 1.50 may be padded in their own ways; rows stay apart by their brackets."""
    return re.sub(r"\s+|<BLANKLINE>", "", text)


def close(want, got):
    whole = [re.fullmatch(r"[+-]?\d+", text) for text in (want, got)]
    if any(whole):
        return all(whole) and int(want) == int(got)
    return abs(float(want) - float(got)) <= RELATIVE * max(abs(float(want)), 1)


@contextlib.contextmanager
def scratch():
    """An empty folder to be in while examples run, for some write files."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def of_modules():
    """The docstrings of all modules, private ones too: that is where public functions are written."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = []
    for name, module in public.modules(private=True).items():
        found += [test for test in finder.find(module, name, globs=names()) if test.examples]
    for thing in public.classes():
        if thing.value.__module__ == public.TYPES or thing.value is public.weft.Tensor:
            found += [test for test in finder.find(thing.value, thing.name, globs=names()) if test.examples]
    return found


def of_pages():
    parser = doctest.DocTestParser()
    pages = [(path, path.read_text()) for path in sorted(PAGES.rglob("*.rst"))]
    tests = [parser.get_doctest(text, names(), path.stem, str(path), 0) for path, text in pages]
    return [test for test in tests if test.examples]


def of(value):
    """(what is written, what it shows) of each example in a docstring."""
    parser = doctest.DocTestParser()
    return [(example.source, example.want) for example in parser.get_examples(value.__doc__ or "")]
