"""The text of a file: its docstring, its name, `__all__`, printing, `Any`; names of classes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.source_tree import file_of, nodes, packages, parsed, place, sources, tracked

NAMES_TO_AVOID = {"mgr", "ctrl", "util", "utils", "helper", "helpers", "misc", "v2"}
CEILING = 35
"""Lines of product code that may use `Any`; it only becomes lower."""


def every_file_says_what_it_is(root: Path) -> list[str]:
    """Every file of a package has a docstring."""
    return [f"{place(root, path)}: no docstring" for path in sources(root) if not ast.get_docstring(parsed(path))]


def only_faces_list_their_names(root: Path) -> list[str]:
    """`__all__` stands in faces only; in a file a leading underscore says what is its own."""
    return [
        f"{place(root, path, node.lineno)}: __all__ outside of a face"
        for path in sources(root)
        if path.name != "__init__.py"
        for node in parsed(path).body
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in ast.unparse(node)
    ]


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


def a_file_that_is_named_exists(root: Path) -> list[str]:
    """A text such as `native/threads.py` is the end of a file's path; Python in a text imports files that exist."""
    ends = {"/".join(path.parts[start:]) for path in tracked(root) for start in range(len(root.parts), len(path.parts))}
    wrong = []
    for path in sources(root):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = [each for each in re.findall(r"^[\w/]+\.py$", node.value) if each not in ends]
                for each in re.findall(r"^from ([\w.]+) import", node.value, re.MULTILINE):
                    named += [each] if each.partition(".")[0] in packages(root) and not file_of(root, each) else []
                wrong += [f"{place(root, path, node.lineno)}: there is no {each}" for each in named]
    return wrong


def a_class_name_means_one_thing(root: Path) -> list[str]:
    """No two public classes of the tree have the same name."""
    homes: dict[str, list[str]] = {}
    for path in sources(root):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(place(root, path, node.lineno))
    return [f"{found[0]}: class {name} is also at {', '.join(found[1:])}" for name, found in homes.items() if found[1:]]


def few_lines_use_any(root: Path) -> list[str]:
    """Product code has no more lines with `Any` than the ceiling."""
    lines = {
        place(root, path, node.lineno)
        for path in sources(root)
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id == "Any"
    }
    return [f"{len(lines)} lines with Any, the ceiling is {CEILING}: {', '.join(sorted(lines))}"][
        len(lines) <= CEILING :
    ]
