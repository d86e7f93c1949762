"""The usual lines, read without the grammar: it takes a tenth of a second to load, and a program may not need it.

The language is what ``grammar.lark`` says. What is read here gives the same values by the same rules; a line that is
unusual, or wrong, is left to the grammar, and so are all complaints.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Unusual", "read_expression", "read_line"]


class Unusual(Exception):
    """A line that the grammar must read."""


_TOKEN = re.compile(
    r"""[ \t]*(?:
    (?P<TEMPLATE>[A-Za-z_][A-Za-z0-9_]*(?:\{[^{}"]*\}[A-Za-z0-9_]*)+)
  | (?P<GATED>[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*)
  | (?P<NAME>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<FRACTION>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
  | (?P<NUMBER>[0-9][0-9A-Za-z_]*)
  | (?P<BRACED>\{[ \t]*[A-Za-z0-9]+[ \t]*\})
  | (?P<STRING>"(?:[^"\\]|\\.)*")
  | (?P<OPERATOR>==|!=|<<|>>|<=|>=|&&|\|\||[<>*/%&|^])
  | (?P<SIGN>[+-])
  | (?P<NOT>[!~])
  | (?P<MARK>\.\.|[][():,=\#])
  | (?P<END>;[^\n]*\Z|\Z)
    )""",
    re.VERBOSE | re.ASCII,
)

_FIRST = frozenset(
    ("include", "const", "param", "range", "overlay", "data", "macro", "repeat", "if", "else", "end", "routine", "proc",
     "loop", "stream", "assert", "error")
)  # fmt: skip
"""Words with which statements begin; anywhere else they are names, as all words of the grammar are where no statement
can go on with them."""

_DATA_KINDS = ("byte", "word", "float")

_DEPTH = 50
"""Factors within factors."""


class _Token(str):
    """A piece of a line, as the rules expect it from lark."""

    __slots__ = ("column", "type")


class _Reader:
    """One line, token by token; ``rules`` give the values."""

    def __init__(self, text: str, rules: Any) -> None:
        self.rules = rules
        self.tokens: list[_Token] = []
        self.at = self.depth = 0
        position = 0
        while True:
            match = _TOKEN.match(text, position)
            if match is None:
                raise Unusual
            kind = match.lastgroup
            token = _Token(match[kind])
            token.type, token.column = kind, match.start(kind) + 1
            self.tokens.append(token)
            if kind == "END":
                break
            position = match.end()

    # --- tokens ----------------------------------------------------------------------------------------------------

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def take(self, *kinds: str) -> _Token:
        """Return the next token, which must be of one of the kinds."""
        token = self.tokens[self.at]
        if token.type not in kinds:
            raise Unusual
        self.at += 1
        return token

    def has(self, text: str) -> bool:
        """Take the next token where it is this text; return whether it was."""
        token = self.tokens[self.at]
        found = token == text and token.type in ("MARK", "NAME")
        self.at += found
        return found

    def must(self, text: str) -> None:
        if not self.has(text):
            raise Unusual

    def finish(self) -> None:
        if self.next.type != "END":
            raise Unusual

    # --- expressions -----------------------------------------------------------------------------------------------

    def expression(self) -> Any:
        children = [self.factor()]
        while self.next.type in ("OPERATOR", "SIGN"):
            children.append(self.take("OPERATOR", "SIGN"))
            children.append(self.factor())
        return children[0] if len(children) == 1 else self.rules.chain(children)

    def factor(self) -> Any:
        self.depth += 1
        if self.depth > _DEPTH:
            raise Unusual
        found = self._factor()
        self.depth -= 1
        return found

    def _factor(self) -> Any:
        rules = self.rules
        if self.has("("):
            inner = self.expression()
            self.must(")")
            return rules.group([inner])
        token = self.take("NUMBER", "FRACTION", "STRING", "NAME", "TEMPLATE", "SIGN", "NOT")
        match token.type:
            case "NUMBER":
                return rules.number([token])
            case "FRACTION":
                return rules.fraction([token])
            case "STRING":
                return rules.string([token])
            case "SIGN" | "NOT":
                return rules.unary([token, self.factor()])
        if self.has("["):
            inner = self.expression()
            self.must("]")
            return rules.index([token, inner])
        if token.type == "NAME" and self.has("("):
            arguments = None
            if not self.has(")"):
                arguments = self.expressions()
                self.must(")")
            return rules.call([token, arguments])
        return rules.name([token])

    def expressions(self) -> tuple:
        found = [self.expression()]
        while self.has(","):
            found.append(self.expression())
        return self.rules.expressions(found)

    def operand(self) -> Any:
        if self.has("#"):
            return self.rules.immediate([self.expression()])
        found = [self._place()]
        while self.next.type == "BRACED":
            found.append(self.take("BRACED"))
        return found[0] if len(found) == 1 else self.rules.braced(found)

    def address(self) -> Any:
        self.must("[")
        inner = self.expression()
        self.must("]")
        return self.rules.address([inner])

    # --- lines -----------------------------------------------------------------------------------------------------

    def line(self) -> Any:
        label = None
        following = self.tokens[self.at + 1] if len(self.tokens) > 1 else self.next
        if following == ":" and following.type == "MARK" and self.next not in _FIRST:
            label = self.rules.label([self.take("NAME", "TEMPLATE")])
            self.must(":")
        statement = None if self.next.type == "END" else self.statement()
        self.finish()
        return self.rules.line([label, statement])

    def statement(self) -> Any:
        word = self.next
        if word in _FIRST:
            self.at += 1
            return getattr(self, f"_{word}")()
        word = self.take("NAME", "GATED", "TEMPLATE")
        if self.next.type == "END":
            return self.rules.instruction([word, None])
        operands = [self.operand()]
        while self.has(","):
            operands.append(self.operand())
        return self.rules.instruction([word, self.rules.operands(operands)])

    def _include(self) -> Any:
        path = self.take("STRING")
        bindings = [None]
        if self.has("with"):
            bindings = [self._binding()]
            while self.has(","):
                bindings.append(self._binding())
        return self.rules.include([path, *bindings])

    def _binding(self) -> Any:
        name = self.take("NAME")
        self.must("=")
        return self.rules.binding([name, self.expression()])

    def _const(self) -> Any:
        name = self.take("NAME", "TEMPLATE")
        self.must("=")
        return self.rules.const([name, self.expression()])

    def _param(self) -> Any:
        name = self.take("NAME")
        self.must("=")
        return self.rules.param([name, self.expression()])

    def _range(self) -> Any:
        name, size = self._sized()
        return self.rules.range([name, size, self._place() if self.has("at") else None])

    def _overlay(self) -> Any:
        name, size = self._sized()
        self.must("at")
        return self.rules.overlay([name, size, self._place()])

    def _sized(self) -> tuple[_Token, Any]:
        name = self.take("NAME", "TEMPLATE")
        self.must("[")
        size = self.expression()
        self.must("]")
        return name, size

    def _place(self) -> Any:
        return self.address() if self.next == "[" else self.expression()

    def _data(self) -> Any:
        where = self._place()
        self.must(":")
        if self.next == "lane":
            return self.rules.data_lane([where, self.take("NAME"), self._rest()])
        if self.next.type == "TEMPLATE" and self.next.partition("{")[0] in _DATA_KINDS:
            raise Unusual  # the grammar takes the kind first
        kind = self.take("NAME") if self.next in _DATA_KINDS else None
        return self.rules.data([where, kind, self.expressions()])

    def _rest(self) -> Any:
        return None if self.next.type == "END" else self.expression()

    def _macro(self) -> Any:
        return self.rules.macro([self.take("NAME", "TEMPLATE"), self._names()])

    def _names(self) -> Any:
        self.must("(")
        if self.has(")"):
            return None
        names = [self.take("NAME")]
        while self.has(","):
            names.append(self.take("NAME"))
        self.must(")")
        return self.rules.names(names)

    def _routine(self) -> Any:
        return self.rules.routine(self._head())

    def _proc(self) -> Any:
        return self.rules.proc(self._head())

    def _head(self) -> list:
        return [self.take("NAME", "TEMPLATE"), self._names(), self.expressions() if self.has("uses") else None]

    def _repeat(self) -> Any:
        variable = self.take("NAME")
        self.must("in")
        low = self.expression()
        self.must("..")
        return self.rules.repeat([variable, low, self.expression()])

    def _if(self) -> Any:
        return self.rules.condition([self.expression()])

    def _else(self) -> Any:
        return self.rules.otherwise_if([self.expression()]) if self.has("if") else self.rules.otherwise([])

    def _end(self) -> Any:
        return self.rules.end([])

    def _loop(self) -> Any:
        return self.rules.loop([self.expression()])

    def _stream(self) -> Any:
        return self.rules.stream([self.take("NAME")])

    def _assert(self) -> Any:
        test = self.expression()
        return self.rules.assertion([test, self.expressions() if self.has(",") else None])

    def _error(self) -> Any:
        return self.rules.error([self.expressions()])


def read_line(text: str, rules: Any) -> Any:
    """Return what a line means by the rules; raises Unusual where the grammar must read it."""
    return _Reader(text, rules).line()


def read_expression(text: str, rules: Any) -> Any:
    """Return what an expression means by the rules; raises Unusual where the grammar must read it."""
    reader = _Reader(text, rules)
    found = reader.expression()
    reader.finish()
    return found
