"""Random numbers by counters (Philox4x32-10): the same for any number of threads. Without a key, a draw takes the next one of a global
generator, which seed() sets."""
from numbers import Integral as _Integral

from . import _core


def key(seed):
    """A key from a seed.

    >>> key = wf.random.key(42)
    >>> wf.all(wf.random.normal((3,), key=key) == wf.random.normal((3,), key=key))
    array(True)
    """
    return _core.random_key(seed)


def seed(seed):
    """Sets the global generator.

    >>> wf.random.seed(1)
    >>> x = wf.random.uniform((3,))
    >>> wf.random.seed(1)
    >>> wf.all(wf.random.uniform((3,)) == x)
    array(True)
    """
    _core.random_seed(seed)


def split(key, num=2):
    """`num` keys from one, independent of each other and of what is drawn with the key itself.

    >>> first, second = wf.random.split(wf.random.key(0))
    >>> wf.random.uniform((2,), key=first)
    array([0.33307254, 0.08278787], dtype=float32)
    """
    return _core.random_split(key, num)


def bits(shape=(), *, key=None):
    """Uniform uint32.

    >>> wf.random.bits((2,), key=wf.random.key(0))
    array([1713891541, 3781805453], dtype=uint32)
    """
    return _core.random_bits(shape, key)


def uniform(shape=(), low=0.0, high=1.0, *, key=None, dtype=None):
    """Uniform numbers of [low, high).

    >>> wf.random.uniform((3,), key=wf.random.key(0))
    array([0.39904642, 0.88052016, 0.73571277], dtype=float32)
    """
    return _core.random_uniform(shape, low, high, key, dtype)


def normal(shape=(), mean=0.0, std=1.0, *, key=None, dtype=None):
    """Normal numbers.

    >>> wf.random.normal((3,), key=wf.random.key(0))
    array([-0.25581595,  1.177591  ,  0.63018376], dtype=float32)
    """
    return _core.random_normal(shape, mean, std, key, dtype)


def truncated_normal(shape=(), low=-2.0, high=2.0, *, key=None, dtype=None):
    """Standard normal numbers of [low, high].

    >>> wf.random.truncated_normal((3,), key=wf.random.key(0))
    array([-0.2439368 ,  1.0948389 ,  0.59772354], dtype=float32)
    """
    return _core.random_truncated_normal(shape, low, high, key, dtype)


def bernoulli(p=0.5, shape=(), *, key=None):
    """True with probability p.

    >>> wf.random.bernoulli(0.5, (4,), key=wf.random.key(0))
    array([ True, False, False, False])
    """
    return _core.random_bernoulli(p, shape, key)


def randint(low, high, shape=(), *, key=None, dtype=None):
    """Uniform integers of [low, high).

    >>> wf.random.randint(0, 10, (5,), key=wf.random.key(0))
    array([9, 8, 8, 1, 9])
    """
    return _core.random_randint(low, high, shape, key, dtype)


def exponential(shape=(), rate=1.0, *, key=None, dtype=None):
    """Exponential numbers of a rate.

    >>> wf.random.exponential((3,), key=wf.random.key(0))
    array([0.5092376, 2.1246076, 1.3307188], dtype=float32)
    """
    return _core.random_exponential(shape, rate, key, dtype)


def laplace(shape=(), loc=0.0, scale=1.0, *, key=None, dtype=None):
    """Laplace numbers: of density exp(-|x - loc| / scale) / (2 scale).

    >>> wf.random.laplace((3,), key=wf.random.key(0))
    array([-0.22553019,  1.4314605 ,  0.6375718 ], dtype=float32)
    """
    return _core.random_laplace(shape, loc, scale, key, dtype)


def logistic(shape=(), loc=0.0, scale=1.0, *, key=None, dtype=None):
    """Logistic numbers: their distribution function is sigmoid((x - loc) / scale).

    >>> wf.random.logistic((3,), key=wf.random.key(0))
    array([-0.4094397,  1.9973652,  1.0238036], dtype=float32)
    """
    return _core.random_logistic(shape, loc, scale, key, dtype)


def cauchy(shape=(), loc=0.0, scale=1.0, *, key=None, dtype=None):
    """Cauchy numbers: half of them lie within scale of loc.

    >>> wf.random.cauchy((3,), key=wf.random.key(0))
    array([-0.32823476,  2.5378203 ,  0.9140319 ], dtype=float32)
    """
    return _core.random_cauchy(shape, loc, scale, key, dtype)


def gamma(a, shape=None, *, key=None, dtype=None):
    """Gamma numbers of shape parameter a and scale 1; as many as a has, or of a shape to which a broadcasts. By inversion.

    >>> wf.random.gamma(2.5, (3,), key=wf.random.key(0))
    array([1.8245602, 4.3747826, 3.2283082], dtype=float32)
    """
    return _core.random_gamma(a, shape, key, dtype)


def beta(a, b, shape=None, *, key=None, dtype=None):
    """Beta numbers of parameters a and b; as many as these have, or of a shape to which they broadcast. By inversion.

    >>> wf.random.beta(2., 3., (3,), key=wf.random.key(0))
    array([0.3286301 , 0.6574432 , 0.53329736], dtype=float32)
    """
    return _core.random_beta(a, b, shape, key, dtype)


def geometric(p, shape=None, *, key=None, dtype=None):
    """The number of trials up to the first success, each of probability p: 1, 2, ...

    >>> wf.random.geometric(0.25, (5,), key=wf.random.key(0))
    array([ 1,  2,  4, 12,  4])
    """
    return _core.random_geometric(p, shape, key, dtype)


def gumbel(shape=(), *, key=None, dtype=None):
    """Standard Gumbel numbers.

    >>> wf.random.gumbel((3,), key=wf.random.key(0))
    array([0.08482026, 2.061661  , 1.1811831 ], dtype=float32)
    """
    return _core.random_gumbel(shape, key, dtype)


def permutation(x, *, key=None, axis=0):
    """The numbers below x in random order, or an array's slices along an axis.

    >>> wf.random.permutation(5, key=wf.random.key(0))
    array([3, 4, 2, 1, 0])
    """
    return _core.random_permutation(int(x) if isinstance(x, _Integral) else x, key, axis)


def choice(a, shape=(), replace=True, p=None, *, key=None, axis=0):
    """Numbers below a, or slices of an array a along an axis, all alike probable or with probabilities p (up to a factor). Without replacement
    each is drawn at most once.

    >>> wf.random.choice(5, (3,), replace=False, key=wf.random.key(0))
    array([3, 4, 2])
    >>> wf.random.choice(wf.asarray([10., 20., 30.]), (4,), p=[0., 0.5, 0.5], key=wf.random.key(0))
    array([30., 30., 20., 20.], dtype=float32)
    """
    return _core.random_choice(int(a) if isinstance(a, _Integral) else a, shape, replace, p, key, axis)


def categorical(logits, *, key=None, axis=-1):
    """Indices along an axis, drawn with probabilities softmax(logits).

    >>> wf.random.categorical(wf.log(wf.asarray([0.01, 0.01, 0.98])), key=wf.random.key(0))
    array(2)
    """
    return _core.random_categorical(logits, key, axis)
