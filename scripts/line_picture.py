"""Lines over two logarithmic axes as SVG, by hand, in the style of bar_picture.

    picture("Title", "connections", "µs per unit", [Line("pool", "lossless", [(10, 3.1), …])])
"""

import math
from dataclasses import dataclass
from html import escape

from bar_picture import STYLE, text

WIDTH, HEIGHT = 800, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 240, 44, 50
LABEL_HEIGHT = 16

LINES = """
  .line { fill: none; stroke-width: 2; } .dot { stroke: none; }
  .line.plain { fill: none; stroke: #8a8a8a; } .line.lossless { fill: none; stroke: #3b82c4; }
  .line.lossy { fill: none; stroke: #d07a2d; } .line.auto { fill: none; stroke: #3f9a5f; }
"""


@dataclass
class Line:
    label: str
    colour: str  # plain, lossless, lossy, auto
    points: list  # (x, y), all above 0


def short(number):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


class Axis:
    """Whole decades around the values."""

    def __init__(self, values, begin, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def tens(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def grid(x, y):
    for ten in x.tens():
        yield (f'<line x1="{x.at(ten):.1f}" y1="{TOP}" x2="{x.at(ten):.1f}" y2="{HEIGHT - BOTTOM}" '
               f'class="mark"/>')
        yield text(x.at(ten), HEIGHT - BOTTOM + 18, short(ten), "number", "middle")
    for ten in y.tens():
        yield (f'<line x1="{LEFT}" y1="{y.at(ten):.1f}" x2="{WIDTH - RIGHT}" y2="{y.at(ten):.1f}" '
               f'class="mark"/>')
        yield text(LEFT - 8, y.at(ten) + 4, short(ten), "number", "end")


def drawn(line, x, y):
    path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line.points)
    yield f'<polyline points="{path}" class="line {line.colour}"/>'
    for a, b in line.points:
        yield f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3" class="{line.colour}"/>'


def apart(heights, least):
    """The same order, the first where it was, each of the others at least so far below."""
    placed = []
    for height in heights:
        placed.append(max(height, placed[-1] + least) if placed else height)
    return placed


def labels(lines, x, y):
    """At the lines' ends, none over another."""
    ends = sorted(((y.at(line.points[-1][1]), line) for line in lines), key=lambda end: end[0])
    heights = apart([height for height, _ in ends], LABEL_HEIGHT)
    for (_, line), height in zip(ends, heights):
        yield text(x.at(line.points[-1][0]) + 8, height + 4, line.label)


def picture(title, x_words, y_words, lines):
    lines = [line for line in lines if line.points]
    points = [point for line in lines for point in line.points] or [(1, 1)]
    x = Axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    body = [text(0, 18, title, "title"), text(LEFT, TOP - 8, y_words),
            text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_words, "", "middle"), *grid(x, y)]
    for line in lines:
        body += drawn(line, x, y)
    body += labels(lines, x, y)
    inside = "\n".join(body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">\n'
            f"<style>{STYLE}{LINES}</style>\n{inside}\n</svg>\n")


def slope(points):
    """The exponent p of y = c x^p, by least squares: 1 is linear, 0 is flat."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    over = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    under = sum((x - mean_x) ** 2 for x, _ in logs)
    return over / under if under else 0.0
