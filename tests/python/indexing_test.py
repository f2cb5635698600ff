"""x[key] of random keys (slices either way, clipped or empty, integers of any size, new axes, an ellipsis): NumPy's elements, or an IndexError where NumPy has one.

Skipped, and said so, where the package was not built (nanobind missing)."""
import random
import unittest

from built import LACKS, np, wf


def entry(rng, n):
    """What may stand in a key for an axis of n elements."""
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.2:
        return Ellipsis
    if kind < 0.22:
        return rng.choice((-1, 1)) * 10**30
    if kind < 0.5:
        return rng.randint(-n - 1, n)
    bounds = [None if rng.random() < 0.3 else rng.randint(-n - 3, n + 4) for _ in range(2)]
    return slice(*bounds, rng.choice((None, 1, 1, 2, 3, -1, -2)))


def picked(x, key):
    try:
        return np.asarray(x[key])
    except IndexError:
        return None


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Indexing(unittest.TestCase):

    def test_random_keys(self):
        rng = random.Random(7)
        for turn in range(4000):
            a = np.arange(4.0 * 5 * 6, dtype="float32")[:rng.choice((0, 24, 60, 120))]
            a = a.reshape(rng.choice(((-1,), (-1, 4), (4, -1, 3), (-1, 2, 1, 2))))
            key = tuple(entry(rng, n) for n in a.shape[:rng.randint(1, a.ndim)])
            if rng.random() < 0.3:
                key = key[0]
            x, expected = wf.asarray(a), picked(a, key)
            results = [picked(x, key)]
            if turn % 20 == 0 and expected is not None:
                results.append(picked(wf.compile(lambda x, key=key: x[key] + 0)(x), ...))
            for result in results:
                with self.subTest(shape=a.shape, key=key):
                    self.assertEqual(result is None, expected is None)
                    if expected is not None:
                        self.assertEqual(result.shape, expected.shape)
                        np.testing.assert_array_equal(result, expected)


if __name__ == "__main__":
    unittest.main()
