"""Types: how often product code gives up on one."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.source_tree import nodes, place, sources

CEILING = 33
"""Lines of product code that may use `Any`; it only becomes lower."""


def lines_with_any(root: Path) -> list[str]:
    return [
        place(root, path, line)
        for path in sources(root)
        for line in sorted({node.lineno for node in nodes(path) if isinstance(node, ast.Name) and node.id == "Any"})
    ]


def few_lines_use_any(root: Path) -> list[str]:
    """Product code has no more lines with `Any` than the ceiling."""
    found = lines_with_any(root)
    return [f"{each}: Any" for each in found] if len(found) > CEILING else []
