"""Random numbers by counters (Philox4x32-10): the same for any number of threads. Without a key, a draw takes the next one of a global
generator, which seed() sets."""
from . import _core


def key(seed):
    """A key from a seed."""
    return _core.random_key(seed)


def seed(seed):
    """Sets the global generator."""
    _core.random_seed(seed)


def split(key, num=2):
    """`num` keys from one, independent of each other and of what is drawn with the key itself."""
    return _core.random_split(key, num)


def bits(shape=(), *, key=None):
    """Uniform uint32."""
    return _core.random_bits(shape, key)


def uniform(shape=(), low=0.0, high=1.0, *, key=None, dtype=None):
    """Uniform numbers of [low, high)."""
    return _core.random_uniform(shape, low, high, key, dtype)


def normal(shape=(), mean=0.0, std=1.0, *, key=None, dtype=None):
    """Normal numbers."""
    return _core.random_normal(shape, mean, std, key, dtype)


def truncated_normal(shape=(), low=-2.0, high=2.0, *, key=None, dtype=None):
    """Standard normal numbers of [low, high]."""
    return _core.random_truncated_normal(shape, low, high, key, dtype)


def bernoulli(p=0.5, shape=(), *, key=None):
    """True with probability p."""
    return _core.random_bernoulli(p, shape, key)


def randint(low, high, shape=(), *, key=None, dtype=None):
    """Uniform integers of [low, high)."""
    return _core.random_randint(low, high, shape, key, dtype)


def exponential(shape=(), rate=1.0, *, key=None, dtype=None):
    """Exponential numbers of a rate."""
    return _core.random_exponential(shape, rate, key, dtype)


def gumbel(shape=(), *, key=None, dtype=None):
    """Standard Gumbel numbers."""
    return _core.random_gumbel(shape, key, dtype)


def permutation(x, *, key=None, axis=0):
    """The numbers below x in random order, or an array's slices along an axis."""
    return _core.random_permutation(x, key, axis)


def categorical(logits, *, key=None, axis=-1):
    """Indices along an axis, drawn with probabilities softmax(logits)."""
    return _core.random_categorical(logits, key, axis)
