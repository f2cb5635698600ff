"""Derivatives of complex functions, maps, custom derivatives and jacobians against JAX's, in double precision.

Skipped, and said so, where JAX or the Python package is missing."""
import os
import sys
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import weft as wf
    jax.config.update("jax_enable_x64", True)
    LACKS = None
except ImportError as error:
    LACKS = str(error)


def close(mine, theirs, error=1e-9):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=error, atol=error)


# Functions of one complex array, in both languages' words: m is weft or jax.numpy. Where values are free in a phase (vectors of
# eigenvalues, of singular values), a function that no phase changes.
ELEMENTWISE = {
    "add": lambda m, z: z + 2 * z, "multiply": lambda m, z: z * z * (1 + 2j), "divide": lambda m, z: (1 + 1j) / z,
    "power": lambda m, z: z ** (1.5 + 0.5j), "square": lambda m, z: m.square(z), "sqrt": lambda m, z: m.sqrt(z),
    "exp": lambda m, z: m.exp(z), "log": lambda m, z: m.log(z), "log1p": lambda m, z: m.log1p(z), "expm1": lambda m, z: m.expm1(z),
    "sin": lambda m, z: m.sin(z), "cos": lambda m, z: m.cos(z), "tan": lambda m, z: m.tan(z), "sinh": lambda m, z: m.sinh(z),
    "cosh": lambda m, z: m.cosh(z), "tanh": lambda m, z: m.tanh(z), "asin": lambda m, z: m.asin(z), "acos": lambda m, z: m.acos(z),
    "atan": lambda m, z: m.atan(z), "asinh": lambda m, z: m.asinh(z), "acosh": lambda m, z: m.acosh(z), "atanh": lambda m, z: m.atanh(z),
}
OTHERS = {
    "real": lambda m, z: m.real(z), "imag": lambda m, z: m.imag(z), "conj": lambda m, z: m.conj(z) * z ** 2, "abs": lambda m, z: m.abs(z), "angle": lambda m, z: m.angle(z),
    "abs squared": lambda m, z: m.abs(z) ** 2, "mixed": lambda m, z: m.real(z) * z + m.imag(z) * m.conj(z),
    "where": lambda m, z: m.where(m.real(z) > 0, z * z, m.conj(z)), "sum": lambda m, z: m.sum(z * z, axis=0),
    "mean": lambda m, z: m.mean(z * m.conj(z), axis=1), "prod": lambda m, z: m.prod(z, axis=1), "cumsum": lambda m, z: m.cumulative_sum(z, axis=1),
    "index": lambda m, z: z[1:, ::2] * z[0, 1], "transpose": lambda m, z: z.T @ m.conj(z), "reshape": lambda m, z: m.reshape(z, (-1,)) ** 2,
    "matmul": lambda m, z: z @ z @ m.conj(z), "stack": lambda m, z: m.stack([z, m.conj(z)]) ** 2,
    "fft": lambda m, z: m.abs(m.fft.fft(z)) ** 2, "ifft": lambda m, z: m.fft.ifft(z, axis=0) * z, "rfft": lambda m, z: m.fft.rfft(m.real(z)),
    "irfft": lambda m, z: m.fft.irfft(z), "fftn": lambda m, z: m.fft.fftn(z) * m.conj(z), "hfft": lambda m, z: m.fft.hfft(z),
    "solve": lambda m, z: m.linalg.solve(z, z @ m.conj(z)), "inv": lambda m, z: m.linalg.inv(z), "det": lambda m, z: m.linalg.det(z),
    "slogdet": lambda m, z: m.linalg.slogdet(z)[1], "slogdet sign": lambda m, z: m.linalg.slogdet(z)[0],
    "cholesky": lambda m, z: m.linalg.cholesky(z @ m.conj(z).T), "qr": lambda m, z: m.abs(m.linalg.qr(z)[1]),
    "eigvalsh": lambda m, z: m.linalg.eigvalsh(z + m.conj(z).T), "eigh": lambda m, z: m.abs(m.linalg.eigh(z + m.conj(z).T)[1]),
    "svdvals": lambda m, z: m.linalg.svd(z)[1], "svd": lambda m, z: m.abs(m.linalg.svd(z)[0]), "pinv": lambda m, z: m.linalg.pinv(z),
    "eigvals": lambda m, z: m.sum(m.linalg.eigvals(z) ** 3), "norm": lambda m, z: m.linalg.vector_norm(z),
}


