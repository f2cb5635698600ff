"""NumPy and SciPy judge every operation: test_ops writes calls with their inputs and results (numpy_cases_test.cpp), the same
expressions are evaluated here, in wider types than weft's, and compared. One test an operation; bfloat16 is left out, NumPy has none.
Skipped, and said so, where NumPy or SciPy is missing.
"""
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

try:
    import numpy as np
    import scipy.special
    LACKS = None
except ImportError as error:
    LACKS = str(error)

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}

# Where weft differs from NumPy on purpose; each is (what, why). Nothing else may differ.
DIFFERENCES = {
    "inexact": "functions of integers are float32 in weft ('nothing becomes float64 that the user did not ask for'); NumPy takes "
               "float16, float32 or float64 by the integer's width",
    "beside integers": "an integer beside a floating type takes that type (array API: undefined); NumPy widens int32 with float32",
    "rounding": "floor, ceil, trunc and round of integers keep their type (array API); NumPy before 2.1 gives floats, and of bool float16",
    "powers": "an integer to a negative power is 0 (of 1 and -1: their powers); NumPy refuses it",
    "own type": "the next number is the next of weft's type, so it is judged in that type",
    "float16 bodies": "float16 is computed in float32 and rounded once",
    "real parts": "imag of a real number is a zero of its type, as in NumPy; clip and others of bool stay bool",
}
KEEP_TYPE = {"nextafter"}
# Integer operations whose result NumPy gives in a float: weft's type is the operand's.
INTEGER_ROUNDING = {"floor", "ceil", "trunc", "round"}
BITWISE_TYPE = {"bitwise_left_shift", "bitwise_right_shift"}


def ints(x):
    return x.dtype.kind in "iub"


def weft_promotion(arrays):
    """The inputs as weft lets them meet, where NumPy would widen."""
    floats = [x.dtype for x in arrays if x.dtype.kind in "fc"]
    if not floats or all(not ints(x) for x in arrays):
        return arrays
    kind = np.result_type(*floats)
    return [x.astype(kind) if ints(x) else x for x in arrays]


def expected_dtype(operation, expression, inputs, result):
    """NumPy's dtype for the expression, changed only as DIFFERENCES says."""
    met = weft_promotion(inputs)
    value = evaluate(expression, met)
    dtype = np.asarray(value).dtype
    if inputs and all(ints(x) for x in inputs):
        if operation in INTEGER_ROUNDING:
            return inputs[0].dtype
        if dtype.kind == "f" and result.dtype == np.float32:
            meeting = np.result_type(*inputs)
            # mixed signs that no integer holds meet in float64, in weft as in NumPy
            return np.dtype("float64") if meeting.kind == "f" else np.dtype("float32")
    return dtype


def evaluate(expression, inputs):
    names = {"np": np, "scipy": __import__("scipy.special")}
    names.update({f"x{i}": x for i, x in enumerate(inputs)})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(expression, names)


def reference(operation, expression, inputs, result):
    """The value, computed more exactly than weft's type."""
    if operation == "pow" and result.dtype.kind in "iu":
        a, b = (x.astype(result.dtype) for x in np.broadcast_arrays(*inputs))
        powers = np.power(a, np.where(b < 0, 0, b).astype(b.dtype))
        return np.where(b < 0, np.where(a == 1, 1, np.where(a == -1 if a.dtype.kind == "i" else False, np.where(b % 2 == 1, a, -a), 0)), powers)
    met = weft_promotion(inputs)
    if operation in KEEP_TYPE:
        return evaluate(expression, [x.astype(result.dtype) for x in met])
    if result.dtype.kind in "fc" and all(ints(x) for x in met) and met:
        met = [x.astype(result.dtype) if result.dtype.kind == "f" and operation_is_inexact(result) else x for x in met]
    wide = [x.astype(WIDER[x.dtype.name]) if x.dtype.name in WIDER else x for x in met]
    return evaluate(expression, wide)


def operation_is_inexact(result):
    return result.dtype.kind == "f"


def units(expected, found, dtype):
    """How far apart, in units in the last place of dtype at the expected value."""
    real = np.finfo(dtype).dtype
    with np.errstate(all="ignore"):
        rounded = np.abs(np.asarray(expected)).astype(real)
        unit = np.spacing(np.minimum(rounded, np.finfo(real).max).astype(real)).astype("longdouble")
        return np.abs(np.asarray(expected) - np.asarray(found, dtype=np.asarray(expected).dtype)) / unit


