"""Optimizers and compiled steps of training in Python. Skipped, and said so, where the package was not built (nanobind missing)."""
import unittest

from built import LACKS, np, wf


def adam(p, grads, lr, betas=(0.9, 0.999), eps=1e-8):
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        p = p - lr * (m / (1 - betas[0]**t)) / (np.sqrt(v / (1 - betas[1]**t)) + eps)
    return p


def momentum(p, grads, lr, mu):
    v = 0.0
    for g in grads:
        v = mu * v + g
        p = p - lr * v
    return p


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Optimizers(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.start, self.grads = rng.normal(size=5), rng.normal(size=(6, 5))

    def run_steps(self, make):
        p = wf.Parameter(wf.asarray(self.start), name="p")
        optimizer = make([p])
        for g in self.grads:
            optimizer.step([wf.asarray(g)])
        return np.asarray(p.value), optimizer

    def test_steps_are_the_formulas(self):
        np.testing.assert_allclose(self.run_steps(lambda p: wf.optim.Adam(p, lr=0.1))[0], adam(self.start, self.grads, 0.1), rtol=1e-12)
        np.testing.assert_allclose(self.run_steps(lambda p: wf.optim.SGD(p, lr=0.1, momentum=0.5))[0], momentum(self.start, self.grads, 0.1, 0.5), rtol=1e-12)
        np.testing.assert_allclose(self.run_steps(lambda p: wf.optim.SGD(p, lr=0.1))[0], self.start - 0.1 * self.grads.sum(0), rtol=1e-12)
        scale = np.sqrt(np.cumsum(self.grads**2, 0)) + 1e-10
        np.testing.assert_allclose(self.run_steps(lambda p: wf.optim.Adagrad(p, lr=0.1))[0], self.start - 0.1 * (self.grads / scale).sum(0), rtol=1e-10)

    def test_a_run_goes_on_from_its_state(self):
        whole, _ = self.run_steps(lambda p: wf.optim.AdamW(p, lr=0.1))
        p = wf.Parameter(wf.asarray(self.start), name="p")
        first = wf.optim.AdamW([p], lr=0.1)
        for g in self.grads[:3]:
            first.step([wf.asarray(g)])
        q = wf.Parameter(p.value, name="p")
        second = wf.optim.AdamW([q], lr=7.0)
        second.load_state_dict(first.state_dict())
        for g in self.grads[3:]:
            second.step([wf.asarray(g)])
        np.testing.assert_array_equal(np.asarray(q.value), whole)
        with self.assertRaises(ValueError):
            second.load_state_dict({"lr": wf.asarray(1.0)})

    def test_rates_are_set_and_wrong_ones_refused(self):
        _, optimizer = self.run_steps(lambda p: wf.optim.RMSprop(p))
        optimizer.lr = 0.5
        self.assertEqual(optimizer.lr, 0.5)
        self.assertIn("lr=0.5", repr(optimizer))
        for make in (lambda: wf.optim.Adam([]), lambda: wf.optim.Adam([wf.ones(2)]), lambda: wf.optim.Adam([wf.Parameter(wf.ones(1))], lr=-1),
                     lambda: setattr(optimizer, "lr", -1), lambda: optimizer.step([]), lambda: optimizer.step([wf.ones(3)])):
            with self.assertRaises((ValueError, TypeError)):
                make()

    def test_a_compiled_step_does_what_the_parts_do(self):
        rng = np.random.default_rng(2)
        batches = [(rng.normal(size=(8, 3)), rng.normal(size=8)) for _ in range(5)]

        def loss(w, x, y):
            return wf.mean((x @ w["a"] + w["b"] - y) ** 2), x.shape[0]

        def fresh():
            return {"a": wf.Parameter(wf.zeros(3, dtype=wf.float64)), "b": wf.Parameter(wf.zeros((), dtype=wf.float64))}
        one, two = fresh(), fresh()
        optimizer = wf.optim.Adam(one.values(), lr=0.05)
        step = wf.train_step(one, optimizer, loss)
        other = wf.optim.Adam(two.values(), lr=0.05)
        for x, y in batches + [(batches[0][0][:4], batches[0][1][:4])]:
            before, count = step(x, y)
            values = {name: parameter.value for name, parameter in two.items()}
            (expected, _), grads = wf.value_and_grad(lambda w, x, y: loss(w, wf.asarray(x), wf.asarray(y)), has_aux=True)(values, x, y)
            other.step(list(grads.values()))
            self.assertEqual(count, len(x))
            self.assertAlmostEqual(float(before), float(expected), 12)
        for name in one:
            np.testing.assert_allclose(np.asarray(one[name].value), np.asarray(two[name].value), rtol=1e-10)

    def test_compiled_functions_stand_in_each_other_and_take_what_is_not_computed(self):
        calls = []

        @wf.compile
        def squared(w, x):
            calls.append(1)
            return wf.sum((x @ w) ** 2)
        w, x = wf.Parameter(wf.ones(3, dtype=wf.float64)), np.eye(3)
        step = wf.train_step(w, wf.optim.SGD([w], lr=0.25), lambda w, x: squared(w, x))
        self.assertEqual([float(step(x)), float(step(x))], [3.0, 0.75])
        calls.clear()
        for k in range(4):
            self.assertAlmostEqual(float(squared(wf.ones(3, dtype=wf.float64) * k, x)), 3.0 * k * k)
        self.assertEqual(len(calls), 1)      # one program for values that were not computed when they were given
        with self.assertRaises(ValueError) as caught:
            wf.compile(lambda x: wf.ones(2) * float(x))(wf.ones(()) * 2)
        self.assertIn("optim_test.py", str(caught.exception))

    def test_gradients_are_clipped_together(self):
        grads = {"a": wf.asarray([3.0, 0.0]), "b": wf.asarray([4.0])}
        clipped = wf.optim.clip_grad_norm(grads, 1.0)
        np.testing.assert_allclose([*clipped["a"].tolist(), *clipped["b"].tolist()], [0.6, 0.0, 0.8], rtol=1e-6)
        np.testing.assert_allclose(wf.optim.clip_grad_norm(grads, 10.0)["b"].tolist(), [4.0])

    def test_newer_rules_are_their_formulas(self):
        p, m = self.start, np.zeros(5)
        for g in self.grads:
            p, m = p - 0.1 * (np.sign(0.9 * m + 0.1 * g) + 0.2 * p), 0.99 * m + 0.01 * g
        np.testing.assert_allclose(self.run_steps(lambda q: wf.optim.Lion(q, lr=0.1, weight_decay=0.2))[0], p, rtol=1e-12)
        p, s, a = self.start, np.zeros(5), np.zeros(5)
        for g in self.grads:
            s = 0.8 * s + 0.2 * g * g
            d = np.sqrt(a + 1e-3) / np.sqrt(s + 1e-3) * g
            p, a = p - 0.5 * d, 0.8 * a + 0.2 * d * d
        np.testing.assert_allclose(self.run_steps(lambda q: wf.optim.Adadelta(q, lr=0.5, rho=0.8, eps=1e-3))[0], p, rtol=1e-12)
        up, down = self.run_steps(lambda q: wf.optim.SGD(q, lr=0.1, maximize=True))[0], self.run_steps(lambda q: wf.optim.SGD(q, lr=0.1))[0]
        np.testing.assert_allclose(up - self.start, self.start - down, rtol=1e-12)

    def test_what_is_done_around_steps(self):
        for names, step in ((("accumulate", 2), self.grads.reshape(3, 2, 5).mean(1).sum(0)), (("clip_value", 0.5), self.grads.clip(-0.5, 0.5).sum(0)),
                            (("groups", [{"match": "p", "lr": 3}]), 3 * self.grads.sum(0))):
            found, _ = self.run_steps(lambda q: wf.optim.SGD(q, lr=0.1).configure(**dict([names])))
            np.testing.assert_allclose(found, self.start - 0.1 * step, rtol=1e-12)
        weight = wf.Parameter(wf.asarray([[3.0, 4.0], [0.1, 0.2]]), name="w")
        wf.optim.SGD([weight], lr=0.0).configure(constraints=[{"max_col_norm": 1}]).step([wf.zeros((2, 2))])
        np.testing.assert_allclose(np.asarray(weight.value), [[0.6, 0.8], [0.1, 0.2]], rtol=1e-6)
        _, optimizer = self.run_steps(lambda q: wf.optim.SGD(q, lr=0.1).configure(average={}))
        path = self.start - 0.1 * self.grads.cumsum(0)
        with optimizer.averaged():
            np.testing.assert_allclose(np.asarray(optimizer.parameters[0].value), path.mean(0), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(optimizer.parameters[0].value), path[-1], rtol=1e-12)
        with self.assertRaises(ValueError):
            optimizer.configure(accumulate=2)
        with self.assertRaises(TypeError):
            wf.optim.SGD([weight]).configure(constraints=[{"max_colnorm": 1}])

    def test_methods_with_line_searches_go_on_from_their_state(self):
        loss = wf.value_and_grad(lambda w: (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2)

        def run(make, pauses):
            w = wf.Parameter(wf.asarray([-1.2, 1.0]), name="w")
            optimizer = make([w])
            for _ in range(8):
                if pauses:
                    state, optimizer = optimizer.state_dict(), make([w])
                    optimizer.load_state_dict(state)
                optimizer.step(lambda: loss(w.value))
            return np.asarray(w.value)
        for make in (lambda p: wf.optim.LBFGS(p, max_iter=5, history_size=4, line_search_fn="strong_wolfe"),
                     lambda p: wf.optim.ConjugateGradient(p, "fletcher_reeves", across_steps=True),
                     lambda p: wf.optim.ConjugateGradient(p, None, "armijo")):
            np.testing.assert_array_equal(run(make, True), run(make, False))
            self.assertLess(float(loss(wf.asarray(run(make, False)))[0]), 0.5)
        w = wf.Parameter(wf.ones(2), name="w")
        for wrong in (lambda: wf.optim.LBFGS([w], line_search_fn="wolfe"), lambda: wf.optim.ConjugateGradient([w], "hestenes"),
                      lambda: wf.optim.LBFGS([w]).step(lambda: (1.0, []))):
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaises(ZeroDivisionError):
            wf.optim.LBFGS([w]).step(lambda: 1 / 0)


if __name__ == "__main__":
    unittest.main()
