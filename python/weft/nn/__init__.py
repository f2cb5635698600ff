"""torch.nn in weft: layers with PyTorch's names, arguments, defaults, weight layouts and first values."""
from . import functional
