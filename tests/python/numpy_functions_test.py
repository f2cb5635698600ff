"""NumPy's functions beyond the array API standard, and those of the standard that package_test.py does not show, against NumPy's own: the same
calls with the same arguments. Skipped, and said so, where the package was not built (nanobind missing)."""
import unittest
import warnings

from built import LACKS, np, wf

if not LACKS:
    NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
    NUMPY_2 = NUMPY >= (2, 0)
    RNG = np.random.default_rng(3)
    V, W = RNG.normal(size=9), RNG.normal(size=4)
    M, N3 = RNG.normal(size=(4, 6)), RNG.normal(size=(3, 4, 5))
    GAPS = np.where(M > 0.7, np.nan, M)
    I, J = RNG.integers(-5, 6, (4, 6)), RNG.integers(0, 7, 12)
    Z = V + 1j * RNG.normal(size=9)
    PELL = np.array([round(((1 + 2**0.5) ** k) / 8**0.5) for k in range(1, 19)] + [0] * 31)  # neighbours take Euclid's algorithm longest
    for k in range(18, len(PELL)):
        PELL[k] = 2 * PELL[k - 1] + PELL[k - 2]


def calls():
    """Name, then calls of it: xp is weft or NumPy, a(x) an array of it."""
    yield "quantile", [lambda xp, a, m=m, k=k: xp.quantile(a(M), [0.1, 0.5, 1], axis=1, method=m, keepdims=k) for k in (False, True) for m in
                       ("inverted_cdf", "averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
                        "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")]
    yield "quantile", [lambda xp, a: xp.quantile(a(V), 0.3)]
    yield "percentile", [lambda xp, a: xp.percentile(a(N3), 30, axis=(0, 2)), lambda xp, a: xp.percentile(a(M), 99.7), lambda xp, a: xp.percentile(a(V), [[1, 50], [2, 99.5]])]
    yield "median", [lambda xp, a: xp.median(a(M)), lambda xp, a: xp.median(a(GAPS), axis=0)]
    for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", "nanmedian", "nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        yield name, [lambda xp, a, axis=axis, n=name: getattr(xp, n)(a(GAPS), axis=axis) for axis in (None, 0, -1)]
    yield "nanquantile", [lambda xp, a: xp.nanquantile(a(GAPS), [0.2, 0.9], axis=1), lambda xp, a: xp.nanpercentile(a(GAPS), 40)]
    yield "nan_to_num", [lambda xp, a: xp.nan_to_num(a(np.array([np.nan, np.inf, -np.inf, 1.5]))),
                         lambda xp, a: xp.nan_to_num(a(np.array([np.nan, np.inf, -np.inf])), nan=1, posinf=2, neginf=3)]
    yield "average", [lambda xp, a: xp.average(a(M), axis=1, weights=a(np.arange(6.0))), lambda xp, a: xp.average(a(M)),
                      lambda xp, a: xp.average(a(V), weights=a(V**2), returned=True)]
    yield "ptp", [lambda xp, a: xp.ptp(a(I), axis=0), lambda xp, a: xp.ptp(a(M))]
    yield "cov", [lambda xp, a: xp.cov(a(M)), lambda xp, a: xp.cov(a(M), rowvar=False, ddof=2), lambda xp, a: xp.cov(a(V), a(V[::-1].copy())),
                  lambda xp, a: xp.cov(a(M), aweights=a(np.arange(1.0, 7))), lambda xp, a: xp.cov(a(M), fweights=a(np.arange(1, 7)), bias=True)]
    yield "corrcoef", [lambda xp, a: xp.corrcoef(a(M)), lambda xp, a: xp.corrcoef(a(V), a(V[::-1].copy()))]
    yield "bincount", [lambda xp, a: xp.bincount(a(J)), lambda xp, a: xp.bincount(a(J), weights=a(np.arange(12.0)), minlength=9)]
    yield "digitize", [lambda xp, a, r=r, b=b: xp.digitize(a(M), a(b), right=r) for r in (False, True) for b in (np.array([-1., 0, 1]), np.array([1., 0, -2]))]
    yield "histogram", [lambda xp, a, b=b: xp.histogram(a(V), bins=b) for b in (10, 3, *(["auto"] if NUMPY >= (2, 3) else []), "fd", "doane", "scott", "rice", "sqrt", "sturges")] + [
        lambda xp, a: xp.histogram(a(M), bins=a(np.array([-1., 0, 0.5, 2]))), lambda xp, a: xp.histogram(a(V), 4, range=(-1, 1), density=True),
        lambda xp, a: xp.histogram(a(V), 4, weights=a(V**2)), lambda xp, a: xp.histogram(a(J), bins=5)]
    yield "histogram_bin_edges", [lambda xp, a: xp.histogram_bin_edges(a(V), 7), lambda xp, a: xp.histogram_bin_edges(a(V), "auto", range=(-1, 2))]
    yield "histogram2d", [lambda xp, a: xp.histogram2d(a(V), a(V[::-1].copy()), bins=4)]
    yield "histogramdd", [lambda xp, a: (lambda found: (found[0], *found[1]))(xp.histogramdd(a(RNG_POINTS), bins=3))]
    yield "pad", [lambda xp, a, m=m: xp.pad(a(M), ((2, 9), (7, 1)), mode=m) for m in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median", "linear_ramp")] + [
        lambda xp, a, m=m: xp.pad(a(I), ((2, 9), (7, 1)), mode=m, reflect_type="odd") for m in ("reflect", "symmetric")] + [
        lambda xp, a: xp.pad(a(V), 3, mode="linear_ramp", end_values=(1, 2)), lambda xp, a: xp.pad(a(V), (2, 3), mode="mean", stat_length=2),
        lambda xp, a: xp.pad(a(M), ((1, 2), (0, 1)), constant_values=((1, 2), (3, 4))), lambda xp, a: xp.pad(a(I), 1, constant_values=7)]
    yield "interp", [lambda xp, a: xp.interp(a(V), a(np.arange(4.0)), a(W)), lambda xp, a: xp.interp(a(V), a(np.arange(4.0)), a(W), left=9, right=8),
                     lambda xp, a: xp.interp(a(V * 9), a(np.array([3., 1, 0, 5])), a(W), period=6)]
    yield "convolve", [lambda xp, a, m=m, p=p, q=q: xp.convolve(a(p), a(q), mode=m) for m in ("full", "same", "valid") for p, q in ((V, W), (W, V), (Z, W), (J, I[0]))]
    yield "correlate", [lambda xp, a, m=m, p=p, q=q: xp.correlate(a(p), a(q), mode=m) for m in ("full", "same", "valid") for p, q in ((V, W), (W, V), (Z, W), (W, Z), (J, I[0]))]
    if NUMPY_2:
        yield "trapezoid", [lambda xp, a: xp.trapezoid(a(M), dx=0.5, axis=0), lambda xp, a: xp.trapezoid(a(M), a(np.arange(6.0)**2))]
    yield "gradient", [lambda xp, a: xp.gradient(a(M)), lambda xp, a: xp.gradient(a(M), 0.5, axis=1), lambda xp, a: xp.gradient(a(M), 2.0, a(np.arange(6.0)**2), edge_order=2)]
    yield "unwrap", [lambda xp, a: xp.unwrap(a(np.cumsum(V) * 4)), lambda xp, a: xp.unwrap(a(M * 9), axis=0, period=5.0)]
    yield "ediff1d", [lambda xp, a: xp.ediff1d(a(M)), lambda xp, a: xp.ediff1d(a(I), to_end=[9, 8], to_begin=7)]
    for name in ("bartlett", "blackman", "hanning", "hamming"):
        yield name, [lambda xp, a, n=n, f=name: getattr(xp, f)(n, **({"dtype": "float64"} if xp is wf else {})) for n in (0, 1, 2, 9)]
    yield "kaiser", [lambda xp, a: xp.kaiser(7, 14.0, **({"dtype": "float64"} if xp is wf else {}))]
    yield "polyval", [lambda xp, a: xp.polyval(a(W), a(M)), lambda xp, a: xp.polyval([1, 2, 3], 4)]
    yield "polydiv", [lambda xp, a: xp.polydiv(a(V), a(W))[0], lambda xp, a: xp.polydiv(a(V), a(W))[1]]
    yield "polyfit", [lambda xp, a: xp.polyfit(a(V), a(np.sin(V)), 3), lambda xp, a: xp.polyfit(a(V), a(np.stack([V, V**2], 1)), 2, w=a(np.abs(V)))]
    yield "polyder", [lambda xp, a: xp.polyder(a(V)), lambda xp, a: xp.polyint(a(V), 2, [1, 2]), lambda xp, a: xp.poly(a(W)), lambda xp, a: xp.polymul(a(V), a(W))]
    yield "roots", [lambda xp, a: np.sort_complex(np.asarray(xp.roots(a(np.array([1., -6, 11, -6, 0])))))]
    yield "vander", [lambda xp, a: xp.vander(a(W)), lambda xp, a: xp.vander(a(W), 3, increasing=True)]
    yield "stacks", [lambda xp, a, f=f: getattr(xp, f)([a(W), a(W * 2)]) for f in ("hstack", "vstack", "dstack", "column_stack")] + [
        lambda xp, a: xp.hstack([a(M), a(M)]), lambda xp, a: xp.block([[a(M), a(M)], [a(np.ones((1, 12)))]]), lambda xp, a: xp.block([a(V), 1.0])]
    yield "atleast", [lambda xp, a, f=f, x=x: getattr(xp, f)(a(x)) for f in ("atleast_1d", "atleast_2d", "atleast_3d") for x in (np.float64(3), V, M, N3)]
    yield "split", [lambda xp, a: xp.split(a(M), 3, axis=1), lambda xp, a: xp.split(a(V), [2, 5]), lambda xp, a: xp.array_split(a(V), 4), lambda xp, a: xp.hsplit(a(M), 2),
                    lambda xp, a: xp.vsplit(a(M), [1, 3]), lambda xp, a: xp.dsplit(a(N3), 5), lambda xp, a: xp.array_split(a(M), [1, -1, 9], axis=1)]
    yield "rot90", [lambda xp, a, k=k: xp.rot90(a(M), k) for k in range(-2, 5)] + [lambda xp, a: xp.rot90(a(N3), 1, (1, 2)), lambda xp, a: xp.flipud(a(M)), lambda xp, a: xp.fliplr(a(M))]
    yield "roll", [lambda xp, a: xp.roll(a(M), 3), lambda xp, a: xp.roll(a(M), (1, -2), axis=(0, 1)), lambda xp, a: xp.roll(a(M), 2, axis=1)]
    yield "moveaxis", [lambda xp, a: xp.moveaxis(a(N3), (0, 1), (-1, 0)), lambda xp, a: xp.moveaxis(a(N3), 0, 2), lambda xp, a: xp.expand_dims(a(M), axis=(0, 3)), lambda xp, a: xp.rollaxis(a(N3), 2), lambda xp, a: xp.rollaxis(a(N3), 0, 3)]
    yield "delete", [lambda xp, a, o=o: xp.delete(a(M), o, axis=1) for o in (1, -1, [0, 3], slice(0, 6, 2), np.array([True, False] * 3))] + [lambda xp, a: xp.delete(a(M), 3)]
    yield "insert", [lambda xp, a: xp.insert(a(M), 1, 5, axis=1), lambda xp, a: xp.insert(a(M), [1, 3], a(M[:, :2]), axis=1), lambda xp, a: xp.insert(a(V), [0, 0, 9], [1, 2, 3]),
                     lambda xp, a: xp.insert(a(V), 2, [7, 8, 9]), lambda xp, a: xp.insert(a(M), 1, a(np.arange(4.0)), axis=1), lambda xp, a: xp.insert(a(M), 0, a(np.arange(6.0)), axis=0)]
    yield "append", [lambda xp, a: xp.append(a(M), a(M)), lambda xp, a: xp.append(a(M), a(M), axis=0)]
    yield "diag", [lambda xp, a, k=k: xp.diag(a(W), k) for k in (-2, 0, 1)] + [lambda xp, a: xp.diag(a(M), 1), lambda xp, a: xp.diagflat(a(I))]
    yield "resize", [lambda xp, a: xp.resize(a(V), (4, 5)), lambda xp, a: xp.resize(a(V), 3)]
    yield "trim_zeros", [lambda xp, a, t=t: xp.trim_zeros(a(np.array([0, 0, 1, 0, 2, 0])), t) for t in ("fb", "f", "b")]
    yield "apply", [lambda xp, a: xp.apply_along_axis(lambda x: x.sum(), 1, a(N3)), lambda xp, a: xp.apply_along_axis(lambda x: x[:2] * 2, 0, a(N3)), lambda xp, a: xp.apply_over_axes(lambda x, axis: xp.sum(x, axis=axis), a(N3), [0, 2])]
    yield "places", [lambda xp, a: xp.tri(3, 5, 1), lambda xp, a: xp.indices((2, 3)), lambda xp, a: xp.tril_indices(4, 1), lambda xp, a: xp.triu_indices(4, -1, 3), lambda xp, a: x_of(xp, a)]
    yield "unravel_index", [lambda xp, a, o=o: xp.unravel_index(a(J), (3, 4), o) for o in "CF"] + [
        lambda xp, a, m=m: xp.ravel_multi_index([a(J - 2), a(J)], (7, 5), m) for m in ("wrap", "clip")]
    yield "argwhere", [lambda xp, a: xp.argwhere(a(I > 0)), lambda xp, a: xp.flatnonzero(a(I)), lambda xp, a: xp.extract(a(I > 0), a(I)), lambda xp, a: xp.compress([True, False, True], a(N3), axis=0)]
    yield "choose", [lambda xp, a: xp.choose(a(J % 3), [a(np.arange(12)), a(np.arange(12) * 10), 5]), lambda xp, a: xp.choose(a(J), [1, 2, 3], mode="wrap"),
                     lambda xp, a: xp.select([a(I > 2), a(I > 0)], [a(I), a(I * 10)], -1), lambda xp, a: xp.piecewise(a(V), [a(V < 0), a(V > 1)], [lambda x: -x, 5, lambda x: x * 2])]
    yield "plain numbers", [lambda xp, a: xp.isclose(a(np.array([0.1, 0.3])), 0.3, rtol=0, atol=0), lambda xp, a: xp.isclose(0.1, a(np.array([0.1, 0.3])), rtol=0, atol=0),
                            lambda xp, a: xp.float_power(a(np.abs(V)), 0.3), lambda xp, a: xp.float_power(0.3, a(V)), lambda xp, a: xp.max(a(V), axis=0, initial=9.1),
                            lambda xp, a: xp.isin(a(np.array([0.1, 0.3])), 0.3), lambda xp, a: xp.isin(0.1, a(np.array([0.1, 0.3]))), lambda xp, a: xp.geomspace(0.1, 0.7, 5, **({"dtype": "float64"} if xp is wf else {}))]
    yield "lexsort", [lambda xp, a: xp.lexsort((a(J), a(J[::-1].copy()))), lambda xp, a: xp.lexsort(a(I), axis=0)]
    yield "spaces", [lambda xp, a: xp.logspace(0, 2, 5), lambda xp, a: xp.geomspace(1, 1000, 4), lambda xp, a: xp.geomspace(-8, -1, 4, endpoint=False), lambda xp, a: xp.linspace(0, 1, 5, endpoint=False)]
    yield "grids", [lambda xp, a: xp.mgrid[0:3, 1:2:5j], lambda xp, a: xp.ogrid[0:3, 0:2], lambda xp, a: xp.meshgrid(a(V), a(W)), lambda xp, a: xp.meshgrid(a(V), a(W), indexing="ij")]
    yield "sets", [lambda xp, a: xp.unique(a(I)), lambda xp, a: xp.unique(a(J), return_index=True, return_inverse=True, return_counts=True),
                   lambda xp, a: xp.unique(a(I % 2), axis=0), lambda xp, a: xp.unique(a(I % 2), axis=1, return_counts=True), lambda xp, a: xp.isin(a(I), [1, 2, -3]),
                   lambda xp, a: xp.isin(a(V), a(W), invert=True), lambda xp, a: xp.union1d(a(I), a(J)), lambda xp, a: xp.intersect1d(a(I), a(J)),
                   lambda xp, a: xp.intersect1d(a(I.ravel()), a(J), return_indices=True), lambda xp, a: xp.setdiff1d(a(I), a(J)), lambda xp, a: xp.setxor1d(a(I), a(J))]
    yield "repeat", [lambda xp, a: xp.repeat(a(M), 2), lambda xp, a: xp.repeat(a(M), a(np.array([0, 2, 1, 3])), axis=0), lambda xp, a: xp.tile(a(M), (2, 1, 2))]
    yield "diff", [lambda xp, a: xp.diff(a(M), n=2, axis=0), lambda xp, a: xp.diff(a(V), prepend=0.0, append=a(W))]
    yield "searchsorted", [lambda xp, a: xp.searchsorted(a(V), a(W), sorter=a(np.argsort(V))), lambda xp, a: xp.searchsorted(a(np.sort(V)), a(W), side="right")]
    yield "pointwise", [lambda xp, a: xp.isclose(a(V), a(V * (1 + 1e-6))), lambda xp, a: xp.isclose(a(GAPS), a(GAPS), equal_nan=True), lambda xp, a: xp.heaviside(a(I.astype(float)), 0.5),
                        lambda xp, a: xp.round(a(V * 100), 1), lambda xp, a: xp.around(a(I * 37), -1), lambda xp, a: xp.fix(a(V * 3)), lambda xp, a: xp.float_power(a(np.abs(V)), 1.5),
                        lambda xp, a: xp.divmod(a(V), 0.3), lambda xp, a: xp.modf(a(V * 3)), lambda xp, a: xp.ldexp(a(V), a(J[:9])), lambda xp, a: xp.angle(a(Z)), lambda xp, a: xp.angle(a(Z), deg=True),
                        lambda xp, a: xp.isposinf(a(np.array([np.inf, -np.inf, 1]))), lambda xp, a: xp.isneginf(a(np.array([np.inf, -np.inf, 1]))), lambda xp, a: xp.isreal(a(Z)), lambda xp, a: xp.iscomplex(a(Z))]
    yield "products", [lambda xp, a, f=f, p=p, q=q: getattr(xp, f)(a(p), a(q)) for f, p, q in (
        ("dot", M, M.T), ("dot", N3, V[:5]), ("dot", V, V), ("dot", V, np.float64(3)), ("dot", I, N3.reshape(2, 6, 5)), ("inner", M, M), ("inner", V, V), ("vdot", M, M), ("vdot", Z, Z),
        ("kron", M, W), ("cross", N3[:, :, :3], M[:, :3]))] + [lambda xp, a: xp.trace(a(N3), 1, 2, 0), lambda xp, a: xp.diagonal(a(N3), -1, 0, 2)]
    yield "divisors", [lambda xp, a, f=f: getattr(xp, f)(a(p), a(q)) for f in ("gcd", "lcm") for p, q in (
        (I, I[::-1].copy()), (I * 97, np.int64(36)), (np.array([0, 5, 832040], np.int32), np.array([0, 0, 514229], np.int32)), (np.array([200, 255], np.uint8), np.array([45, 5], np.uint8)), (PELL[1:], PELL[:-1]))] + [
        lambda xp, a, t=t: xp.gcd(a(np.array([6, 0, -7, np.iinfo(t).max], t)), a(np.array([np.iinfo(t).min] * 4, t))) for t in (np.int8, np.int64)]
    yield "powers", [lambda xp, a: xp.logaddexp2(a(V), a(V[::-1].copy())), lambda xp, a: xp.logaddexp2(a(np.array([np.inf, -np.inf])), a(np.array([np.inf, -np.inf]))),
                     lambda xp, a: xp.frexp(a(np.array([8, 0.3, -1, 0, np.inf, -np.inf, 5e-324, 1e-300, 1.7e308, 0.49999999999999994]))), lambda xp, a: xp.frexp(a(np.array([1e-45, 3e38, 0.1], np.float32)))]
    yield "norms", [lambda xp, a, o=o, x=x, k=k: xp.linalg.norm(a(M), ord=o, axis=x, keepdims=k) for o, x, k in (
        (None, None, False), (None, 0, True), ("fro", (0, 1), False), (2, None, False), (-1, (1, 0), True), (np.inf, 1, False), (1, None, True), (3, 0, False))] + [
        lambda xp, a, p=p: xp.linalg.cond(a(N3[:, :4, :4]), p) for p in (None, 2, -2, 1, "fro", np.inf)] + [lambda xp, a: xp.linalg.norm(a(N3)), lambda xp, a: xp.linalg.norm(a(N3), axis=(0, 2), keepdims=True),
        lambda xp, a: xp.linalg.tensorsolve(a(RNG_SQUARE), a(M[:2, :3])), lambda xp, a: xp.linalg.tensorinv(a(RNG_SQUARE), ind=2)]
    yield "others", [lambda xp, a: xp.real_if_close(a(Z.real + 0j)), lambda xp, a: xp.rint(a(V * 3)), lambda xp, a: xp.radians(a(V)), lambda xp, a: xp.mod(a(I), 4), lambda xp, a: xp.conjugate(a(Z)),
                     lambda xp, a: xp.diag_indices(3), lambda xp, a: xp.triu_indices_from(a(M), 1), lambda xp, a: xp.amax(a(M), axis=0), lambda xp, a: xp.true_divide(a(V), 3.0), lambda xp, a: xp.bitwise_not(a(I))]
    if NUMPY_2:
        yield "matvec", [lambda xp, a: xp.linalg.matrix_norm(a(M))] + ([lambda xp, a: xp.matvec(a(N3), a(V[:5])), lambda xp, a: xp.vecmat(a(Z[:4]), a(M))] if hasattr(np, "matvec") else [])
        yield "bitwise_count", [lambda xp, a, t=t: xp.bitwise_count(a(np.array([0, 1, 127, -128 if t.startswith("i") else 255, 77]).astype(t))) for t in ("int8", "uint8", "int32", "uint64", "int64")]
        yield "cumulative", [lambda xp, a: xp.cumulative_sum(a(M), axis=1, include_initial=True), lambda xp, a: xp.cumulative_prod(a(M), axis=0, include_initial=True), lambda xp, a: xp.unstack(a(M), axis=1)]


