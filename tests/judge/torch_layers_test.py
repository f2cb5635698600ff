"""weft.nn's layers against torch.nn's: with PyTorch's weights loaded by name, results, states and the derivatives of inputs and weights
agree, while training and evaluating; signatures, printing and the distributions of first values are PyTorch's.
"""
import inspect
import os
import sys
import unittest
import warnings
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import torch
    import weft as wf
    LACKS = None
except ImportError as error:
    LACKS = str(error)

# Layer, as both libraries spell it: shapes of floating inputs (of indices: the largest and the shape).
LAYERS = {
    "Linear(5, 3)": [(4, 5)], "Linear(5, 3, bias=False)": [(2, 4, 5)], "Bilinear(3, 4, 2)": [(5, 3), (5, 4)], "Identity(3)": [(2, 3)],
    "Flatten()": [(2, 3, 4)], "Flatten(0, 1)": [(2, 3, 4)], "Unflatten(1, (2, 3))": [(4, 6, 2)], "PReLU()": [(3, 4)], "PReLU(3)": [(2, 3, 4)],
    "Embedding(7, 3)": [(7, (2, 4))], "Embedding(7, 3, padding_idx=2)": [(7, (5,))], "Embedding(7, 3, max_norm=1.0)": [(7, (5,))],
    "Embedding(7, 3, scale_grad_by_freq=True)": [(7, (9,))],
    "EmbeddingBag(7, 3)": [(7, (2, 4))], "EmbeddingBag(7, 3, mode='sum')": [(7, (2, 4))], "EmbeddingBag(7, 3, mode='max')": [(7, (2, 4))],
    "Conv1d(4, 6, 3, padding=1, groups=2)": [(2, 4, 7)], "Conv1d(2, 3, 3, padding='same', dilation=2)": [(2, 2, 9)],
    "Conv2d(2, 3, 3, stride=2, padding=1)": [(2, 2, 7, 6)], "Conv2d(2, 3, (3, 2), padding='valid', bias=False)": [(2, 5, 6)],
    "Conv2d(2, 3, 3, padding=1, padding_mode='reflect')": [(1, 2, 5, 6)], "Conv2d(2, 3, 3, padding='same', padding_mode='circular')": [(1, 2, 5, 6)],
    "Conv2d(2, 3, 3, padding=(2, 1), padding_mode='replicate')": [(1, 2, 5, 6)],
    "Conv3d(2, 3, 2, dilation=(1, 2, 1))": [(1, 2, 4, 5, 4)],
    "ConvTranspose1d(2, 4, 3, stride=2, output_padding=1, groups=2)": [(2, 2, 5)],
    "ConvTranspose2d(2, 3, 3, stride=2, padding=1)": [(1, 2, 4, 5)], "ConvTranspose3d(2, 3, 2)": [(1, 2, 3, 2, 3)],
    "BatchNorm1d(3)": [(5, 3)], "BatchNorm1d(3, momentum=None)": [(2, 3, 4)], "BatchNorm2d(3, affine=False)": [(2, 3, 4, 5)],
    "BatchNorm2d(3, track_running_stats=False)": [(2, 3, 4, 5)], "BatchNorm3d(2, momentum=0.3, bias=False)": [(2, 2, 3, 2, 3)],
    "InstanceNorm1d(3)": [(2, 3, 5)], "InstanceNorm2d(3, affine=True, track_running_stats=True)": [(2, 3, 4, 5)],
    "InstanceNorm3d(2)": [(2, 3, 4, 3)], "LayerNorm(4)": [(2, 3, 4)], "LayerNorm((3, 4), bias=False)": [(2, 3, 4)],
    "RMSNorm(4)": [(2, 3, 4)], "RMSNorm((3, 4), eps=1e-3)": [(2, 3, 4)], "GroupNorm(2, 4)": [(2, 4, 5)],
    "LocalResponseNorm(3)": [(2, 5, 4)], "CosineSimilarity(dim=0)": [(3, 4), (3, 4)], "PairwiseDistance(p=3.0)": [(3, 4), (3, 4)],
    "RNN(3, 4)": [(5, 2, 3)], "RNN(3, 4, nonlinearity='relu', bias=False)": [(5, 3)], "RNN(3, 4, 2, batch_first=True)": [(2, 5, 3)],
    "LSTM(3, 4)": [(5, 2, 3)], "LSTM(3, 4, 2, bidirectional=True)": [(5, 2, 3)], "LSTM(3, 4, proj_size=2, num_layers=2)": [(5, 2, 3)],
    "LSTM(3, 4, bidirectional=True, proj_size=2)": [(5, 3)], "GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True)": [(2, 5, 3)],
    "GRU(3, 4, bias=False)": [(5, 2, 3)], "RNNCell(3, 4)": [(2, 3)], "LSTMCell(3, 4)": [(2, 3)], "GRUCell(3, 4, bias=False)": [(3,)],
    "MultiheadAttention(6, 2)": [(5, 2, 6), (4, 2, 6), (4, 2, 6)], "MultiheadAttention(6, 3, batch_first=True, bias=False)": [(2, 5, 6)] * 3,
    "MultiheadAttention(6, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True)": [(5, 2, 6), (4, 2, 3), (4, 2, 5)],
    "TransformerEncoderLayer(6, 2, 8, dropout=0.0)": [(5, 2, 6)],
    "TransformerEncoderLayer(6, 2, 8, dropout=0.0, activation='gelu', norm_first=True, batch_first=True)": [(2, 5, 6)],
    "TransformerDecoderLayer(6, 2, 8, dropout=0.0)": [(5, 2, 6), (4, 2, 6)],
    "TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), 2, nn.LayerNorm(6))": [(5, 2, 6)],
    "TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, dropout=0.0, norm_first=True), 2)": [(5, 2, 6), (4, 2, 6)],
    "Transformer(6, 2, 1, 1, 8, dropout=0.0)": [(5, 2, 6), (4, 2, 6)],
    "Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3))": [(3, 1, 6, 6)],
    "Softmax2d()": [(2, 3, 4, 5)], "Softmax(dim=1)": [(2, 3)], "Softmin(dim=0)": [(2, 3)], "LogSoftmax(dim=-1)": [(2, 3)],
    "MaxPool1d(2)": [(2, 3, 7)], "MaxPool2d(3, 2, 1, return_indices=True)": [(2, 3, 7, 8)], "MaxPool3d(2, ceil_mode=True)": [(1, 2, 3, 5, 4)],
    "AvgPool1d(3, 2, 1)": [(2, 3, 7)], "AvgPool2d(2, divisor_override=3)": [(2, 3, 7, 8)], "AvgPool3d(2, count_include_pad=False, padding=1)": [(1, 2, 3, 5, 4)],
    "LPPool1d(2, 3)": [(2, 3, 7)], "LPPool2d(2.0, 2, stride=1)": [(2, 3, 5, 6)], "AdaptiveAvgPool2d((None, 3))": [(2, 3, 5, 7)],
    "AdaptiveMaxPool1d(3, return_indices=True)": [(2, 3, 7)], "AdaptiveAvgPool3d(2)": [(1, 2, 3, 4, 5)],
    "ReflectionPad1d(2)": [(2, 3, 5)], "ReflectionPad3d(1)": [(1, 2, 3, 4, 3)], "ReplicationPad2d((1, 2, 0, 3))": [(2, 3, 4, 5)],
    "CircularPad2d(1)": [(2, 3, 4, 5)], "ZeroPad2d((1, -1, 2, 0))": [(2, 3, 4, 5)], "ConstantPad1d(2, 3.5)": [(2, 3, 5)],
    "Fold((4, 5), 2)": [(2, 8, 12)], "Unfold(2, padding=1)": [(2, 3, 4, 5)], "PixelShuffle(2)": [(2, 8, 3, 2)], "PixelUnshuffle(2)": [(2, 3, 4, 6)],
    "ChannelShuffle(2)": [(2, 4, 3)], "Upsample(scale_factor=2, mode='bilinear')": [(2, 3, 4, 5)], "UpsamplingBilinear2d((5, 7))": [(2, 3, 4, 5)],
    "UpsamplingNearest2d(scale_factor=2)": [(2, 3, 4, 5)], "Dropout(0.0)": [(3, 4)], "Hardtanh(-2.0, 0.5)": [(3, 4)],
    "RReLU(0.2, 0.2)": [(3, 4)], "Threshold(0.1, 20.0)": [(3, 4)], "GLU()": [(3, 4)], "GELU('tanh')": [(3, 4)], "CELU(0.5)": [(3, 4)],
    "SmoothL1Loss()": [(), ()],
    "LinearCrossEntropyLoss(4, 3, bias=True)": [(5, 4), (3, (5,))], "LinearCrossEntropyLoss(4, 3, out_features=(2,))": [(5, 4), (3, (5, 2))],
    "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)": [(6, 8), (20, (6,))],
    "AdaptiveLogSoftmaxWithLoss(8, 9, (4,), head_bias=True)": [(8,), (9, ())],
    "L1Loss()": [(3, 4), (3, 4)], "MSELoss(reduction='sum')": [(3, 4), (3, 4)], "HuberLoss(delta=0.3)": [(3, 4), (3, 4)],
    "SmoothL1Loss(beta=0.2, reduction='none')": [(3, 4), (3, 4)], "CrossEntropyLoss(label_smoothing=0.1)": [(5, 3), (3, (5,))],
    "NLLLoss(ignore_index=1)": [(5, 3), (3, (5,))], "MultiMarginLoss(p=2)": [(5, 3), (3, (5,))], "PoissonNLLLoss()": [(3, 4), (3, 4)],
    "TripletMarginLoss(swap=True)": [(3, 4)] * 3, "MarginRankingLoss(margin=0.2)": [(6,), (6,), (6,)],
}
# Classes of torch.nn that weft.nn does not have, and why; arguments that differ.
NOT_THERE = {
    "Container": "deprecated",
    "CrossMapLRN2d": "LocalResponseNorm", "DataParallel": "one device", "SyncBatchNorm": "one device", "NLLLoss2d": "deprecated",
    "FractionalMaxPool2d": "left out", "FractionalMaxPool3d": "left out",
}
NOT_TAKEN = {"Hardtanh": {"min_value", "max_value"}}       # deprecated
OURS = {"key", "random_key"}                               # where random numbers come from


