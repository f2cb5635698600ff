"""torch.nn.functional's functions with its names, arguments and defaults. Values never change here: `inplace=True` is taken, and the result
is what the function gives. What is drawn at random takes a key (weft.random.key), or the next of the global generator."""
from ._activation import *
from ._attention import *
from ._convolution import *
from ._dropout import *
from ._image import *
from ._linear import *
from ._losses import *
from ._normalization import *
from ._pooling import *
