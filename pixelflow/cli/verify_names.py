"""What users call the thesis's tables and chapters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pixelflow.cli.arguments import UsageError
from pixelflow.simd.errors import nearest
from tessellation.reproduction import REPRODUCTIONS, WITHOUT_FIGURES, Reproduction

__all__ = ["chosen"]

_ALIASES = {"appendix a": "table 13", "introduction": "section 1", "results": "section 5", "conclusion": "section 5"}
_WITHIN = {"2.2.3": "table 1", "2.2.6": "table 2", "4.1.1": "table 3", "4.1.2": "table 4", "4.2": "table 8"}
"""Sections whose figures are those of a table."""


def chosen(names: Iterable[str]) -> list[Reproduction]:
    """Return the reproductions of those names in their own order, all for none.

    A number is a table, a number with a dot a section, and ``table7``, ``Table-7`` and ``table 7`` are the same.
    Raises UsageError for what is unknown, or prints no figure.
    """
    wanted = {_reproduction(name) for name in names}
    return [each for name, each in REPRODUCTIONS.items() if not wanted or name in wanted]


def _reproduction(given: str) -> str:
    name = _plain(given)
    if name in REPRODUCTIONS:
        return name
    if name in WITHOUT_FIGURES:
        raise UsageError("TABLE", f"{name} has no figures to verify: {WITHOUT_FIGURES[name]}")
    found = nearest(name, REPRODUCTIONS)
    hint = f"did you mean {found}?" if found else "all of them: pixelflow verify --list"
    raise UsageError("TABLE", f"{given[:60]!r} is no table, figure, section or appendix that is reproduced", hint)


def _plain(given: str) -> str:
    """Return a name as the reproductions have it, where its form is a known one."""
    text = " ".join(re.sub(r"[-_]", " ", given.lower()).split())
    match re.fullmatch(r"(table|figure|section|appendix)? ?([ab]|[\d.]*\d)", text):
        case None:
            return _ALIASES.get(text, text)
        case found:
            kind, number = found.groups()
    if number in ("a", "b"):
        kind = "appendix"
    elif "." in number:
        if number in _WITHIN:
            return _WITHIN[number]
        kind, number = "section", number.partition(".")[0]
    text = f"{kind or 'table'} {number}"
    return _ALIASES.get(text, text)