def inputs_of(shapes, rng):
    return [rng.integers(0, shape[0], shape[1]) if len(shape) == 2 and isinstance(shape[1], tuple) else rng.standard_normal(shape)
            for shape in shapes]


def flat(result):
    if isinstance(result, (list, tuple)):
        return [x for part in result for x in flat(part)]
    return [] if result is None else [result]


def weight_of(shape):
    return np.cos(np.arange(int(np.prod(shape))) + 1.0).reshape(shape)


def torch_run(module, arrays):
    xs = [torch.from_numpy(a.copy()) for a in arrays]
    for x in xs:
        if x.is_floating_point():
            x.requires_grad_()
    module.zero_grad()
    results = flat(module(*xs))
    moving = [r for r in results if r.requires_grad]
    total = sum((r * torch.from_numpy(weight_of(tuple(r.shape)))).sum() for r in moving)
    total.backward()
    grads = {name: np.zeros(p.shape) if p.grad is None else p.grad.numpy() for name, p in module.named_parameters()}
    return [r.detach().numpy() for r in results], grads, [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in xs if x.requires_grad]


def weft_run(module, arrays):
    at = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    given = [wf.asarray(a) for a in arrays]

    def loss(module, floats):
        xs = list(given)
        for i, x in zip(at, floats):
            xs[i] = x
        results = flat(module(*xs))
        total = sum((r * wf.asarray(weight_of(r.shape))).sum() for r in results if r.dtype.kind == "f")
        return total, results
    (_, results), (of_module, of_inputs) = wf.value_and_grad(loss, argnums=(0, 1), has_aux=True)(module, [given[i] for i in at])
    grads = {name: np.asarray(g) for name, g in of_module.named_parameters()}
    return [np.asarray(r) for r in results], grads, [np.asarray(g) for g in of_inputs]


