"""Line charts as small SVG files, readable on a light and on a dark page. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 320, 70, 150, 40, 50
# Blue and orange differ for color-blind readers, too; the dashes for those of a print.
_STYLES = (("#3b7dd8", ""), ("#d9822b", "6 3"), ("#5a9e6f", "2 3"), ("#8d6cc1", "9 3 2 3"))
_GREY = "#808080"
_FONT = f'font-family="sans-serif" font-size="12" fill="{_GREY}"'


@dataclass(frozen=True)
class Line:
    """A line: its name, and a value for each place on the x axis."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """A chart: its title, the places on the x axis, from left to right, and what both axes show."""

    title: str
    x_title: str
    places: Sequence[str]
    y_title: str
    lines: Sequence[Line]

    def draw(self) -> str:
        """Return the SVG document. The y axis begins at 0."""
        top = _round_up(max(value for line in self.lines for value in line.values))
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" {_FONT}>',
            f"<title>{escape(self.title)}</title>",
            _text(_LEFT, 20, self.title, "start", 'font-size="14" font-weight="bold"'),
            *self._draw_axes(top),
            *(part for number, line in enumerate(self.lines) for part in self._draw_line(number, line, top)),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _x(self, place: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place + 0.5) / len(self.places)

    def _draw_axes(self, top: float) -> list[str]:
        parts = []
        for quarter in range(5):
            y = _y(quarter / 4)
            parts.append(f'<path d="M{_LEFT} {y:.0f}H{_WIDTH - _RIGHT}" stroke="{_GREY}" stroke-opacity="0.3"/>')
            parts.append(_text(_LEFT - 8, y + 4, f"{top * quarter / 4:,g}", "end"))
        parts += [_text(self._x(n), _HEIGHT - _BOTTOM + 18, place, "middle") for n, place in enumerate(self.places)]
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(_text(middle, _HEIGHT - 12, self.x_title, "middle"))
        parts.append(_text(16, _HEIGHT / 2, self.y_title, "middle", f'transform="rotate(-90 16 {_HEIGHT / 2:.0f})"'))
        return parts

    def _draw_line(self, number: int, line: Line, top: float) -> list[str]:
        color, dashes = _STYLES[number]
        points = " ".join(f"{self._x(n):.0f},{_y(value / top):.0f}" for n, value in enumerate(line.values))
        style = f'fill="none" stroke="{color}" stroke-width="2.5" stroke-dasharray="{dashes or "none"}"'
        y = _TOP + 16 + 20 * number
        sample = f'<path d="M{_WIDTH - _RIGHT + 12} {y - 4}h24" {style}/>'
        return [f'<polyline points="{points}" {style}/>', sample, _text(_WIDTH - _RIGHT + 42, y, line.name, "start")]


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share


def _text(x: float, y: float, text: str, anchor: str, style: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {style}>{escape(text)}</text>'.replace(" >", ">")


def _round_up(value: float) -> float:
    """Return the next number of the form 1, 2, 4 or 8 times a power of ten."""
    power = 10.0 ** (len(str(int(value))) - 1)
    return next(each * power for each in (1, 2, 4, 8, 10) if each * power >= value)
