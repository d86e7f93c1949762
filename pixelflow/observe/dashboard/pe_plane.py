"""The array as characters: 128 x 64 PEs in as much detail as the place allows, and what one character stands for.

A flag is drawn in half blocks (one PE each), or in Braille dots of one PE or of k x k PEs, lit where any of them is
set. A byte is drawn in ten shades of its mean, from the least value of the array to the greatest.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from rich.text import Span, Text

from pixelflow.observe.dashboard.state import MapState
from pixelflow.simd.dashboard.cells import count

__all__ = ["SHADES", "Drawing", "draw", "sizes"]

SHADES = " .:-=+*#%@"
"""From the least value of a byte's map to its greatest."""

_HALVES = " ▀▄█"
_BRAILLE = 0x2800
# Bit of a Braille character for each dot: [row][column].
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_FLAG_STYLE = "green"
_SOME_STYLE = "dim green"
_SHADE_STYLES = ("", *(f"color({color})" for color in (24, 31, 37, 43, 79, 114, 149, 184, 220)))


class Drawing(NamedTuple):
    """A map that has been drawn: its lines, what a character of it means, and the values between which it lies."""

    lines: list[Text]
    legend: str
    values: str = ""


class _Scale(NamedTuple):
    """How a map is drawn: PEs along x and y in one character, PEs along each side of a Braille dot (0: no Braille)."""

    wide: int
    high: int
    dot: int


def _scales(flag: bool) -> tuple[_Scale, ...]:
    """Return the ways to draw a map, the finest first."""
    steps = (1, 2, 4, 8, 16, 32, 64)
    if flag:
        return (_Scale(1, 2, 0), *(_Scale(2 * k, 4 * k, k) for k in steps))
    return tuple(_Scale(k, 2 * k, 0) for k in steps)


def sizes(array: MapState) -> list[tuple[int, int]]:
    """Return the sizes in which a map can be drawn, in columns and lines, the largest first."""
    return [(-(-array.width // scale.wide), -(-array.height // scale.high)) for scale in _scales(array.flag)]


def draw(array: MapState, columns: int, lines: int) -> Drawing | None:
    """Draw a map as large as it fits, or return None where it does not fit at all."""
    for scale, (wide, high) in zip(_scales(array.flag), sizes(array), strict=True):
        if wide <= columns and high <= lines:
            if not array.flag:
                return _shades(array, scale)
            return _braille(array, scale) if scale.dot else _halves(array)
    return None


def _rows(array: MapState, step: int) -> list[bytes]:
    """Return the rows of the plane, padded with rows of zeros to a multiple of ``step``."""
    rows = [array.cells[y * array.width : (y + 1) * array.width] for y in range(array.height)]
    return rows + [bytes(array.width)] * (-array.height % step)


def _halves(array: MapState) -> Drawing:
    rows = _rows(array, 2)
    lines = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        text = "".join([_HALVES[bool(a) + 2 * bool(b)] for a, b in zip(upper, lower, strict=True)])
        lines.append(Text(text, _FLAG_STYLE, no_wrap=True))
    return Drawing(lines, "half a character: 1 PE")


def _braille(array: MapState, scale: _Scale) -> Drawing:
    dots = [_any(rows) for rows in _grouped(_rows(array, scale.high), scale.dot)]
    dots = [_any([row[first :: scale.dot] for first in range(scale.dot)]) for row in _padded(dots, 2 * scale.dot)]
    lines = []
    for four in _grouped(dots, 4):
        codes = [_BRAILLE] * (len(four[0]) // 2)
        for row, (left, right) in zip(four, _DOTS, strict=True):
            codes = [
                code + left * bool(a) + right * bool(b) for code, a, b in zip(codes, row[::2], row[1::2], strict=True)
            ]
        lines.append(Text("".join(map(chr, codes)), _FLAG_STYLE, no_wrap=True))
    return Drawing(lines, f"dot: any of {scale.dot} x {scale.dot}" if scale.dot > 1 else "dot: 1 PE")


def _grouped(rows: list[bytes], size: int) -> list[list[bytes]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def _padded(rows: list[bytes], step: int) -> list[bytes]:
    return [row + bytes(-len(row) % step) for row in rows]


def _any(rows: list[bytes]) -> bytes:
    """Return which bytes are not 0 in any of some rows of equal length."""
    found = 0
    for row in rows:
        found |= int.from_bytes(row, "little")
    return found.to_bytes(len(rows[0]), "little")


def _shades(array: MapState, scale: _Scale) -> Drawing:
    least, greatest = min(array.cells), max(array.cells)
    span = max(1, greatest - least)
    lines = []
    rows = [array.cells[y * array.width : (y + 1) * array.width] for y in range(array.height)]
    for group in _grouped(rows, scale.high):
        columns = [sum(column) for column in zip(*group, strict=True)]
        shades = []
        for x in range(0, array.width, scale.wide):
            part = columns[x : x + scale.wide]
            mean = sum(part) / (len(part) * len(group))
            shades.append(round((mean - least) / span * (len(SHADES) - 1)))
        spans, end = [], 0
        for shade, run in groupby(shades):
            begin, end = end, end + len(list(run))
            spans.append(Span(begin, end, _SHADE_STYLES[shade]))
        lines.append(Text("".join([SHADES[shade] for shade in shades]), spans=spans, no_wrap=True))
    mean = "1 PE" if scale.wide * scale.high == 1 else f"mean of {_pes(scale.wide, scale.high)}"
    return Drawing(lines, f"'{SHADES[0]}' to '{SHADES[-1]}', {mean}", f"{count(least)} to {count(greatest)}")


def _pes(wide: int, high: int) -> str:
    return "1 PE" if wide == high == 1 else f"{wide} x {high} PEs"
