"""A small picture of a function of one number and its derivative, as SVG, from weft's own values. Callers: reference.py."""
import math

import weft as wf

WIDTH, HEIGHT, EDGE = 360, 220, 8
POINTS = 241


def domain(record):
    """Where the function is shown: its record's domain, cut to what can be told apart."""
    low, high = record["domain"][0] if record["domain"] else (-4.0, 4.0)
    if (low, high) == (-3.0, 3.0):
        low, high = -4.0, 4.0
    return max(low, -6.0), min(high, 6.0)


def values(function, x):
    """Lists of the function and (None: there is none) of its derivative."""
    y = function(x)
    if y.dtype.kind != "f":
        return None, None
    try:
        slope = wf.grad(lambda x: wf.sum(function(x)))(x).tolist()
    except NotImplementedError:
        slope = None
    return y.tolist(), slope


def heights(y):
    """The range of a picture: all but the outermost numbers, with 0 where it is near."""
    finite = sorted(v for v in y if math.isfinite(v))
    if not finite:
        return None
    low, high = finite[len(finite) // 40], finite[-1 - len(finite) // 40]
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-6:
        low, high = low - 1, high + 1
    return low - 0.08 * (high - low), high + 0.08 * (high - low)


def step(low, high):
    """A round distance of marks, four to eight of them."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough)


class Frame:
    def __init__(self, low, high, bottom, top):
        self.low, self.high, self.bottom, self.top = low, high, bottom, top

    def x(self, value):
        return EDGE + (value - self.low) / (self.high - self.low) * (WIDTH - 2 * EDGE)

    def y(self, value):
        return HEIGHT - EDGE - (value - self.bottom) / (self.top - self.bottom) * (HEIGHT - 2 * EDGE)

    def path(self, x, y, kind):
        """A line through the points; it breaks where there is no number, and where it would jump across the picture."""
        text, pen, before, room = [], "M", None, self.top - self.bottom
        for a, b in zip(x, y):
            if not math.isfinite(b) or not self.bottom - room <= b <= self.top + room:
                pen, before = "M", None
                continue
            if before is not None and abs(b - before) > 0.4 * room:
                pen = "M"
            text.append(f"{pen}{self.x(a):.1f} {self.y(b):.1f}")
            pen, before = "L", b
        return f'<path class="{kind}" d="{"".join(text)}"/>' if text else ""

    def axes(self):
        parts = [f'<line class="axis" x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{self.y(0):.1f}" y2="{self.y(0):.1f}"/>']
        if self.low <= 0 <= self.high:
            parts.append(f'<line class="axis" x1="{self.x(0):.1f}" x2="{self.x(0):.1f}" y1="{EDGE}" y2="{HEIGHT - EDGE}"/>')
        side = self.x(max(self.low, 0)) if self.high > 0 else self.x(self.high)
        across, upwards = step(self.low, self.high), step(self.bottom, self.top)
        for i in range(math.ceil(self.low / across), math.floor(self.high / across) + 1):
            if i:
                level = min(self.y(0) + 12, HEIGHT - 1)
                parts.append(f'<text class="mark" text-anchor="middle" x="{self.x(i * across):.1f}" y="{level:.1f}">{i * across:g}</text>')
        for i in range(math.ceil(self.bottom / upwards), math.floor(self.top / upwards) + 1):
            if i:
                anchor = "start" if side < WIDTH / 2 else "end"
                parts.append(f'<text class="mark" text-anchor="{anchor}" x="{side + (4 if anchor == "start" else -4):.1f}" '
                             f'y="{self.y(i * upwards) + 3:.1f}">{i * upwards:g}</text>')
        return "".join(parts)


def picture(function, record):
    """The SVG, or nothing where there is no curve to show."""
    low, high = domain(record)
    try:
        x = wf.linspace(low, high, POINTS, dtype=wf.float64)
        y, slope = values(function, x)
    except TypeError:
        return ""
    bounds = heights(y) if y else None
    if bounds is None:
        return ""
    frame = Frame(low, high, *bounds)
    legend = '<text class="legend value" x="14" y="18">f(x)</text>' + ('<text class="legend slope" x="46" y="18">f′(x)</text>' if slope else "")
    return (f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{function.__name__} and its derivative">'
            f'{frame.axes()}{frame.path(x.tolist(), slope, "slope") if slope else ""}{frame.path(x.tolist(), y, "value")}{legend}</svg>')
