"""Declared expressions as Theano's users know them: functions with updates and givens, gradients with constants and known ones, rop and lop.

Skipped, and said so, where the package was not built (nanobind missing)."""
import unittest

from built import LACKS, np, wf


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Declared(unittest.TestCase):
    def setUp(self):
        self.x = wf.input("x", ("batch", 2))
        self.y = wf.input("y", ("batch",))
        self.w = wf.Parameter(wf.asarray([1.0, -1.0]), name="w")
        self.loss = wf.mean((self.x @ self.w - self.y) ** 2)

    def refuses(self, error, message, call, *arguments, **named):
        with self.assertRaisesRegex(error, message) as caught:
            call(*arguments, **named)
        self.assertLess(len(str(caught.exception).splitlines()), 5)

    def test_shapes_and_dtypes_are_known_before_numbers(self):
        self.assertEqual((self.x.shape, (self.x @ self.w).shape, self.loss.shape, self.loss.dtype), (("batch", 2), ("batch",), (), wf.float32))
        self.refuses(wf.ShapeError, "matmul", lambda: self.x @ wf.ones(3))
        self.refuses(ValueError, "declared and not given", lambda: float(self.loss))

    def test_outputs_are_a_tree_and_sizes_are_bound_at_each_call(self):
        f = wf.function([self.x, self.y], {"loss": self.loss, "errors": [self.x @ self.w - self.y]})
        for n in (1, 3, 7):
            x, y = np.random.default_rng(n).standard_normal((n, 2)).astype("float32"), np.ones(n, "float32")
            found = f(x, y=y)
            expected = x @ np.array([1, -1], "float32") - y
            np.testing.assert_allclose(np.asarray(found["errors"][0]), expected, rtol=1e-5)
            self.assertAlmostEqual(found["loss"].item(), float(np.mean(expected ** 2)), places=4)
        self.assertEqual(wf.function([], wf.sum(self.w.value))().item(), 0)
        self.assertIn("x: weft.float32 ('batch', 2), y: weft.float32 ('batch',); 2 outputs, 0 updates", repr(f))

    def test_updates_take_effect_together_after_the_outputs(self):
        a, b, k = (wf.Parameter(wf.asarray(float(i)), name=n) for i, n in enumerate("abk", 1))
        step = wf.function([], [a + b, a.value], updates={a: b.value, b: a.value, k: k + 1})
        for i in range(4):
            before = a.value.item(), b.value.item()
            found = [x.item() for x in step()]
            self.assertEqual(found, [3.0, before[0]])
            self.assertEqual((a.value.item(), b.value.item(), k.value.item()), (before[1], before[0], 4.0 + i))

    def test_parameters_are_read_anew_at_each_call_also_when_set_from_outside(self):
        f = wf.function([self.x], self.x @ self.w)
        self.assertEqual(f([[2.0, 1.0]]).tolist(), [1.0])
        self.w.value = wf.asarray([0.0, 5.0])
        self.assertEqual(f([[2.0, 1.0]]).tolist(), [5.0])

    def test_training_is_numpys(self):
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
        step = wf.function([self.x, self.y], self.loss, updates={self.w: self.w - 0.1 * wf.gradient(self.loss, wrt=[self.w])[0]})
        w = np.array([1.0, -1.0])
        for _ in range(5):
            error = x @ w - y
            self.assertAlmostEqual(step(x.astype("float32"), y.astype("float32")).item(), np.mean(error ** 2), places=4)
            w = w - 0.1 * 2 * x.T @ error / 8
        np.testing.assert_allclose(np.asarray(self.w.value), w, rtol=1e-4)
        # Declared once more, after w has changed: the loss still reads w.
        again = wf.function([self.x, self.y], wf.gradient(self.loss, self.w))
        np.testing.assert_allclose(np.asarray(again(x.astype("float32"), y.astype("float32"))), 2 * x.T @ (x @ w - y) / 8, rtol=1e-3)

    def test_givens_replace_inputs_parameters_and_values_on_the_way(self):
        data = wf.Parameter(wf.reshape(wf.arange(12.0), (6, 2)), name="data")
        index = wf.input("index", (), wf.int64)
        rows = wf.function([index], wf.sum(self.x * self.w), givens={self.x: wf.take(data.value, index * 2 + wf.arange(2), axis=0)})
        self.assertEqual([rows(i).item() for i in range(3)], [-2.0, -2.0, -2.0])
        self.assertEqual(wf.function([self.x], self.x @ self.w, givens={self.w: [1.0, 1.0]})([[1.0, 2.0]]).tolist(), [3.0])
        h = self.x @ self.w
        self.assertEqual(wf.function([self.x], wf.exp(h), givens={h: wf.sum(self.x, axis=1)})([[0.0, 0.0]]).tolist(), [1.0])
        self.assertEqual(wf.function([self.x], self.x, givens={self.x: self.x * 2})([[1.0, 2.0]]).tolist(), [[2.0, 4.0]])

    def test_what_does_not_fit_is_refused_when_it_is_declared(self):
        z, w = wf.input("z"), self.w
        self.refuses(ValueError, "the input 'y' is needed, but is not among the inputs", wf.function, [self.x], self.loss)
        self.refuses(ValueError, "the input 'z' is used by no output and no update", wf.function, [self.x, self.y, z], self.loss)
        self.assertEqual(wf.function([z], 1.0, on_unused_input="ignore")(3).item(), 1)
        self.refuses(ValueError, "'raise' or 'ignore', not 'warn'", wf.function, [z], z, on_unused_input="warn")
        self.refuses(ValueError, "'x' is given twice", wf.function, [self.x, self.x], self.x)
        self.refuses(TypeError, "input 0 is not a declared one, but a Tensor", wf.function, [self.x + 1], self.x)
        self.refuses(TypeError, "not a function; wf.compile compiles a Python function", wf.function, lambda x: x)
        self.refuses(TypeError, "a list of declared ones \\(wf.input\\), not a int", wf.function, 3, self.x)
        self.refuses(TypeError, "updates are of Parameters, not of a Tensor", wf.function, [z], z, updates={z: z})
        self.refuses(wf.ShapeError, "the parameter 'w' has shape .2,., what takes its place has .3,.", wf.function, [], [], updates={w: wf.ones(3)})
        self.refuses(wf.DTypeError, "the parameter 'w' is float32, .* is float64; convert it with astype", wf.function, [], [], updates={w: wf.ones(2, dtype=wf.float64)})
        self.refuses(ValueError, "the parameter 'w' has two updates", wf.function, [], [], updates=[(w, w + 1), (w, w + 2)])
        self.refuses(wf.DTypeError, "the given 'z' is float32", wf.function, [], z, givens={z: wf.ones((), dtype=wf.float64)})
        self.refuses(wf.ShapeError, "the given 'z' has shape ..", wf.function, [], z, givens={z: wf.ones(3)})
        half = w / 2
        half.item if half.ndim == 0 else half.tolist()
        self.refuses(ValueError, "divide of the parameter 'w' was computed before", wf.function, [], [], updates={w: half})

    def test_arguments_that_are_not_as_declared_are_named(self):
        f = wf.function([self.x, self.y], self.loss)
        x, y = np.zeros((3, 2), "float32"), np.zeros(3, "float32")
        self.refuses(wf.DTypeError, "the input 'x' is declared float32, what is given is float64", f, x.astype("float64"), y)
        self.refuses(wf.ShapeError, "the input 'x' is declared .batch, 2., what is given has shape .3, 3.", f, np.zeros((3, 3), "float32"), y)
        self.refuses(wf.ShapeError, "the size 'batch' is 3 and, by the input 'y'", f, x, y[:2])
        self.refuses(ValueError, r"takes 2 arguments \(x, y\), 1 were given", f, x)
        self.refuses(TypeError, "there is no input 'z'; they are x, y", f, x, y, z=1)
        self.refuses(TypeError, "'x' is given twice", f, x, y, x=x)
        self.assertEqual(f([[0, 0]], [2]).item(), 4)        # plain numbers become the declared dtype
        count = wf.function([n := wf.input("n", (), wf.int64)], n + 1)
        self.refuses(wf.DTypeError, "'n' is declared int64, what is given is float32", count, 1.5)

    def test_gradients_with_constants_and_known_ones(self):
        x = wf.input("x", (3,))
        y = x * x
        at = np.array([1.0, 2.0, 3.0], "float32")

        def value(expression):
            return np.asarray(wf.function([x], expression, on_unused_input="ignore")(at))
        np.testing.assert_allclose(value(wf.gradient(wf.sum(x * y), wrt=x)), 3 * at ** 2)
        np.testing.assert_allclose(value(wf.gradient(wf.sum(x * y), wrt=x, consider_constant=[y])), at ** 2)
        known = wf.asarray([1.0, 0.0, 10.0])
        np.testing.assert_allclose(value(wf.gradient(None, wrt=x, known_grads={y: known})), 2 * at * np.asarray(known))
        # What is known counts alone: through y nothing of the loss.
        np.testing.assert_allclose(value(wf.gradient(wf.sum(x * y), wrt=x, known_grads={y: known})), at ** 2 + 2 * at * np.asarray(known))
        np.testing.assert_allclose(value(wf.gradient(wf.sum(x * y), wrt=[y, x], known_grads={y: known})[0]), np.asarray(known))
        z = wf.exp(y)       # of two known ones the upper adds nothing to the lower
        np.testing.assert_allclose(value(wf.gradient(None, wrt=x, known_grads={z: known, y: known})), 2 * at * np.asarray(known))
        self.refuses(wf.ShapeError, "gradient: a known one", wf.gradient, None, wrt=[x], known_grads={y: wf.ones(2)})
        self.refuses(ValueError, "neither a loss nor a known gradient", wf.gradient, None, wrt=[x])

    def test_a_parameter_held_constant_has_no_derivative_through_it(self):
        slope = wf.gradient(self.loss + wf.sum(self.w ** 2), wrt=self.w, consider_constant=[self.x])
        f = wf.function([self.x, self.y], slope)
        np.testing.assert_allclose(np.asarray(f([[1.0, 0.0]], [0.0])), [2.0 + 2.0, -2.0])

    def test_rop_and_lop_are_products_with_the_jacobian(self):
        x, u, v = wf.input("x", (2,)), wf.input("u", (2,)), wf.input("v", (3,))
        y = wf.stack([x[0] * x[1], wf.sin(x[0]), x[1] ** 3])
        f = wf.function([x, u, v], [wf.rop(y, x, u), wf.lop(y, x, v)])
        at = np.array([0.5, 2.0], "float32")
        jacobian = np.array([[2.0, 0.5], [np.cos(0.5), 0], [0, 12.0]])
        right, left = f(at, [1.0, -2.0], [3.0, 1.0, 0.5])
        np.testing.assert_allclose(np.asarray(right), jacobian @ [1, -2], rtol=1e-6)
        np.testing.assert_allclose(np.asarray(left), [3, 1, 0.5] @ jacobian, rtol=1e-6)
        several = wf.rop([self.x @ self.w, self.w * 2], [self.w], [wf.ones(2)])
        self.assertEqual([r.tolist() for r in wf.function([self.x], several)([[1.0, 2.0]])], [[3.0], [2.0, 2.0]])
        self.refuses(ValueError, "rop: 2 directions for 1 variables", wf.rop, y, x, [u, u])
        self.refuses(ValueError, "lop: 1 cotangents for 2 outputs", wf.lop, [y, y], x, v)

    def test_a_function_is_part_of_other_transformations(self):
        x = wf.input("x", ("n",))
        f = wf.function([x], wf.sum(x ** 3))
        self.assertEqual(wf.grad(f)(wf.asarray([1.0, 2.0])).tolist(), [3.0, 12.0])
        self.assertEqual(wf.vmap(f)(wf.asarray([[1.0, 2.0], [0.0, 1.0]])).tolist(), [9.0, 1.0])
        self.assertEqual(wf.compile(lambda z: f(z) * 2)(wf.asarray([1.0, 1.0])).item(), 4.0)

    def test_rules_of_custom_derivatives_stay_where_a_function_is_part_of_another_transformation(self):
        @wf.custom_vjp
        def odd_square(x):
            return x * x

        odd_square.defvjp(lambda x: (x * x, x), lambda x, g: (10 * x * g,))
        x = wf.input("x", ())
        f = wf.function([x], odd_square(x) + odd_square(x + 1))
        self.assertEqual(wf.grad(f)(wf.asarray(3.0)).item(), 70.0)

    def test_declared_tensors_are_keys_and_arrays_are_not(self):
        self.assertEqual({self.x: 1}[self.x], 1)
        self.refuses(TypeError, "unhashable", hash, wf.ones(2))


if __name__ == "__main__":
    unittest.main()
