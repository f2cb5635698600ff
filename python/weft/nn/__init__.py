"""torch.nn in weft: layers with PyTorch's names, arguments, defaults, weight layouts and first values.

    import weft as wf
    model = wf.nn.Sequential(wf.nn.Linear(4, 8), wf.nn.ReLU(), wf.nn.Linear(8, 1))
    loss, grads = wf.value_and_grad(lambda model: wf.nn.functional.mse_loss(model(x), y))(model)
"""
from . import functional, init, utils
from ._classifiers import *
from ._containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ._convolutions import *
from ._functions import *
from ._layers import *
from ._module import Module, Parameter
from ._normalizations import *
from ._recurrent import *
from ._transformer import *
