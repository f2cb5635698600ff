"""Loops that end by a condition, and conditionals, in Python: wf.while_loop and wf.cond over trees, and what they refuse.

Skipped, and said so, where the package was not built (nanobind missing)."""
import collections
import unittest

from built import LACKS, np, wf


def close(mine, theirs, error=1e-6):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=error, atol=error)


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class WhileLoop(unittest.TestCase):
    def test_carries_trees_of_any_dtype(self):
        State = collections.namedtuple("State", "x info")

        def body(s):
            return State(s.x * s.info["by"][0], {"by": [s.info["by"][0]], "steps": s.info["steps"] + 1, "done": ~s.info["done"], "none": None})
        begin = State(np.complex128(1), {"by": [np.complex128(1j)], "steps": 0, "done": True, "none": None})
        last = wf.while_loop(lambda s: s.info["steps"] < 7, body, begin)
        self.assertIsInstance(last, State)
        self.assertEqual(complex(last.x), 1j ** 7)
        self.assertEqual((int(last.info["steps"]), bool(last.info["done"]), last.info["none"]), (7, False, None))
        for dtype in ("uint8", "int16", "float16", "bfloat16", "float64"):
            found = wf.while_loop(lambda x: x < 20, lambda x: x + 3, wf.asarray(1, dtype=getattr(wf, dtype)))
            self.assertEqual((float(found), str(found.dtype).split(".")[-1]), (22, dtype))

    def test_no_step_many_steps_and_arrays_without_elements(self):
        for limit in (0, 1, 5, 100, 12345):
            self.assertEqual(int(wf.while_loop(lambda x: x < limit, lambda x: x + 1, 0)), limit)
        self.assertEqual(wf.while_loop(lambda s: s[1] < 3, lambda s: (s[0] * 2, s[1] + 1), (wf.ones((0, 3)), 0))[0].shape, (0, 3))
        close(wf.while_loop(lambda x: False, lambda x: x / 0, wf.ones(3)), np.ones(3))

    def test_programs_maps_and_forward_derivatives(self):
        def root(a):
            return wf.while_loop(lambda s: abs(s["x"] * s["x"] - a) > 1e-9, lambda s: {"x": (s["x"] + a / s["x"]) / 2}, {"x": a})["x"]
        a = wf.asarray([3., 2., 81., 1e4], dtype=wf.float64)
        for f in (wf.vmap(root), wf.compile(wf.vmap(root)), wf.vmap(wf.compile(root))):
            close(f(a), np.sqrt(np.asarray(a)), 1e-12)
        close(wf.vmap(wf.jacfwd(root))(a), 0.5 / np.sqrt(np.asarray(a)), 1e-6)
        close(wf.jvp(wf.compile(root), (a[1],), (wf.asarray(1., dtype=wf.float64),))[1], 0.5 / np.sqrt(2), 1e-9)
        close(wf.jacfwd(lambda w: wf.while_loop(lambda s: s[0].sum() < 10, lambda s: (s[0] + w, s[1]), (w, w))[0])(wf.asarray([1., 2.])), np.eye(2) * 4)

    def test_a_module_may_be_carried(self):
        layer = wf.nn.Linear(2, 2)
        shrunk = wf.while_loop(lambda net: wf.sum(net.weight * net.weight) > 1e-3, halved, layer)
        self.assertLessEqual(float(wf.sum(shrunk.weight * shrunk.weight)), 1e-3)

    def test_a_training_step_may_hold_one(self):
        w = wf.Parameter(wf.asarray(1.), name="w")

        @wf.compile
        def step(x):
            times = wf.while_loop(lambda n: n * n < x, lambda n: n + 1, wf.asarray(0.))
            w.value = w - 0.1 * wf.grad(lambda w: (w * times - x) ** 2)(w.value)
            return times
        self.assertEqual(float(step(wf.asarray(10.))), 4)
        close(w.value, 1 - 0.1 * 2 * 4 * (4 - 10))

    def test_refusals_say_what_does_not_fit(self):
        x = wf.ones((3,))
        for error, words, call in (
                (wf.DTypeError, r"while_loop: the condition must be one truth value, bool \(\), but is float32 \(\); write a comparison(.|\n)*conditions_test.py",
                 lambda: wf.while_loop(lambda c: c, lambda c: c, 1.)),
                (wf.ShapeError, r"while_loop: the condition must be .* but is bool \(3,\); join", lambda: wf.while_loop(lambda c: c > 0, lambda c: c, x)),
                (TypeError, r"while_loop: cond must give one truth value, but gave tuple", lambda: wf.while_loop(lambda c: (c > 0,), lambda c: c, 1.)),
                (TypeError, r"while_loop: cond must give one truth value, but gave NoneType", lambda: wf.while_loop(lambda c: None, lambda c: c, 1.)),
                (ValueError, r"while_loop: carry has another form after a step than before it", lambda: wf.while_loop(lambda c: c > 0, lambda c: (c, c), 1.)),
                (wf.ShapeError, r"while_loop: init\['h'\] is float32 \(3,\) before a step and float32 \(\) after it; what is carried keeps its shape",
                 lambda: wf.while_loop(lambda c: c["h"].sum() > 0, lambda c: {"h": c["h"].sum()}, {"h": x})),
                (wf.DTypeError, r"while_loop: init is int64 \(\) before a step and float32 \(\) after it; give init the type", lambda: wf.while_loop(lambda c: c < 9, lambda c: c * 2.5, 1)),
                (wf.DTypeError, r"while_loop: init is int64 \(\) before a step and float32 \(\) after it", lambda: wf.while_loop(lambda c: c < 9, lambda c: 9.5, 1)),
                (TypeError, r"", lambda: wf.while_loop(lambda c: c < 9, lambda c: c, "begin")),
                (ValueError, r"while_loop: a number is asked for that depends on a step", lambda: wf.while_loop(lambda c: c < 9, lambda c: c + 1 if c > 0 else c, 1)),
                (NotImplementedError, r"while_loop: reverse mode .* use scan with a length .* forward mode \(jvp, jacfwd\), or stop_gradient(.|\n)*conditions_test.py",
                 lambda: wf.grad(lambda x: wf.while_loop(lambda c: c < 9, lambda c: c * 2, x))(1.))):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()
        kept = []
        wf.while_loop(lambda c: c < 3, lambda c: [kept.append(c), c + 1][1], 1.)
        with self.assertRaisesRegex(ValueError, "while_loop: .*or it left the step by another way than its results"):
            float(kept[0])


