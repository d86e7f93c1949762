"""Tokens of the public assembler's language, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["AssemblyLine", "EuToken", "EuTokens", "statements"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<abs>\(abs\))
  | (?P<number>0[xX][0-9a-fA-F]+|\d+\.\d+(?:[eE][-+]?\d+)?|\d+)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>[()<>\[\]{},;:.+\-*/=])
    """,
    re.VERBOSE,
)
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\#[^\n]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AssemblyLine:
    """A line of a source."""

    file: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class EuToken:
    """A word, a number or a sign."""

    kind: str
    text: str
    line: AssemblyLine
    column: int
    joined: bool
    """Whether nothing stands between it and the token before."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.line.file, self.line.number, self.column, self.line.text, max(1, len(self.text)))


class EuTokens:
    """A statement as it is read from left to right."""

    def __init__(self, tokens: Sequence[EuToken]) -> None:
        self._tokens, self._at = tokens, 0
        self.line = tokens[0].line

    @property
    def here(self) -> EuToken | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a token that comes; empty past the end."""
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def take(self) -> EuToken:
        """Take the next token; raises InputError at the end."""
        found = self.here
        if found is None:
            raise self.fault("the instruction ends here", "an operand, a size or options are missing")
        self._at += 1
        return found

    def accept(self, *texts: str) -> bool:
        """Take the next tokens if they are these."""
        if all(self.peek(at) == text for at, text in enumerate(texts)):
            self._at += len(texts)
            return True
        return False

    def expect(self, text: str, what: str) -> None:
        """Take a sign; raises InputError with what it belongs to where another token stands."""
        if not self.accept(text):
            raise self.fault(f"expected {text} {what}", None)

    def integer(self, what: str) -> int:
        """Take a whole number with its sign; raises InputError."""
        minus = self.accept("-")
        found = self.here
        if found is None or found.kind != "number" or "." in found.text:
            raise self.fault(f"expected {what}, a whole number", None)
        self._at += 1
        value = int(found.text, 0)
        return -value if minus else value

    def fault(self, message: str, hint: str | None, token: EuToken | None = None) -> InputError:
        """Return an error at a token, or at the next one."""
        token = token or self.here
        if token is None:
            last = self._tokens[-1]
            place = Place(last.line.file, last.line.number, last.column + len(last.text), last.line.text)
        else:
            place = token.place
        return InputError(Fault(message, place, hint))


def statements(text: str, file: str) -> Iterator[list[EuToken]]:
    """Yield the statements of a source: they end with ``;``, or with the line where it has none; labels with ``:``.

    Comments are ``//``, ``/* */`` and ``#`` to the end of the line. Raises InputError for what is no token.
    """
    plain = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    shown = text.split("\n")
    semicolons = ";" in re.sub(r"<[^>\n]*>", "", plain)
    statement: list[EuToken] = []
    for number, content in enumerate(plain.split("\n"), 1):
        line = AssemblyLine(file, number, shown[number - 1].rstrip("\r"))
        for token in _tokens(content, line):
            inside = _depth(statement) > 0
            if token.text == ";" and not inside:
                if statement:
                    yield statement
                statement = []
                continue
            statement.append(token)
            if token.text == ":" and len(statement) == 2 and statement[0].kind == "word":
                yield statement
                statement = []
        ends = not semicolons or (statement and statement[0].text == ".")
        if statement and ends and _depth(statement) == 0:
            yield statement
            statement = []
    if statement:
        yield statement


def _depth(statement: Sequence[EuToken]) -> int:
    opened = sum(token.text in "<([{" for token in statement)
    return opened - sum(token.text in ">)]}" for token in statement)


def _tokens(content: str, line: AssemblyLine) -> Iterator[EuToken]:
    at, joined = 0, False
    while at < len(content):
        found = _TOKEN.match(content, at)
        if found is None:
            place = Place(line.file, line.number, at + 1, line.text)
            raise InputError(Fault(f"{content[at]!r} means nothing here", place))
        at = found.end()
        if found.lastgroup == "space":
            joined = False
            continue
        yield EuToken(found.lastgroup or "", found.group(), line, found.start() + 1, joined)
        joined = True
