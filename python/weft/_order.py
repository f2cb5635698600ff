"""Quantiles, histograms, covariances; joins that leave NaN out. NumPy's names and arguments.

axis=None takes all axes; a tuple takes several.
"""
import builtins
from numbers import Integral

from . import _core
from ._statistics import flat_where_none, freedom, in_dtype, joined, left

__all__ = ["average", "bincount", "corrcoef", "cov", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "median",
           "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile",
           "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "ptp", "quantile"]


def quantile(a, q, axis=None, *, method="linear", keepdims=False):
    """The number below which a share q (in [0, 1]) of the elements lies; of q's shape followed by the axes that stay.

    method: inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, linear, median_unbiased,
    normal_unbiased (Hyndman & Fan, 1996), lower, higher, midpoint, nearest.

    >>> wf.quantile(wf.asarray([1., 2., 4.]), 0.25)
    array(1.5, dtype=float32)
    """
    return _core.quantile(a, q, axis, method, keepdims, False, False)


def percentile(a, q, axis=None, *, method="linear", keepdims=False):
    """quantile(a, q / 100).

    >>> wf.percentile(wf.asarray([1., 2., 4.]), [25, 75])
    array([1.5, 3. ], dtype=float32)
    """
    return _core.quantile(a, q, axis, method, keepdims, False, True)


def nanquantile(a, q, axis=None, *, method="linear", keepdims=False):
    """quantile of what is not NaN.

    >>> wf.nanquantile(wf.asarray([1., wf.nan, 3.]), [0., 0.25])
    array([1. , 1.5], dtype=float32)
    """
    return _core.quantile(a, q, axis, method, keepdims, True, False)


def nanpercentile(a, q, axis=None, *, method="linear", keepdims=False):
    """percentile of what is not NaN.

    >>> wf.nanpercentile(wf.asarray([1., wf.nan, 3.]), 50)
    array(2., dtype=float32)
    """
    return _core.quantile(a, q, axis, method, keepdims, True, True)


def median(a, axis=None, *, keepdims=False):
    """The middle of the sorted elements; between two middle ones their mean.

    >>> wf.median(wf.asarray([3., 1., 2., 10.]))
    array(2.5, dtype=float32)
    """
    return _core.quantile(a, 0.5, axis, "linear", keepdims, False, False)


def nanmedian(a, axis=None, *, keepdims=False):
    """The middle of what is not NaN.

    >>> wf.nanmedian(wf.asarray([1., wf.nan, 2., 9.]))
    array(2., dtype=float32)
    """
    return _core.quantile(a, 0.5, axis, "linear", keepdims, True, False)


def without(a, where):
    """a with NaN where a condition does not hold: what is left out of a mean is no number."""
    return a if where is None or where is True else _core.where(where, a, float("nan"))


def nan_extreme(join, pair, a, axis, keepdims, initial, where):
    found = join(without(a, where), axis, keepdims)
    return found if initial is None else _core.astype(pair(found, initial), found.dtype)


def nansum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """The sum, a NaN counting as 0.

    >>> wf.nansum(wf.asarray([[1., wf.nan], [3., 4.]]), axis=0)
    array([4., 4.], dtype=float32)
    """
    return joined(_core.nansum, _core.add, 0, a, axis, dtype, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """The product, a NaN counting as 1.

    >>> wf.nanprod(wf.asarray([2., wf.nan, 5.]))
    array(10., dtype=float32)
    """
    return joined(_core.nanprod, _core.multiply, 1, a, axis, dtype, keepdims, initial, where)


def nanmax(a, axis=None, *, keepdims=False, initial=None, where=None):
    """The largest of what is not NaN; NaN of nothing else.

    >>> wf.nanmax(wf.asarray([2., wf.nan, 5.]))
    array(5., dtype=float32)
    """
    return nan_extreme(_core.nanmax, _core.fmax, a, axis, keepdims, initial, where)


def nanmin(a, axis=None, *, keepdims=False, initial=None, where=None):
    """The smallest of what is not NaN; NaN of nothing else.

    >>> wf.nanmin(wf.asarray([2., wf.nan, 5.]))
    array(2., dtype=float32)
    """
    return nan_extreme(_core.nanmin, _core.fmin, a, axis, keepdims, initial, where)


def nanargmax(a, axis=None, *, keepdims=False):
    """Where nanmax stands. ValueError where nothing but NaN is. Computes a.

    >>> wf.nanargmax(wf.asarray([2., wf.nan, 5.]))
    array(2)
    """
    return _core.nanargmax(a, axis, keepdims)


def nanargmin(a, axis=None, *, keepdims=False):
    """Where nanmin stands. ValueError where nothing but NaN is. Computes a.

    >>> wf.nanargmin(wf.asarray([2., wf.nan, 5.]))
    array(0)
    """
    return _core.nanargmin(a, axis, keepdims)


def nanmean(a, axis=None, dtype=None, *, keepdims=False, where=None):
    """The mean of what is not NaN.

    >>> wf.nanmean(wf.asarray([1., wf.nan, 4.]))
    array(2.5, dtype=float32)
    """
    return in_dtype(_core.nanmean, without(a, where), dtype, axis, keepdims)


def nanvar(a, axis=None, dtype=None, *, ddof=0, correction=0.0, keepdims=False, where=None):
    """The variance of what is not NaN.

    >>> wf.nanvar(wf.asarray([1., wf.nan, 3.]))
    array(1., dtype=float32)
    """
    return in_dtype(_core.nanvar, without(a, where), dtype, axis, freedom("nanvar", ddof, correction), keepdims)


def nanstd(a, axis=None, dtype=None, *, ddof=0, correction=0.0, keepdims=False, where=None):
    """The standard deviation of what is not NaN.

    >>> wf.nanstd(wf.asarray([1., wf.nan, 3.]))
    array(1., dtype=float32)
    """
    return in_dtype(_core.nanstd, without(a, where), dtype, axis, freedom("nanstd", ddof, correction), keepdims)


def nancumsum(a, axis=None, dtype=None):
    """Running sums, a NaN counting as 0; axis=None: of a flattened.

    >>> wf.nancumsum(wf.asarray([2., wf.nan, 5.]))
    array([2., 2., 7.], dtype=float32)
    """
    a, axis = flat_where_none(a, axis)
    return in_dtype(_core.nancumsum, a, dtype, axis)


def nancumprod(a, axis=None, dtype=None):
    """Running products, a NaN counting as 1; axis=None: of a flattened.

    >>> wf.nancumprod(wf.asarray([2., wf.nan, 5.]))
    array([ 2.,  2., 10.], dtype=float32)
    """
    a, axis = flat_where_none(a, axis)
    return in_dtype(_core.nancumprod, a, dtype, axis)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """x with NaN and infinities as numbers: the largest and the lowest of its type, where not said. A value never changes, so `copy`
    makes no difference.

    >>> wf.nan_to_num(wf.asarray([wf.nan, wf.inf, 2.]), nan=-1., posinf=99.)
    array([-1., 99.,  2.], dtype=float32)
    """
    return _core.nan_to_num(x, nan, posinf, neginf)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, weighted by numbers of a's shape or one an element of the axes; returned: with the sum of the weights.

    >>> wf.average(wf.asarray([1., 2., 3.]), weights=[1, 1, 2])
    array(2.25, dtype=float32)
    """
    found = _core.average(a, axis, weights, keepdims)
    if not returned:
        return found
    weight = _core.asarray(a, None, None).size / found.size if weights is None else _core.sum(weights, None, False)
    return found, _core.full(found.shape, weight, found.dtype)


def ptp(a, axis=None, *, keepdims=False):
    """The largest minus the smallest.

    >>> wf.ptp(wf.asarray([[1., 5.], [4., 2.]]), axis=1)
    array([4., 2.], dtype=float32)
    """
    return _core.ptp(a, axis, keepdims)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables (rows; rowvar=False: columns), over n - 1 (bias: n; ddof: n - ddof) observations.

    >>> wf.cov(wf.asarray([[1., 2., 3.], [6., 4., 2.]]))
    array([[ 1., -2.],
           [-2.,  4.]], dtype=float32)
    """
    if y is not None:
        def rows(x):
            x = _core.atleast_2d(x)
            return x if rowvar or x.shape[0] == 1 else _core.matrix_transpose(x)
        m, rowvar = _core.concat([rows(m), rows(y)], 0), True
    correction = ddof if ddof is not None else 0 if bias else 1
    return in_dtype(_core.cov, m, dtype, rowvar, correction, fweights, aweights)


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Pearson's correlation coefficients of variables.

    >>> wf.corrcoef(wf.asarray([[1., 2., 3.], [6., 4., 2.]]))
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    if y is None:
        return in_dtype(_core.corrcoef, x, dtype, rowvar)
    covariance = cov(x, y, rowvar, dtype=dtype)
    deviation = _core.sqrt(_core.diagonal(covariance, 0, 0, 1))
    return covariance / _core.outer(deviation, deviation)


def bincount(x, /, weights=None, minlength=0):
    """How often each of 0, 1, ... comes in x (or the sum of its weights). Computes x.

    >>> wf.bincount(wf.asarray([0, 2, 2]))
    array([1, 0, 2])
    """
    return _core.bincount(x, weights, minlength)


def digitize(x, bins, right=False):
    """The number of the bin that holds each element; bins rise or fall.

    >>> wf.digitize(wf.asarray([0.2, 1.5, 9.]), [0., 1., 2.])
    array([1, 2, 3])
    """
    return _core.digitize(x, bins, right)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of bins: how many, a rule's name (auto, doane, fd, rice, scott, sqrt, sturges), or themselves.

    >>> wf.histogram_bin_edges(wf.asarray([1., 2., 5.]), bins=4)
    array([1., 2., 3., 4., 5.], dtype=float32)
    """
    return _core.histogram_bin_edges(a, bins, range, weights)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """(how many elements lie in each bin, the edges); the last bin holds its end.

    >>> wf.histogram(wf.asarray([1, 2, 1]), bins=[0, 1, 2, 3])[0]
    array([0, 2, 1])
    """
    return _core.histogram(a, bins, range, weights, bool(density))


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """(counts, a list of edges) of points (N, D), or of D vectors.

    >>> counts, edges = wf.histogramdd(wf.asarray([[0., 0.], [0., 1.], [1., 1.]]), bins=2)
    >>> counts
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    points = _core.asarray(sample, None, None) if not isinstance(sample, (list, tuple)) else \
        _core.stack(list(sample), 1) if any(hasattr(x, "__len__") for x in sample) else _core.asarray(sample, None, None)
    if points.ndim == 1:
        points = _core.reshape(points, (-1, 1))
    if points.ndim != 2:
        raise ValueError(f"histogramdd: points of {points.ndim} axes; they are a table (points, dimensions), or a vector a dimension")
    dimensions = points.shape[1]
    alike = isinstance(bins, Integral)
    if not alike and len(bins) != dimensions:
        raise ValueError(f"histogramdd: bins for {len(bins)} dimensions; the points have {dimensions}")
    edges = [_core.histogram_bin_edges(points[:, d], bins if alike else bins[d], None if range is None else range[d], None)
             for d in builtins.range(dimensions)]
    return _core.histogramdd(points, edges, weights, bool(density)), edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """(counts, edges of x, edges of y). One vector of edges is for both.

    >>> wf.histogram2d(wf.asarray([0., 0., 1.]), wf.asarray([0., 1., 1.]), bins=2)[0]
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    if not isinstance(bins, Integral) and len(bins) != 2:
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges

