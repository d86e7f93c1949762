"""The Python files of a tree and what they import, read once for all rules.

The names that a package's face (`__init__.py`) only hands on count as imports of the files that define them. Imports
inside functions and under TYPE_CHECKING count as all others.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STANDARD = {*sys.stdlib_module_names, "_typeshed"}
"""The standard library, and the types of it that only the type checker sees."""


@dataclass(frozen=True)
class Import:
    """An imported file or other library; `name` is what is taken out of it, empty for the whole."""

    line: int
    module: str
    name: str
    bound: str
    scope: str
    """The outermost function or class that the statement stands in; empty at the top of the file."""
    checking: bool


@cache
def packages(root: Path) -> tuple[str, ...]:
    return tuple(sorted(face.parent.name for face in root.glob("*/__init__.py") if face.parent.name != "tests"))


@cache
def sources(root: Path, *folders: str) -> tuple[Path, ...]:
    """Return the Python files of folders, of all packages where none is given."""
    return tuple(sorted(path for folder in folders or packages(root) for path in (root / folder).rglob("*.py")))


@cache
def tracked(root: Path) -> tuple[Path, ...]:
    """Return all files that git knows; without git, all there are."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
        paths = {root / name for name in listed.split("\0") if name}
    else:
        paths = {path for path in root.rglob("*") if "__pycache__" not in path.parts}
    return tuple(sorted(path for path in paths if path.is_file()))


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


def place(root: Path, path: Path, line: int = 0) -> str:
    shown = path.relative_to(root).as_posix()
    return f"{shown}:{line}" if line else shown


def module_name(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


@cache
def file_of(root: Path, module: str) -> Path | None:
    """Return the file of a dotted name, the face for a package; None for what is not of this tree."""
    below = root.joinpath(*module.split("."))
    if (below / "__init__.py").is_file():
        return below / "__init__.py"
    return below.with_suffix(".py") if below.with_suffix(".py").is_file() else None


@cache
def imports(root: Path, path: Path) -> tuple[Import, ...]:
    """Return every import of a file, also those by a call of `import_module` with a text."""
    return tuple(_imports(root, path, parsed(path), "", False))


def _imports(root: Path, path: Path, node: ast.AST, scope: str, checking: bool) -> Iterator[Import]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield Import(node.lineno, alias.name, "", alias.asname or alias.name, scope, checking)
        case ast.ImportFrom(module=module, level=level):
            if level or module is None:
                raise AssertionError(f"{place(root, path, node.lineno)}: relative import")
            for alias in node.names:
                bound, whole = alias.asname or alias.name, f"{module}.{alias.name}"
                if file_of(root, whole):
                    yield Import(node.lineno, whole, "", bound, scope, checking)
                else:
                    yield Import(node.lineno, module, alias.name, bound, scope, checking)
        case ast.Call(func=called, args=[ast.Constant(value=str(module)), *_]):
            if ast.unparse(called).endswith("import_module") and file_of(root, module):
                yield Import(node.lineno, module, "", "", scope, checking)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope = scope or name
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test):
            checking = True
    calls = "import_module" in text(path)
    for child in ast.iter_child_nodes(node):
        if calls or not isinstance(child, ast.expr):  # an expression imports by a call alone
            yield from _imports(root, path, child, scope, checking)


@cache
def is_face(path: Path) -> bool:
    """Whether a file only hands on names: imports, ``__all__``, tables and functions for names imported later."""
    if path.name != "__init__.py":
        return False
    for node in parsed(path).body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr() | ast.If():
                continue
            case ast.Assign(targets=[ast.Name(id="TYPE_CHECKING")]):
                continue
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case _:
                return False
        if not name.startswith("_"):
            return False
    return True


@cache
def targets(root: Path, path: Path) -> dict[Path, int]:
    """Return the files that a file imports, each with the line: faces that it goes through, and what they hand on."""
    found: dict[Path, int] = {}
    for each in imports(root, path):
        for file in _files(root, path, each, frozenset()):
            found.setdefault(file, each.line)
    found.pop(path, None)
    return found


def _files(root: Path, path: Path, each: Import, passed: frozenset[Path]) -> Iterator[Path]:
    file = file_of(root, each.module)
    if file is None:
        return
    yield file
    if not is_face(file) or file in passed:
        return
    used = {each.name} if each.name else _attributes(path, each.bound)
    named = [handed for handed in imports(root, file) if used & {handed.bound, "*"}]
    for handed in named or [handed for handed in imports(root, file) if handed.bound == "*"]:
        yield from _files(root, file, handed, passed | {file})


def _attributes(path: Path, bound: str) -> set[str]:
    """Return what a file uses of a package that it imports whole."""
    return {
        node.attr
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and ast.unparse(node.value) == bound
    }