@unittest.skipIf(LACKS, f"judge: {LACKS}")
class Complex(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(5)
        draw = lambda: rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4))
        self.z, self.t = draw() + 3 * np.diag([1, 2, 3, 4]), draw()

    def each(self):
        for name, f in {**ELEMENTWISE, **OTHERS}.items():
            with self.subTest(name):
                yield f

    def test_gradients_of_real_losses_are_jaxs(self):
        for f in self.each():
            loss = lambda m: lambda z: m.sum(m.abs(f(m, z)) ** 2 * 0.5 + m.real(f(m, z)) * 0.3)
            close(wf.grad(loss(wf))(self.z), jax.grad(loss(jnp))(self.z), 1e-7)

    def test_tangents_and_cotangents_are_jaxs(self):
        for f in self.each():
            value, moved = jax.jvp(lambda z: f(jnp, z), (self.z,), (self.t,))
            mine = wf.jvp(lambda z: f(wf, z), (wf.asarray(self.z),), (wf.asarray(self.t),))
            close(mine[0], value, 1e-8)
            close(mine[1], moved, 1e-7)
            cotangent = np.resize(self.t, value.shape).astype(value.dtype) if np.iscomplexobj(value) else np.resize(self.t.real, value.shape)
            close(wf.vjp(lambda z: f(wf, z), self.z)[1](wf.asarray(cotangent))[0], jax.vjp(lambda z: f(jnp, z), self.z)[1](jnp.asarray(cotangent))[0], 1e-7)

    def test_holomorphic_derivatives_of_first_and_second_order_are_jaxs(self):
        point = 0.7 + 0.4j
        for name, f in ELEMENTWISE.items():
            with self.subTest(name):
                once = lambda m, grad: grad(lambda z: f(m, z), holomorphic=True)
                close(once(wf, wf.grad)(wf.asarray(point, dtype="complex128")), once(jnp, jax.grad)(point))
                close(wf.grad(once(wf, wf.grad), holomorphic=True)(wf.asarray(point, dtype="complex128")),
                      jax.grad(once(jnp, jax.grad), holomorphic=True)(point))
                close(wf.jacobian(lambda z: f(wf, z), holomorphic=True)(self.z[0]), jax.jacrev(lambda z: f(jnp, z), holomorphic=True)(self.z[0]))

    def test_derivatives_of_real_arguments_on_complex_ways_are_jaxs(self):
        x = self.z.real
        cases = {
            "matmul": lambda m, x: m.sum(m.abs(x @ m.asarray(self.z)) ** 2), "solve": lambda m, x: m.sum(m.real(m.linalg.solve(x, m.asarray(self.z)))),
            "right side": lambda m, x: m.sum(m.abs(m.linalg.solve(m.asarray(self.z), x))), "power": lambda m, x: m.real(m.sum((x + 0j) ** 2.5)),
            "stack": lambda m, x: m.sum(m.abs(m.concat([x, m.asarray(self.z)])) * 2), "exp": lambda m, x: m.sum(m.imag(m.exp(1j * x) * m.asarray(self.z))),
            "where": lambda m, x: m.sum(m.imag(m.where(x > 0, x, m.asarray(self.z) * x)))}
        for name, f in cases.items():
            with self.subTest(name):
                mine, theirs = lambda x: f(wf, x), lambda x: f(jnp, x)
                self.assertEqual(str(wf.grad(mine)(x).dtype), "weft.float64")
                close(wf.grad(mine)(x), jax.grad(theirs)(x))
                close(wf.hessian(mine)(x), jax.hessian(theirs)(x), 1e-8)
                close(wf.vmap(wf.grad(mine))(np.stack([x, x + 1])), jax.vmap(jax.grad(theirs))(np.stack([x, x + 1])))

    def test_the_documented_example(self):
        self.assertEqual(complex(wf.grad(lambda z: wf.abs(z) ** 2)(wf.asarray(1 + 1j))), 2 - 2j)
        self.assertEqual(complex(jax.grad(lambda z: jnp.abs(z) ** 2)(1 + 1j)), 2 - 2j)

    def test_maps_of_complex_derivatives_are_jaxs(self):
        loss = lambda m: lambda z: m.sum(m.abs(m.fft.fft(z)) * m.real(z))
        close(wf.vmap(wf.grad(loss(wf)))(self.z), jax.vmap(jax.grad(loss(jnp)))(self.z))

    def test_what_is_not_holomorphic_or_not_real_is_refused(self):
        for call in (lambda: wf.grad(lambda z: z * z)(wf.asarray(1j)), lambda: wf.grad(lambda x: x * x, holomorphic=True)(wf.asarray(1.0)),
                     lambda: wf.jacobian(lambda z: z * z)(wf.asarray([1j])), lambda: wf.jacfwd(lambda z: z * z)(wf.asarray([1j]))):
            with self.assertRaisesRegex(TypeError, "holomorphic"):
                call()


