"""Functions of functions in Python: vmap, jacobians, custom_vjp, checkpoint, over trees and in each other.

Skipped, and said so, where the package was not built (nanobind missing)."""
import doctest
import functools
import unittest

from built import LACKS, np, wf


def close(mine, theirs, error=1e-6):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=error, atol=error)


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Vmap(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(2)

    def numbers(self, *shape):
        return self.rng.standard_normal(shape)

    def test_axes_may_be_given_for_each_argument_and_result_also_from_the_end_and_for_trees(self):
        x, y = self.numbers(4, 3, 2), self.numbers(3, 5)
        found = wf.vmap(lambda a, b: (a @ b, {"sum": a.sum()}), in_axes=(1, -2), out_axes=(-1, {"sum": 0}))(
            wf.asarray(x), wf.asarray(self.numbers(3, 2)))
        self.assertEqual((found[0].shape, found[1]["sum"].shape), ((4, 3), (3,)))
        close(found[1]["sum"], x.sum((0, 2)))
        tree = {"x": wf.asarray(x), "rest": [wf.asarray(y), wf.asarray(2.0)]}
        found = wf.vmap(lambda t: t["x"].sum() * t["rest"][0] * t["rest"][1], in_axes=({"x": 1, "rest": [0, None]},))(tree)
        close(found, x.sum((0, 2))[:, None] * y * 2)

    def test_arguments_by_name_are_mapped_along_their_first_axis(self):
        close(wf.vmap(lambda a, b: a - b, in_axes=None)(wf.asarray(1.0), b=wf.asarray([1.0, 2.0])), [0, -1])

    def test_results_that_do_not_depend_on_the_example_are_repeated_or_stay(self):
        x = wf.ones((3, 2))
        self.assertEqual(wf.vmap(lambda a: wf.zeros(4))(x).shape, (3, 4))
        self.assertEqual(wf.vmap(lambda a: wf.zeros(4), out_axes=None)(x).shape, (4,))
        self.assertEqual(wf.vmap(lambda a: 7.0)(x).shape, (3,))
        self.assertEqual(wf.vmap(lambda a: ("name", a), out_axes=(None, 0))(x)[0], "name")

    def test_it_composes_with_every_transformation_in_either_order(self):
        w, x = self.numbers(3), self.numbers(5, 3)
        loss = lambda a, b: wf.tanh((a * b).sum()) * a[0]
        def slopes(z):
            t = np.tanh(z @ w)
            g = (1 - t ** 2) * z[0] * w
            g[0] += t
            return g
        expected = np.stack([slopes(z) for z in x])
        each = wf.vmap(wf.grad(loss), in_axes=(0, None))
        close(each(x, w), expected)
        close(wf.grad(lambda a: wf.vmap(loss, in_axes=(0, None))(a, w).sum())(x), expected)
        close(wf.compile(each)(x, w), expected)
        close(wf.vmap(wf.compile(wf.grad(loss)), in_axes=(0, None))(x, w), expected)
        close(wf.vmap(lambda a: wf.jvp(lambda z: loss(z, wf.asarray(w)), (a,), (wf.asarray(w),))[1])(x), expected @ w)
        close(wf.vmap(lambda a: wf.vjp(lambda z: loss(z, wf.asarray(w)), a)[1](wf.asarray(2.0, dtype="float64"))[0])(x), 2 * expected)
        close(wf.vmap(wf.jacobian(wf.grad(loss)), in_axes=(0, None))(x, w), wf.vmap(wf.hessian(loss), in_axes=(0, None))(x, w))
        nested = wf.vmap(wf.vmap(loss, in_axes=(None, 0)), in_axes=(0, None))
        close(nested(x, x), [[np.tanh(a @ b) * a[0] for b in x] for a in x])

    def test_numbers_of_examples_that_differ_are_named(self):
        with self.assertRaisesRegex(ValueError, r"argument\[0\] has 3 examples .* argument\[1\]\['b'\] has 4 .*axis 1"):
            wf.vmap(lambda a, t: a, in_axes=(0, 1))(wf.ones(3), {"b": wf.ones((2, 4))})

    def test_what_cannot_be_mapped_is_refused_by_name(self):
        cases = [
            (r"argument\[1\] is 2.0, which has no axis", lambda: wf.vmap(lambda a, b: a)(wf.ones(3), 2.0)),
            (r"in_axes maps no argument", lambda: wf.vmap(lambda a: a, in_axes=None)(wf.ones(3))),
            (r"in_axes: \[0, 0\] does not fit a list of 1", lambda: wf.vmap(lambda a: a, in_axes=(0, 0))(wf.ones(3))),
            (r"out_axes is None for result 0, .* differs between examples", lambda: wf.vmap(lambda a: a, out_axes=None)(wf.ones(3))),
            (r"in_axes of argument\[0\]: axis 2 is out of bounds", lambda: wf.vmap(lambda a: a, in_axes=2)(wf.ones(3))),
            (r"vmap: a number is asked for .*choose with where", lambda: wf.vmap(lambda a: a if a > 0 else -a)(wf.ones(3))),
            (r"vmap: a number is asked for .*choose with where", lambda: wf.vmap(wf.compile(lambda a: a * float(a)))(wf.ones(3))),
        ]
        for words, call in cases:
            with self.subTest(words), self.assertRaisesRegex((ValueError, IndexError), words):
                call()

    def test_a_key_for_each_example_gives_each_its_own_numbers(self):
        keys = wf.random.split(wf.random.key(3), 4)
        found = wf.vmap(lambda k: wf.random.normal((2,), key=k))(keys)
        close(found, wf.stack([wf.random.normal((2,), key=keys[i]) for i in range(4)]))
        shared = np.asarray(wf.vmap(lambda x: x + wf.random.normal((), key=wf.random.key(1)))(wf.zeros(3)))
        self.assertEqual(len(set(shared.tolist())), 1)

    def test_a_parameter_cannot_be_set_to_what_differs_between_examples(self):
        cell = wf.Parameter(wf.zeros(()), name="count")
        def f(x):
            cell.value = x.sum()
            return x
        with self.assertRaisesRegex(ValueError, "the parameter 'count' is given a value .* depends on an example of vmap"):
            wf.vmap(f)(wf.ones((3, 2)))
        with self.assertRaisesRegex(ValueError, "vmap: what depends on an example leaves the mapped function"):
            wf.compile(wf.vmap(f))(np.ones((3, 2), "float32"))
        self.assertEqual(float(cell.value), 0)

    def test_no_examples_are_no_trouble(self):
        self.assertEqual(wf.vmap(lambda a: (a @ a).sum())(wf.ones((0, 2, 2))).shape, (0,))

    def test_a_long_chain_is_mapped_without_recursion(self):
        def chain(x):
            for _ in range(50_000):
                x = x + 1
            return x
        close(wf.vmap(chain)(wf.zeros(2)), [50_000, 50_000])


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Jacobians(unittest.TestCase):
    def test_both_ways_give_the_matrix_of_derivatives_over_trees(self):
        a = np.random.default_rng(3).standard_normal((4, 3))
        x = wf.asarray([0.1, 0.2, 0.3], dtype="float64")
        f = lambda t: {"y": wf.sin(wf.asarray(a) @ t), "z": (t ** 2).sum()}
        for jacobian in (wf.jacobian, wf.jacrev, wf.jacfwd):
            found = jacobian(f)(x)
            close(found["y"], np.cos(a @ np.asarray(x))[:, None] * a)
            close(found["z"], 2 * np.asarray(x))
        first, second = wf.jacobian(lambda p, q: p * q, argnums=(0, 1))(x, x + 1)
        close(first, np.diag(np.asarray(x) + 1))
        close(second, np.diag(np.asarray(x)))

    def test_elements_of_the_result_add_no_nodes(self):
        lines = [wf._core.Compiled(lambda x: [wf.jacobian(lambda t: wf.tanh(t) * t.sum())(x[0])], wf._core.Allowance()).explain([wf.ones(n)])
                 .split("-- rewrites")[0].count("\n") for n in (4, 64)]
        self.assertEqual(lines[0], lines[1])


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Complex(unittest.TestCase):
    Z = np.array([0.3 + 0.4j, -1.2 + 0.5j, 0.8 - 2.0j]) if LACKS is None else None

    def differences(self, f, step=1e-6):
        """d f / dx - i d f / dy of each element, by central differences."""
        grad = np.zeros(3, complex)
        for i in range(3):
            for part, factor in ((1, 1), (1j, -1j)):
                d = np.zeros(3, complex)
                d[i] = part * step
                grad[i] += factor * (float(f(self.Z + d)) - float(f(self.Z - d))) / (2 * step)
        return grad

    def test_the_gradient_of_a_real_loss_is_the_conjugate_of_the_steepest_ascent(self):
        for f in (lambda z: (wf.abs(z) ** 2).sum(), lambda z: (wf.sin(z) * wf.conj(z)).real.sum(), lambda z: wf.abs(wf.fft.fft(z)).sum(),
                  lambda z: wf.abs(wf.exp(z) / (z @ z)).max(), lambda z: (wf.real(z) * wf.imag(z * z)).prod()):
            close(wf.grad(lambda z: f(z))(self.Z), self.differences(lambda z: f(wf.asarray(z))), 1e-7)

    def test_a_holomorphic_derivative_is_said_and_the_ordinary_one(self):
        close(wf.grad(lambda z: z ** 3, holomorphic=True)(wf.asarray(1 + 2j)), 3 * (1 + 2j) ** 2)
        close(wf.hessian(lambda z: z ** 3, holomorphic=True)(wf.asarray(1 + 2j)), 6 * (1 + 2j), 1e-5)
        close(wf.jacobian(lambda z: z * z, holomorphic=True)(self.Z), np.diag(2 * self.Z))
        with self.assertRaisesRegex(TypeError, "must be real, not complex64.*holomorphic=True"):
            wf.grad(lambda z: z ** 3)(wf.asarray(1 + 2j))
        with self.assertRaisesRegex(TypeError, "holomorphic=True takes complex arguments and results, but an argument is"):
            wf.grad(lambda x: x ** 3, holomorphic=True)(wf.asarray(1.0))
        for jacobian in (wf.jacobian, wf.jacfwd):
            with self.assertRaisesRegex(TypeError, "only if the function is holomorphic"):
                jacobian(lambda z: z * z)(self.Z)

    def test_a_real_argument_of_a_complex_way_has_a_real_derivative(self):
        found = wf.grad(lambda x: wf.abs(wf.exp(x * (1 + 2j))).sum())(wf.asarray([0.5, 1.0]))
        self.assertEqual(str(found.dtype), "weft.float32")
        close(found, np.exp([0.5, 1.0]))


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Custom(unittest.TestCase):
    def test_the_rule_is_used_as_jax_uses_it_with_trees_and_fixed_arguments(self):
        @functools.partial(wf.custom_vjp, nondiff_argnums=(0,))
        def f(power, t, y=1.0):
            return {"out": t["x"] ** power * y, "count": wf.asarray([1, 2])}
        f.defvjp(lambda power, t, y: (f.f(power, t, y), (t["x"], y)),
                 lambda power, kept, c: ({"x": 100 * power * kept[0] * c["out"]}, (kept[0] * c["out"]).sum()))
        x, y = wf.asarray([1.0, 2.0]), wf.asarray(3.0)
        gx, gy = wf.grad(lambda t, s: f(2, t, y=s)["out"].sum(), argnums=(0, 1))({"x": x}, y)
        close(gx["x"], [200, 400])
        close(gy, 3)
        close(wf.grad(lambda t: f(2, t)["out"].sum())({"x": x})["x"], [200, 400])

    def test_a_rule_sees_the_cotangents_of_all_results_at_once(self):
        seen = []
        @wf.custom_vjp
        def f(x):
            return x * 2, x + 1
        def bwd(_, cotangents):
            seen.append(len(cotangents))
            return (cotangents[0] * 10 + cotangents[1],)
        f.defvjp(lambda x: ((x * 2, x + 1), None), bwd)
        close(wf.grad(lambda x: (f(x)[0] * 3 + f(x)[1]).sum())(wf.ones(2)), [31, 31])
        close(wf.grad(lambda x: sum(part.sum() for part in f(x)))(wf.ones(2)), [11, 11])
        self.assertEqual(set(seen), {2})

    def test_fwd_may_call_the_function_itself_whose_rule_holds_for_what_is_remembered_too(self):
        @wf.custom_vjp
        def f(x):
            return wf.exp(x)
        f.defvjp(lambda x: (f(x), f(x)), lambda y, c: (3 * c * y,))
        x = wf.asarray(0.5)
        close(f(x), np.exp(0.5))
        close(wf.grad(f)(x), 3 * np.exp(0.5))
        close(wf.grad(wf.grad(f))(x), 9 * np.exp(0.5))

    def test_values_and_derivatives_share_what_was_drawn_and_a_rule_that_is_not_asked_for_costs_nothing(self):
        @wf.custom_vjp
        def dropped(x):
            return x
        def fwd(x):
            mask = wf.random.bernoulli(0.5, x.shape)
            return wf.where(mask, x, 0.0), {"mask": mask, "never": wf.linalg.inv(wf.zeros((2, 2)))}
        dropped.defvjp(fwd, lambda kept, c: (wf.where(kept["mask"], c, 0.0),))
        x = wf.ones(64)
        value, slope = wf.value_and_grad(lambda x: (dropped(x) * 2).sum())(x)
        close(value, np.asarray(slope).sum())
        self.assertEqual(set(np.asarray(dropped(x)).tolist()), {0.0, 1.0})

    def test_it_is_mapped_compiled_and_differentiated_again(self):
        @wf.custom_vjp
        def f(x):
            return wf.sin(x)
        f.defvjp(lambda x: (wf.sin(x), wf.cos(x)), lambda c, g: (c * g,))
        x = np.linspace(0, 1, 6).reshape(2, 3)
        loss = lambda a: f(a).sum()
        close(wf.vmap(wf.grad(loss))(x), np.cos(x))
        close(wf.compile(wf.vmap(wf.grad(loss)))(x), np.cos(x))
        close(wf.grad(lambda a: wf.vmap(loss)(a).sum())(x), np.cos(x))
        close(wf.grad(lambda a: wf.grad(loss)(a).sum())(x), -np.sin(x))

    def test_what_is_wrong_with_a_rule_is_said(self):
        @wf.custom_vjp
        def f(x):
            return x
        with self.assertRaisesRegex(ValueError, r"f has no derivative yet; give it one with f.defvjp\(fwd, bwd\)"):
            f(wf.ones(2))
        f.defvjp(lambda x: x, lambda _, c: (c,))
        with self.assertRaisesRegex(ValueError, "fwd of f must give a pair of a result and residuals"):
            f(wf.ones(2))
        f.defvjp(lambda x: (x, None), lambda _, c: (c, c))
        with self.assertRaisesRegex(ValueError, "bwd of f must give a tuple of 1 cotangents"):
            wf.grad(lambda x: f(x).sum())(wf.ones(2))
        f.defvjp(lambda x: (x, None), lambda _, c: (c.sum(),))
        with self.assertRaisesRegex(ValueError, r"f: the rule gave a cotangent float32 \(\) for input 0"):
            wf.grad(lambda x: f(x).sum())(wf.ones(2))
        with self.assertRaisesRegex(Exception, "f: its derivative is known in reverse mode alone"):
            wf.jvp(f, (wf.ones(2),), (wf.ones(2),))


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Checkpoint(unittest.TestCase):
    def test_derivatives_are_the_same_over_trees_and_in_every_transformation(self):
        x = np.linspace(0.1, 1, 6).reshape(2, 3)
        f = lambda t: {"y": (wf.sin(t["x"]) * t["x"]).sum(), "n": 3}
        plain, again = lambda a: f({"x": a})["y"], lambda a: wf.checkpoint(f)({"x": a})["y"]
        for transform in (wf.grad, lambda g: wf.vmap(wf.grad(g)), lambda g: wf.compile(wf.grad(g)), wf.hessian,
                          lambda g: wf.grad(lambda a: wf.vmap(g)(a).sum())):
            np.testing.assert_array_equal(np.asarray(transform(plain)(x)), np.asarray(transform(again)(x)))
        self.assertEqual(wf.checkpoint(f)({"x": x})["n"], 3)

    def test_what_it_reads_from_outside_has_derivatives_too(self):
        w = wf.asarray([2.0, 3.0])
        close(wf.grad(lambda v: wf.checkpoint(lambda x: (wf.sin(x) * v).sum())(wf.ones(2)))(w), np.sin([1, 1]))

    def test_a_compiled_program_takes_less_memory(self):
        rng = np.random.default_rng(4)
        weights = [wf.asarray((rng.standard_normal((32, 32)) / 6).astype("float32")) for _ in range(16)]
        x = wf.asarray(rng.standard_normal((1024, 32)).astype("float32"))
        def block(y, part):
            for w in part:
                y = wf.tanh(y @ w)
            return y
        def arena(transform):
            def loss(ws, y):
                for i in range(0, 16, 4):
                    y = transform(block)(y, ws[i:i + 4])
                return (y * y).sum()
            program = wf._core.Compiled(lambda given: wf.grad(loss)(given[:-1], given[-1]), wf._core.Allowance())
            return int(program.explain([*weights, x]).split("arena ")[1].split(" bytes")[0])
        self.assertLess(arena(wf.checkpoint), 0.5 * arena(lambda f: f))


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Determinants(unittest.TestCase):
    def test_a_singular_matrix_has_a_derivative_of_its_determinant(self):
        # The cofactors, by minors (Laplace's expansion).
        for matrix in ([[1, 2], [2, 4]], [[0, 0], [0, 0]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2j], [-2j, 4]], [[2, 1j, 3], [0, 1, 1], [1, 0, 5]]):
            x = np.array(matrix, dtype=complex if any(isinstance(e, complex) for row in matrix for e in row) else float)
            minors = [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(len(x))] for i in range(len(x))]
            if x.dtype == float:
                close(wf.grad(wf.linalg.det)(wf.asarray(x)), minors, 1e-12)
            real = wf.grad(lambda a: wf.real(wf.linalg.det(a)))
            close(real(wf.asarray(x)), minors, 1e-12)
            batch = wf.asarray(np.stack([x, x.T + np.eye(len(x))]))
            close(wf.vmap(real)(batch)[0], minors, 1e-12)
            direction = np.cos(np.arange(x.size)).reshape(x.shape).astype(x.dtype)
            close(wf.jvp(wf.linalg.det, (wf.asarray(x),), (wf.asarray(direction),))[1], np.sum(np.array(minors) * direction), 1e-12)

    def test_second_derivatives_of_a_regular_one_are_those_of_its_formula(self):
        # det [[a, b], [c, d]] = a d - b c
        found = np.asarray(wf.hessian(wf.linalg.det)(wf.asarray([[1.0, 2.0], [3.0, 5.0]], dtype=wf.float64))).reshape(4, 4)
        close(found, [[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]], 1e-12)
        with self.assertRaisesRegex(ValueError, "singular"):
            wf.eval(wf.hessian(wf.linalg.det)(wf.zeros((2, 2))))


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Documentation(unittest.TestCase):
    def test_examples_in_docstrings_give_what_they_say(self):
        for function in (wf.vmap, wf.custom_vjp, wf.checkpoint, wf.value_and_grad):
            self.assertIn(">>>", function.__doc__)
            failed, _ = doctest.DocTestRunner().run(doctest.DocTestFinder().find(function, function.__name__, globs={"wf": wf})[0])
            self.assertEqual(failed, 0, function.__name__)


if __name__ == "__main__":
    unittest.main()
