"""Writes kernel/special_coefficients.h: the polynomials of the special functions that are programs.

Each is the Chebyshev interpolant (at the nodes of the least degree that is exact enough) of a function given by mpmath in 50 digits, written in powers of its
variable, which runs over about [-1, 1]. Run: python tools/minimax/special.py > src/weft/kernel/special_coefficients.h (needs mpmath).
"""
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from mpmath import mp, mpf

mp.dps = 50
BITS = {"float": 27, "double": 56}


def interpolant(function, low, high, count):
    """Chebyshev's coefficients of the interpolant through `count` nodes of [low, high], and values between them."""
    angles = [mp.pi * (2 * k + 1) / (2 * count) for k in range(count)]
    values = [function((low + high) / 2 + (high - low) / 2 * mp.cos(a)) for a in angles]
    return [(1 if j == 0 else 2) * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles)) / count for j in range(count)]


def in_powers(chebyshev, low, high):
    """The same polynomial in powers of the variable of [low, high]."""
    scale, shift = 2 / (high - low), -(high + low) / (high - low)
    older, newer, total = [mpf(1)], [shift, scale], [mpf(0)] * len(chebyshev)
    for j, c in enumerate(chebyshev):
        basis = older if j == 0 else newer
        for i, b in enumerate(basis):
            total[i] += c * b
        if j >= 1:
            after = [mpf(0)] * (len(newer) + 1)
            for i, b in enumerate(newer):
                after[i] += 2 * shift * b
                after[i + 1] += 2 * scale * b
            for i, b in enumerate(older):
                after[i] -= b
            older, newer = newer, after
    return total


def fit(function, low, high, bits):
    """The powers of the shortest interpolant whose rest is below 2^-bits of the least value, and the error that it has."""
    low, high = mpf(low), mpf(high)
    full = interpolant(function, low, high, 56)
    # Relative to the middle of the values: none of these functions varies much, or its zeros have no relative error to keep.
    size = max(abs(function(low + (high - low) * k / 8)) for k in range(1, 9))
    count = next(n for n in range(2, 57) if mp.fsum(abs(c) for c in full[n:]) < size * mpf(2) ** -bits)
    powers = in_powers(interpolant(function, low, high, count), low, high)
    points = [low + (high - low) * mpf(k) / 97 for k in range(98)]
    error = max(abs(mp.polyval(powers[::-1], x) - function(x)) for x in points) / size
    return powers, -mp.log(error, 2)


def hankel(order):
    """P + i Q of the Hankel function of the first kind, in w = (8 / x)^2: Abramowitz & Stegun 9.2.17."""
    def both(w):
        if w <= mpf(10) ** -30:
            return mpf(1), mpf(4 * order * order - 1) / 8 / 8
        x = 8 / mp.sqrt(w)
        value = (mp.besselj(order, x) + 1j * mp.bessely(order, x)) * mp.sqrt(mp.pi * x / 2) * mp.expj(-(x - mp.pi * (2 * order + 1) / 4))
        return value.real, value.imag * x / 8
    return both


def stirling(u):
    return mpf(1) if u < mpf(10) ** -30 else mp.gamma(1 / u) * mp.exp(1 / u) * mp.power(1 / u, mpf(1) / 2 - 1 / u) / mp.sqrt(2 * mp.pi)


def erfcinv_over(t):
    """erfcinv(y) / s for s = sqrt(-log y), t = (s - 3) / (s + 3)."""
    s = 3 * (1 + t) / (1 - t)
    x = s * mpf("0.9")
    for _ in range(60):
        e = mp.erfc(x)
        step = (mp.log(e) + s * s) * e / (2 / mp.sqrt(mp.pi) * mp.exp(-x * x))
        x += step
        if abs(step) < mpf(10) ** -45:
            break
    return x / s


def reciprocal(function, limit):
    return lambda u: limit if u < mpf(10) ** -12 else function(1 / u)


