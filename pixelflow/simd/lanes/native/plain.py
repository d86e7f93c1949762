"""Plain functions: Python over whole numbers and arrays, executed by Python or, from the same text, natively.

A plain function takes and gives whole numbers of 64 bits, and arrays: ``Longs`` (64 bits, signed) and ``Words`` (32
bits, unsigned). Its text keeps to assignments, ``if``, ``while``, ``return``, arithmetic, comparisons, ``min`` and
``max`` of two, constants of its file, and calls of other plain functions. Numbers stay within 64 bits, and what is
divided is not negative: there the two ways would differ. So what is slow in Python is written once.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InternalError
from pixelflow.simd.lanes.engine import Engines, Offer, available
from pixelflow.simd.lanes.native.function_text import FunctionText
from pixelflow.simd.lanes.words import WordsEngine
from pixelflow.simd.store import MEANING, digest_of, key_of, store

# Native functions from text: whether this host has native code, and the addresses of functions written in LLVM IR.


def works_natively() -> bool:
    """Return whether native code works on this host: a trial gave the right bits (`lanes/engine.py`)."""
    return "compiled" in available()


NATIVE_AFTER = 20_000
"""Words that Python goes through before native code pays: it takes some tens of milliseconds to load."""


def pays_natively(words: int) -> bool:
    """Return whether to go through this many words natively."""
    return words > NATIVE_AFTER and works_natively()


def functions(names: Sequence[str], text: str) -> list[int]:
    """Return the addresses of functions of a text of LLVM IR; they live as long as the process.

    They are compiled with care, and kept on disk for the next process. Raises what LLVM raises.
    """
    # Only who has native code imports what makes it.
    from pixelflow.simd.lanes.native.compiled_engine import native

    return native().functions(names, text)


# The table of engines for lanes of 32 bits: both hold their state as numpy does, one runs programs as native code.


WIDE = Engines(Offer("rows", WordsEngine), Offer("compiled", WordsEngine, is_native=True))
"""``rows`` executes every meaning by itself; for ``compiled``, `GroupRuns` executes whole programs."""


class Longs(Protocol):
    """An array of signed 64-bit numbers, or a list of numbers."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, value: int, /) -> None: ...


class Words(Protocol):
    """An array of unsigned 32-bit numbers that is read only, or a list of numbers."""

    def __getitem__(self, place: int, /) -> int: ...


Plain = Callable[..., int]

_KINDS = {"int": "i64", "Longs": "ptr", "Words": "ptr"}
_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.Mod: "srem",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_COMPARED = {ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne"}


_INLINED = 150
"""Lines of LLVM IR below which a function is copied to wherever it is called; others only where that is one place."""


@cache
def compiled(exported: Plain, others: tuple[Plain, ...] = ()) -> Callable[..., int]:
    """Return a plain function as native code, which takes addresses of arrays; ``others`` are those that it calls.

    Raises InternalError for text that is not plain, and what LLVM raises.
    """
    parts = [_identity(each) for each in (*others, exported)]
    text = store().made(MEANING, key_of(digest_of(__name__), parts), str, lambda: text_of(exported, others))
    (address,) = functions((exported.__name__,), text)
    kinds = [ctypes.c_int64 if kind == "i64" else ctypes.c_void_p for _, kind in _signature(exported)]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)


def executed(
    function: Plain, arguments: Sequence[NDArray[Any] | int], others: tuple[Plain, ...] = (), *, natively: bool
) -> int:
    """Return what a plain function gives for numbers and arrays of int64 and uint32, natively or by Python."""
    if natively:
        given = (each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments)
        return compiled(function, others)(*given)
    lists = [each.tolist() if isinstance(each, np.ndarray) else each for each in arguments]
    found = function(*lists)
    for each, numbers in zip(arguments, lists, strict=True):
        if isinstance(each, np.ndarray) and each.dtype == np.int64 and each.flags.writeable:
            each[:] = numbers
    return found


