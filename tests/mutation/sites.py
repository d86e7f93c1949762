"""Sites: where a file can be changed a little so that its meaning changes, and what then stands there.

Left alone are texts (docstrings, f-strings, what is raised), annotations, `__all__`, unions of types and what only a
type checker reads.
"""

from __future__ import annotations

import ast
import copy
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Site", "drawn", "sites"]

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Site:
    """One change: the bytes `start` to `end` of a file become `new`, which has as many line ends as `old`.

    `statement` is the first and last line of the innermost statement (of a compound one, its head); `function` is the
    first line, decorators included, of the innermost function whose body it is in, or 0 where it is carried out when
    the file is imported.
    """

    file: str
    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str
    statement: tuple[int, int]
    function: int

    def applied(self, source: str) -> str:
        """Return the text of the file with the change."""
        data = source.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()


def sites(root: Path, path: Path) -> Iterator[Site]:
    """Give all sites of a file of the tree `root`."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, statement, function in _walked(ast.parse(source), (1, 1), 0):
        for kind, place, text in _changes(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or place.lineno) - 1] + (place.end_col_offset or 0)
            old = source.encode()[start:end].decode()
            new = f"({text}{chr(10) * old.count(chr(10))})"
            name = path.relative_to(root).as_posix()
            yield Site(name, place.lineno, kind, start, end, old, new, statement, function)


def drawn(root: Path, rooms: list[str], each: int, seed: int) -> list[Site]:
    """Return `each` sites of each room, on as many lines; each line that has sites is as likely as the others.

    The rooms take turns, so that the first part of a sample is a sample too.
    """
    generator = random.Random(seed)
    chosen: list[list[Site]] = []
    for room in rooms:
        lines: dict[tuple[str, int], list[Site]] = {}
        for path in sorted((root / room).rglob("*.py")):
            for site in sites(root, path):
                lines.setdefault((site.file, site.line), []).append(site)
        places = generator.sample(sorted(lines), min(each, len(lines)))
        chosen.append([generator.choice(lines[place]) for place in places])
    return [site for turn in itertools.zip_longest(*chosen) for site in turn if site]


def _walked(node: ast.AST, statement: tuple[int, int], function: int) -> Iterator[tuple[ast.AST, tuple[int, int], int]]:
    """Give the nodes that are neither text nor for a type checker, with their statement and function."""
    if isinstance(node, ast.stmt):
        body = getattr(node, "body", None)
        last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        statement = (_first_line(node), last)
    if _only_text(node):
        return
    yield node, statement, function
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params", "format_spec"):
            continue
        inside = function
        if isinstance(node, _FUNCTIONS) and field == "body":
            inside = _first_line(node)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walked(child, statement, inside)


def _first_line(node: ast.stmt | ast.Lambda) -> int:
    """Return the line in which the decorators, or else the node itself, begin."""
    return min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))


def _only_text(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) as value) if _is_type(value):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return False


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr, str]]:
    """Give what may be put for a node: the kind of change, what goes, what comes."""
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in _COMPARED:
            changed = copy.copy(node)
            changed.ops = [_COMPARED[type(op)](), *rest]
            yield "comparison", node, ast.unparse(changed)
        case ast.BinOp(op=op) if type(op) in _COMPUTED and not _is_text(node):
            yield "operator", node, ast.unparse(ast.BinOp(node.left, _COMPUTED[type(op)](), node.right))
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and/or", node, ast.unparse(ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node, ast.unparse(node.operand)
        case ast.Constant(value=bool()):
            yield "constant", node, str(not node.value)
        case ast.Constant(value=int()):
            yield "constant", node, str(node.value + 1)
        case ast.If() | ast.IfExp() | ast.While():
            yield "condition", node.test, ast.unparse(ast.UnaryOp(ast.Not(), node.test))
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield "result", node.value, "None"
        case ast.Expr(value=ast.Call()):
            yield "call", node.value, "None"
        case ast.AugAssign(op=ast.Add() | ast.Sub()):
            yield "operator", node.value, f"-({ast.unparse(node.value)})"


def _is_type(node: ast.expr) -> bool:
    """Return whether this is a union of types, which are named in capitals."""
    match node:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _is_type(left) and _is_type(right)
        case ast.Subscript(value=value):
            return _is_type(value)
        case ast.Name(id=name):
            return name in ("int", "float", "str", "bytes", "bool", "tuple", "list", "dict") or name[0].isupper()
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.BinOp) -> bool:
    """Return whether one side is a text, whose sum no other operator computes."""
    return any(
        isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in (node.left, node.right)
    )