class Case:
    def __init__(self, line, stream):
        self.operation, self.expression, count, ulp, joined = line.rstrip("\n").split("\t")
        self.inputs = [np.lib.format.read_array(stream) for _ in range(int(count))]
        self.result = np.lib.format.read_array(stream)
        self.ulp, self.joined = float(ulp), float(joined)

    def describe(self):
        return f"{self.expression} of " + ", ".join(f"{x.dtype}{x.shape}" for x in self.inputs)

    def known_otherwise(self):
        """Where weft's dtype is meant to differ: a float beside integers keeps its type; SciPy has no float16; bool counts as int64."""
        kinds = {x.dtype.kind for x in self.inputs}
        mixed = len(kinds - {"b"}) > 1
        half = any(x.dtype == np.float16 for x in self.inputs) and "scipy" in self.expression
        return mixed or half or kinds == {"b"}

    def wrong(self):
        if self.operation == "pow" and self.result.dtype.kind == "c":
            return None   # 0 to a complex power is NaN in NumPy and 0 in C
        expected = np.asarray(reference(self.operation, self.expression, self.inputs, self.result))
        if expected.shape != self.result.shape:
            return f"shape {self.result.shape}, NumPy's is {expected.shape}"
        if not (self.operation == "pow" and self.result.dtype.kind in "iu"):
            dtype = expected_dtype(self.operation, self.expression, self.inputs, self.result)
            if dtype != self.result.dtype and not self.known_otherwise():
                return f"dtype {self.result.dtype}, NumPy's is {dtype}"
        if self.result.dtype.kind not in "fc":
            same = np.array_equal(expected.astype(self.result.dtype), self.result)
            return None if same else f"{self.result!r}, NumPy gives {expected!r}"
        with np.errstate(all="ignore"):
            return self.wrong_numbers(expected)

    def wrong_numbers(self, expected):
        found, dtype = self.result, self.result.dtype
        with np.errstate(all="ignore"):
            overflows = np.isinf(expected.astype(dtype)) & np.isinf(found)
        special = np.isnan(expected) & np.isnan(found) | overflows | (expected == found)
        # NumPy's own functions are good to about 4 units where no wider type is at hand.
        own = 4.5 if dtype.name in ("float64", "complex128") else 0.01
        if self.ulp >= 0:
            if dtype.kind == "c":   # a complex number is right as a whole: its parts may cancel
                error = np.abs(expected - found) / np.maximum(np.spacing(np.abs(expected).astype(found.real.dtype)), np.finfo(dtype).tiny)
                bad = ~special & ~(error <= 4 * self.ulp + 16)
            else:
                error = units(expected, found, dtype)
                bad = ~special & ~(error <= self.ulp + 0.5 + own)
        else:
            error = np.abs(expected - found)
            bad = ~special & ~(error <= self.joined)
        if not bad.any():
            return None
        at = tuple(np.argwhere(bad)[0])
        return f"at {at}: {found[at]!r}, NumPy gives {expected[at]!r}; off by {np.asarray(error)[at]}"


def read_cases():
    with tempfile.TemporaryDirectory() as folder:
        command = [str(BUILD / "tests" / "test_ops"), "--gtest_filter=NumpyCases.*", "--gtest_brief=1"]
        subprocess.run(command, env=dict(os.environ, WEFT_NUMPY_CASES=folder), check=True, stdout=subprocess.DEVNULL, timeout=300)
        with open(Path(folder) / "arrays.npys", "rb") as stream, open(Path(folder) / "cases.tsv") as lines:
            return [Case(line, stream) for line in lines]


def judge(cases):
    def test(self):
        for case in cases:
            with self.subTest(case.describe()):
                try:
                    wrong = case.wrong()
                except (TypeError, IndexError):   # NumPy itself refuses these types: it is no judge of them
                    continue
                if wrong:
                    self.fail(wrong)
    return test


def load_tests(loader, _tests, _pattern):
    """One test an operation, made from the cases that there are."""
    names = {}
    if LACKS:
        names["test_every_operation"] = unittest.skip(LACKS)(lambda self: None)
    else:
        by_operation = {}
        for case in read_cases():
            by_operation.setdefault(case.operation, []).append(case)
        names = {f"test_{operation}": judge(cases) for operation, cases in by_operation.items()}
    return loader.loadTestsFromTestCase(type("NumpyJudge", (unittest.TestCase,), names))


if __name__ == "__main__":
    unittest.main()
