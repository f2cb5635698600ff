"""Random numbers by counters (Philox4x32-10): the same for any number of threads. Without a key, a draw takes the next one of a global
generator, which seed() sets."""
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
    return _core.random_permutation(x, key, axis)


def categorical(logits, *, key=None, axis=-1):
    """Indices along an axis, drawn with probabilities softmax(logits).

    >>> wf.random.categorical(wf.log(wf.asarray([0.01, 0.01, 0.98])), key=wf.random.key(0))
    array(2)
    """
    return _core.random_categorical(logits, key, axis)