def _identity(function: Plain) -> tuple[object, ...]:
    """Return what a function's text depends on: its code and annotations, and the constants of its file."""
    plain = inspect.unwrap(function)
    code = plain.__code__
    constants = [(name, value) for name in code.co_names if isinstance(value := plain.__globals__.get(name), int)]
    return code.co_code, code.co_consts, code.co_names, code.co_varnames, plain.__annotations__, constants


def text_of(exported: Plain, others: Sequence[Plain] = ()) -> str:
    """Return plain functions as LLVM IR, of which only ``exported`` is seen from outside."""
    known = {each.__name__ for each in (exported, *others)}
    made = [_Function(each, known, each is exported) for each in (*others, exported)]
    text = "\n".join(each.text for each in made)
    for each in made[:-1]:
        if len(each.lines) < _INLINED or text.count(f"@{each.title}(") == 2:  # with its definition
            text = text.replace(each.lines[0], each.lines[0].replace(" nounwind {", " nounwind alwaysinline {"))
    return text


def _signature(function: Plain) -> list[tuple[str, str]]:
    return [(name, _KINDS[kind]) for name, kind in inspect.unwrap(function).__annotations__.items() if name != "return"]


def _tree(function: Plain) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise InternalError(f"{function.__name__} is not a plain function")
    return node


