"""Bars as SVG, by hand: readable on light and on dark pages, without any library.

    picture("Title", [Panel("10 Mbit/s", [Bar("none", 26.0, "plain", "26.0 s"), …])], log=True)

Every panel has its own heading and the same scale as the others. With `log` the bars begin at the
largest power of ten below the smallest value. Values may be negative where there is no `log`: zero
is then where the bars begin.
"""

import math
from dataclasses import dataclass
from html import escape

WIDTH, LABEL, NUMBER = 760, 150, 110  # in pixels: all, the names at the left, the numbers at the right
LINE, GAP, HEAD = 20, 14, 26

# Each colour has enough contrast with white and with near-black.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #4a4a4a; }
  .title { font-weight: 600; font-size: 15px; }
  .head { font-weight: 600; }
  .number { font-variant-numeric: tabular-nums; }
  .axis { stroke: #9a9a9a; stroke-width: 1; }
  .mark { stroke: #9a9a9a; stroke-width: 1; stroke-dasharray: 3 3; }
  .plain { fill: #8a8a8a; } .lossless { fill: #3b82c4; } .lossy { fill: #d07a2d; }
  .auto { fill: #3f9a5f; }
  @media (prefers-color-scheme: dark) { text { fill: #d0d0d0; } }
"""


@dataclass
class Bar:
    label: str
    value: float
    colour: str  # plain, lossless, lossy, auto
    number: str  # the value as it is written


@dataclass
class Panel:
    head: str
    bars: list


class Scale:
    def __init__(self, values, log):
        self.log = log
        if log:
            self.low = math.floor(math.log10(min(values)))
            self.high = max(math.log10(max(values)), self.low + 1)
        else:
            self.low, self.high = min(0.0, *values), max(0.0, *values, 1e-12)

    def x(self, value):
        at = math.log10(value) if self.log else value
        return LABEL + (WIDTH - LABEL - NUMBER) * (at - self.low) / (self.high - self.low)

    def decades(self):
        """The powers of ten between the ends, where the scale has them."""
        return [10.0 ** power for power in range(self.low + 1, math.floor(self.high) + 1)] \
            if self.log else []

    def start(self):
        return LABEL if self.log else self.x(0)


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def bar_lines(bar, y, scale):
    begin, end = sorted((scale.start(), scale.x(bar.value)))
    yield text(LABEL - 8, y + 14, bar.label, anchor="end")
    yield (f'<rect x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 1):.1f}" height="{LINE - 6}" '
           f'rx="2" class="{bar.colour}"/>')
    yield text(end + 6, y + 14, bar.number, "number")


def panel_lines(panel, y, scale):
    yield text(LABEL, y + 16, panel.head, "head")
    top = y + HEAD
    bottom = top + len(panel.bars) * LINE
    for kind, x in [("axis", scale.start())] + [("mark", scale.x(ten)) for ten in scale.decades()]:
        yield f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" class="{kind}"/>'
    for number, bar in enumerate(panel.bars):
        yield from bar_lines(bar, top + number * LINE, scale)


def picture(title, panels, log=False):
    """A log scale's tens are dashed lines."""
    panels = [panel for panel in panels if panel.bars]
    values = [bar.value for panel in panels for bar in panel.bars]
    scale = Scale(values or [1.0], log)
    lines, y = [text(0, 18, title, "title")], 30
    for panel in panels:
        lines += panel_lines(panel, y, scale)
        y += HEAD + len(panel.bars) * LINE + GAP
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
            f'height="{y}" role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
            f"{body}\n</svg>\n")
