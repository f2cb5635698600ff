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
    import scipy.linalg
    import scipy.special
    LACKS = None
except ImportError as error:
    LACKS = str(error)

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}

# Where weft differs from NumPy on purpose: what, and why. Nothing else may differ; each is applied in the function it names.
DIFFERENCES = {
    "inexact functions of integers": "float32 in weft ('nothing becomes float64 that the user did not ask for'); NumPy takes float16, "
                                     "float32 or float64 by the integer's width (expected_dtype)",
    "integers beside floating types": "take the floating type (array API: not defined); NumPy widens int32 beside float32 (meeting)",
    "rounding of integers": "keeps their type (array API); NumPy before 2.1 gives floats, and float16 of bool (expected_dtype)",
    "bool in arithmetic": "stays bool, or becomes int64 where bool has no meaning; NumPy gives int8 (expected_dtype)",
    "integers to negative powers": "0 (of 1 and -1: their powers); NumPy refuses them (integer_power)",
    "0 to a complex power": "0; NumPy gives NaN (Case.wrong_numbers)",
    "hyp2f1 whose a or b is 0": "1, the sum's only term; SciPy gives infinity where x is 1 (Case.wrong_numbers)",
    "SciPy's functions of floats": "of the type to which their operands promote, as every function; SciPy has no half loops, and gives "
                                   "float64 for some (expected_dtype)",
    "functions that NumPy computes in double precision": "keep the width of their floating operands (expected_dtype)",
    "SciPy's functions of bool": "as of the numbers 0 and 1; SciPy refuses some (meeting)",
}
IN_DOUBLE = {"average", "corrcoef", "cov", "interp", "percentile", "poly", "polyder", "polyint", "quantile", "vander"}
ROUNDING = {"floor", "ceil", "trunc", "round"}
BOOL_STAYS = {"square", "conj"} | ROUNDING
NEXT_OF_ITS_TYPE = {"nextafter"}          # judged in weft's own type: a wider one has another next number
ROOTS = {"betaln", "digamma", "j0", "j1", "jv", "kl_div", "lgamma", "logaddexp", "sinc", "y0", "y1", "yv"}   # cross 0 where their terms do not: there the error is one of the terms
# SciPy's own errors in float64 are some hundred units, and it has no wider type: there these count as 1e-12. weft's own are held to mpmath's
# values in tests/kernel/special_test.cpp, and float32 to SciPy's float64.
COARSE = {"beta", "betaln", "betainc", "betaincinv", "binom", "chdtrc", "comb", "exp1", "expi", "expn", "spence", "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "iv", "ive", "jv",
          "kv", "kve", "owens_t", "poch", "sinc", "yv"}


OF_COMPLEX = {"sigmoid": "1 / (1 + np.exp(-x0))"}   # where SciPy's function takes real numbers alone


def whole(x):
    return x.dtype.kind in "iub"


def meeting(case):
    """The inputs as weft lets them meet."""
    inputs = case.inputs
    if case.elementwise:
        floats = [x.dtype for x in inputs if not whole(x)]
        if floats and any(whole(x) for x in inputs):
            kind = np.result_type(*floats)
            return [x.astype(kind) if whole(x) and not (case.operation == "where" and i == 0) else x for i, x in enumerate(inputs)]
    if "scipy" in case.expression and all(whole(x) for x in inputs):
        return [x.astype("float64") for x in inputs]
    return inputs


def expected_dtype(case):
    """NumPy's dtype for the expression, changed only as DIFFERENCES says."""
    dtype = np.asarray(evaluate(case.expression, meeting(case))).dtype
    kinds = {x.dtype.kind for x in case.inputs}
    if kinds == {"b"} and dtype.kind in "if" and case.elementwise and case.result.dtype.kind != "f":
        return np.dtype("bool" if case.operation in BOOL_STAYS else "int64")
    if kinds and kinds <= set("iub"):
        if case.operation in ROUNDING:
            return case.inputs[0].dtype
        if dtype.kind == "f" and "astype" not in case.expression:   # mixed signs that no integer holds meet in float64, as in NumPy
            return np.dtype("float64" if np.result_type(*case.inputs).kind == "f" else "float32")
        if dtype.kind == "c":
            return np.dtype("complex64")
    if case.operation in IN_DOUBLE and not all(whole(x) for x in case.inputs):
        return case.result.dtype if dtype.kind == case.result.dtype.kind else dtype
    floats = [x.dtype for x in case.inputs if x.dtype.kind == "f"]
    if "scipy" in case.expression and dtype.kind == "f" and floats:
        return np.result_type(*floats)
    return dtype


def evaluate(expression, inputs):
    names = {"np": np, "scipy": scipy}
    names.update({f"x{i}": x for i, x in enumerate(inputs)})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(expression, names)


def integer_power(inputs, dtype):
    a, b = (x.astype(dtype) for x in np.broadcast_arrays(*inputs))
    powers = np.power(a, np.where(b < 0, 0, b).astype(dtype))
    signs = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 1, a, -a), 0)) if dtype.kind == "i" else powers
    return np.where(b < 0, signs, powers).astype(dtype)


