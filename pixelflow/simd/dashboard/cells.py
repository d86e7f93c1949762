"""Lines of text that fit a width without ever showing a part of a number.

A line is made of fields. A field that does not fit is left out as a whole, and an ellipsis says so. All text is made
into `rich.text.Text`, never into markup, which would swallow ``mem[p]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

__all__ = ["MORE", "CellField", "beside", "clean", "count", "cut", "flow", "line", "share", "time_text", "title"]

MORE = "…"
"""Stands for what did not fit."""

_GAP = "  "
_RULE = "─"


class CellField(NamedTuple):
    """Text that is shown as a whole or not at all, and its rich style."""

    text: str
    style: str = ""


def count(number: int | None) -> str:
    """Return a count with thousands separators, a dash for what is not known."""
    return "–" if number is None else f"{number:,}"


def share(part: int | None, whole: int) -> str:
    """Return a part in per cent, a dash for what is not known."""
    return "–" if part is None or not whole else f"{100 * part / whole:.1f} %"


def clean(text: str) -> str:
    """Return text on one line without characters that could move the cursor."""
    text = text.expandtabs(4)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def cut(text: str, width: int) -> str:
    """Return text that fits; what is cut off is marked, and a word with a digit in it is never cut."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = set_cell_size(text, width - 1).rstrip()
    while kept and not text.startswith(kept):  # half of a wide character became a space
        kept = kept[:-1]
    return kept[: _whole_words(text, len(kept))].rstrip() + MORE


def _whole_words(text: str, end: int) -> int:
    """Return the greatest length up to ``end`` that does not cut a word with a digit."""

    def inside(character: str) -> bool:
        return character.isalnum() or character in "_.,"

    first = last = end
    while first and inside(text[first - 1]):
        first -= 1
    while last < len(text) and inside(text[last]):
        last += 1
    split = first < end < last
    return first if split and any(c.isdigit() for c in text[first:last]) else end


def line(fields: Iterable[CellField], width: int, gap: str = _GAP) -> Text:
    """Return one line of as many fields as fit, in order, and an ellipsis where some did not."""
    return flow(fields, width, 1, gap)[0]


def flow(fields: Iterable[CellField], width: int, lines: int, gap: str = _GAP, indent: str = "") -> list[Text]:
    """Return fields on up to ``lines`` lines; an ellipsis ends the last one where some did not fit.

    Lines after the first start with ``indent``.
    """
    rows: list[list[CellField]] = [[]]
    used, lost = 0, False
    for text, style in fields:
        field = CellField(clean(text), style)
        size = cell_len(field.text)
        if rows[-1] and used + len(gap) + size > width and len(rows) < lines:
            rows.append([])
            used = len(indent)
        used += size + len(gap) * bool(rows[-1])
        if used > width:
            lost = True
            break
        rows[-1].append(field)
    if lost:
        _mark(rows[-1], width - len(indent) * (len(rows) > 1), gap)
    return [_joined(row, gap, indent if index else "") for index, row in enumerate(rows)]


def _mark(row: list[CellField], width: int, gap: str) -> None:
    """End a row with an ellipsis, in place of its last fields where there is no room."""
    while row and sum(cell_len(field.text) + len(gap) for field in row) + 1 > width:
        row.pop()
    row.append(CellField(MORE, "dim"))


def _joined(row: list[CellField], gap: str, indent: str) -> Text:
    made = Text(indent, no_wrap=True)
    for index, field in enumerate(row):
        if index:
            made.append(gap)
        made.append(field.text, field.style)
    return made


def beside(left: Sequence[Text], right: Sequence[Text], left_width: int, height: int, between: str = " ") -> list[Text]:
    """Return two blocks of lines side by side, both ``height`` lines high."""
    rows = []
    for index in range(height):
        row = Text(no_wrap=True)
        if index < len(left):
            row.append_text(left[index])
        row.append(" " * max(0, left_width - cell_len(row.plain)))
        row.append(between, "dim")
        if index < len(right):
            row.append_text(right[index])
        rows.append(row)
    return rows


def time_text(seconds: float) -> str:
    """Return a machine time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.4g} {unit}"
    return f"{seconds * 1e9:,.4g} ns"


def title(fields: Sequence[CellField], width: int) -> Text:
    """Return the line that begins a block: fields, and a rule to the end of the width."""
    text = Text(no_wrap=True)
    text.append(f"{_RULE} ", "dim")
    text.append_text(line(fields, max(0, width - 4), " · "))
    rest = width - cell_len(text.plain) - 1
    if rest > 0:
        text.append(" ")
        text.append(_RULE * rest, "dim")
    return text if cell_len(text.plain) <= width else Text(cut(text.plain, width), no_wrap=True)
