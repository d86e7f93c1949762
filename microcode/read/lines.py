"""Lines of the `.mc` language: from the text of one to its label and statement. `LANGUAGE.md` has the grammar."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import isinf
from typing import TypeVar

from microcode.language import expressions as e
from microcode.language import statements as s
from microcode.language.data import DataKind
from microcode.language.source import Complaint, first_word
from microcode.read.tokens import AFTER_EXPRESSION, END, Token, Tokens
from pixelflow.simd.isa.program import RangeForm

__all__ = ["read_expression", "read_line", "tokens_of"]

LONGEST = 4000
"""Longest line, in characters."""
DIGITS = 40
NAME_LENGTH = 80
DEPTH = 100
"""Expressions within expressions."""

_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"))
_PRECEDENCE = {operator: level for level, group in enumerate((*_LEVELS, ("*", "/", "%"))) for operator in group}
_COMPARISON = _PRECEDENCE["=="]

_FACTORS = ("NUMBER", "FRACTION", "CHARACTER", "STRING", "NAME", "TEMPLATE", "SIGN", "NOT")
_BRACED_WORD = re.compile(r"\d+[g-wyz]\w*")
"""A word in braces may begin with a digit, as in ``{1to16}``; an expression that does is a number."""
_DATA_KIND = re.compile(r"(byte|word|float)\b")
_RANGE_FORM = re.compile(rf"({'|'.join(form.value for form in RangeForm)})\b")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0"}

_Read = TypeVar("_Read")


class _Reader(Tokens):
    """One line, or an expression inside a name; a method for each rule of the grammar."""

    depth = 0

    # --- expressions -----------------------------------------------------------------------------------------------

    def expression(self, lowest: int = 0) -> e.ExpressionNode:
        """Read operators of at least the ``lowest`` precedence."""
        left, before = self.factor(), None
        while self.kind in ("OPERATOR", "SIGN") and (level := _PRECEDENCE[self.text]) >= lowest:
            operator = self.take(self.kind)
            right = self.expression(level + 1)
            if before == level == _COMPARISON:
                hint = "write a < b && b < c"
                self.note(Complaint("comparisons do not chain", operator.column, len(operator.text), hint))
            before = level
            if operator.text in ("&&", "||"):
                left = e.Logical(left.column, right.stop, operator.text == "&&", left, right)
            else:
                left = e.Binary(left.column, right.stop, operator.text, left, right)
        self.expected |= {"OPERATOR", "SIGN"}
        self.close(AFTER_EXPRESSION)
        return left

    def factor(self) -> e.ExpressionNode:
        if self.depth == DEPTH:
            raise Complaint("this is nested too deeply", *first_word(self.line, self.offset))
        self.depth += 1
        found = self.parenthesis() if self.has("(") else self.operand_of_operator(self.take(*_FACTORS))
        self.depth -= 1
        return found

    def parenthesis(self) -> e.ExpressionNode:
        found = self.expression()
        self.must(")")
        return found

    def operand_of_operator(self, token: Token) -> e.ExpressionNode:
        match token.kind:
            case "NUMBER" | "FRACTION" | "CHARACTER" | "STRING":
                return self.literal(token)
            case "SIGN" | "NOT":
                operand = self.factor()
                return e.Unary(token.column, operand.stop, token.text, operand)
        if self.has("["):
            index = self.expression()
            self.must("]")
            return e.Index(token.column, index.stop + 1, self.spelled(token), index)
        if token.kind == "NAME" and self.has("("):
            arguments: tuple[e.ExpressionNode, ...] = ()
            if not self.has(")"):
                arguments = self.expressions()
                self.must(")")
            stop = arguments[-1].stop + 1 if arguments else token.stop + 2
            return e.CallExpression(token.column, stop, token.text, arguments)
        return self.spelled(token)

    def literal(self, token: Token) -> e.Literal:
        return e.Literal(token.column, token.stop, self.value(token))

    def value(self, token: Token) -> int | float | str:
        match token.kind:
            case "NUMBER":
                return self.integer(token)
            case "FRACTION":
                return self.fraction(token)
        text = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), token.text[1:-1])
        if token.kind == "STRING":
            return text
        if ord(text) > 255:
            self.note(Complaint(f"{token.text} is not one byte", token.column, len(token.text)))
        return ord(text)

    def fraction(self, token: Token) -> float:
        value = float(token.text)
        if isinf(value):
            hint = "the largest binary32 number is 3.4028235e38"
            self.note(Complaint(f"{token.text[:DIGITS]} is too large", token.column, len(token.text), hint))
            return 0.0
        return value

    def integer(self, token: Token) -> int:
        text = token.text
        try:
            if len(text) > DIGITS:
                raise ValueError
            return int(text) if text.isdigit() else int(text, 0)
        except ValueError:
            hint = "numbers look like 10, 0x1F or 0b101"
            self.note(Complaint(f"{text[:DIGITS]} is not a number", token.column, len(text), hint))
            return 0

    def spelled(self, token: Token) -> e.NameExpression | e.Template:
        """Return the node of a name, which may have parts to be computed."""
        if token.kind != "TEMPLATE" or len(token.text) > NAME_LENGTH:
            return self.plain(token)
        column = token.column
        parts: list[str | e.ExpressionNode] = []
        for part in re.split(r"(\{[^}]*\})", token.text):
            if part.startswith("{"):
                parts.append(self.computed(part[1:-1], column))
            elif part:
                parts.append(part)
            column += len(part)
        return e.Template(token.column, token.stop, tuple(parts))

    def plain(self, token: Token) -> e.NameExpression:
        """Return the node of a name as it stands."""
        if len(token.text) > NAME_LENGTH:
            self.note(Complaint(f"a name has at most {NAME_LENGTH} characters", token.column, len(token.text)))
        return e.NameExpression(token.column, token.stop, token.text)

    def computed(self, inner: str, offset: int) -> e.ExpressionNode:
        """Read what stands in the braces of a name."""
        if not _BRACED_WORD.fullmatch(inner):
            try:
                return _read(inner, _Reader.expression, offset)
            except Complaint as complaint:
                self.note(complaint)
        return e.NameExpression(offset + 1, offset + 1 + len(inner), inner)

    # --- parts of statements -----------------------------------------------------------------------------------------

    def several(self, read: Callable[[], _Read]) -> tuple[_Read, ...]:
        """Read one or more of something, with commas between them."""
        found = [read()]
        while self.has(","):
            found.append(read())
        return tuple(found)

    def expressions(self) -> tuple[e.ExpressionNode, ...]:
        found = self.several(self.expression)
        self.close((")", END))
        return found

    def name(self) -> Token:
        return self.take("NAME", "TEMPLATE")

    def parameters(self) -> tuple[e.NameExpression, ...]:
        self.must("(")
        if self.has(")"):
            return ()
        found = self.names()
        self.must(")")
        return found

    def names(self) -> tuple[e.NameExpression, ...]:
        tokens = self.several(lambda: self.take("NAME"))
        return tuple(e.NameExpression(token.column, token.stop, token.text) for token in tokens)

    def place(self) -> e.ExpressionNode:
        """Read an expression, or an address in brackets."""
        if not self.has("["):
            return self.expression()
        inner = self.expression()
        self.must("]")
        return e.Address(inner.column - 1, inner.stop + 1, inner)

    def operand(self) -> e.ExpressionNode:
        if self.has("#"):
            inner = self.expression()
            return e.Immediate(inner.column - 1, inner.stop, inner)
        found, words = self.place(), []
        while self.kind == "BRACED":
            words.append(self.take("BRACED"))
        if not words:
            return found
        return e.Braced(found.column, words[-1].stop, found, tuple(word.text.strip("{} \t") for word in words))

    # --- statements --------------------------------------------------------------------------------------------------

    def label_and_statement(self) -> tuple[e.NameExpression | e.Template | None, s.Statement | None]:
        label = None
        if self.kind in ("NAME", "TEMPLATE") and self.text not in _STATEMENTS:
            word = self.take(self.kind)
            if not self.has(":"):
                return None, self.operation(word)
            label = self.spelled(word)
        return label, None if self.ends() else self.statement()

    def statement(self) -> s.Statement:
        read = _STATEMENTS.get(self.text)
        if read is not None:
            self.must(self.text)
            return read(self)
        if self.kind not in ("NAME", "GATED", "TEMPLATE"):
            self.expected.clear()
            self.fail("a statement")
        return self.operation(self.take(self.kind))

    def operation(self, word: Token) -> s.OperationStatement:
        operands = () if self.ends() else self.several(self.operand)
        if word.kind != "GATED":
            return s.OperationStatement(self.spelled(word), None, operands)
        mnemonic, suffix = word.text.split(".")
        dot = word.column + len(mnemonic)
        return s.OperationStatement(
            e.NameExpression(word.column, dot, mnemonic), e.NameExpression(dot, word.stop, suffix), operands
        )

    def include(self) -> s.Include:
        path = self.literal(self.take("STRING"))
        return s.Include(path, self.several(self.binding) if self.has("with") else ())

    def binding(self) -> tuple[e.NameExpression, e.ExpressionNode]:
        name = self.take("NAME")
        self.must("=")
        value = self.expression()
        return self.plain(name), value

    def const(self) -> s.Const:
        name = self.name()
        self.must("=")
        value = self.expression()
        return s.Const(self.spelled(name), value)

    def range(self, *, overlay: bool = False) -> s.RangeDef:
        name = self.name()
        self.must("[")
        size = self.expression()
        self.must("]")
        if overlay:
            self.must("at")
        place = self.place() if overlay or self.has("at") else None
        return s.RangeDef(self.spelled(name), size, place, overlay, self.form() if self.has(":") else None)

    def form(self) -> RangeForm:
        word = self.take_word(_RANGE_FORM, "TYPE") or self.take("NAME")
        if word.kind != "TYPE":
            known = ", ".join(form.value for form in RangeForm)
            raise Complaint(f"{word.text} is not a form of a range", word.column, len(word.text), f"forms: {known}")
        return RangeForm(word.text)

    def data(self) -> s.Data:
        where = self.place()
        self.must(":")
        if self.has("lane"):
            return s.Data(where, DataKind.LANE, () if self.ends() else (self.expression(),))
        kind = self.take_word(_DATA_KIND, "TYPE")
        return s.Data(where, DataKind(kind.text) if kind else DataKind.BYTE, self.expressions())

    def repeat(self) -> s.Repeat:
        variable = self.take("NAME")
        self.must("in")
        low = self.expression()
        self.must("..")
        high = self.expression()
        return s.Repeat(self.plain(variable), low, high)

    def routine(self, *, started: bool = True) -> s.RoutineDef:
        name, parameters = self.name(), self.parameters()
        entire = self.names() if self.has("whole") else ()
        apart = self.names() if self.has("apart") else ()
        uses = self.expressions() if self.has("uses") else ()
        return s.RoutineDef(self.spelled(name), parameters, uses, started, entire, apart)

    def macro(self) -> s.Macro:
        name, parameters = self.name(), self.parameters()
        return s.Macro(self.spelled(name), parameters)

    def assertion(self) -> s.Assertion:
        return s.Assertion(self.expression(), self.expressions() if self.has(",") else ())

    def needs(self) -> s.NeedsStatement:
        key = self.literal(self.take("STRING"))
        self.must("=")
        value = self.expression()
        return s.NeedsStatement(key, value, self.expressions() if self.has(",") else ())


_STATEMENTS: dict[str, Callable[[_Reader], s.Statement]] = {
    "include": _Reader.include,
    "const": _Reader.const,
    "param": lambda line: s.RoutineParameter(*line.binding()),
    "range": _Reader.range,
    "overlay": lambda line: line.range(overlay=True),
    "data": _Reader.data,
    "macro": _Reader.macro,
    "repeat": _Reader.repeat,
    "if": lambda line: s.Condition(line.expression()),
    "else": lambda line: s.Otherwise(line.expression() if line.has("if") else None),
    "end": lambda line: s.EndStatement(),
    "routine": _Reader.routine,
    "proc": lambda line: line.routine(started=False),
    "loop": lambda line: s.Loop(line.expression()),
    "stream": lambda line: s.StreamStatement(line.plain(line.take("NAME"))),
    "assert": _Reader.assertion,
    "needs": _Reader.needs,
    "error": lambda line: s.Message(line.expressions()),
}
"""Words with which statements begin; anywhere else they are names, as all words of the language are where no statement
can go on with them."""


def _read(text: str, rule: Callable[[_Reader], _Read], offset: int = 0) -> _Read:
    """Read a whole text by a rule; raises Complaint. ``offset`` is added to every column."""
    reader = _Reader(text, offset)
    found = rule(reader)
    reader.finish()
    return found


def read_expression(text: str) -> e.ExpressionNode:
    """Return the expression that a text is; raises Complaint."""
    if len(text) > LONGEST:
        raise Complaint(f"the expression is longer than {LONGEST} characters")
    return _read(text, _Reader.expression)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a line up to the one that cannot stand where it does."""
    reader = _Reader(text)
    try:
        reader.label_and_statement()
        reader.finish()
    except Complaint:
        pass
    return reader.taken


def read_line(text: str) -> tuple[e.NameExpression | e.Template | None, s.Statement | None]:
    """Return (label or None, statement or None) of a line; raises Complaint."""
    if len(text) > LONGEST:
        raise Complaint(f"the line is longer than {LONGEST} characters", hint="one statement a line")
    if ";" in text and '"' not in text and "'" not in text:
        text = text[: text.index(";")]
    return _read_stripped(text.rstrip())


@lru_cache(maxsize=16384)
def _read_stripped(text: str) -> tuple[e.NameExpression | e.Template | None, s.Statement | None]:
    return _read(text, _Reader.label_and_statement) if text else (None, None)
