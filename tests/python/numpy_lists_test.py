"""Every function of numpy, numpy.linalg and numpy.fft that weft has too, called with lists and numbers: where NumPy answers, weft answers
alike. What is otherwise on purpose stands in DIFFERENT, with the reason."""
import inspect
import unittest
import warnings

from built import LACKS, np, wf

VECTOR, MATRIX, WHOLE = [3., 1., 2.], [[2., 1.], [1., 3.]], [3, 1, 2]
CALLS = [(VECTOR,), (MATRIX,), (WHOLE,), (VECTOR, VECTOR), (MATRIX, MATRIX), (WHOLE, WHOLE), (VECTOR, 2), (WHOLE, 2), (MATRIX, 0), (MATRIX, VECTOR[:2]),
         (2.5,), (2,), ([],), ([True, False],), (VECTOR, WHOLE), ([VECTOR, VECTOR],), ((VECTOR, VECTOR),), (VECTOR, [0., 1., 2.5])]
INDICES = "indices, counts and sizes are whole numbers"
DIFFERENT = {
    **dict.fromkeys(["bartlett", "bincount", "blackman", "diag_indices", "hamming", "hanning", "repeat", "roll", "take", "tri", "tril_indices", "triu_indices"], INDICES),
    **dict.fromkeys(["argsort", "cumulative_prod", "cumulative_sum"], "a value without axes has none to go along"),
    **dict.fromkeys(["polyadd", "polyder", "polyint", "polysub", "polyval"], "coefficients are a vector"),
    **dict.fromkeys(["polydiv", "polymul", "poly"], "coefficients of 0 stay: shapes do not depend on values"),
    **dict.fromkeys(["empty", "empty_like"], "any values"),
    "cross": "of three dimensions, as in the standard; NumPy deprecates two", "diff": "a list is an array", "gradient": "of one number: the derivative",
    "reciprocal": "of whole numbers a fraction, not 0", "result_type": "[] is no dtype", "trim_zeros": "a list is an array",
    **dict.fromkeys(["nonzero", "where"], "a value without axes has no places; NumPy refuses it since 2.1"),
    "unique_values": "sorted", "linalg.cond": "of a singular matrix infinite, or nearly", "linalg.svd": "vectors beyond the rank are any",
    "linalg.multi_dot": "of numbers", "linalg.norm": "of orders a list",
}


def flat(found):
    return [array for x in found for array in flat(x)] if isinstance(found, (tuple, list)) else [np.asarray(found)]


def pairs():
    for prefix, theirs, mine in [("", np, wf), ("linalg.", np.linalg, wf.linalg), ("fft.", np.fft, wf.fft)]:
        for name in dir(theirs):
            f, g = getattr(theirs, name), getattr(mine, name, None)
            both = callable(f) and callable(g) and not name.startswith("_") and not inspect.isclass(f)
            if both and name not in ("save", "load", "show_config", "info", "test"):
                yield prefix + name, f, g


@unittest.skipIf(LACKS, f"the Python package, or NumPy: {LACKS}")
class Lists(unittest.TestCase):
    def test_lists_and_numbers_are_taken_wherever_numpy_takes_them(self):
        answered = 0
        for name, theirs, mine in pairs():
            for arguments in CALLS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        want = flat(theirs(*arguments))
                    except Exception:
                        continue
                    if name in DIFFERENT or any(x.dtype.kind not in "fciub" for x in want):
                        continue
                    with self.subTest(name=name, arguments=arguments):
                        found = flat(mine(*arguments))
                        self.assertEqual([x.shape for x in found], [x.shape for x in want])
                        for x, y in zip(found, want):   # of booleans NumPy computes in half precision
                            half = y.dtype == np.float16
                            np.testing.assert_allclose(x, y, rtol=2e-3 if half else 1e-4, atol=1e-3 if half else 1e-5)
                        answered += 1
        self.assertGreater(answered, 1500)


if __name__ == "__main__":
    unittest.main()
