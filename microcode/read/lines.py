"""From the text of one line to its label and statement, by the grammar in ``grammar.lark``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from microcode.language import expressions as e
from microcode.language import statements as s
from microcode.language.data import DataKind
from microcode.language.source import Complaint
from microcode.quick import Unusual, read_expression, read_line

if TYPE_CHECKING:
    from lark import Lark, Token

__all__ = ["parse_line", "tokens_of"]

LONGEST = 4000
"""Longest line, in characters."""
DIGITS = 40
NAME_LENGTH = 80


class _Rules:
    """The value of each grammar rule, built while lark reduces it. Methods are named as the rules."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    # --- pieces of expressions -----------------------------------------------------------------------------------

    def _span(self, token: Token) -> tuple[int, int]:
        column = token.column + self.offset
        return column, column + len(token)

    def number(self, children):
        return e.Literal(*self._span(children[0]), self._integer(children[0]))

    def _integer(self, token: Token) -> int:
        text = str(token)
        try:
            if len(text) > DIGITS:
                raise ValueError
            return int(text) if text.isdigit() else int(text, 0)
        except ValueError:
            hint = "numbers look like 10, 0x1F or 0b101"
            raise Complaint(f"{text[:DIGITS]} is not a number", *self._caret(token), hint) from None

    def _caret(self, token: Token) -> tuple[int, int]:
        return token.column + self.offset, len(token)

    def fraction(self, children):
        return e.Literal(*self._span(children[0]), float(children[0]))

    def character(self, children):
        value = ord(_unescaped(children[0]))
        if value > 255:
            raise Complaint(f"{children[0]} is not one byte", *self._caret(children[0]))
        return e.Literal(*self._span(children[0]), value)

    def string(self, children):
        return self._string(children[0])

    def _string(self, token: Token) -> e.Literal:
        return e.Literal(*self._span(token), _unescaped(token))

    def name(self, children):
        return self._spelled(children[0])

    def _spelled(self, token: Token) -> e.Name | e.Template:
        if len(token) > NAME_LENGTH:
            raise Complaint(f"a name has at most {NAME_LENGTH} characters", *self._caret(token))
        if token.type != "TEMPLATE":
            return e.Name(*self._span(token), str(token))
        parts: list[str | e.Node] = []
        text, at = str(token), 0
        while (brace := text.find("{", at)) >= 0:
            close = text.index("}", brace)
            parts.append(text[at:brace])
            inner, column = text[brace + 1 : close], token.column + self.offset + brace + 1
            # A word in braces may begin with a digit ({1to16}); an expression that does is a number.
            is_word = re.fullmatch(r"\d+[g-wyz]\w*", inner)
            node = e.Name(column, column + len(inner), inner) if is_word else _parse(inner, "expression", column - 1)
            parts.append(node)
            at = close + 1
        parts.append(text[at:])
        return e.Template(*self._span(token), tuple(part for part in parts if part != ""))

    def index(self, children):
        target = self._spelled(children[0])
        return e.Index(target.column, children[1].stop + 1, target, children[1])

    def call(self, children):
        column, stop = self._span(children[0])
        arguments = children[1] or ()
        return e.Call(column, arguments[-1].stop + 1 if arguments else stop + 2, str(children[0]), arguments)

    def group(self, children):
        return children[0]

    def unary(self, children):
        column, _ = self._span(children[0])
        return e.Unary(column, children[1].stop, str(children[0]), children[1])

    def chain(self, children):
        """Put factors and operators, which alternate, together by precedence."""
        operands, operators = [children[0]], []
        for token, factor in zip(children[1::2], children[2::2], strict=True):
            level = _PRECEDENCE[token]
            while operators and _PRECEDENCE[operators[-1]] >= level:
                if _PRECEDENCE[operators[-1]] == level == _COMPARISON:
                    raise Complaint("comparisons do not chain", *self._caret(token), "write a < b && b < c")
                _combine(operands, operators)
            operators.append(token)
            operands.append(factor)
        while operators:
            _combine(operands, operators)
        return operands[0]

    def immediate(self, children):
        return e.Immediate(children[0].column - 1, children[0].stop, children[0])

    def address(self, children):
        return e.Address(children[0].column - 1, children[0].stop + 1, children[0])

    def braced(self, children):
        operand, *words = children
        stop = words[-1].column + len(words[-1]) + self.offset
        return e.Braced(operand.column, stop, operand, tuple(word.strip("{} \t") for word in words))

    def expressions(self, children):
        return tuple(children)

    operands = expressions

    def names(self, children):
        return tuple(e.Name(*self._span(token), str(token)) for token in children)

    # --- statements ----------------------------------------------------------------------------------------------

    def line(self, children):
        return tuple(children)

    def label(self, children):
        return self._spelled(children[0])

    def binding(self, children):
        return self._spelled(children[0]), children[1]

    def include(self, children):
        path, *bindings = children
        return s.Include(self._string(path), tuple(binding for binding in bindings if binding is not None))

    def const(self, children):
        return s.Const(self._spelled(children[0]), children[1])

    def param(self, children):
        return s.Param(self._spelled(children[0]), children[1])

    def range(self, children):
        return s.RangeDef(self._spelled(children[0]), children[1], children[2], overlay=False)

    def overlay(self, children):
        return s.RangeDef(self._spelled(children[0]), children[1], children[2], overlay=True)

    def data(self, children):
        where, kind, values = children
        return s.Data(where, DataKind(kind) if kind else DataKind.BYTE, values)

    def data_lane(self, children):
        where, size = children[0], children[-1]
        return s.Data(where, DataKind.LANE, () if size is None else (size,))

    def macro(self, children):
        return s.Macro(self._spelled(children[0]), children[1] or ())

    def repeat(self, children):
        variable, low, high = children
        return s.Repeat(self._spelled(variable), low, high)

    def condition(self, children):
        return s.Condition(children[0])

    def otherwise(self, children):
        return s.Otherwise(None)

    def otherwise_if(self, children):
        return s.Otherwise(children[0])

    def end(self, children):
        return s.End()

    def routine(self, children, *, started: bool = True):
        name, parameters, uses = children
        return s.RoutineDef(self._spelled(name), parameters or (), uses or (), started)

    def proc(self, children):
        return self.routine(children, started=False)

    def loop(self, children):
        return s.Loop(children[0])

    def stream(self, children):
        return s.Stream(self._spelled(children[0]))

    def assertion(self, children):
        return s.Assertion(children[0], children[1] or ())

    def error(self, children):
        return s.Message(children[0])

    def instruction(self, children):
        word, operands = children
        if word.type != "GATED":
            return s.Operation(self._spelled(word), None, operands or ())
        column, stop = self._span(word)
        mnemonic, suffix = word.split(".")
        dot = column + len(mnemonic)
        return s.Operation(e.Name(column, dot, mnemonic), e.Name(dot, stop, suffix), operands or ())


