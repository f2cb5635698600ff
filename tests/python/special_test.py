"""weft.special against scipy.special: every function, its derivatives against differences, refusals.

Skipped, and said so, where the package was not built (nanobind missing) or SciPy is missing."""
import unittest
import warnings

from built import LACKS, np, wf

try:
    import scipy.special
    SCIPY = tuple(map(int, scipy.__version__.split(".")[:2]))
except ImportError as error:
    LACKS = str(error)

# Where SciPy before 1.17 gave what later ones give: not at the poles, not at infinity.
OLDER = {"gamma": lambda x: x > 0, "expi": lambda x: x < np.inf}
# What SciPy has elsewhere, or under no name of its own.
NOT_SCIPYS = {"chi2sf", "exp2", "logaddexp", "sinc", "trigamma"}


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Special(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_every_name_is_scipys_and_takes_arrays_and_numbers(self):
        for name in wf.special.__all__:
            if name not in NOT_SCIPYS:
                self.assertTrue(hasattr(scipy.special, name), name)
            self.assertTrue(getattr(wf.special, name).__doc__, name)
        self.assertEqual(wf.special.gamma(wf.asarray(5, dtype=wf.float64)).item(), 24)

    def test_arrays_have_those_that_they_have_anywhere(self):
        for name in ("erf", "erfc", "erfinv", "lgamma", "digamma", "logsumexp", "sinc", "i0", "xlogy"):
            self.assertTrue(hasattr(wf, name), name)
        for name in ("gamma", "beta", "zeta", "jv"):
            self.assertFalse(hasattr(wf, name), name)

    def test_values_are_scipys_over_wide_ranges(self):
        rng = np.random.default_rng(3)
        wide = np.exp(rng.uniform(-5, 5, 200))
        cases = {"gammainc": (wide, wide[::-1]), "gammaincc": (wide, wide[::-1]), "beta": (wide, wide[::-1]), "betaln": (wide, wide[::-1]),
                 "zeta": (1 + wide, wide[::-1]), "jv": (rng.uniform(-3, 60, 200), wide), "yv": (rng.uniform(0, 30, 200), wide),
                 "iv": (rng.uniform(0, 60, 200), wide), "kv": (rng.uniform(-60, 60, 200), wide), "ive": (rng.uniform(0, 90, 200), 40 * wide),
                 "kve": (rng.uniform(-90, 90, 200), 40 * wide), "ndtri_exp": (-wide * 10,), "log_ndtr": (-wide,), "ndtr": (rng.uniform(-30, 8, 200),),
                 "erfcx": (rng.uniform(-20, 50, 200),), "erfcinv": (np.exp(-5 * wide),), "logit": (rng.uniform(0, 1, 200),), "gamma": (rng.uniform(-20, 170, 200),),
                 "poch": (wide, rng.uniform(0, 5, 200)), "exprel": (rng.uniform(-50, 600, 200),), "owens_t": (rng.uniform(-6, 6, 200), rng.uniform(-9, 9, 200)),
                 "binom": (rng.integers(0, 60, 200), rng.integers(0, 60, 200)), "comb": (rng.integers(0, 60, 200), rng.integers(-2, 70, 200)),
                 "factorial": (np.arange(-3, 171),), "polygamma": (rng.integers(0, 9, 200), wide),
                 "exp1": (wide,), "expi": (np.concatenate([1 + wide, -wide]),), "expn": (rng.integers(0, 60, 200), wide), "spence": (wide,),
                 "betainc": (wide, wide[::-1], rng.uniform(0, 1, 200)), "betaincinv": (1 + wide, 1 + wide[::-1], rng.uniform(0, 1, 200))}
        for name, arguments in cases.items():
            arguments = [np.asarray(x, dtype="float64") for x in arguments]
            with self.subTest(name):
                theirs = getattr(scipy.special, name)(*arguments)
                np.testing.assert_allclose(np.asarray(getattr(wf.special, name)(*arguments)), theirs, rtol=2e-11, atol=1e-300 if name not in ("jv", "yv") else 1e-13)

    def test_special_numbers_give_what_scipy_gives(self):
        numbers = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5])
        for name in ("erfcx", "erfcinv", "gamma", "ndtr", "log_ndtr", "ndtri", "ndtri_exp", "logit", "entr", "exprel", "exp1", "expi", "spence", "i0e", "i1e", "k0",
                     "k1", "k0e", "k1e"):
            with self.subTest(name):
                x = numbers[OLDER[name](numbers)] if name in OLDER and SCIPY < (1, 17) else numbers
                np.testing.assert_allclose(np.asarray(getattr(wf.special, name)(x)), getattr(scipy.special, name)(x), rtol=1e-13)
        a, b = np.meshgrid(numbers, numbers)
        unknown = np.isnan(a) | np.isnan(b)     # of NaN always NaN; SciPy's incomplete gamma functions were not before 1.16
        for name in ("xlogy", "xlog1py", "rel_entr", "kl_div", "gammainc", "gammaincc", "owens_t"):
            with self.subTest(name):
                mine, theirs = np.asarray(getattr(wf.special, name)(a, b)), getattr(scipy.special, name)(a, b)
                np.testing.assert_allclose(mine[~unknown], theirs[~unknown], rtol=1e-13)
                self.assertTrue(np.isnan(mine[unknown]).all())

    def test_bessel_functions_at_infinity_are_their_limits(self):
        for name, limit in (("j0", 0), ("j1", 0), ("y0", 0), ("y1", 0), ("i0", np.inf), ("i1", np.inf)):
            self.assertEqual(getattr(wf.special, name)(np.inf).item(), limit, name)  # SciPy gives NaN

    def test_functions_of_several_elements(self):
        x = np.random.default_rng(1).standard_normal((3, 4))
        for name in ("softmax", "log_softmax", "logsumexp"):
            for axis in (None, 0, -1):
                with self.subTest(name, axis=axis):
                    np.testing.assert_allclose(np.asarray(getattr(wf.special, name)(x, axis=axis)), getattr(scipy.special, name)(x, axis=axis), rtol=1e-13)
        a = 3 + x * x
        np.testing.assert_allclose(np.asarray(wf.special.multigammaln(a, 3)), scipy.special.multigammaln(a, 3), rtol=1e-13)
        with self.assertRaisesRegex(ValueError, "multigammaln: the dimension must be 1 or more, not 0"):
            wf.special.multigammaln(a, 0)

    def test_lambertw_is_scipys_principal_branch_where_that_is_real(self):
        x = np.concatenate([np.exp(np.linspace(-30, 300, 100)), -np.exp(-1) + np.exp(np.linspace(-30, -1, 100))])
        np.testing.assert_allclose(np.asarray(wf.special.lambertw(x)), scipy.special.lambertw(x).real, rtol=1e-7)   # near -1/e SciPy has half its digits
        w = np.asarray(wf.special.lambertw(x))
        np.testing.assert_allclose(w * np.exp(w), x, rtol=1e-13)
        self.assertTrue(np.isnan(wf.special.lambertw(-0.5).item()))
        with self.assertRaisesRegex(NotImplementedError, "lambertw: the branch -1 is not there"):
            wf.special.lambertw(-0.1, k=-1)

    def test_derivatives_of_integrals_hold_where_their_formulas_are_0_by_0(self):
        one = wf.asarray(1.0, dtype=wf.float64)
        slope = wf.grad(wf.special.spence)
        self.assertEqual((slope(one).item(), wf.grad(slope)(one).item()), (-1.0, 0.5))
        self.assertEqual(wf.grad(wf.special.lambertw)(0 * one).item(), 1.0)
        x = wf.asarray(2.0, dtype=wf.float64)
        self.assertAlmostEqual(wf.grad(wf.grad(lambda x: wf.special.expn(1, x)))(x).item(), np.exp(-2) * 3 / 4, delta=1e-15)   # exp(-x) (x + 1) / x^2

    def test_divergences_from_far_smaller_numbers_are_scipys(self):
        a, b = np.array([1.0, 2.0, 1000.0, 1e20, 3.0, 1e-5]), np.array([1e-300, 1e-10, 1e-10, 2.0, 4.4, 1e5])
        np.testing.assert_allclose(np.asarray(wf.special.kl_div(wf.asarray(a), wf.asarray(b))), scipy.special.kl_div(a, b), rtol=1e-14)

    def test_at_a_kink_the_derivative_is_0(self):
        for x in (0.0, -0.0):
            self.assertEqual(wf.grad(wf.special.i0e)(wf.asarray(x, dtype=wf.float64)).item(), 0)

    def test_names_and_defaults_of_arguments_are_scipys(self):
        x = np.array([0.5, 2.5])
        for name, call in [("comb", lambda f, x: f(N=7.0, k=x)), ("comb", lambda f, x: f(5, 3, exact=True)), ("comb", lambda f, x: f(5.0, x, repetition=True)),
                           ("factorial", lambda f, x: f(x)), ("factorial", lambda f, x: f(20, exact=True)), ("polygamma", lambda f, x: f(n=2, x=x)),
                           ("zeta", lambda f, x: f(x + 1)), ("zeta", lambda f, x: f(x + 1, q=2.0)), ("logsumexp", lambda f, x: f(x, 0, [2.0, -0.1])),
                           ("logsumexp", lambda f, x: f(x, b=[1.0, -3.0], keepdims=True, return_sign=True)), ("logsumexp", lambda f, x: f([x, x], axis=1)),
                           ("logsumexp", lambda f, x: f(x, b=[0.0, 1.0])), ("logsumexp", lambda f, x: f(x, b=-1.0))]:
            theirs, mine = call(getattr(scipy.special, name), x), call(getattr(wf.special, name), wf.asarray(x))
            for i, (a, b) in enumerate(zip(mine, theirs) if isinstance(theirs, tuple) else [(mine, theirs)]):
                np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6, err_msg=f"{name}, result {i}")

    def test_lgamma_differentiates_to_any_order(self):
        f = wf.lgamma
        for order in range(1, 6):
            f = wf.grad(f)
            self.assertAlmostEqual(f(wf.asarray(1.75, dtype=wf.float64)).item(), scipy.special.polygamma(order - 1, 1.75), delta=1e-10)

    def test_a_derivative_that_is_not_known_is_refused_by_name(self):
        two = wf.asarray(2.5, dtype=wf.float64)
        for name, parameter in (("gammainc", "its parameter a"), ("zeta", "its exponent"), ("jv", "its order"), ("polygamma", "its order")):
            function = getattr(wf.special, name)
            with self.assertRaisesRegex(wf.NotDifferentiable, f"{name}: its derivative in {parameter} is not known"):
                wf.grad(lambda a: function(a, two))(two)
            self.assertTrue(np.isfinite(wf.grad(lambda x: function(2.0, x))(two).item()), name)


if __name__ == "__main__":
    unittest.main()