def x_of(xp, a):
    return a(M)[xp.ix_([0, 2], [True, False, True, False, True, True])]


def parts(found):
    return [part for each in found for part in parts(each)] if isinstance(found, (list, tuple)) else [found]


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Functions(unittest.TestCase):
    def check(self, call):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = parts(call(np, lambda x: x))
            mine = parts(call(wf, wf.asarray))
        self.assertEqual(len(mine), len(theirs))
        for found, expected in zip(mine, theirs):
            found, expected = np.asarray(found), np.asarray(expected)
            self.assertEqual(found.shape, expected.shape)
            self.assertEqual(found.dtype.kind, expected.dtype.kind)
            rounding = 1e-11 if found.dtype.itemsize >= 8 and found.dtype.kind != "c" or found.dtype.itemsize == 16 else 2e-6
            np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)

    def test_every_call_gives_what_numpys_gives(self):
        for name, every in calls():
            for i, call in enumerate(every):
                with self.subTest(f"{name} {i}"):
                    self.check(call)

    def test_what_numpy_refuses_is_refused(self):
        x = wf.asarray(M)
        refused = [lambda: wf.quantile(x, 1.5), lambda: wf.quantile(x, 0.5, method="best"), lambda: wf.quantile(wf.asarray(Z), 0.5),
                   lambda: wf.pad(x, -1), lambda: wf.pad(x, 1, mode="mirror"), lambda: wf.pad(wf.ones((0,)), 1, mode="edge"), lambda: wf.pad(x, [(1, 2, 3)]), lambda: wf.bincount(wf.asarray([-1])),
                   lambda: wf.bincount(wf.asarray([1.5])), lambda: wf.histogram(x, bins=0), lambda: wf.histogram(x, bins="most"), lambda: wf.histogram(x, range=(2, 1)), lambda: wf.histogram(wf.asarray(GAPS)),
                   lambda: wf.digitize(x, wf.asarray([0, 2, 1])), lambda: wf.convolve(x, x), lambda: wf.convolve(wf.ones(0), wf.ones(2)), lambda: wf.convolve(wf.ones(2), wf.ones(2), "some"),
                   lambda: wf.interp(x, wf.ones(3), wf.ones(4)), lambda: wf.split(x, 5), lambda: wf.vsplit(wf.ones(3), 1), lambda: wf.rot90(x, 1, (0, 0)), lambda: wf.delete(x, 9, axis=1),
                   lambda: wf.insert(x, 9, 1, axis=1), lambda: wf.unravel_index(99, (3, 4)), lambda: wf.ravel_multi_index([5, 5], (3, 4)), lambda: wf.choose([0, 5], [1, 2]), lambda: wf.gradient(wf.ones(1)),
                   lambda: wf.gradient(x, 1.0, 2.0, 3.0), lambda: wf.vander(x), lambda: wf.polyfit(wf.ones(3), wf.ones(4), 1), lambda: wf.nanargmax(wf.asarray([wf.nan])), lambda: wf.partition(x, 99),
                   lambda: wf.average(x, axis=0, weights=wf.ones(3)), lambda: wf.cov(wf.asarray(N3)), lambda: wf.diag(wf.asarray(N3)), lambda: wf.unique(x, axis=7), lambda: wf.select([x], [x]), lambda: wf.geomspace(-1, 1)]
        for i, call in enumerate(refused):
            with self.subTest(i), self.assertRaises((ValueError, TypeError, IndexError)) as caught:
                call()
            self.assertLess(len(str(caught.exception).split("\n")), 5)
        for call in (lambda: wf.partition(x, 0, axis=2), lambda: wf.argpartition(wf.asarray(1.), 0)):   # weft's error, not Python's own
            with self.assertRaisesRegex(wf.AxisError, "partition: axis"):
                call()
        with self.assertRaisesRegex(ValueError, "pad: pad_width"):
            wf.pad(x, [])

    def test_numbers_random_and_shuffled_follow_their_key(self):
        key = wf.random.key(7)
        self.assertTrue(wf.array_equal(wf.random.normal((3, 4), key=key), wf.random.normal((3, 4), key=key)))
        one, two = wf.random.split(key, 2)
        self.assertFalse(wf.array_equal(wf.random.uniform((5,), key=one), wf.random.uniform((5,), key=two)))
        shuffled = wf.random.permutation(wf.arange(20), key=key)
        self.assertTrue(wf.array_equal(wf.sort(shuffled), wf.arange(20)))
        drawn = wf.random.normal((4000,), key=key)
        self.assertLess(abs(float(wf.mean(drawn))), 0.06)
        self.assertLess(abs(float(wf.std(drawn)) - 1), 0.05)

    def test_distributions_are_scipys(self):
        from scipy import stats
        key, n = wf.random.key(5), (4000,)
        cases = {"laplace": ((n, 1.0, 2.0), stats.laplace(1, 2)), "logistic": ((n, -1.0, 0.5), stats.logistic(-1, 0.5)), "cauchy": ((n, 0.0, 2.0), stats.cauchy(0, 2)),
                 "gamma": ((2.5, n), stats.gamma(2.5)), "beta": ((2.0, 3.0, n), stats.beta(2, 3)), "exponential": ((n, 2.0), stats.expon(scale=0.5)),
                 "gumbel": ((n,), stats.gumbel_r()), "truncated_normal": ((n, -1.0, 2.0), stats.truncnorm(-1, 2)), "normal": ((n, 2.0, 3.0), stats.norm(2, 3))}
        for name, (arguments, theirs) in cases.items():
            drawn = np.asarray(getattr(wf.random, name)(*arguments, key=key))
            self.assertGreater(stats.kstest(drawn, theirs.cdf).pvalue, 1e-4, name)
        drawn = np.asarray(wf.random.geometric(0.3, n, key=key))
        counts = [np.sum(drawn == k) for k in range(1, 8)]
        self.assertGreater(stats.chisquare(counts + [np.sum(drawn > 7)], 4000 * np.append(stats.geom(0.3).pmf(range(1, 8)), stats.geom(0.3).sf(7))).pvalue, 1e-4)

    def test_choices_are_of_what_is_given(self):
        key = wf.random.key(2)
        self.assertEqual(sorted(wf.random.choice(5, (5,), replace=False, key=key).tolist()), [0, 1, 2, 3, 4])
        self.assertEqual(set(wf.random.choice(np.array([10.0, 20.0, 30.0]), (50,), p=[1, 0, 1], key=key).tolist()), {10.0, 30.0})
        self.assertEqual(wf.random.choice(wf.ones((2, 3)), (4, 5), key=key, axis=1).shape, (2, 4, 5))
        with self.assertRaisesRegex(ValueError, "3 draws from 2 things, each at most once"):
            wf.random.choice(2, (3,), replace=False)

    def test_a_share_that_falls_on_an_element_is_that_element_beside_an_infinity_too(self):
        for n in (2, 4, 6, 50, 151):
            x = np.concatenate([[-np.inf], np.arange(1.0, n)])
            for k in range(1, n):
                for q in (k / (n - 1), wf.asarray(np.array([k / (n - 1)]))):
                    want = np.quantile(x, k / (n - 1))
                    self.assertEqual(float(np.ravel(wf.quantile(wf.asarray(x), q))[0]), want, (n, k, type(q)))

    def test_bins_rise_or_fall_also_where_a_difference_does_not_fit_their_type(self):
        cases = [([8, 7, 2, 1, 3], [7, 7, 2], "uint8"), ([1, 3, 7, 8], [-128, 100], "int8"), ([8, 7, -128, -127], [7, 5, -128], "int8"),
                 ([0, 5, -7], [-2**31, 2**31 - 1], "int32"), ([1., 5., 9.], [8., 4., 0.], "float32"), ([1., 5., 9.], [0., 4., 8.], "float64")]
        compiled = wf.compile(wf.digitize)
        values, bins = wf.input("values", ("m",)), wf.input("bins", ("n",))
        declared = wf.function([values, bins], wf.digitize(values, bins))
        for edges in ([], [1.], [3., 2., 1.], [1., 2., 3.], [np.inf, 2., -np.inf]):   # of any number of them
            given = np.array([.5, 1., 2.5, 7.], "float32")
            np.testing.assert_array_equal(np.asarray(declared(given, np.array(edges, "float32"))), np.digitize(given, edges), str(edges))
        for x, bins, dtype in cases:
            x, bins = np.array(x, dtype), np.array(bins, dtype)
            for digitize in (wf.digitize, compiled):   # compiled: which way they go is not known before
                np.testing.assert_array_equal(np.asarray(digitize(wf.asarray(x), wf.asarray(bins))), np.digitize(x, bins), str(bins))
        counts, _ = wf.histogram(wf.asarray(np.array([1, 3, 7, 8], "int8")), bins=wf.asarray(np.array([-128, 100], "int8")), density=True)
        np.testing.assert_allclose(np.asarray(counts), [1 / 228], rtol=1e-6)

    def test_running_products_beyond_the_range_have_the_derivatives_that_are_within(self):
        product = lambda x: wf.cumulative_prod(x, axis=0)
        ones = wf.ones(3)
        np.testing.assert_allclose(np.asarray(wf.jvp(product, (wf.asarray(np.float32([1e30, 1e30, 2])),), (ones,))[1]), np.float32([1, 2e30, np.inf]), rtol=1e-6)
        np.testing.assert_array_equal(np.asarray(wf.jvp(product, (wf.asarray(np.float32([np.inf, 2, 3])),), (ones,))[1]), [1, np.inf, np.inf])
        np.testing.assert_array_equal(np.asarray(wf.jacfwd(product)(wf.asarray([np.inf, 2., 3.]))[0]), [1, 0, 0])

    def test_quantiles_interpolation_and_windows_are_differentiated(self):
        x, step = wf.asarray(np.array([3.0, -1.0, 2.0, 0.5])), 1e-6
        functions = [lambda x: wf.quantile(x, 0.4), lambda x: wf.sum(wf.interp(x, wf.asarray([-2., 0., 4.]).astype("float64"), wf.asarray([1., 3., 2.]).astype("float64"))),
                     lambda x: wf.sum(wf.convolve(x, x)[1:4]), lambda x: wf.sum(wf.pad(x, 3, mode="reflect") ** 2), lambda x: wf.sum(wf.gradient(x) ** 2), lambda x: wf.nanstd(x),
                     lambda x: wf.cov(x, wf.flip(x))[0, 1], lambda x: wf.polyval(x, 0.3)]
        for i, f in enumerate(functions):
            found = np.asarray(wf.grad(f)(x))
            moved = [(float(f(x + e)) - float(f(x - e))) / (2 * step) for e in (wf.asarray(row) for row in np.eye(4) * step)]
            with self.subTest(i):
                np.testing.assert_allclose(found, moved, rtol=1e-6, atol=1e-8)


RNG_SQUARE = None if LACKS else np.random.default_rng(6).normal(size=(2, 3, 6))
RNG_POINTS = None if LACKS else np.random.default_rng(5).normal(size=(20, 3))

if __name__ == "__main__":
    unittest.main()
