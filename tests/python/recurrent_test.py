"""Recurrent layers beside their formulas in NumPy. Skipped, and said so, where the package was not built (nanobind missing)."""
import unittest

from built import LACKS, np, wf


def logistic(x):
    return 1 / (1 + np.exp(-x))


def weights(layer, end):
    return [np.asarray(getattr(layer, name + end)) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def lstm_step(x, h, c, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = np.split(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=-1)
    c = logistic(f) * c + logistic(i) * np.tanh(g)
    return logistic(o) * np.tanh(c), c


def gru_step(x, h, c, w_ih, w_hh, b_ih, b_hh):
    (xr, xz, xn), (hr, hz, hn) = np.split(x @ w_ih.T + b_ih, 3, axis=-1), np.split(h @ w_hh.T + b_hh, 3, axis=-1)
    z = logistic(xz + hz)
    return (1 - z) * np.tanh(xn + logistic(xr + hr) * hn) + z * h, c


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Recurrent(unittest.TestCase):
    def test_layers_are_their_steps_one_after_another(self):
        x = np.random.default_rng(1).normal(size=(6, 2, 3))
        for kind, step in ((wf.nn.LSTM, lstm_step), (wf.nn.GRU, gru_step)):
            layer = kind(3, 4, num_layers=2, dtype=wf.float64, key=wf.random.key(1))
            output, last = layer(wf.asarray(x))
            seen = x
            for end in ("_l0", "_l1"):
                h = c = np.zeros((2, 4))
                steps = []
                for row in seen:
                    h, c = step(row, h, c, *weights(layer, end))
                    steps.append(h)
                seen = np.stack(steps)
            np.testing.assert_allclose(np.asarray(output), seen, rtol=0, atol=1e-14)
            np.testing.assert_allclose(np.asarray(last[0] if kind is wf.nn.LSTM else last)[1], seen[-1], rtol=0, atol=1e-14)

    def test_the_gradient_of_many_steps_is_the_slope(self):
        layer = wf.nn.LSTM(2, 3, dtype=wf.float64, key=wf.random.key(2))
        x = wf.asarray(np.random.default_rng(2).normal(size=(9, 1, 2)))

        def loss(x):
            return wf.sum(layer(x)[0] ** 2)
        slope = np.asarray(wf.grad(loss)(x))
        direction = np.random.default_rng(3).normal(size=slope.shape)
        h = 1e-5  # the error of the difference is of the order of h^2
        difference = (float(loss(x + h * wf.asarray(direction))) - float(loss(x - h * wf.asarray(direction)))) / (2 * h)
        self.assertAlmostEqual(np.sum(slope * direction), difference, delta=1e-8 * abs(difference) + 1e-9)


if __name__ == "__main__":
    unittest.main()
