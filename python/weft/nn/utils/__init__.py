"""What surrounds layers: sequences of several lengths (weft.nn.utils.rnn)."""
from . import rnn