@unittest.skipIf(LACKS, f"judge: {LACKS}")
class Maps(unittest.TestCase):
    def test_axes_are_jaxs(self):
        x = np.arange(24.0).reshape(2, 3, 4)
        f = lambda m: lambda a, b: {"p": m.sum(a, axis=0) * b, "q": a}
        for in_axes in [(0, None), (1, 0), (-1, -1), (2, None)]:
            for out_axes in [0, {"p": 0, "q": -1}, {"p": -1, "q": 1}]:
                size = x.shape[in_axes[0]]
                b = 2.0 if in_axes[1] is None else np.arange(float(size))
                mine = wf.vmap(f(wf), in_axes, out_axes)(wf.asarray(x), wf.asarray(b))
                theirs = jax.vmap(f(jnp), in_axes, out_axes)(x, b)
                for key in "pq":
                    self.assertEqual(mine[key].shape, theirs[key].shape)
                    close(mine[key], theirs[key])

    def test_per_example_gradients_of_a_network_are_jaxs(self):
        rng = np.random.default_rng(6)
        weights = {"a": rng.standard_normal((3, 5)), "b": rng.standard_normal(5)}
        x, y = rng.standard_normal((7, 3)), rng.standard_normal(7)
        loss = lambda m: lambda w, x, y: (m.sum(m.tanh(x @ w["a"] + w["b"])) - y) ** 2
        mine = wf.vmap(wf.grad(loss(wf)), in_axes=(None, 0, 0))({k: wf.asarray(v) for k, v in weights.items()}, x, y)
        theirs = jax.vmap(jax.grad(loss(jnp)), in_axes=(None, 0, 0))(weights, x, y)
        for key in weights:
            close(mine[key], theirs[key])

    def test_custom_derivatives_and_jacobians_are_jaxs(self):
        def clipped(module, m):
            @module.custom_vjp
            def f(x, y):
                return m.sin(x) * y
            f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda kept, g: (m.clip(g * kept[1], -1, 1), g * 2))
            return f
        x, y = np.linspace(-2, 2, 5), np.linspace(0, 3, 5)
        for argnums in (0, 1):
            make = lambda module, m: module.vmap(module.grad(lambda a, b: clipped(module, m)(a, b) * 3, argnums))
            close(make(wf, wf)(x, y), make(jax, jnp)(x, y))
        f = lambda m: lambda v: m.stack([m.sin(v) * m.sum(v), v ** 3])
        close(wf.jacfwd(f(wf))(x), jax.jacfwd(f(jnp))(x))
        close(wf.jacrev(f(wf))(x), jax.jacrev(f(jnp))(x))
        close(wf.hessian(lambda v: wf.sum(f(wf)(v)))(x), jax.hessian(lambda v: jnp.sum(f(jnp)(v)))(x))


if __name__ == "__main__":
    unittest.main()