def reference(case):
    """The value, computed more exactly than in weft's type where NumPy has a wider one."""
    dtype, met = case.result.dtype, meeting(case)
    if case.operation == "pow" and dtype.kind in "iu":
        return integer_power(case.inputs, dtype)
    if "astype" in case.expression:
        return evaluate(case.expression, met)
    if case.elementwise and dtype.kind == "f" and case.operation not in ROUNDING and all(whole(x) for x in met):
        met = [x.astype(dtype) for x in met]
    if case.operation in NEXT_OF_ITS_TYPE:
        return evaluate(case.expression, [x.astype(dtype) for x in met])
    return evaluate(case.expression, [x.astype(WIDER[x.dtype.name]) if x.dtype.name in WIDER else x for x in met])


def units(expected, found, dtype, of_terms):
    """How far apart, in units in the last place of dtype at the expected value (or at 1, if that is larger and `of_terms`)."""
    size = np.minimum(np.abs(expected).astype(dtype), np.finfo(dtype).max)
    unit = np.spacing(np.maximum(size, dtype.type(1)) if of_terms else size)
    return np.abs(expected - found.astype(expected.dtype)) / unit.astype("longdouble")


class Case:
    def __init__(self, line, stream):
        self.operation, self.expression, count, ulp, joined = line.rstrip("\n").split("\t")
        self.inputs = [np.lib.format.read_array(stream) for _ in range(int(count))]
        self.result = np.lib.format.read_array(stream)
        if self.result.dtype.kind == "c":
            self.expression = OF_COMPLEX.get(self.operation, self.expression)
        self.ulp, self.joined = float(ulp), float(joined)
        self.elementwise = self.ulp >= 0

    def describe(self):
        return f"{self.expression} of " + ", ".join(f"{x.dtype}{x.shape}" for x in self.inputs)

    def wrong(self):
        """What is wrong with it, or None."""
        expected = np.asarray(reference(self))
        if expected.shape != self.result.shape:
            return f"shape {self.result.shape}, NumPy's is {expected.shape}"
        if not (self.operation == "pow" and self.result.dtype.kind in "iu"):
            dtype = expected_dtype(self)
            if dtype != self.result.dtype:
                return f"dtype {self.result.dtype}, NumPy's is {dtype}"
        if self.result.dtype.kind not in "fc":
            same = np.array_equal(expected.astype(self.result.dtype), self.result)
            return None if same else f"{self.result!r}, NumPy gives {expected!r}"
        with np.errstate(all="ignore"):
            return self.wrong_numbers(expected)

    def wrong_numbers(self, expected):
        found, dtype = self.result, self.result.dtype
        overflows = np.isinf(expected.astype(dtype)) & np.isinf(found)
        fine = np.isnan(expected) & np.isnan(found) | overflows | (expected == found)
        if self.operation == "pow" and dtype.kind == "c":
            fine = fine | (np.broadcast_to(self.inputs[0], found.shape) == 0) & (found == 0)
        if self.operation == "hyp2f1":
            fine = fine | (found == 1) & np.broadcast_to((self.inputs[0] == 0) | (self.inputs[1] == 0), found.shape)
        if not self.elementwise:
            error, allowed = np.abs(expected - found), self.joined
        elif dtype.kind == "c":   # a complex number is right as a whole: its parts may cancel
            unit = np.maximum(np.spacing(np.abs(expected).astype(found.real.dtype)), np.finfo(dtype).tiny)
            error, allowed = np.abs(expected - found) / unit, 4 * self.ulp + 16
        else:
            own = 0.01 if dtype.name != "float64" else 4500 if self.operation in COARSE else 4.5   # NumPy's functions are good to about 4 units where there is no wider type
            error, allowed = units(expected, found, dtype, self.operation in ROOTS), self.ulp + 0.5 + own
        bad = ~fine & ~(error <= allowed)
        if not bad.any():
            return None
        at = tuple(np.argwhere(bad)[0])
        return f"at {at}: {found[at]!r}, NumPy gives {expected[at]!r}; off by {np.asarray(error)[at]}, allowed {allowed}"


def read_cases():
    with tempfile.TemporaryDirectory() as folder:
        command = [str(BUILD / "tests" / "test_ops"), "--gtest_filter=NumpyCases.*", "--gtest_brief=1"]
        subprocess.run(command, env=dict(os.environ, WEFT_NUMPY_CASES=folder), check=True, stdout=subprocess.DEVNULL, timeout=300)
        with open(Path(folder) / "arrays.npys", "rb") as stream, open(Path(folder) / "cases.tsv") as lines:
            return [Case(line, stream) for line in lines]


def needs_numpy_2(case):
    """NumPy 1 transforms in double precision only, takes stacks of vectors otherwise, and has another sign of complex numbers."""
    complexes = any(x.dtype.kind == "c" for x in case.inputs)
    return "np.fft." in case.expression or "np.linalg." in case.expression or "np.sign(" in case.expression and complexes


def judge(cases):
    def test(self):
        for case in cases:
            with self.subTest(case.describe()):
                wrong = case.wrong()
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
            if int(np.__version__.split(".")[0]) >= 2 or not needs_numpy_2(case):
                by_operation.setdefault(case.operation, []).append(case)
            else:
                names[f"test_{case.operation}"] = unittest.skip(f"NumPy 2 is wanted; this is {np.__version__}")(lambda self: None)
        names.update({f"test_{operation}": judge(cases) for operation, cases in by_operation.items()})
    return loader.loadTestsFromTestCase(type("NumpyJudge", (unittest.TestCase,), names))


if __name__ == "__main__":
    unittest.main()
