"""Loops in Python: wf.scan over trees, what it refuses, and recurrent networks with it.

Skipped, and said so, where the package was not built (nanobind missing)."""
import collections
import unittest

from built import LACKS, np, wf


def close(mine, theirs, error=1e-6):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=error, atol=error)


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Scan(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def numbers(self, *shape):
        return self.rng.standard_normal(shape)

    def test_carries_slices_and_results_are_trees(self):
        State = collections.namedtuple("State", "sum largest")
        xs = {"a": self.numbers(6, 2), "b": [self.numbers(6)]}

        def step(state, x):
            now = State(state.sum + x["a"] * x["b"][0], wf.maximum(state.largest, x["a"]))
            return now, {"sum": now.sum, "twice": (x["b"][0] * 2, None)}
        begin = State(wf.zeros((2,), dtype=wf.float64), wf.full((2,), -9.0, dtype=wf.float64))
        last, ys = wf.scan(step, begin, xs)
        terms = xs["a"] * xs["b"][0][:, None]
        self.assertIsInstance(last, State)
        close(last.sum, terms.sum(0))
        close(last.largest, xs["a"].max(0))
        close(ys["sum"], np.cumsum(terms, 0))
        close(ys["twice"][0], xs["b"][0] * 2)
        self.assertIsNone(ys["twice"][1])
        _, backwards = wf.scan(step, begin, xs, reverse=True)
        close(backwards["sum"], np.cumsum(terms[::-1], 0)[::-1])

    def test_any_length_also_none_and_one(self):
        for steps in (0, 1, 3, 100):
            last, ys = wf.scan(lambda c, _: (c * 2 + 1, c), np.int64(1), length=steps)
            self.assertEqual(int(last), 2 ** (steps + 1) - 1 if steps < 60 else int(last))
            self.assertEqual(ys.shape, (steps,))

    def test_derivatives_maps_and_programs(self):
        w, xs = self.numbers(3, 3) * 0.4, self.numbers(7, 3)

        def loss(w, xs):
            h, ys = wf.scan(lambda h, x: (wf.tanh(h @ w + x),) * 2, wf.zeros((3,), dtype=wf.float64), xs)
            return (h * h).sum() + (ys ** 3).sum()

        def unrolled(w, xs):
            h, ys = wf.zeros((3,), dtype=wf.float64), []
            for i in range(7):
                h = wf.tanh(h @ w + xs[i])
                ys.append(h)
            return (h * h).sum() + (wf.stack(ys) ** 3).sum()
        for transform in (lambda f: wf.grad(f), lambda f: wf.compile(wf.grad(f, argnums=(0, 1))), lambda f: wf.jacfwd(f),
                          lambda f: wf.hessian(f), lambda f: lambda w, xs: wf.vmap(wf.grad(f), (None, 0))(w, wf.stack([xs, xs * 2]))):
            found, expected = transform(loss)(wf.asarray(w), wf.asarray(xs)), transform(unrolled)(wf.asarray(w), wf.asarray(xs))
            for mine, theirs in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected))):
                close(mine, theirs, 1e-9)

    def test_numbers_drawn_with_a_key_of_each_step_differ(self):
        keys = wf.random.split(wf.random.key(1), 5)
        _, ys = wf.scan(lambda c, key: (c, wf.random.normal((2,), key=key)), 0., keys)
        close(ys, [np.asarray(wf.random.normal((2,), key=keys[i])) for i in range(5)])
        _, same = wf.scan(lambda c, _: (c, wf.random.normal(())), 0., length=4)
        self.assertEqual(len(set(np.asarray(same).tolist())), 1)

    def test_refusals_say_what_does_not_fit(self):
        x = wf.ones((3, 4))
        for error, words, call in (
                (ValueError, r"scan: the function must give \(carry, y\), but gave Tensor", lambda: wf.scan(lambda c, x: c, 0., length=3)),
                (ValueError, r"but gave tuple of 3", lambda: wf.scan(lambda c, x: (c, x, x), 0., length=3)),
                (ValueError, r"scan: carry has another form after a step than before it", lambda: wf.scan(lambda c, x: ((c, c), x), 0., length=3)),
                (wf.ShapeError, r"scan: init\['h'\] is float32 \(4,\) before a step and float32 \(\) after it; what is carried keeps its shape",
                 lambda: wf.scan(lambda c, x: ({"h": (c["h"] + x).sum()}, None), {"h": wf.zeros((4,))}, x)),
                (wf.DTypeError, r"scan: init is int64 \(\) before a step and float32 \(\) after it; give init the type that it becomes",
                 lambda: wf.scan(lambda c, x: (c * 2.5, x), 1, length=3)),
                (TypeError, r"scan: xs is 3, which has no axis to go along", lambda: wf.scan(lambda c, x: (c, x), 1, 3)),
                (TypeError, r"cannot be interpreted as an integer", lambda: wf.scan(lambda c, x: (c, x), 1, length=3.5)),
                (ValueError, r"scan: length is -1; it must be at least 0", lambda: wf.scan(lambda c, x: (c, x), 1, length=-1)),
                (ValueError, r"scan: without xs, length says how many steps there are", lambda: wf.scan(lambda c, x: (c, x), 1)),
                (wf.ShapeError, r"scan: xs\[1\] of shape \(2,\) has 2 slices, but there are 3 of xs\[0\]", lambda: wf.scan(lambda c, x: (c, x), 1, [x, wf.ones((2,))])),
                (ValueError, r"scan: a number is asked for that depends on a step, .* In place of `if` choose with where",
                 lambda: wf.scan(lambda c, x: (c if x.sum() > 0 else -c, x), 1., x))):
            with self.assertRaisesRegex(error, words):
                call()

    def test_what_leaves_a_step_by_another_way_is_refused(self):
        kept = []
        wf.scan(lambda c, x: (c + x, kept.append(c + x)), 0., wf.ones((3,)))
        with self.assertRaisesRegex(ValueError, "or it left the step by another way than its results"):
            float(kept[0])
        count = wf.Parameter(wf.asarray(1.), name="count")

        def sets(c, x):
            count.value = c + x
            return c, x
        with self.assertRaisesRegex(ValueError, "the parameter 'count' is given a value .* a step of scan"):
            wf.scan(sets, 0., wf.ones((3,)))
        with self.assertRaisesRegex(ValueError, "scan: what a step computes leaves it by another way than its results"):
            wf.compile(lambda x: wf.scan(sets, 0., x)[0])(wf.ones((3,)))

    def test_a_recurrent_layer_of_many_steps_is_a_small_program(self):
        layer = wf.nn.LSTM(2, 3)
        text = str(wf.explain(lambda x: layer(x)[0], wf.ones((2000, 1, 2))).plan)
        self.assertLess(len(text.splitlines()), 60)
        self.assertIn("loop", text)

    def test_explain_shows_the_kernels_of_a_step(self):
        text = str(wf.explain(lambda x: wf.scan(lambda c, x: (wf.tanh(c @ x), None), wf.ones((2, 2)), x)[0], wf.ones((3, 2, 2))))
        self.assertIn("by loop", text)
        self.assertRegex(text, r"step \d+\.0: matmul")


if __name__ == "__main__":
    unittest.main()
