"""Plots as SVG text: grouped bars, and lines over time with marks. Pure: no file is touched.

A plot is described by a dict, which the results of a workload hold as JSON:
  {"kind": "bars",  "title", "unit", "groups": [name...], "series": [{"name", "values": [...]}],
   "lines": [{"name", "value"}...]}                 lines: horizontal ones, an aim for instance
  {"kind": "lines", "title", "unit", "x_unit", "series": [{"name", "points": [[x, y]...]}],
   "marks": [{"at": x, "name"}...]}                 marks: vertical ones, what happened then
"log": true gives the upright axis a logarithmic scale. A value of None is left out.
"""

import math
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 58, 42
# Told apart by the colour-blind, too (Okabe and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#555555")
TICKS = 5
BAR_SHARE = 0.78  # of a group's width; the rest parts it from the next group


def nice_step(span, ticks=TICKS):
    """1, 2 or 5 times a power of ten: so far are ticks apart on an axis of that span."""
    if span <= 0:
        return 1.0
    raw = span / ticks
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * 0.999)


def label(value):
    """A number, short: 1.5k, 20M, 0.25."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


class Axis:
    """Maps values to places between `begin` (the least value) and `end`."""

    def __init__(self, low, high, begin, end, log=False):
        self.log, self.begin, self.end = log, begin, end
        if log:
            self.low = 10.0 ** math.floor(math.log10(low * 0.99))  # the least bar is seen, too
            self.high = 10.0 ** math.ceil(math.log10(high))
            if self.low == self.high:
                self.high *= 10
            tens = round(math.log10(self.high / self.low))
            self.ticks = [self.low * 10.0 ** n for n in range(tens + 1)]
        else:
            step = nice_step(high - low)
            self.low = math.floor(low / step) * step
            self.high = max(math.ceil(high / step - 1e-9) * step, self.low + step)
            count = round((self.high - self.low) / step)
            self.ticks = [self.low + n * step for n in range(count + 1)]

    def place(self, value):
        if self.log:
            value = max(value, self.low)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


class Canvas:
    """The pieces of one picture, in the order in which they are drawn."""

    def __init__(self, plot):
        self.parts = []
        self.text(LEFT - 48, 18, plot["title"], size=14, weight="bold")
        self.text(LEFT - 48, 36, plot["unit"], fill="#555")

    def text(self, x, y, words, anchor="start", size=11, weight="normal", fill="#222", turn=None):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="{fill}"{turned}>{escape(str(words))}</text>')

    def line(self, x1, y1, x2, y2, stroke="#ddd", dash=None, width=1):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{stroke}" stroke-width="{width}"{dashed}/>')

    def box(self, x, y, width, height, fill, told):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" '
                          f'height="{max(height, 0):.1f}" fill="{fill}">'
                          f'<title>{escape(told)}</title></rect>')

    def legend(self, names):
        at = WIDTH - RIGHT
        for index, name in reversed(list(enumerate(names))):
            at -= 6.5 * len(name) + 26
            self.box(at, 27, 10, 10, COLOURS[index % len(COLOURS)], name)
            self.text(at + 14, 36, name)

    def upright_axis(self, axis):
        for tick in axis.ticks:
            y = axis.place(tick)
            self.line(LEFT, y, WIDTH - RIGHT, y)
            self.text(LEFT - 6, y + 4, label(tick), anchor="end")

    def whole(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">'
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
                + "".join(self.parts) + "</svg>")


def _upright(values, log):
    """The axis of the values, which begins at 0 unless it is logarithmic."""
    known = [value for value in values if value is not None and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1, 10)
    return Axis(low if log else min(low, 0), high or 1, HEIGHT - BOTTOM, TOP, log)


def bars(plot):
    canvas = Canvas(plot)
    series, groups, lines = plot["series"], plot["groups"], plot.get("lines", [])
    values = [value for one in series for value in one["values"]]
    axis = _upright(values + [line["value"] for line in lines], plot.get("log", False))
    canvas.upright_axis(axis)
    floor = HEIGHT - BOTTOM
    group = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    width = group * BAR_SHARE / max(len(series), 1)
    for at, name in enumerate(groups):
        begin = LEFT + at * group
        canvas.text(begin + group / 2, floor + 16, name, anchor="middle")
        for number, one in enumerate(series):
            value = one["values"][at]
            if value is None:
                continue
            x = begin + group * (1 - BAR_SHARE) / 2 + number * width
            top = axis.place(value)
            canvas.box(x, top, width - 2, floor - top, COLOURS[number % len(COLOURS)],
                       f"{one['name']}, {name}: {value:.4g} {plot['unit']}")
            if width >= 22:
                canvas.text(x + width / 2 - 1, top - 3, label(value), anchor="middle", size=9)
    for line in lines:
        y = axis.place(line["value"])
        canvas.line(LEFT, y, WIDTH - RIGHT, y, stroke="#d00", dash="5 3")
        canvas.text(WIDTH - RIGHT, y - 4, line["name"], anchor="end", size=10, fill="#d00")
    canvas.line(LEFT, floor, WIDTH - RIGHT, floor, stroke="#222")
    if len(series) > 1:
        canvas.legend([one["name"] for one in series])
    return canvas.whole()


def lines(plot):
    canvas = Canvas(plot)
    points = [point for one in plot["series"] for point in one["points"]]
    marks = plot.get("marks", [])
    across = [point[0] for point in points] + [mark["at"] for mark in marks] or [0, 1]
    flat = Axis(min(across), max(across), LEFT, WIDTH - RIGHT)
    axis = _upright([point[1] for point in points], plot.get("log", False))
    canvas.upright_axis(axis)
    floor = HEIGHT - BOTTOM
    for tick in flat.ticks:
        canvas.text(flat.place(tick), floor + 16, label(tick), anchor="middle")
    canvas.text(WIDTH - RIGHT, HEIGHT - 8, plot.get("x_unit", "s"), anchor="end", fill="#555")
    for number, one in enumerate(plot["series"]):
        drawn = " ".join(f"{flat.place(x):.1f},{axis.place(y):.1f}" for x, y in one["points"]
                         if y is not None)
        canvas.parts.append(f'<polyline points="{drawn}" fill="none" stroke-width="2" '
                            f'stroke="{COLOURS[number % len(COLOURS)]}"/>')
    for mark in marks:
        x = flat.place(mark["at"])
        canvas.line(x, TOP, x, floor, stroke="#d00", dash="4 3")
        canvas.text(x + 4, TOP + 10, mark["name"], size=10, fill="#d00")
    canvas.line(LEFT, floor, WIDTH - RIGHT, floor, stroke="#222")
    if len(plot["series"]) > 1:
        canvas.legend([one["name"] for one in plot["series"]])
    return canvas.whole()


def draw(plot):
    """The SVG of a described plot."""
    return {"bars": bars, "lines": lines}[plot["kind"]](plot)
