"""The text of a file: its length, its docstring, its name; no printing; names of classes."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.source_tree import nodes, parsed, place, sources, text

LINES = 400
NAMES_TO_AVOID = {"mgr", "ctrl", "util", "utils", "helper", "helpers", "misc", "v2"}


def a_file_fits_in_one_reading(root: Path) -> list[str]:
    """A file, a test too, has at most 400 lines."""
    return [
        f"{place(root, path)}: {length} lines, the limit is {LINES}"
        for path in (*sources(root), *sources(root, "tests"))
        if (length := len(text(path).splitlines())) > LINES
    ]


def every_file_says_what_it_is(root: Path) -> list[str]:
    """Every file of a package has a docstring."""
    return [f"{place(root, path)}: no docstring" for path in sources(root) if not ast.get_docstring(parsed(path))]


def library_code_does_not_print(root: Path) -> list[str]:
    """Printing belongs to the command line, which writes through one function, and to reports."""
    return [
        f"{place(root, path, node.lineno)}: print"
        for path in sources(root)
        if path.name != "__main__.py"
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def file_names_are_the_fields(root: Path) -> list[str]:
    """No file or folder is named for nothing in particular."""
    return [
        f"{place(root, path)}: a name to avoid"
        for path in sources(root)
        if NAMES_TO_AVOID & set(place(root, path.with_suffix("")).lower().replace("/", "_").split("_"))
    ]


def a_class_name_means_one_thing(root: Path) -> list[str]:
    """No two public classes of the tree have the same name."""
    homes: dict[str, list[tuple[Path, int]]] = {}
    for path in sources(root):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append((path, node.lineno))
    return [
        f"{place(root, path, line)}: class {name} is also in "
        + ", ".join(place(root, other) for other, _ in found if other != path)
        for name, found in homes.items()
        if len(found) > 1
        for path, line in found
    ]