_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"))
_PRECEDENCE = {operator: level for level, group in enumerate((*_LEVELS, ("*", "/", "%"))) for operator in group}
_COMPARISON = _PRECEDENCE["=="]


def _combine(operands: list[e.Node], operators: list[Token]) -> None:
    right, left, operator = operands.pop(), operands.pop(), str(operators.pop())
    if operator in ("&&", "||"):
        operands.append(e.Logical(left.column, right.stop, operator == "&&", left, right))
    else:
        operands.append(e.Binary(left.column, right.stop, operator, left, right))


_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", "'": "'", '"': '"'}


def _unescaped(token: str) -> str:
    """Return the text of a string or character token, without quotes and backslashes."""
    text, found, at = token[1:-1], [], 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
            found.append(_ESCAPES.get(text[at], text[at]))
        else:
            found.append(text[at])
        at += 1
    return "".join(found)


@cache
def _lark(rules: _Rules | None) -> Lark:
    # Imported here: lark is needed only where text is parsed, and takes a tenth of a second to load.
    from importlib import resources

    from lark import Lark

    grammar = resources.files("microcode").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["line", "expression"], transformer=rules, maybe_placeholders=True)


_RULES = _Rules()
_QUICK = {"line": read_line, "expression": read_expression}


def _parse(text: str, start: str, offset: int = 0):
    """Parse from one start rule; raises Complaint. ``offset`` is added to every column."""
    before, _RULES.offset = _RULES.offset, offset
    try:
        return _QUICK[start](text, _RULES)
    except (Unusual, Complaint):
        return _parse_by_grammar(text, start, offset)
    finally:
        _RULES.offset = before


