"""Layers without weights: each a function of weft.nn.functional that remembers its options, which are torch.nn's arguments and defaults."""
import inspect
from numbers import Integral, Number

from . import functional as F
from ._module import Module

__all__ = []


class FunctionLayer(Module):
    """A function with options: layer(x) is function(x, **options). The options are attributes."""

    _function = None
    _trains = False           # the function is told whether the module trains
    _hidden = ("inplace",)    # shown only where it is True
    _shown = None             # the options that are printed; all

    def __init__(self, *arguments, **named):
        super().__init__()
        bound = self.__signature__.bind(*arguments, **named)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if isinstance(value, Number) and hasattr(value, "item"):
                value = value.item()        # NumPy's numbers are options like others
            if hasattr(value, "shape"):     # the weights of a loss are part of its state
                self.register_buffer(name, value)
            else:
                object.__setattr__(self, name, value)
        if getattr(self, "stride", 0) is None and "LP" not in type(self).__name__:
            self.stride = self.kernel_size

    def options(self):
        """The options by name."""
        return {name: getattr(self, name) for name in self.__signature__.parameters}

    def forward(self, *inputs):
        more = {"training": self.training} if self._trains else {}
        return type(self)._function(*inputs, **self.options(), **more)

    def extra_repr(self):
        return ", ".join(f"{name}={value!r}" for name, value in self.options().items()
                         if (self._shown is None or name in self._shown) and (name not in self._hidden or value))


def layer(name, function, options=lambda: 0, example="", **more):
    """A class of the function whose __init__ takes the arguments of `options`."""
    more = {"_function": staticmethod(function), "__signature__": inspect.signature(options), "__doc__": _said_of(function, example),
            "__module__": "weft.nn", **more}
    __all__.append(name)
    return type(name, (FunctionLayer,), more)


def _said_of(function, example):
    """The docstring of a function's layer: the function's own text, where its example is, and the layer's if there is one."""
    text = inspect.cleandoc(function.__doc__).partition("\n\n>>>")[0]
    if getattr(F, function.__name__, None) is function:
        text += f"\n\nThe layer of `weft.nn.functional.{function.__name__}`."
    return text + "\n\n" + inspect.cleandoc(example) if example else text


def _in_place(inplace=False):
    """Of the activations without other options."""


ReLU = layer("ReLU", F.relu, _in_place, example="""
    >>> wf.nn.ReLU()(wf.asarray([-1., 0., 2.]))
    array([0., 0., 2.], dtype=float32)
    """)
ReLU6 = layer("ReLU6", F.relu6, _in_place)
SELU = layer("SELU", F.selu, _in_place)
SiLU = layer("SiLU", F.silu, _in_place)
Mish = layer("Mish", F.mish, _in_place)
Hardsigmoid = layer("Hardsigmoid", F.hardsigmoid, _in_place)
Hardswish = layer("Hardswish", F.hardswish, _in_place)
ELU = layer("ELU", F.elu, lambda alpha=1.0, inplace=False: 0)
CELU = layer("CELU", F.celu, lambda alpha=1.0, inplace=False: 0)
LeakyReLU = layer("LeakyReLU", F.leaky_relu, lambda negative_slope=1e-2, inplace=False: 0)
RReLU = layer("RReLU", F.rrelu, lambda lower=1.0 / 8, upper=1.0 / 3, inplace=False: 0, _trains=True)
GLU = layer("GLU", F.glu, lambda dim=-1: 0)
GELU = layer("GELU", F.gelu, lambda approximate="none": 0)
Hardshrink = layer("Hardshrink", F.hardshrink, lambda lambd=0.5: 0)
Softshrink = layer("Softshrink", F.softshrink, lambda lambd=0.5: 0)
Softplus = layer("Softplus", F.softplus, lambda beta=1.0, threshold=20.0: 0)
Threshold = layer("Threshold", F.threshold, lambda threshold, value, inplace=False: 0)
Hardtanh = layer("Hardtanh", F.hardtanh, lambda min_val=-1.0, max_val=1.0, inplace=False: 0)
Sigmoid = layer("Sigmoid", F.sigmoid)
Tanh = layer("Tanh", F.tanh)
Tanhshrink = layer("Tanhshrink", F.tanhshrink)
Softsign = layer("Softsign", F.softsign)
LogSigmoid = layer("LogSigmoid", F.logsigmoid)
Softmax = layer("Softmax", F.softmax, lambda dim=None: 0)
Softmin = layer("Softmin", F.softmin, lambda dim=None: 0)
LogSoftmax = layer("LogSoftmax", F.log_softmax, lambda dim=None: 0)


def _softmax_of_channels(input):
    """The softmax over the channels of (N, C, H, W) or (C, H, W)."""
    if len(input.shape) not in (3, 4):
        raise ValueError(f"Softmax2d: the input has shape {input.shape}; it must be (N, C, H, W) or (C, H, W)")
    return F.softmax(input, -3)


Softmax2d = layer("Softmax2d", _softmax_of_channels)