def halved(net):
    """The module with weights of half the size: a tree with other leaves."""
    form, parts = net.__tree__()
    return net.__tree_with__([halved(part) if hasattr(type(part), "__tree__") else part * 0.5 for part in parts])


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Cond(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(5)

    def test_takes_and_gives_trees(self):
        def yes(x, w):
            return {"a": (x["p"] * w, None), "n": 1}

        def no(x, w):
            return {"n": x["q"], "a": (x["p"] + 2.5, None)}
        x = {"p": self.rng.standard_normal(3), "q": np.int64(7)}
        for pred, a, n in ((True, x["p"] * 2, 1), (False, x["p"] + 2.5, 7), (np.bool_(True), x["p"] * 2, 1), (wf.asarray(3) > 4, x["p"] + 2.5, 7)):
            for f in (wf.cond, lambda *args: wf.compile(lambda p, x, w: wf.cond(p, yes, no, x, w))(wf.asarray(args[0]), *args[3:])):
                found = f(pred, yes, no, x, 2.0)
                close(found["a"][0], a)
                self.assertEqual((int(found["n"]), found["n"].dtype, found["a"][1]), (n, wf.int64, None))
        self.assertEqual(wf.cond(True, lambda: (), lambda: ()), ())
        for number, dtype in ((1, wf.float16), (True, wf.int8), (0.5, wf.complex64), (2, wf.uint8)):
            self.assertEqual(wf.cond(True, lambda: number, lambda: wf.zeros((), dtype=dtype)).dtype, dtype)  # noqa: B023

    def test_computes_one_branch_alone(self):
        table = wf.zeros(3)

        def fails(i):
            return table[i]
        f = wf.compile(lambda i: wf.cond(i < 3, fails, lambda i: wf.asarray(-1.), i))
        self.assertEqual([float(f(wf.asarray(i))) for i in (2, 3)], [0, -1])
        self.assertEqual(float(wf.cond(False, lambda: table[wf.asarray(5) * 1], lambda: 1.0)), 1)
        with self.assertRaisesRegex(IndexError, "5 is out of bounds(.|\n)*conditions_test.py"):
            wf.cond(True, lambda: table[wf.asarray(5) * 1], lambda: 1.0).item()

    def test_derivatives_maps_and_programs(self):
        w, x = self.rng.standard_normal((3, 3)), self.rng.standard_normal((4, 3))

        def f(w, x):
            return wf.cond(x.sum() > 0, lambda x: wf.tanh(w @ x).sum(), lambda x: (x * x).sum() * w[0, 0], x)

        def plain(w, x):
            return wf.where(x.sum() > 0, wf.tanh(w @ x).sum(), (x * x).sum() * w[0, 0])
        self.assertEqual(len({bool(row.sum() > 0) for row in x}), 2)
        for transform in (lambda f: f, lambda f: wf.grad(f, argnums=(0, 1)), lambda f: wf.compile(wf.grad(f)), lambda f: wf.jacfwd(f), lambda f: wf.hessian(f),
                          lambda f: wf.checkpoint(f), lambda f: wf.grad(lambda w, x: wf.grad(lambda w: wf.sum(wf.grad(f, argnums=1)(w, x) ** 2))(w).sum())):
            for row in x:
                found, expected = transform(f)(wf.asarray(w), wf.asarray(row)), transform(plain)(wf.asarray(w), wf.asarray(row))
                for mine, theirs in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected))):
                    close(mine, theirs, 1e-9)
            if transform(f) is not f:
                found, expected = (wf.vmap(transform(g), (None, 0))(wf.asarray(w), wf.asarray(x)) for g in (f, plain))
                for mine, theirs in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected))):
                    close(mine, theirs, 1e-9)

    def test_a_model_may_choose_while_it_trains(self):
        def losses(choose):
            model = self.linear()
            step = wf.train_step(model, wf.optim.SGD(model.parameters(), lr=0.1), lambda net, x, y: choose(x, lambda: wf.mean((net(x) - y) ** 2), lambda: wf.mean(abs(net(x) - y))))
            return [float(step(wf.asarray(x), wf.asarray(x.sum(1, keepdims=True)))) for x in np.random.default_rng(1).standard_normal((6, 8, 2)).astype(np.float32)]
        found = losses(lambda x, yes, no: wf.cond(x.sum() > 0, yes, no))
        expected = losses(lambda x, yes, no: wf.where(x.sum() > 0, yes(), no()))
        close(found, expected, 1e-5)

    def test_a_step_that_fails_in_a_branch_or_a_loop_changes_nothing(self):
        table, x = wf.zeros(3), wf.ones(1000)
        for last in (lambda i, w: wf.cond(i >= 0, lambda: table[i] * w.sum(), lambda: wf.asarray(0.)),
                     lambda i, w: wf.while_loop(lambda s: s[0] < i, lambda s: (s[0] + 1, s[1] + table[s[0]]), (0, w.sum()))[1]):
            w = wf.Parameter(wf.zeros(1000), name="w")

            def body(i, x):
                w.value = w + x
                return last(i, w.value)
            step = wf.compile(body)
            for _ in range(3):
                step(wf.asarray(1), x)
            for _ in range(2):
                with self.assertRaisesRegex(IndexError, "out of bounds for axis 0 of size 3"):
                    step(wf.asarray(7), x)
                close(w.value, np.full(1000, 3.0), 0)

    def linear(self):
        wf.random.seed(3)
        return wf.nn.Linear(2, 1)

    def test_refusals_say_what_does_not_fit(self):
        same = lambda *x: x  # noqa: E731
        x = wf.ones((3,))
        for error, words, call in (
                (wf.DTypeError, r"cond: the predicate must be one truth value, bool \(\), but is float32 \(\); write a comparison(.|\n)*conditions_test.py", lambda: wf.cond(1., same, same)),
                (wf.ShapeError, r"cond: the predicate must be .* but is bool \(3,\); join .* where\(condition, a, b\)", lambda: wf.cond(x > 0, same, same)),
                (ValueError, r"cond: false_f gives another form than true_f", lambda: wf.cond(True, lambda x: x, lambda x: (x,), x)),
                (wf.ShapeError, r"cond: the result\['a'\] is float32 \(3,\) where the predicate holds and float32 \(\) where not",
                 lambda: wf.cond(True, lambda x: {"a": x}, lambda x: {"a": x.sum()}, x)),
                (wf.DTypeError, r"cond: the result is float32 \(3,\) where the predicate holds and bool \(3,\) where not; convert one of them with astype(.|\n)*conditions_test.py",
                 lambda: wf.cond(True, lambda x: x, lambda x: x > 0, x)),
                (wf.DTypeError, r"cond: the result is int64 \(\) where the predicate holds and float32 \(\) where not", lambda: wf.cond(True, lambda x: x, lambda x: 0.5, wf.asarray(2))),
                (TypeError, r"", lambda: wf.cond(True, same, same, "word")),
                (ValueError, r"cond: a number is asked for that depends on a branch", lambda: wf.cond(True, lambda x: x if x.sum() > 0 else -x, lambda x: x, x))):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()
        kept = []
        wf.cond(True, lambda x: [kept.append(x * 2), x][1], lambda x: x, x)
        with self.assertRaisesRegex(ValueError, "cond: .*or it left the branch by another way than its results"):
            float(kept[0].sum())
        cell = wf.Parameter(x, name="cell")

        def sets(x):
            cell.value = x * 2
            return x
        with self.assertRaisesRegex(ValueError, "the parameter 'cell' is given a value .* a branch of cond"):
            wf.cond(True, sets, lambda x: x, x)
        with self.assertRaisesRegex(ValueError, "cond: what a branch computes leaves it by another way than its results"):
            wf.compile(lambda x: wf.cond(x.sum() > 0, sets, lambda x: x, x))(x)

    def test_explain_shows_both_branches(self):
        text = str(wf.explain(lambda x: wf.cond(x.sum() > 0, lambda x: x @ x, lambda x: wf.exp(x), x), wf.ones((3, 3))))
        self.assertIn("cond by cond", text)
        self.assertRegex(text, r"step \d+\.true\.0: matmul")
        self.assertRegex(text, r"step \d+\.false\.0: exp")


if __name__ == "__main__":
    unittest.main()