class _Function(FunctionText):
    """One function on its way to LLVM IR: variables are places on the stack, which LLVM turns into registers."""

    def __init__(self, function: Plain, known: set[str], exported: bool) -> None:
        super().__init__()
        self.title, self.known = function.__name__, known
        self.known_numbers = inspect.unwrap(function).__globals__
        node = _tree(function)
        self.signature = _signature(function)
        self.kinds = inspect.unwrap(function).__annotations__
        stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        self.variables = stored | {name for name, kind in self.signature if kind == "i64"}
        self.loops: list[tuple[str, str]] = []
        self.open = True
        linkage = "" if exported else "internal "
        given = ", ".join(f"{kind} %in.{name}" for name, kind in self.signature)
        self.lines.append(f"define {linkage}i64 @{self.title}({given}) nounwind {{\nentry:")
        self.lines += [f"  %v.{name} = alloca i64" for name in sorted(self.variables)]
        for name in sorted(self.variables):
            first = f"%in.{name}" if (name, "i64") in self.signature else "0"
            self.do(f"store i64 {first}, ptr %v.{name}")
        self._body(node.body)
        if self.open:
            self.do("ret i64 0")
        self.text = "\n".join([*self.lines, "}"])

    def _fault(self, node: ast.AST, what: str) -> InternalError:
        return InternalError(f"{self.title}, line {getattr(node, 'lineno', 0)} of its text: {what} is not plain")

    def begin(self, label: str) -> None:
        super().begin(label)
        self.open = True

    def _leave(self, line: str) -> None:
        self.do(line)
        self.open = False

    # --- statements -----------------------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for each in statements:
            if not self.open:
                raise self._fault(each, "what is never reached")
            self._statement(each)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                found = [self._number(each) for each in values]
                for target, value in zip(targets, found, strict=True):
                    self._store(target, value)
            case ast.Assign(targets=[target], value=value):
                self._store(target, self._number(value))
            case ast.AugAssign(target=target, op=op, value=value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                self._store(target, self._number(ast.BinOp(read, op, value)))
            case ast.If(test=test, body=body, orelse=other):
                self._choice(test, body, other)
            case ast.While(test=test, body=body, orelse=[]):
                top, inner, end = (self.new_label(each) for each in ("while", "do", "end"))
                self.go(top)
                self.begin(top)
                self._branch(test, inner, end)
                self.begin(inner)
                self.loops.append((top, end))
                self._body(body)
                self.loops.pop()
                if self.open:
                    self.go(top)
                self.begin(end)
            case ast.Return(value=value) if value is not None:
                self._leave(f"ret i64 {self._number(value)}")
            case ast.Break():
                self._leave(f"br label %{self.loops[-1][1]}")
            case ast.Continue():
                self._leave(f"br label %{self.loops[-1][0]}")
            case ast.Expr(value=ast.Constant()):
                pass  # its docstring
            case ast.Expr(value=ast.Call() as call):
                self._number(call)
            case _:
                raise self._fault(node, ast.unparse(node))

    def _choice(self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        then, otherwise, end = (self.new_label(each) for each in ("then", "else", "endif"))
        self._branch(test, then, otherwise if other else end)
        ends = not other
        for label, statements in ((then, body), (otherwise, other)):
            if label == otherwise and not other:
                continue
            self.begin(label)
            self._body(statements)
            if self.open:
                self.go(end)
                ends = True
        self.open = False
        if ends:
            self.begin(end)

    def _store(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.do(f"store i64 {value}, ptr %v.{target.id}")
        elif isinstance(target, ast.Subscript):
            place, kind = self._place(target)
            if kind != "Longs":
                raise self._fault(target, "writing to words")
            self.do(f"store i64 {value}, ptr {place}")
        else:
            raise self._fault(target, ast.unparse(target))

    # --- expressions ----------------------------------------------------------------------------------------

    def _place(self, node: ast.Subscript) -> tuple[str, str]:
        if not isinstance(node.value, ast.Name) or self.kinds.get(node.value.id) not in ("Longs", "Words"):
            raise self._fault(node, ast.unparse(node))
        name = node.value.id
        size = "i64" if self.kinds[name] == "Longs" else "i32"
        at = self._number(node.slice)
        return self.line(f"getelementptr {size}, ptr %in.{name}, i64 {at}"), self.kinds[name]

    def _number(self, node: ast.expr) -> str:
        """Return a number of 64 bits."""
        match node:
            case ast.Constant(value=value) if isinstance(value, int):
                return str(int(value))
            case ast.Name(id=name) if name in self.variables:
                return self.line(f"load i64, ptr %v.{name}")
            case ast.Name(id=name) if isinstance(self.known_numbers.get(name), int):
                return str(int(self.known_numbers[name]))
            case ast.Subscript():
                place, kind = self._place(node)
                if kind == "Longs":
                    return self.line(f"load i64, ptr {place}")
                return self.line(f"zext i32 {self.line(f'load i32, ptr {place}')} to i64")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.line(f"sub i64 0, {self._number(operand)}")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                a, b = self._number(left), self._number(right)
                return self.line(f"{_ARITHMETIC[type(op)]} i64 {a}, {b}")
            case ast.Call(func=ast.Name(id="min" | "max" as which), args=[first, second]):
                a, b = self._number(first), self._number(second)
                less = self.line(f"icmp slt i64 {a}, {b}")
                return self.line(
                    f"select i1 {less}, i64 {a if which == 'min' else b}, i64 {b if which == 'min' else a}"
                )
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in self.known:
                return self.line(f"call i64 @{name}({', '.join(self._argument(each) for each in arguments)})")
            case ast.IfExp(test=test, body=body, orelse=other):
                bit, a, b = self._bit(test), self._number(body), self._number(other)
                return self.line(f"select i1 {bit}, i64 {a}, i64 {b}")
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return self.line(f"zext i1 {self._bit(node)} to i64")
        raise self._fault(node, ast.unparse(node))

    def _argument(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and self.kinds.get(node.id) in ("Longs", "Words"):
            return f"ptr %in.{node.id}"
        return f"i64 {self._number(node)}"

    def _bit(self, node: ast.expr) -> str:
        """Return a truth that is computed whole; it must be free of effects."""
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                a, b = self._number(left), self._number(right)
                return self.line(f"icmp {_COMPARED[type(op)]} i64 {a}, {b}")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.line(f"xor i1 {self._bit(operand)}, true")
        return self.line(f"icmp ne i64 {self._number(node)}, 0")

    def _branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go where a truth leads; the later parts of ``and`` and ``or`` are looked at only where they decide."""
        if isinstance(node, ast.BoolOp):
            for each in node.values[:-1]:
                following = self.new_label("and" if isinstance(node.op, ast.And) else "or")
                self._branch(each, *((following, no) if isinstance(node.op, ast.And) else (yes, following)))
                self.begin(following)
            self._branch(node.values[-1], yes, no)
            return
        self.branch(self._bit(node), yes, no)
        self.open = False
