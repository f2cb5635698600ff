"""weft.nn.functional against formulas written in NumPy and SciPy; what is drawn at random by its statistics; modules as trees, while they
train and are compiled; what is refused.

Skipped, and said so, where the package was not built (nanobind missing)."""
import copy
import inspect
import pickle
import unittest

from built import LACKS, np, wf
try:
    from scipy import signal, special
except ImportError:
    special = None


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def windows(x, kernel, stride):
    """The windows of the last two axes: (..., rows, columns, kernel)."""
    view = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (-2, -1))[..., ::stride, ::stride, :, :]
    return view.reshape(*view.shape[:-2], -1)


ACTIVATIONS = {         # of x; the call's other arguments, and the formula
    "relu": ((), lambda x: np.maximum(x, 0)), "relu6": ((), lambda x: np.clip(x, 0, 6)), "elu": ((0.7,), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "selu": ((), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    "celu": ((1.3,), lambda x: np.where(x > 0, x, 1.3 * np.expm1(x / 1.3))), "leaky_relu": ((0.2,), lambda x: np.where(x > 0, x, 0.2 * x)),
    "hardshrink": ((0.6,), lambda x: np.where(abs(x) > 0.6, x, 0)), "softshrink": ((0.6,), lambda x: np.sign(x) * np.maximum(abs(x) - 0.6, 0)),
    "tanhshrink": ((), lambda x: x - np.tanh(x)), "softsign": ((), lambda x: x / (1 + abs(x))), "logsigmoid": ((), lambda x: -np.log1p(np.exp(-x))),
    "softplus": ((2.0, 3.0), lambda x: np.where(2 * x > 3, x, np.log1p(np.exp(2 * x)) / 2)), "hardtanh": ((-0.5, 0.8), lambda x: np.clip(x, -0.5, 0.8)),
    "hardsigmoid": ((), lambda x: np.clip(x + 3, 0, 6) / 6), "hardswish": ((), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "silu": ((), lambda x: x / (1 + np.exp(-x))), "mish": ((), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "threshold": ((0.3, 9.0), lambda x: np.where(x > 0.3, x, 9.0)), "sigmoid": ((), lambda x: 1 / (1 + np.exp(-x))), "tanh": ((), lambda x: np.tanh(x)),
    "rrelu": ((0.1, 0.3), lambda x: np.where(x > 0, x, 0.2 * x)), "softmax": ((1,), lambda x: softmax(x, 1)), "softmin": ((0,), lambda x: softmax(-x, 0)),
    "log_softmax": ((-1,), lambda x: np.log(softmax(x, -1))), "glu": ((0,), lambda x: x[:2] / (1 + np.exp(-x[2:]))),
    "normalize": ((3.0, 0), lambda x: x / (abs(x) ** 3).sum(0) ** (1 / 3)),
}


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Functional(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(5)
        self.F = wf.nn.functional

    def draw(self, *shape):
        return self.rng.standard_normal(shape)

    def check(self, mine, theirs, error=1e-12):
        self.assertEqual(tuple(mine.shape), np.shape(theirs))
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=error, atol=error)

    def test_activations_are_their_formulas(self):
        x = self.draw(4, 6) * 3
        for name, (more, formula) in ACTIVATIONS.items():
            with self.subTest(name):
                self.check(getattr(self.F, name)(x, *more), formula(x))
                self.assertEqual(getattr(self.F, name)(x.astype("float32"), *more).dtype, wf.float32)
        if special:
            self.check(self.F.gelu(x), x * special.ndtr(x), 1e-9)
        self.check(self.F.gelu(x, approximate="tanh"), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))))
        self.check(self.F.prelu(x, np.arange(1, 7) * 0.1), np.where(x > 0, x, x * np.arange(1, 7) * 0.1))

    def test_derivatives_are_differences(self):
        x, step = self.draw(3, 4), 1e-6
        for name, (more, _) in ACTIVATIONS.items():
            if name == "glu":
                continue
            def total(t):
                return (getattr(self.F, name)(t, *more) * wf.asarray(np.cos(np.arange(12.0)).reshape(3, 4))).sum()
            slope = np.asarray(wf.grad(total)(wf.asarray(x)))
            for i in np.ndindex(x.shape):
                up, down = x.copy(), x.copy()
                up[i] += step
                down[i] -= step
                difference = (float(total(wf.asarray(up))) - float(total(wf.asarray(down)))) / (2 * step)
                self.assertAlmostEqual(slope[i], difference, delta=1e-6, msg=name)

    def test_normalisations_are_their_formulas(self):
        x, w, b = self.draw(3, 4, 5), self.draw(4), self.draw(4)
        column = (slice(None), None)
        self.check(self.F.batch_norm(x, None, None, w, b, True), normalized(x, (0, 2)) * w[column] + b[column])
        self.check(self.F.batch_norm(x, b, abs(w), eps=1e-3), (x - b[column]) / np.sqrt(abs(w)[column] + 1e-3))
        self.check(self.F.instance_norm(x), normalized(x, 2))
        self.check(self.F.layer_norm(x, (4, 5)), normalized(x, (1, 2)))
        self.check(self.F.group_norm(x, 2, w, b), normalized(x.reshape(3, 2, 10), 2).reshape(x.shape) * w[column] + b[column])
        self.check(self.F.rms_norm(x, (5,), eps=1e-4), x / np.sqrt((x ** 2).mean(2, keepdims=True) + 1e-4))
        for size in (1, 2, 3, 7, 20):
            padded = np.pad(x ** 2, ((0, 0), (size // 2, (size - 1) // 2), (0, 0)))
            means = sum(padded[:, i:i + 4] for i in range(size)) / size
            self.check(self.F.local_response_norm(x, size, 0.1, 0.6, 2.0), x / (2 + 0.1 * means) ** 0.6)

    def test_groups_of_channels_are_normalised_however_they_lie(self):
        for shape, groups in (((3, 6), 2), ((2, 6, 4), 6), ((2, 6, 3, 5), 3), ((2, 8, 2, 3, 4), 1)):
            with self.subTest(shape=shape, groups=groups):
                x, w, b = self.draw(*shape), self.draw(shape[1]), self.draw(shape[1])
                ones = (-1, *[1] * (len(shape) - 2))
                plain = normalized(x.reshape(shape[0], groups, -1), 2).reshape(shape)
                last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
                turned = wf.compile(lambda x: self.F.group_norm(wf.moveaxis(x, -1, 1), groups, wf.asarray(w), wf.asarray(b)))   # noqa: B023
                self.check(self.F.group_norm(x, groups), plain)
                self.check(self.F.group_norm(x, groups, w), plain * w.reshape(ones))
                self.check(self.F.group_norm(x, groups, None, b), plain + b.reshape(ones))
                self.check(turned(wf.asarray(last)), plain * w.reshape(ones) + b.reshape(ones))

    def test_running_statistics_move_by_momentum(self):
        x = self.draw(6, 3)
        mean, var = wf.zeros(3, dtype="float64"), wf.ones(3, dtype="float64")
        self.F.batch_norm(x, mean, var, training=True, momentum=0.3)
        self.check(mean, 0.3 * x.mean(0))
        self.check(var, 0.7 + 0.3 * x.var(0, ddof=1))

    def test_pools_are_their_formulas(self):
        x = self.draw(2, 3, 7, 8)
        self.check(self.F.max_pool2d(x, 3, 2), windows(x, 3, 2).max(-1))
        self.check(self.F.avg_pool2d(x, 2), windows(x, 2, 2).mean(-1))
        self.check(self.F.avg_pool2d(x, 2, divisor_override=3), windows(x, 2, 2).sum(-1) / 3)
        self.check(self.F.lp_pool2d(abs(x), 3, 2), (windows(abs(x), 2, 2) ** 3).sum(-1) ** (1 / 3))
        values, places = self.F.max_pool2d(x, 3, 2, return_indices=True)
        self.check(values, np.take_along_axis(x.reshape(2, 3, -1), np.asarray(places).reshape(2, 3, -1), -1).reshape(values.shape))
        back = np.asarray(self.F.max_unpool2d(*self.F.max_pool2d(x, 2, return_indices=True), 2, output_size=(7, 8)))
        np.testing.assert_array_equal(back[back != 0], x[back != 0])
        parts = [(i * 7 // 3, -(-(i + 1) * 7 // 3)) for i in range(3)]
        self.check(self.F.adaptive_avg_pool2d(x, (3, None)), np.stack([x[:, :, a:b].mean(2) for a, b in parts], 2))
        self.check(self.F.adaptive_max_pool2d(x, (3, 8)), np.stack([x[:, :, a:b].max(2) for a, b in parts], 2))

    @unittest.skipUnless(special, "SciPy is missing")
    def test_convolutions_are_scipys(self):
        x, w, b = self.draw(2, 3, 6, 7), self.draw(4, 3, 3, 2), self.draw(4)
        valid = np.stack([[sum(signal.correlate2d(image[c], kernel[c], "valid") for c in range(3)) for kernel in w] for image in x])
        self.check(self.F.conv2d(x, w, b), valid + b[:, None, None])
        self.check(self.F.conv2d(x[0], w), valid[0])
        full = np.stack([[sum(signal.convolve2d(image[c], kernel[c]) for c in range(4)) for kernel in w.swapaxes(0, 1)] for image in valid])
        self.check(self.F.conv_transpose2d(valid, w), full)
        columns = np.asarray(self.F.unfold(x, (3, 2)))
        self.check((w.reshape(4, -1) @ columns).reshape(valid.shape), valid)
        self.check(self.F.fold(columns, (6, 7), (3, 2)), x * np.asarray(self.F.fold(np.ones_like(columns), (6, 7), (3, 2))))

    def test_images_are_moved_as_numpy_moves_them(self):
        x = self.draw(2, 4, 3, 5)
        for mode, name in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"), ("constant", "constant")):
            self.check(self.F.pad(x, (1, 2, 2, 0), mode), np.pad(x, ((0, 0), (0, 0), (2, 0), (1, 2)), name))
        self.check(self.F.pad(x, (-1, 0), value=3.0), x[..., 1:])
        shuffled = np.asarray(self.F.pixel_shuffle(x, 2))
        self.check(shuffled[:, 0, 1::2, ::2], x[:, 2])
        self.check(self.F.pixel_unshuffle(shuffled, 2), x)
        self.check(self.F.channel_shuffle(x, 2), x[:, [0, 2, 1, 3]])
        self.check(self.F.interpolate(x, scale_factor=2), x.repeat(2, -1).repeat(2, -2))
        line = self.draw(1, 1, 5)
        self.check(self.F.interpolate(line, size=9, mode="linear", align_corners=True)[0, 0], np.interp(np.arange(9) / 2, np.arange(5), line[0, 0]))
        grid = self.F.affine_grid(np.array([[[1.0, 0, 0], [0, 1, 0]]] * 2), (2, 4, 3, 5))
        self.check(self.F.grid_sample(x, grid), x)

    def test_losses_are_their_formulas(self):
        x, y, labels = self.draw(4, 3), self.draw(4, 3), np.array([0, 2, 1, 0])
        logs = np.log(softmax(x, 1))
        self.check(self.F.mse_loss(x, y), ((x - y) ** 2).mean())
        self.check(self.F.l1_loss(x, y, reduction="sum"), abs(x - y).sum())
        self.check(self.F.mse_loss(x, y, weight=abs(y)), (abs(y) * (x - y) ** 2).sum() / abs(y).sum())
        self.check(self.F.cross_entropy(x, labels), -logs[range(4), labels].mean())
        self.check(self.F.cross_entropy(x, labels, ignore_index=0), -logs[[1, 2], [2, 1]].mean())
        self.check(self.F.nll_loss(logs, labels, [1.0, 2.0, 3.0]), -(logs[range(4), labels] * [1, 3, 2, 1]).sum() / 7)
        self.check(self.F.kl_div(logs, softmax(y, 1), reduction="batchmean"), (softmax(y, 1) * (np.log(softmax(y, 1)) - logs)).sum() / 4)
        self.check(self.F.gaussian_nll_loss(x, y, abs(x) + 1), (np.log(abs(x) + 1) + (x - y) ** 2 / (abs(x) + 1)).mean() / 2)
        self.check(self.F.multi_margin_loss(x, labels), np.mean([sum(max(0, 1 - r[t] + r[c]) for c in range(3) if c != t) / 3 for r, t in zip(x, labels)]))
        lists = np.array([[2, -1, 0], [0, 1, -1], [-1, 0, 1], [0, 1, 2]])
        chosen = [[2], [0, 1], [], [0, 1, 2]]
        expected = [sum(max(0, 1 - r[t] + r[c]) for t in c_ for c in range(3) if c not in c_) / 3 for r, c_ in zip(x, chosen)]
        self.check(self.F.multilabel_margin_loss(x, lists, reduction="none"), expected)
        distance = [np.linalg.norm(a - b + 1e-6, axis=1) for a, b in ((x, y), (x, -y))]
        self.check(self.F.triplet_margin_loss(x, y, -y), np.maximum(distance[0] - distance[1] + 1, 0).mean())

    def test_ctc_loss_is_the_sum_over_all_paths(self):
        steps, classes, target = 4, 3, [1, 2]
        logs = np.log(softmax(self.draw(steps, classes), 1))
        total = 0.0
        for path in np.ndindex(*[classes] * steps):
            kept = [c for i, c in enumerate(path) if c and (i == 0 or path[i - 1] != c)]
            total += np.exp(sum(logs[t, c] for t, c in enumerate(path))) if kept == target else 0
        self.check(self.F.ctc_loss(logs, target, [steps], [2], reduction="none"), -np.log(total))
        self.assertEqual(float(self.F.ctc_loss(logs, [1, 1, 1], [steps], [3], reduction="sum")), np.inf)
        self.assertEqual(float(self.F.ctc_loss(logs, [1, 1, 1], [steps], [3], zero_infinity=True)), 0)

    def test_attention_is_its_formula(self):
        q, k, v = self.draw(2, 3, 4), self.draw(2, 5, 4), self.draw(2, 5, 6)
        mask = self.rng.random((3, 5)) < 0.7
        mask[:, 0] = True
        scores = np.where(mask, q @ k.swapaxes(1, 2) / 2, -np.inf)
        self.check(self.F.scaled_dot_product_attention(q, k, v, mask), softmax(scores, -1) @ v)
        nothing = np.asarray(self.F.scaled_dot_product_attention(q, k, v, np.zeros((3, 5), bool)))
        np.testing.assert_array_equal(nothing, 0)

    def test_embeddings_are_rows(self):
        table, indices = self.draw(6, 3), np.array([[1, 4], [4, 0]])
        self.check(self.F.embedding(indices, table), table[indices])
        self.check(self.F.embedding_bag(indices, table), table[indices].mean(1))
        whole = self.F.embedding_bag(wf.asarray([[0, 1]]), wf.asarray(np.array([[2**31 - 1], [5]], "int32")), mode="max")
        self.assertEqual((str(whole.dtype), whole.tolist()), ("weft.int32", [[2**31 - 1]]))
        none = self.F.embedding_bag(wf.asarray(np.zeros((0, 2), "int64")), wf.asarray(np.array([[7], [5]], "int32")), mode="max")
        self.assertEqual((str(none.dtype), none.shape), ("weft.int32", (0, 1)))
        self.check(self.F.embedding_bag([1, 4, 4, 0], table, [0, 1, 1], mode="max"), [table[1], [0, 0, 0], table[[4, 4, 0]].max(0)])
        slope = wf.grad(lambda t: self.F.embedding(indices, t, padding_idx=1, scale_grad_by_freq=True).sum())(wf.asarray(table))
        self.check(slope, np.array([1, 0, 0, 0, 1, 0])[:, None] * np.ones(3))
        self.check(self.F.one_hot([0, 2]), [[1, 0, 0], [0, 0, 1]])
        with self.assertRaises(IndexError):
            self.F.embedding([6], table)
        with self.assertRaises(IndexError):
            self.F.embedding([-1], table)

    def test_dropout_keeps_the_mean_and_follows_its_key(self):
        x, key = np.ones((100, 200)), wf.random.key(3)
        y = np.asarray(self.F.dropout(x, 0.3, key=key))
        self.assertAlmostEqual((y == 0).mean(), 0.3, delta=5 * np.sqrt(0.21 / x.size))
        np.testing.assert_allclose(y[y != 0], 1 / 0.7)
        np.testing.assert_array_equal(self.F.dropout(x, 0.3, key=key), y)
        self.assertFalse(np.array_equal(self.F.dropout(x, 0.3), y))
        np.testing.assert_array_equal(self.F.dropout(x, 0.3, training=False), x)
        channels = np.asarray(self.F.dropout2d(np.ones((50, 40, 3, 2)), 0.5, key=key))
        self.assertTrue(np.all((channels == channels[..., :1, :1])))
        z = self.draw(400, 300)
        for dropped in (self.F.alpha_dropout(z, 0.4, True, key=key),):
            self.assertAlmostEqual(float(dropped.mean()), 0, delta=5 / np.sqrt(z.size) + 0.01)
            self.assertAlmostEqual(float(dropped.std()), 1, delta=0.02)

    def test_gumbel_softmax_draws_by_probability(self):
        logits = np.log(np.array([0.5, 0.3, 0.2]))
        drawn = np.asarray(self.F.gumbel_softmax(np.tile(logits, (20000, 1)), hard=True, key=wf.random.key(1)))
        np.testing.assert_array_equal(drawn.sum(1), 1)
        np.testing.assert_allclose(drawn.mean(0), np.exp(logits), atol=5 * np.sqrt(0.25 / 20000))

    def test_wrong_arguments_are_refused_by_name(self):
        F, x = self.F, np.ones((2, 3, 4))
        for call, kind, part in [
                (lambda: F.mse_loss(np.ones(3), np.ones((3, 1))), ValueError, "does not broadcast"),
                (lambda: F.cross_entropy(np.ones((2, 3)), np.array([0, 3])), IndexError, "label 3"),
                (lambda: F.mse_loss(x, x, reduction="avg"), ValueError, "avg"), (lambda: F.glu(np.ones(3)), ValueError, "halves"),
                (lambda: F.dropout(x, 1.5), ValueError, "1.5"), (lambda: F.celu(x, 0.0), ValueError, "alpha"),
                (lambda: F.gelu(x, "fast"), ValueError, "fast"), (lambda: F.conv2d(np.ones((1, 2, 3, 3)), np.ones((1, 3, 2, 2))), ValueError, "channels"),
                (lambda: F.max_pool2d(x, 5), ValueError, "window"), (lambda: F.pad(x, (1,)), ValueError, "pair"),
                (lambda: F.pad(x, (4, 4), "reflect"), ValueError, "reflect"), (lambda: F.interpolate(x), ValueError, "size"),
                (lambda: F.batch_norm(np.ones((1, 3)), None, None, training=True), ValueError, "variance"),
                (lambda: F.layer_norm(x, (3,)), ValueError, "normalized_shape"), (lambda: F.linear(x, np.ones((2, 5))), ValueError, "linear"),
                (lambda: F.one_hot(np.array([0.5])), TypeError, "integers"), (lambda: F.softmax(x, 3), IndexError, "axis 3"),
                (lambda: F.relu("x"), TypeError, "array"), (lambda: F.elu(x, "a"), TypeError, ""),
                (lambda: F.embedding([0.5], np.ones((2, 2))), TypeError, "integers"), (lambda: F.group_norm(x, 2), ValueError, "groups"),
                (lambda: F.ctc_loss(np.zeros((3, 1, 2)), [[5]], [3], [1]), IndexError, "label 5")]:
            with self.assertRaises(kind) as refused:
                call()
            self.assertIn(part, str(refused.exception))

    def test_what_must_be_an_integer_is_named(self):
        F, image = self.F, wf.ones((1, 1, 4, 4))
        for call, message in ((lambda: F.unfold(image, "q"), "unfold: kernel_size is an integer, not 'str'"), (lambda: F.unfold(image, (2, 2.5)), "unfold: kernel_size holds integers, not 'float'"),
                              (lambda: F.pixel_shuffle(wf.ones((1, 4, 2, 2)), 1.5), "pixel_shuffle: upscale_factor is an integer, not 'float'"),
                              (lambda: wf.sum(image, axis="x"), "sum: axis is an integer, not 'str'")):
            with self.assertRaisesRegex(TypeError, message):
                call()

    def test_truth_values_and_empty_axes_are_pytorchs(self):
        F = self.F
        for name in ("relu", "relu6"):
            with self.assertRaisesRegex(TypeError, f"{name}: not defined for bool"):
                getattr(F, name)(wf.ones(2) > 0)
            self.assertEqual(getattr(F, name)(wf.asarray([-1, 2])).dtype, wf.int64)
        for name in ("softmax", "log_softmax", "softmin"):
            self.assertEqual(getattr(F, name)(wf.ones((3, 0)), dim=1).shape, (3, 0))
            with self.assertRaises(wf.AxisError):
                getattr(F, name)(wf.ones((3, 0)), dim=2)

    def test_arguments_and_defaults_are_pytorchs(self):
        text = {name: str(inspect.signature(getattr(self.F, name))) for name in ("cross_entropy", "max_pool2d", "interpolate", "layer_norm")}
        self.assertEqual(text, {
            "cross_entropy": "(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)",
            "max_pool2d": "(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)",
            "interpolate": "(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=False)",
            "layer_norm": "(input, normalized_shape, weight=None, bias=None, eps=1e-05)"})


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Modules(unittest.TestCase):
    def model(self):
        nn, key = wf.nn, wf.random.key(0)
        first, second = wf.random.split(key)
        return nn.Sequential(nn.Linear(4, 8, key=first), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1, key=second))

    def data(self):
        rng = np.random.default_rng(2)
        x = rng.standard_normal((32, 4)).astype("float32")
        return wf.asarray(x), wf.asarray(np.sin(x.sum(1, keepdims=True)))

    def train(self, model, step, count=60):
        x, y = self.data()
        losses = []
        for _ in range(count):
            loss, grads = step(model, x, y)
            for parameter, slope in zip(model.parameters(), grads.parameters()):
                parameter.value = parameter.value - 0.1 * slope
            losses.append(float(loss))
        return losses

    def test_a_model_trains_the_same_compiled_or_not(self):
        step = wf.value_and_grad(lambda model, x, y: wf.nn.functional.mse_loss(model(x), y))
        plain, compiled = self.model(), self.model()
        first, second = self.train(plain, step), self.train(compiled, wf.compile(step))
        self.assertLess(first[-1], first[0] / 5)
        np.testing.assert_allclose(first, second, rtol=1e-3)
        self.assertEqual(int(compiled[1].num_batches_tracked), 60)
        np.testing.assert_allclose(np.asarray(plain[1].running_mean), np.asarray(compiled[1].running_mean), rtol=1e-3, atol=1e-5)

    def test_a_compiled_function_tells_models_of_one_form_apart(self):
        step = wf.compile(lambda model, x: model(x))
        x = np.ones((4, 4), "float32")
        for options in ({}, {"eps": 3.0}, {}):
            model = wf.nn.BatchNorm1d(4, **options).eval()
            model.running_mean.value = wf.asarray(np.full(4, 0.5, "float32"))
            np.testing.assert_allclose(np.asarray(step(model, x)), np.asarray(model(x)), rtol=1e-6)
            model.train()
            step(model, x)
            np.testing.assert_allclose(np.asarray(model.running_mean), 0.55, rtol=1e-6)

    def test_evaluating_uses_running_statistics_and_no_dropout(self):
        layer = wf.nn.Sequential(wf.nn.BatchNorm1d(4), wf.nn.Dropout(0.5)).eval()
        x, _ = self.data()
        np.testing.assert_allclose(np.asarray(layer(x)), np.asarray(x) / np.sqrt(1 + 1e-5), rtol=1e-6)
        layer.train()
        self.assertTrue(np.any(np.asarray(layer(x)) == 0))

    def test_the_mean_of_all_batches_is_counted_in_compiled_steps_too(self):
        batches = [np.random.default_rng(i).normal(size=(6, 2)).astype("f") for i in range(3)]
        found = []
        for make in (lambda f: f, wf.compile):
            norm = wf.nn.BatchNorm1d(2, momentum=None)
            step = make(lambda layer, x: layer(x))
            for batch in batches:
                step(norm, wf.asarray(batch)).tolist()
            np.testing.assert_allclose(norm.running_mean, np.mean([batch.mean(0) for batch in batches], 0), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(norm.running_var, np.mean([batch.var(0, ddof=1) for batch in batches], 0), rtol=1e-5)
            found.append([np.asarray(norm.running_mean), np.asarray(norm.running_var)])
        np.testing.assert_array_equal(found[0], found[1])

    def test_state_goes_out_and_in_by_name(self):
        model, other = self.model(), self.model()
        state = model.state_dict()
        self.assertEqual(list(state), ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked",
                                       "3.weight", "3.bias"])
        other[0].weight.value = other[0].weight.value * 2
        self.assertEqual(other.load_state_dict({name: np.asarray(value) for name, value in state.items()}), ([], []))
        np.testing.assert_array_equal(other[0].weight, model[0].weight)
        for wrong, part in (({**state, "more": state["0.bias"]}, "more"), ({}, "missing: 0.weight"), ({**state, "0.bias": np.ones(3)}, "0.bias has shape (3,)")):
            with self.assertRaises(ValueError) as refused:
                other.load_state_dict(wrong)
            self.assertIn(part, str(refused.exception))
        self.assertEqual(other.load_state_dict({}, strict=False).missing_keys, list(state))

    def test_copies_and_pickles_have_weights_of_their_own(self):
        model = self.model()
        for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(again[0].weight, model[0].weight)
            again[0].weight.value = again[0].weight.value * 0
            self.assertTrue(np.any(np.asarray(model[0].weight) != 0))

    def test_frozen_parameters_are_no_leaves(self):
        model = self.model()
        model[0].requires_grad_(False)
        grads = wf.grad(lambda m: m(self.data()[0]).sum())(model)
        self.assertIs(grads[0].weight, model[0].weight)
        self.assertEqual(grads[3].weight.shape, (1, 8))

    def test_a_model_of_ones_own_has_pytorchs_ways(self):
        class Own(wf.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = wf.nn.Parameter(wf.ones(3))
                self.layers = wf.nn.ModuleList([wf.nn.Linear(3, 3), wf.nn.Linear(3, 3)])
                self.register_buffer("count", wf.zeros(()))
                self.skip = None

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x) * self.scale
                return x
        model = Own()
        self.assertEqual([name for name, _ in model.named_parameters()],
                         ["scale", "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"])
        self.assertEqual(repr(model), "Own(\n  (layers): ModuleList(\n    (0-1): 2 x Linear(in_features=3, out_features=3, bias=True)\n  )\n)")
        self.assertEqual(len(list(model.modules())), 4)
        self.assertEqual(wf.grad(lambda m: m(wf.ones((2, 3))).sum())(model).scale.shape, (3,))
        with self.assertRaises(TypeError):
            model.scale = wf.ones(3)
        with self.assertRaises(AttributeError):
            model.missing

    def test_first_values_follow_their_key(self):
        for make in (lambda k: wf.nn.Linear(3, 4, key=k), lambda k: wf.nn.LSTM(3, 4, 2, key=k), lambda k: wf.nn.MultiheadAttention(4, 2, key=k)):
            a, b, c = (make(wf.random.key(seed)).state_dict() for seed in (1, 1, 2))
            for name in a:
                np.testing.assert_array_equal(a[name], b[name])
                if "bias" not in name or "ih" in name:
                    self.assertFalse(np.array_equal(a[name], c[name]), name)

    def test_packed_sequences_end_where_they_end(self):
        rng = np.random.default_rng(0)
        layer = wf.nn.LSTM(3, 4, bidirectional=True).double()
        x = rng.standard_normal((5, 2, 3))
        packed, (h, c) = layer(wf.nn.utils.rnn.pack_padded_sequence(x, [5, 2]))
        alone, (h1, c1) = layer(x[:2, 1:])
        padded, lengths = wf.nn.utils.rnn.pad_packed_sequence(packed)
        np.testing.assert_allclose(np.asarray(padded)[:2, 1:], np.asarray(alone), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(h)[:, 1:], np.asarray(h1), rtol=1e-12)
        self.assertEqual(lengths.tolist(), [5, 2])


if __name__ == "__main__":
    unittest.main()