def scaled_i(order):
    def f(u):
        if u < mpf(1) / 400:
            x, total, term, k = 1 / max(u, mpf(10) ** -40), mpf(0), mpf(1), 0
            while abs(term) > mpf(10) ** -48 and k < 200:
                total += term
                k += 1
                term *= -(4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
            return total / mp.sqrt(2 * mp.pi)
        return mp.besseli(order, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u)
    return f


def scaled_k(order):
    def f(u):
        if u < mpf(1) / 400:
            x, total, term, k = 1 / max(u, mpf(10) ** -40), mpf(0), mpf(1), 0
            while abs(term) > mpf(10) ** -48 and k < 200:
                total += term
                k += 1
                term *= (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
            return total * mp.sqrt(mp.pi / 2)
        return mp.besselk(order, 1 / u) * mp.exp(1 / u) / mp.sqrt(u)
    return f


def y_rest(order):
    """Y less its part with the logarithm, in x^2 = 32 (1 + t)."""
    def f(t):
        x = mp.sqrt(32 * max(1 + t, mpf(10) ** -30))
        if order == 0:
            return (mp.bessely(0, x) - 2 / mp.pi * (mp.log(x / 2) + mp.euler) * mp.besselj(0, x)) / x ** 2
        return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x
    return f


def root(t):
    return mp.sqrt(32 * max(1 + t, mpf(10) ** -30))


def k_of_half(order):
    """exp(x) sqrt(x) K(x) in t = (x - 2) / (x + 2)."""
    inner = scaled_k(order)
    return lambda t: inner((1 - t) / (2 * (1 + t)) if t < 1 else mpf(0))


FITS = {
    "GammaNear": ("gamma(2 + d), |d| <= 1/2.", lambda d: mp.gamma(2 + d), -0.5, 0.5),
    "GammaFar": ("gamma(x) e^x x^(1/2 - x) / sqrt(2 pi) in 1 / x, x from 8 on.", stirling, 0, 0.125),
    "ErfcinvTail": ("erfcinv(y) / s in (s - 3) / (s + 3), s = sqrt(-log(y)), y below 1/2.", erfcinv_over, -0.5657, 0.8026),
    "J0Near": ("(J0(x) - 1) / x^2 in x^2 / 32 - 1, x up to 8.", lambda t: (mp.besselj(0, root(t)) - 1) / root(t) ** 2, -1, 1),
    "J1Near": ("J1(x) / x, the same.", lambda t: mp.besselj(1, root(t)) / root(t), -1, 1),
    "Y0Near": ("(Y0(x) - 2 / pi (log(x / 2) + gamma) J0(x)) / x^2, the same.", y_rest(0), -1, 1),
    "Y1Near": ("(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, the same.", y_rest(1), -1, 1),
    "HankelP0": ("P of J0 and Y0 in 2 (8 / x)^2 - 1, x from 8 on.", lambda t: hankel(0)((1 + t) / 2)[0], -1, 1),
    "HankelQ0": ("Q x / 8, the same.", lambda t: hankel(0)((1 + t) / 2)[1], -1, 1),
    "HankelP1": ("P of J1 and Y1, the same.", lambda t: hankel(1)((1 + t) / 2)[0], -1, 1),
    "HankelQ1": ("Q x / 8, the same.", lambda t: hankel(1)((1 + t) / 2)[1], -1, 1),
    "I0Far": ("exp(-x) sqrt(x) I0(x) in 16 / x - 1, x from 8 on.", lambda t: scaled_i(0)((1 + t) / 16), -1, 1),
    "I1Far": ("The same of I1.", lambda t: scaled_i(1)((1 + t) / 16), -1, 1),
    "K0Far": ("exp(x) sqrt(x) K0(x) in (x - 2) / (x + 2), x from 1 on.", k_of_half(0), -1 / 3 - 1e-6, 1),
    "K1Far": ("The same of K1.", k_of_half(1), -1 / 3 - 1e-6, 1),
}


def hexadecimal(value, kind):
    return float(np.float32(float(value))).hex() + "f" if kind == "float" else float(value).hex()


def written(name):
    says, function, low, high = FITS[name]
    text = f"/// {says}\ntemplate <class T>\nstruct {name};\n"
    for kind, bits in BITS.items():
        powers, error = fit(function, low, high, bits)
        numbers = ", ".join(hexadecimal(p, kind) for p in powers)
        text += f"template <>\nstruct {name}<{kind}> {{  // error 2^-{mp.nstr(error, 3)}\n    static constexpr {kind} c[] = {{{numbers}}};\n}};\n"
    print(name, file=sys.stderr)
    return text


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(written, FITS))
    print("// Coefficients of the special functions that are programs, lowest power first. Written by tools/minimax/special.py: not to be edited.\n"
          "// The error is relative to the largest value. Callers: kernel/elementary/.\n#pragma once\n\nnamespace weft::elementary {\n\n// clang-format off")
    print("\n".join(parts), end="")
    print("// clang-format on\n\n}  // namespace weft::elementary")
