"""Sequences of several lengths as one array, with torch.nn.utils.rnn's names: padded (T, N, ...), or packed, step after step of those that
have not ended."""
import collections

from ... import _core

__all__ = ["PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence"]


class PackedSequence(collections.namedtuple("PackedFields", "data batch_sizes sorted_indices unsorted_indices", defaults=(None, None))):
    """`data` (sum of lengths, ...): all of step 0, all of step 1, ...; `batch_sizes` (T): how many sequences have each step."""

    __slots__ = ()

    def sizes(self):
        """batch_sizes as numbers."""
        return [int(n) for n in _core.asarray(self.batch_sizes, None, None).tolist()]


def _positions(values):
    return _core.asarray(values, _core.int64, None)


def _lengths(lengths):
    found = [int(n) for n in (lengths.tolist() if hasattr(lengths, "tolist") else lengths)]
    if not found or min(found) < 1:
        raise ValueError(f"pack_padded_sequence: every length must be above 0: {found}")
    return found


def _along(x, order, axis):
    return x if order is None else _core.take(x, order, axis)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Padded sequences (T, N, ...), or (N, T, ...), of these lengths, packed. Unless they are sorted, longest first, say
    enforce_sorted=False.

    >>> packed = wf.nn.utils.rnn.pack_padded_sequence(wf.asarray([[1., 4.], [2., 5.], [3., 0.]]), [3, 2])
    >>> packed.data
    array([1., 4., 2., 5., 3.], dtype=float32)
    >>> packed.batch_sizes
    array([2, 2, 1])
    """
    lengths = _lengths(lengths)
    x = _core.swapaxes(input, 0, 1) if batch_first else _core.asarray(input, None, None)
    steps, batch = x.shape[:2]
    if len(lengths) != batch or max(lengths) > steps:
        raise ValueError(f"pack_padded_sequence: lengths {lengths} for {batch} sequences of at most {steps} steps")
    order = inverse = None
    if enforce_sorted:
        if any(a < b for a, b in zip(lengths, lengths[1:])):
            raise ValueError("pack_padded_sequence: lengths must fall; say enforce_sorted=False for others")
    else:
        ranked = sorted(range(batch), key=lambda i: -lengths[i])
        order, inverse = _positions(ranked), _positions(sorted(range(batch), key=ranked.__getitem__))
        lengths = [lengths[i] for i in ranked]
    sizes = [sum(n > t for n in lengths) for t in range(lengths[0])]
    rows = [t * batch + i for t, size in enumerate(sizes) for i in range(size)]
    flat = _core.reshape(_along(x, order, 1), (steps * batch, *x.shape[2:]))
    return PackedSequence(_core.take(flat, _positions(rows), 0), _positions(sizes), order, inverse)


def pad_sorted(sequence, padding_value=0.0, total_length=None):
    """((T, N, ...), lengths) of a packed sequence, longest first."""
    sizes = sequence.sizes()
    steps, batch, data = len(sizes), sizes[0], sequence.data
    if total_length is not None:
        if total_length < steps:
            raise ValueError(f"pad_packed_sequence: total_length is {total_length}, but there are {steps} steps")
        sizes, steps = sizes + [0] * (total_length - steps), total_length
    starts = [sum(sizes[:t]) for t in range(steps)]
    count = data.shape[0]
    rows = [starts[t] + i if i < sizes[t] else count for t in range(steps) for i in range(batch)]
    filled = _core.concat([data, _core.full((1, *data.shape[1:]), padding_value, data.dtype)], 0)
    padded = _core.reshape(_core.take(filled, _positions(rows), 0), (steps, batch, *data.shape[1:]))
    return padded, [sum(size > i for size in sizes) for i in range(batch)]


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded sequences, their lengths) of a packed one.

    >>> packed = wf.nn.utils.rnn.pack_sequence([wf.asarray([1., 2., 3.]), wf.asarray([4.])])
    >>> wf.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.)
    (array([[ 1.,  2.,  3.],
           [ 4., -1., -1.]], dtype=float32), array([3, 1]))
    """
    padded, lengths = pad_sorted(sequence, padding_value, total_length)
    padded, lengths = _along(padded, sequence.unsorted_indices, 1), _along(_positions(lengths), sequence.unsorted_indices, 0)
    return _core.swapaxes(padded, 0, 1) if batch_first else padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences (L, ...) of several lengths as one array, padded to the longest.

    >>> wf.nn.utils.rnn.pad_sequence([wf.asarray([1., 2., 3.]), wf.asarray([4.])], batch_first=True)
    array([[1., 2., 3.],
           [4., 0., 0.]], dtype=float32)
    """
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side is 'left' or 'right', not {padding_side!r}")
    sequences = [_core.asarray(x, None, None) for x in sequences]
    longest = max(x.shape[0] for x in sequences)
    padded = []
    for x in sequences:
        more = _core.full((longest - x.shape[0], *x.shape[1:]), padding_value, x.dtype)
        padded.append(_core.concat([x, more] if padding_side == "right" else [more, x], 0))
    return _core.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded array, each of its length.

    >>> wf.nn.utils.rnn.unpad_sequence(wf.asarray([[1., 2., 3.], [4., 0., 0.]]), [3, 1], batch_first=True)
    [array([1., 2., 3.], dtype=float32), array([4.], dtype=float32)]
    """
    x = padded_sequences if batch_first else _core.swapaxes(padded_sequences, 0, 1)
    return [x[i][:n] for i, n in enumerate(_lengths(lengths))]


def pack_sequence(sequences, enforce_sorted=True):
    """Sequences of several lengths, packed.

    >>> wf.nn.utils.rnn.pack_sequence([wf.asarray([1., 2., 3.]), wf.asarray([4.])]).data
    array([1., 4., 2., 3.], dtype=float32)
    """
    return pack_padded_sequence(pad_sequence(sequences), [x.shape[0] for x in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed one.

    >>> packed = wf.nn.utils.rnn.pack_sequence([wf.asarray([4.]), wf.asarray([1., 2., 3.])], enforce_sorted=False)
    >>> wf.nn.utils.rnn.unpack_sequence(packed)
    [array([4.], dtype=float32), array([1., 2., 3.], dtype=float32)]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
