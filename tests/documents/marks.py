"""Marked blocks of documents: what a command or a test produces stands after a comment with its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["ROOT", "fenced", "is_there", "markdown_table", "table_after"]

ROOT = Path(__file__).parents[2]


def fenced(document: str, mark: str) -> list[str]:
    """Return the lines of the fenced block after a mark."""
    found = re.search(rf"<!-- {mark} -->\n```text\n(.*?)```", _text(document), re.DOTALL)
    assert found, f"{document} has no block {mark}"
    return [line.rstrip() for line in found[1].splitlines()]


def table_after(document: str, mark: str) -> list[str]:
    """Return the lines of the table after a mark."""
    found = re.search(rf"<!-- {mark} -->\n((?:\|.*\n)+)", _text(document))
    assert found, f"{document} has no table {mark}"
    return found[1].splitlines()


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[int | str]]) -> list[str]:
    """Return the lines of a table; numbers have separators."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *cells)]


def _text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def is_there(path: Path) -> bool:
    """Return whether a file exists, or a folder that holds more than caches."""
    return path.is_file() or any(each.is_file() and "__pycache__" not in each.parts for each in path.rglob("*"))
