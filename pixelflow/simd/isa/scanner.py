"""Tokens of an assembly language, each with its place, and a statement of them as it is read from left to right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.isa.program import SourceLine


class SourceToken(NamedTuple):
    """A word, a number or a sign."""

    kind: str
    text: str
    line: SourceLine
    column: int
    joined: bool
    """True if nothing is between it and the token before."""

    @property
    def key(self) -> str:
        """The text in small letters."""
        return self.text.lower()

    @property
    def place(self) -> Place:
        """Where it is."""
        return place_in(self.line, self.column, len(self.text))


def place_in(line: SourceLine, column: int, length: int = 1) -> Place:
    """Return the place of some characters of a line, from a column (from 1) on."""
    return Place(line.file, line.line, column, line.text, max(1, length))


def blanked(text: str, comments: re.Pattern[str]) -> str:
    """Return a text with blanks in the place of comments; lines stay."""
    return comments.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def scanned(
    text: str, file: str, comments: re.Pattern[str], token: re.Pattern[str], blank: str | None = None
) -> Iterator[Iterator[SourceToken]]:
    """Yield the tokens of each line; a group of ``token`` is a kind, that of name ``space`` none.

    ``blank`` are the characters at the end of a line that messages leave out, by default all blanks. Raises InputError
    for what is not a token.
    """
    lines = zip(blanked(text, comments).split("\n"), text.split("\n"), strict=True)
    for number, (content, shown) in enumerate(lines, 1):
        yield _tokens(content, SourceLine(file, number, shown.rstrip(blank)), token)


def _tokens(content: str, line: SourceLine, token: re.Pattern[str]) -> Iterator[SourceToken]:
    at, joined = 0, False
    while at < len(content):
        found = token.match(content, at)
        if found is None:
            raise InputError(Fault(f"{content[at]!r} means nothing here", place_in(line, at + 1)))
        at = found.end()
        if found.lastgroup != "space":
            yield SourceToken(found.lastgroup or "", found.group(), line, found.start() + 1, joined)
        joined = found.lastgroup != "space"


def origins(tokens: Iterable[SourceToken]) -> tuple[tuple[SourceLine, ...], tuple[int, ...]]:
    """Return the lines that tokens are in, each once, and the number of the line of each token."""
    lines = [token.line for token in tokens]
    once = {line: at for at, line in enumerate(dict.fromkeys(lines))}
    return tuple(once), tuple(once[line] for line in lines)


class StatementTokens:
    """A statement as it is read from left to right; a language adds what it takes, and words for what is missing."""

    folds = False
    """True if small and capital letters are the same."""

    def __init__(self, tokens: Sequence[SourceToken]) -> None:
        self._tokens, self._at = tokens, 0

    @property
    def here(self) -> SourceToken | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a token that comes; empty past the end."""
        at = self._at + ahead
        if at >= len(self._tokens):
            return ""
        return self._tokens[at].key if self.folds else self._tokens[at].text

    def skip(self, count: int = 1) -> None:
        """Leave tokens behind that were looked at."""
        self._at += count

    def accept(self, *texts: str) -> bool:
        """Take the next tokens if they are these."""
        there = all(self.peek(at) == text for at, text in enumerate(texts))
        self._at += there * len(texts)
        return there

    def required(self, message: str, hint: str | None = None) -> SourceToken:
        """Take the next token; raises InputError at the end."""
        found = self.here
        if found is None:
            raise self.fault(message, hint)
        self._at += 1
        return found

    def fault(self, message: str, hint: str | None = None, token: SourceToken | None = None) -> InputError:
        """Return an error at a token, or at the next one."""
        token = token or self.here
        if token is not None:
            return InputError(Fault(message, token.place, hint))
        last = self._tokens[-1]
        return InputError(Fault(message, place_in(last.line, last.column + len(last.text)), hint))