_dropped = {"_trains": True, "_hidden": ()}
Dropout = layer("Dropout", F.dropout, lambda p=0.5, inplace=False: 0, **_dropped, example="""
    >>> layer = wf.nn.Dropout(p=0.25)
    >>> dropped = layer(wf.ones((100, 100)))
    >>> wf.unique(dropped)
    array([0.       , 1.3333334], dtype=float32)
    >>> layer.eval()(wf.asarray([1., 2.]))
    array([1., 2.], dtype=float32)
    """)
Dropout1d = layer("Dropout1d", F.dropout1d, lambda p=0.5, inplace=False: 0, **_dropped)
Dropout2d = layer("Dropout2d", F.dropout2d, lambda p=0.5, inplace=False: 0, **_dropped)
Dropout3d = layer("Dropout3d", F.dropout3d, lambda p=0.5, inplace=False: 0, **_dropped)
AlphaDropout = layer("AlphaDropout", F.alpha_dropout, lambda p=0.5, inplace=False: 0, **_dropped)
FeatureAlphaDropout = layer("FeatureAlphaDropout", F.feature_alpha_dropout, lambda p=0.5, inplace=False: 0, **_dropped)


def _max_pool(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
    """Of max pools."""


def _avg_pool(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """Of average pools."""


def _lp_pool(norm_type, kernel_size, stride=None, ceil_mode=False):
    """Of lp pools."""


def _unpool(kernel_size, stride=None, padding=0):
    """Of unpooling."""


def _per_axis(value, axes):
    return (value,) * axes if isinstance(value, Integral) else tuple(value)


_window = ("kernel_size", "stride", "padding")
MaxPool1d, MaxPool2d, MaxPool3d = (
    layer(f"MaxPool{n}d", getattr(F, f"max_pool{n}d"), _max_pool, _shown=(*_window, "dilation", "ceil_mode")) for n in (1, 2, 3))
AvgPool1d = layer("AvgPool1d", F.avg_pool1d, lambda kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True: 0,
                  extra_repr=lambda self: ", ".join(f"{name}={_per_axis(getattr(self, name), 1)}" for name in _window))
AvgPool2d, AvgPool3d = (layer(f"AvgPool{n}d", getattr(F, f"avg_pool{n}d"), _avg_pool, _shown=_window) for n in (2, 3))
LPPool1d, LPPool2d, LPPool3d = (layer(f"LPPool{n}d", getattr(F, f"lp_pool{n}d"), _lp_pool) for n in (1, 2, 3))
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = (
    layer(f"AdaptiveAvgPool{n}d", getattr(F, f"adaptive_avg_pool{n}d"), lambda output_size: 0) for n in (1, 2, 3))
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = (
    layer(f"AdaptiveMaxPool{n}d", getattr(F, f"adaptive_max_pool{n}d"), lambda output_size, return_indices=False: 0,
          _shown=("output_size",))
    for n in (1, 2, 3))


def _forward_unpool(self, input, indices, output_size=None):
    return type(self)._function(input, indices, output_size=output_size, **self.options())


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = (
    layer(f"MaxUnpool{n}d", getattr(F, f"max_unpool{n}d"), _unpool, forward=_forward_unpool,
          extra_repr=lambda self, n=n: ", ".join(f"{name}={_per_axis(getattr(self, name), n)}" for name in _window)) for n in (1, 2, 3))


def _pads(mode):
    """PyTorch's pad layers: one number stands for both ends of every axis."""
    def padded(input, padding, value=0.0):
        return F.pad(input, padding, mode, value)
    padded.__doc__ = f"Pads the last axes: mode '{mode}'."
    return padded


def _pad_layer(name, axes, mode, options, **more):
    made = layer(f"{name}{axes}d", _pads(mode), options, **more)
    make = made.__init__

    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        if isinstance(self.padding, int):
            self.padding = (self.padding,) * (2 * axes)
    made.__init__ = __init__
    return made


_plain = {"extra_repr": lambda self: f"{self.padding}"}
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _pad_layer("ReflectionPad", n, "reflect", lambda padding: 0, **_plain) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _pad_layer("ReplicationPad", n, "replicate", lambda padding: 0, **_plain) for n in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_pad_layer("CircularPad", n, "circular", lambda padding: 0, **_plain) for n in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_pad_layer("ZeroPad", n, "constant", lambda padding: 0, **_plain) for n in (1, 2, 3))
ConstantPad1d, ConstantPad2d, ConstantPad3d = (_pad_layer("ConstantPad", n, "constant", lambda padding, value: 0) for n in (1, 2, 3))

Fold = layer("Fold", F.fold, lambda output_size, kernel_size, dilation=1, padding=0, stride=1: 0)
Unfold = layer("Unfold", F.unfold, lambda kernel_size, dilation=1, padding=0, stride=1: 0)
PixelShuffle = layer("PixelShuffle", F.pixel_shuffle, lambda upscale_factor: 0)
PixelUnshuffle = layer("PixelUnshuffle", F.pixel_unshuffle, lambda downscale_factor: 0)
ChannelShuffle = layer("ChannelShuffle", F.channel_shuffle, lambda groups: 0)
def _shown_upsampling(mode):
    return lambda self: ((f"scale_factor={self.scale_factor!r}" if self.size is None else f"size={self.size!r}")
                         + f", mode={(mode or self.mode)!r}")


Upsample = layer("Upsample", F.interpolate,
                 lambda size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None: 0, extra_repr=_shown_upsampling(None))
UpsamplingNearest2d = layer("UpsamplingNearest2d", F.upsample_nearest, lambda size=None, scale_factor=None: 0,
                            extra_repr=_shown_upsampling("nearest"))
UpsamplingBilinear2d = layer("UpsamplingBilinear2d", F.upsample_bilinear, lambda size=None, scale_factor=None: 0,
                             extra_repr=_shown_upsampling("bilinear"))
LocalResponseNorm = layer("LocalResponseNorm", F.local_response_norm, lambda size, alpha=1e-4, beta=0.75, k=1.0: 0,
                          extra_repr=lambda self: f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}")
CosineSimilarity = layer("CosineSimilarity", F.cosine_similarity, lambda dim=1, eps=1e-8: 0, _shown=())
PairwiseDistance = layer("PairwiseDistance", F.pairwise_distance, lambda p=2.0, eps=1e-6, keepdim=False: 0,
                         _shown=())

# Losses


def _loss(name, function, options, example=""):
    return layer(name, function, options, example, _shown=())


def _plain_loss(size_average=None, reduce=None, reduction="mean"):
    """Of losses without other options."""


L1Loss = _loss("L1Loss", F.l1_loss, _plain_loss)
MSELoss = _loss("MSELoss", F.mse_loss, _plain_loss, """
    >>> loss = wf.nn.MSELoss()
    >>> loss(wf.asarray([1., 2., 3., 4.]), wf.asarray([1., 2., 3., 8.]))
    array(4., dtype=float32)
    """)
SoftMarginLoss = _loss("SoftMarginLoss", F.soft_margin_loss, _plain_loss)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", F.multilabel_margin_loss, _plain_loss)
SmoothL1Loss = _loss("SmoothL1Loss", F.smooth_l1_loss, lambda size_average=None, reduce=None, reduction="mean", beta=1.0: 0)
HuberLoss = _loss("HuberLoss", F.huber_loss, lambda reduction="mean", delta=1.0: 0)
CrossEntropyLoss = _loss("CrossEntropyLoss", F.cross_entropy, lambda weight=None, size_average=None, ignore_index=-100, reduce=None,
                         reduction="mean", label_smoothing=0.0: 0, """
    >>> loss, logits = wf.nn.CrossEntropyLoss(), wf.asarray([[0., 0.], [0., 2.]])
    >>> loss(logits, wf.asarray([0, 1]))
    array(0.41003764, dtype=float32)
    >>> wf.grad(loss)(logits, wf.asarray([0, 1]))
    array([[-0.25     ,  0.25     ],
           [ 0.0596015, -0.0596015]], dtype=float32)
    """)
NLLLoss = _loss("NLLLoss", F.nll_loss, lambda weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean": 0)
BCELoss = _loss("BCELoss", F.binary_cross_entropy, lambda weight=None, size_average=None, reduce=None, reduction="mean": 0)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits,
                          lambda weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None: 0)
KLDivLoss = _loss("KLDivLoss", F.kl_div, lambda size_average=None, reduce=None, reduction="mean", log_target=False: 0)
PoissonNLLLoss = _loss("PoissonNLLLoss", F.poisson_nll_loss, lambda log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                       reduction="mean": 0)
GaussianNLLLoss = _loss("GaussianNLLLoss", F.gaussian_nll_loss, lambda *, full=False, eps=1e-6, reduction="mean": 0)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", F.hinge_embedding_loss,
                           lambda margin=1.0, size_average=None, reduce=None, reduction="mean": 0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", F.cosine_embedding_loss,
                            lambda margin=0.0, size_average=None, reduce=None, reduction="mean": 0)
MarginRankingLoss = _loss("MarginRankingLoss", F.margin_ranking_loss,
                          lambda margin=0.0, size_average=None, reduce=None, reduction="mean": 0)
MultiMarginLoss = _loss("MultiMarginLoss", F.multi_margin_loss,
                        lambda p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean": 0)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss,
                                 lambda weight=None, size_average=None, reduce=None, reduction="mean": 0)
TripletMarginLoss = _loss("TripletMarginLoss", F.triplet_margin_loss, lambda margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None,
                          reduce=None, reduction="mean": 0)
TripletMarginWithDistanceLoss = _loss("TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss,
                                      lambda *, distance_function=None, margin=1.0, swap=False, reduction="mean": 0)
CTCLoss = _loss("CTCLoss", F.ctc_loss, lambda blank=0, reduction="mean", zero_infinity=False: 0)
