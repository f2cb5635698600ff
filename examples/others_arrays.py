"""weft's arrays in other packages, unchanged: SciPy computes with them through the array API standard, einops names their axes, and what
einops made is differentiated. Run: python examples/others_arrays.py (needs SciPy 1.15 or later and einops)."""
import os

os.environ["SCIPY_ARRAY_API"] = "1"   # SciPy asks arrays for their own functions

import numpy as np
import scipy
from einops.array_api import rearrange, reduce
from scipy import fft, special, stats

import weft as wf

rng = np.random.default_rng(0)
numbers = rng.normal(size=(50, 3))
x = wf.asarray(numbers)

# SciPy gives weft's tensors for weft's tensors: nothing was converted on the way.
made = {
    "stats.zscore": (stats.zscore(x), stats.zscore(numbers)),
    "stats.skew": (stats.skew(x), stats.skew(numbers)),
    "special.logsumexp": (special.logsumexp(x, axis=0), special.logsumexp(numbers, axis=0)),
    "fft.rfft": (fft.rfft(x, axis=0), fft.rfft(numbers, axis=0)),
    "stats.kurtosis": (stats.kurtosis(x), stats.kurtosis(numbers)),
}
for name, (mine, theirs) in made.items():
    assert isinstance(mine, wf.Tensor), name
    np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-9, atol=1e-12)
    print(f"scipy.{name} of weft's array: {mine.shape} {mine.dtype}")

# The mean of patches of an image, by names of its axes; and how the brightest patch changes with the image.
image = wf.asarray(rng.random((8, 6, 3)))
patches = reduce(image, "(h h2) (w w2) c -> h w c", "mean", h2=2, w2=3)
rows = rearrange(patches, "h w c -> (h w) c")


def brightest(image):
    return wf.max(reduce(image, "(h h2) (w w2) c -> h w", "mean", h2=2, w2=3))


slope = wf.grad(brightest)(image)
print(f"einops: {image.shape} to {rows.shape}; the derivative of the brightest patch adds up to {float(wf.sum(slope)):.3f}")
print(f"SciPy {scipy.__version__}")
