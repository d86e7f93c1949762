"""Colours for `.mc` text: a pygments lexer with the name ``mc`` and an entry point.

The reader decides which words are key words, and declarations which are instructions; neither is repeated here. A line
that cannot be read keeps its colours up to the fault; the rest is an error.

>>> from pygments.lexers import get_lexer_by_name
>>> get_lexer_by_name("mc").name                                # doctest: +SKIP
'PixelFlow microcode'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from microcode.language import FUNCTIONS, NUMBERS
from microcode.reader import Token, tokens_of
from pixelflow.isa.program import PIXELFLOW
from pixelflow.simd.isa.operands import Target

_KINDS = {
    "NUMBER": Number.Integer,
    "FRACTION": Number.Float,
    "CHARACTER": String.Char,
    "STRING": String.Double,
    "OPERATOR": Operator,
    "SIGN": Operator,
    "NOT": Operator,
    "TYPE": Keyword.Type,
    "lane": Keyword.Type,
}
_NAMES = ("NAME", "GATED", "TEMPLATE")
_DEFINED = {
    **dict.fromkeys(("const", "param"), Name.Constant),
    **dict.fromkeys(("range", "overlay", "repeat"), Name.Variable),
    **dict.fromkeys(("macro", "routine", "proc"), Name.Function),
}
"""Kind of a name after each key word."""


class MicrocodeLexer(Lexer):
    """Lexer whose tokens, joined, are the text."""

    name = "PixelFlow microcode"
    aliases: ClassVar = ["mc", "pixelflow"]
    filenames: ClassVar = ["*.mc"]
    mimetypes: ClassVar = ["text/x-pixelflow-microcode"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield (position, kind, text) of every token, blanks and comments included."""
        start = 0
        for line in text.split("\n"):
            for at, kind, part in _line(line):
                yield start + at, kind, part
            start += len(line)
            if start < len(text):
                yield start, Whitespace, "\n"
                start += 1


def _line(line: str) -> Iterator[tuple[int, _TokenType, str]]:
    """Yield the tokens of one line, and the gaps that the reader skips."""
    bare = line.removesuffix("\r")
    end = 0
    for at, kind, part in _kinds(tokens_of(bare)):
        yield from _gap(bare, end, at)
        yield at, kind, part
        end = at + len(part)
    yield from _gap(bare, end, len(bare))
    if len(bare) < len(line):
        yield len(bare), Whitespace, "\r"


def _gap(line: str, start: int, stop: int) -> Iterator[tuple[int, _TokenType, str]]:
    """Yield blanks and a comment; other text is a fault."""
    text = line[start:stop]
    inner = text.strip(" \t")
    if not inner:
        if text:
            yield start, Whitespace, text
        return
    before = text.index(inner)
    if before:
        yield start, Whitespace, text[:before]
    yield start + before, Comment.Single if inner.startswith(";") else Error, text[before:]


def _kinds(tokens: list[Token]) -> Iterator[tuple[int, _TokenType, str]]:
    """Yield position, kind and text of the tokens of a line."""
    before = ""
    target_follows = False
    for position, token in enumerate(tokens):
        following = tokens[position + 1].kind if position + 1 < len(tokens) else ""
        text = token.text
        first = position == 0 or (position == 2 and before == ":")
        if token.kind not in _NAMES:
            kind = _KINDS.get(token.kind) or (Keyword if text.isidentifier() else Punctuation)
        elif first and following == ":":
            kind = Name.Label
        elif first:
            operation = PIXELFLOW.instructions.get(text.partition(".")[0])
            kind = Name.Builtin if operation else Name.Function
            target_follows = operation is not None and any(
                isinstance(spec.kind, Target) for spec in operation.operands[:1]
            )
        elif before in _DEFINED:
            kind = _DEFINED[before]
        elif following == "(" and text in FUNCTIONS:
            kind = Name.Builtin
        elif text in PIXELFLOW.names or text in NUMBERS:
            kind = Name.Builtin.Pseudo
        elif before in _NAMES and target_follows:
            kind = Name.Label
        else:
            kind = Name
        yield token.column - 1, kind, text
        before = token.kind
