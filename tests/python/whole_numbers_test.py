"""Expressions of whole numbers, computed after all of them are written: what NumPy gives one operation at a time, wrapped where it wraps.

Skipped, and said so, where the package was not built (nanobind missing)."""
import random
import unittest

from built import LACKS, np, wf

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def steps(dtype):
    """Operations of the value so far, x, another one, y, and a number k."""
    one = np.dtype(dtype).type
    return (lambda x, y, k: x * k, lambda x, y, k: x + k, lambda x, y, k: x - k, lambda x, y, k: k - x, lambda x, y, k: x + y, lambda x, y, k: x - y,
            lambda x, y, k: x * y, lambda x, y, k: -x, lambda x, y, k: x + x * k, lambda x, y, k: x * k - y * k, lambda x, y, k: x & k,
            lambda x, y, k: x | y, lambda x, y, k: x ^ k, lambda x, y, k: x // one(3), lambda x, y, k: x % one(7), lambda x, y, k: x >> one(1))


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class WholeNumbers(unittest.TestCase):

    def test_long_chains_beyond_what_doubles_hold(self):
        with np.errstate(over="ignore"):
            for dtype in ("int64", "uint64", "int32"):
                one = np.dtype(dtype).type
                x, expected = wf.asarray(one(7)), one(7)
                for _ in range(40):
                    x, expected = x * 3 + 1, expected * one(3) + one(1)
                self.assertEqual(int(x), int(expected), dtype)

    def test_a_number_that_is_nearly_minus_one_is_not(self):
        x = wf.asarray(np.array([1, 2, 3], "uint64"))
        np.testing.assert_array_equal(np.asarray(x * (2 ** 64 - 8) + 1), np.array([2 ** 64 - 7, 2 ** 64 - 15, 2 ** 64 - 23], "uint64"))

    def test_random_expressions(self):
        for seed in range(600):
            pick = random.Random(seed)
            dtype = pick.choice(TYPES)
            info, one = np.iinfo(dtype), np.dtype(dtype).type
            x, y = (np.array([pick.randrange(120) for _ in range(3)], dtype) for _ in range(2))
            got, of_y, expected, written = wf.asarray(x), wf.asarray(y), x, []
            with np.errstate(all="ignore"):
                for _ in range(pick.randrange(2, 12)):
                    k = pick.choice((1, 2, 3, 7, 100, 127, min(info.max, pick.randrange(1, 1 << 60)), info.max))
                    number = pick.randrange(len(steps(dtype)))
                    step = steps(dtype)[number]
                    got, expected = step(got, of_y, k), step(expected, y, one(k))
                    written.append((number, k))
            np.testing.assert_array_equal(np.asarray(got), expected, f"seed {seed}, {dtype}, {written}")


if __name__ == "__main__":
    unittest.main()