def _parse_by_grammar(text: str, start: str, offset: int = 0):
    from lark import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    before, _RULES.offset = _RULES.offset, offset
    try:
        return _lark(_RULES).parse(text, start=start)
    except UnexpectedCharacters as error:
        raise _character_complaint(text, error.column, offset) from None
    except (UnexpectedToken, UnexpectedEOF) as error:
        raise _token_complaint(text, error, offset) from None
    finally:
        _RULES.offset = before


def _character_complaint(text: str, column: int, offset: int) -> Complaint:
    found = text[column - 1 : column]
    column += offset
    if found == '"':
        return Complaint('text without a closing "', column, len(text) - column + 1 + offset)
    if found == "'":
        return Complaint("a character in single quotes is one byte, as in 'A'", column)
    if found in "{}":
        return Complaint(f"{found} belongs inside a name, as in fadd{{n}}", column)
    return Complaint(f"unexpected character {found!r}", column)


def _token_complaint(text: str, error, offset: int) -> Complaint:
    token = getattr(error, "token", None)
    expected = wanted(error.accepts if getattr(error, "accepts", None) else error.expected)
    if token is None or token.type == "$END":
        column = len(text.split(";")[0].rstrip()) + 1 + offset
        return Complaint(f"the line ends too early; expected {expected}", column)
    message = f"expected {expected}, found {str(token)!r}"
    if token == "=":
        return Complaint(message, token.column + offset, 1, "a constant is defined by: const name = value")
    return Complaint(message, token.column + offset, len(token))


_WORDS = {
    "NAME": "a name",
    "TEMPLATE": "a name",
    "GATED": "a name",
    "NUMBER": "a number",
    "FRACTION": "a number",
    "CHARACTER": "a number",
    "STRING": "text in quotes",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "COMMA": ",",
    "COLON": ":",
    "EQUAL": "=",
    "HASH": "#",
    "__ANON_0": "..",
    "SIGN": "an operator",
    "OPERATOR": "an operator",
    "NOT": "an operator",
    "$END": "the end of the line",
}
_OPERAND = {"NAME", "NUMBER", "LPAR", "SIGN"}


def wanted(terminals: set[str]) -> str:
    """Return what a set of terminals is in words."""
    # Words in braces stand where an operand might also end, and nobody who made a mistake is looking for them.
    terminals = terminals - {"BRACED"}
    words = sorted({_WORDS.get(terminal, terminal.lower()) for terminal in terminals})
    if terminals >= {"HASH", "LSQB"} | _OPERAND:
        return "an operand"
    if terminals >= _OPERAND:
        return "a name or a number"
    if len(words) <= 3:
        return " or ".join(words)
    if "an operator" in words:
        return "an operator, a comma or the end of the line"
    return "a statement"


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a line as the grammar understands them, up to the one that it does not."""
    from lark import UnexpectedInput

    reading = _lark(None).parse_interactive(text, start="line")
    try:
        yield from reading.iter_parse()
    except UnexpectedInput:
        return


def parse_line(text: str):
    """Return (label or None, statement or None) of a line; raises Complaint."""
    if len(text) > LONGEST:
        raise Complaint(f"the line is longer than {LONGEST} characters", hint="one statement a line")
    if ";" in text and '"' not in text and "'" not in text:
        text = text[: text.index(";")]
    return _parse_whole(text.rstrip())


@lru_cache(maxsize=16384)
def _parse_whole(text: str):
    return _parse(text, "line") if text else (None, None)