def of_torch(state):
    return {name: value.detach().numpy().copy() for name, value in state.items()}


def agree(test, mine, theirs, what):
    test.assertEqual(len(mine), len(theirs), what)
    for i, (a, b) in enumerate(zip(mine, theirs)):
        test.assertEqual(a.shape, b.shape, f"{what} {i}")
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{what} {i}")


@unittest.skipIf(LACKS, f"PyTorch: {LACKS}")
class Layers(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.rng = np.random.default_rng(3)

    def both(self, text):
        torch.manual_seed(1)
        theirs = eval("nn." + text, {"nn": torch.nn}).double()
        mine = eval("nn." + text, {"nn": wf.nn}).double()
        return mine, theirs

    def test_results_derivatives_and_states_are_pytorchs_with_its_weights(self):
        for text, shapes in LAYERS.items():
            for training in (True, False):
                with self.subTest(layer=text, training=training):
                    mine, theirs = self.both(text)
                    mine.train(training), theirs.train(training)
                    self.assertEqual(list(mine.state_dict()), list(theirs.state_dict()))
                    mine.load_state_dict(theirs.state_dict())
                    arrays = inputs_of(shapes, self.rng)
                    values, weights, inputs = torch_run(theirs, arrays)
                    my_values, my_weights, my_inputs = weft_run(mine, arrays)
                    agree(self, my_values, values, "result")
                    agree(self, my_inputs, inputs, "derivative of input")
                    self.assertEqual(list(my_weights), list(weights))
                    agree(self, list(my_weights.values()), list(weights.values()), "derivative of weight")
                    if "max_norm" not in text:      # a table is written where it is called as it is, not where it is differentiated
                        agree(self, [np.asarray(v) for v in mine.state_dict().values()], list(of_torch(theirs.state_dict()).values()), "state")

    def test_packed_sequences_of_several_lengths(self):
        for text in ("RNN(3, 4)", "LSTM(3, 4, 2, bidirectional=True)", "GRU(3, 4, bidirectional=True)", "LSTM(3, 4, proj_size=2)"):
            for lengths in ([5, 3, 2], [2, 5, 3]):
                with self.subTest(layer=text, lengths=lengths):
                    mine, theirs = self.both(text)
                    mine.load_state_dict(theirs.state_dict())
                    x = self.rng.standard_normal((5, 3, 3))
                    runs = []
                    for nn, module, given, end in ((torch.nn, theirs, torch.from_numpy(x), of_numpy), (wf.nn, mine, wf.asarray(x), np.asarray)):
                        packed = nn.utils.rnn.pack_padded_sequence(given, lengths, enforce_sorted=False)
                        output, state = module(packed)
                        padded, found = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, padding_value=-1.0)
                        runs.append([end(v) for v in flat([padded, found, output.data, output.batch_sizes, state])])
                    agree(self, runs[1], runs[0], "packed")

    def test_max_norm_is_written_into_the_table(self):
        mine, theirs = self.both("Embedding(7, 3, max_norm=1.0)")
        mine.load_state_dict(theirs.state_dict())
        indices = np.array([1, 5, 5])
        theirs(torch.from_numpy(indices)), mine(wf.asarray(indices))
        agree(self, [np.asarray(mine.weight)], [theirs.weight.detach().numpy()], "table")

    def test_masks_of_attention(self):
        mine, theirs = self.both("MultiheadAttention(6, 2)")
        mine.load_state_dict(theirs.state_dict())
        q, k = self.rng.standard_normal((5, 2, 6)), self.rng.standard_normal((4, 2, 6))
        padding = np.array([[False, False, True, False], [False, True, True, False]])
        for mask in (None, self.rng.random((5, 4)) < 0.3, self.rng.standard_normal((4, 5, 4))):
            for average in (True, False):
                runs = []
                for module, of, end in ((theirs, torch.from_numpy, of_numpy), (mine, wf.asarray, np.asarray)):
                    given = [of(q), of(k), of(k)]
                    result = module(*given, key_padding_mask=of(padding) if mask is None or mask.dtype == bool else None,
                                    attn_mask=None if mask is None else of(mask), average_attn_weights=average)
                    runs.append([end(x) for x in result])
                agree(self, runs[1], runs[0], "attention")

    def test_signatures_are_pytorchs(self):
        def arguments(f):
            return [(p.name, p.kind, "" if callable(p.default) or p.default is p.empty else p.default)
                    for p in inspect.signature(f).parameters.values() if p.name not in OURS or f in THEIRS]
        THEIRS = set()
        for library, mine in ((torch.nn, wf.nn), (torch.nn.functional, wf.nn.functional), (torch.nn.init, wf.nn.init)):
            for name in dir(mine):
                theirs, own = getattr(library, name, None), getattr(mine, name)
                if name.startswith("_") or theirs is None or not callable(own) or name == "Parameter":     # PyTorch makes one of nothing
                    continue
                try:
                    THEIRS = {theirs}
                    expected = arguments(theirs)
                except ValueError:
                    continue        # written in C++, without a signature
                if expected[:1] and expected[0][0] in ("args", "self"):
                    continue
                expected = [p for p in expected if p[0] not in NOT_TAKEN.get(name, ())]
                found = arguments(own)
                if name == "multi_head_attention_forward":
                    found.insert(1, next(p for p in expected if p[0] == "key"))
                if library is not torch.nn.init or "generator" not in str(expected):
                    self.assertEqual(found, expected, name)

    def test_every_layer_of_pytorch_is_there_or_named(self):
        for name in dir(torch.nn):
            theirs = getattr(torch.nn, name)
            if inspect.isclass(theirs) and issubclass(theirs, torch.nn.Module) and not name.startswith("Lazy") and name not in NOT_THERE:
                self.assertTrue(hasattr(wf.nn, name), name)

    def test_layers_print_as_pytorchs(self):
        for text in LAYERS:
            mine, theirs = self.both(text)
            with self.subTest(layer=text):
                self.assertEqual(repr(mine), repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")
                                 .replace("scale_factor=2.0", "scale_factor=2"))

    def test_first_values_have_pytorchs_distributions(self):
        wf.random.seed(0)
        for text in ("Linear(300, 200)", "Conv2d(20, 30, 5)", "ConvTranspose1d(40, 50, 7)", "Embedding(200, 100)", "LSTM(60, 70)",
                     "GRUCell(60, 70)", "MultiheadAttention(64, 4)", "Bilinear(20, 30, 20)", "Transformer(16, 2, 1, 1, 32)"):
            mine, theirs = self.both(text)
            for (name, a), (_, b) in zip(mine.state_dict().items(), theirs.state_dict().items()):
                a, b = np.asarray(a), b.numpy()
                error = 6 / np.sqrt(a.size)      # six deviations of an estimate, in units of the deviation
                spread = max(b.std(), 1e-12)
                self.assertLess(abs(a.mean() - b.mean()), 2 * error * spread + 1e-12, f"{text} {name}")
                self.assertLess(abs(a.std() - b.std()), 2 * error * spread + 1e-12, f"{text} {name}")
                self.assertLess(abs(np.abs(a).max() - np.abs(b).max()), 2 * spread * max(error, 0.5), f"{text} {name}")


def of_numpy(x):
    return x.detach().numpy()


if __name__ == "__main__":
    unittest.main()
