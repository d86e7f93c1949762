"""Tokens of the text of an ARB program, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["ProgramToken", "ProgramTokens", "statements_of"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<header>!!\S+)
  | (?P<target>[123]D(?![A-Za-z0-9_]))
  | (?P<range>\.\.)
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+(?!\.\.))(?:[eE][-+]?\d+)?)
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<sign>[\[\]{},;.+\-=|])
    """,
    re.VERBOSE,
)
_TOO_LARGE = (2 - 2**-24) * 2.0**127
"""The least number that is rounded to no float32."""
_COMMENT = re.compile(r"#[^\n]*")


@dataclass(frozen=True, slots=True)
class ProgramToken:
    """A word, a number or a sign."""

    kind: str
    text: str
    file: str
    line: int
    column: int
    source: str
    """The line that it stands in."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.file, self.line, self.column, self.source, max(1, len(self.text)))


class ProgramTokens:
    """A statement as it is read from left to right."""

    def __init__(self, tokens: Sequence[ProgramToken]) -> None:
        self._tokens, self._at = tokens, 0
        self.first = tokens[0]

    @property
    def here(self) -> ProgramToken | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a token that comes; empty past the end."""
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def take(self, what: str) -> ProgramToken:
        """Take the next token; raises InputError at the end, with what is missing."""
        found = self.here
        if found is None:
            raise self.fault(f"the statement ends here: {what} is missing")
        self._at += 1
        return found

    def word(self, what: str) -> ProgramToken:
        """Take a word; raises InputError with what is wanted."""
        found = self.here
        if found is None or found.kind != "word":
            raise self.fault(f"{what} is wanted here")
        self._at += 1
        return found

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one."""
        if self.peek() == text:
            self._at += 1
            return True
        return False

    def expect(self, text: str, what: str) -> None:
        """Take a sign; raises InputError where another token stands."""
        if not self.accept(text):
            raise self.fault(f"{text!r} is wanted here, {what}")

    def end(self) -> None:
        """Refuse what is left over."""
        if self.here is not None:
            raise self.fault(f"{self.peek()!r} is too much here", "statements end with ';'")

    def whole(self, what: str, most: int) -> int:
        """Take an integer 0 to most."""
        digits = self.peek().lstrip("0") or self.peek()[-1:]
        if not digits.isdigit() or len(digits) > len(str(most)) or int(digits) > most:
            raise self.fault(f"{what}, an integer 0 to {most}, is wanted here")
        self._at += 1
        return int(digits)

    def number(self) -> float:
        """Take a number with its sign."""
        minus = self.accept("-")
        if not minus:
            self.accept("+")
        found = self.here
        if found is None or found.kind != "number":
            raise self.fault("a number is wanted here")
        if float(found.text) >= _TOO_LARGE:
            raise self.fault("a number of at most 3.4028235e+38 is wanted here")
        self._at += 1
        return -float(found.text) if minus else float(found.text)

    def fault(self, message: str, hint: str | None = None, token: ProgramToken | None = None) -> InputError:
        """Return an error at a token, or at the next one."""
        token = token or self.here
        if token is not None:
            return InputError(Fault(message, token.place, hint))
        last = self._tokens[-1]
        return InputError(Fault(message, Place(last.file, last.line, last.column + len(last.text), last.source), hint))


def statements_of(text: str, file: str) -> Iterator[list[ProgramToken]]:
    """Yield the statements of a program: the header is one, END is one, others end with ``;``.

    Raises InputError for what is no token and for a statement without an end.
    """
    statement: list[ProgramToken] = []
    plain = _COMMENT.sub(lambda found: " " * len(found.group()), text)
    for number, (content, shown) in enumerate(zip(plain.split("\n"), text.split("\n"), strict=True), 1):
        at = 0
        while at < len(content):
            found = _TOKEN.match(content, at)
            if found is None:
                raise InputError(Fault(f"{content[at]!r} means nothing here", Place(file, number, at + 1, shown)))
            at = found.end()
            kind = found.lastgroup or ""
            if kind == "space":
                continue
            token = ProgramToken(kind, found.group(), file, number, found.start() + 1, shown.rstrip())
            if token.text == ";":
                if statement:
                    yield statement
                statement = []
            elif not statement and (kind == "header" or token.text == "END"):
                yield [token]
            else:
                statement.append(token)
    if statement:
        raise ProgramTokens(statement).fault("this statement has no end", "statements end with ';'", statement[0])
