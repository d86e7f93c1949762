"""Tokens of a line, taken one by one; what was asked for in vain where a line goes wrong is what was expected there."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple, NoReturn

from microcode.language.source import Complaint

__all__ = ["AFTER_EXPRESSION", "END", "Token", "Tokens"]

END = "the end of the line"

_SKIPPED = r"[ \t]*(?:;.*+)?+"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_TOKEN = re.compile(
    rf"""{_SKIPPED}(?:
    (?P<TEMPLATE>{_WORD}(?:\{{[^{{}}"]*\}}[A-Za-z0-9_]*)+)
  | (?P<GATED>{_WORD}\.{_WORD})
  | (?P<NAME>{_WORD})
  | (?P<FRACTION>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
  | (?P<NUMBER>[0-9][0-9A-Za-z_]*)
  | (?P<BRACED>\{{[ \t]*[A-Za-z0-9]+[ \t]*\}})
  | (?P<CHARACTER>'(?:[^'\\]|\\.)')
  | (?P<STRING>"(?:[^"\\]|\\.)*")
  | (?P<OPERATOR>==|!=|<<|>>|<=|>=|&&|\|\||[<>*/%&|^])
  | (?P<SIGN>[+-])
  | (?P<NOT>[!~])
  | (?P<MARK>\.\.|[][():,=\#])
  | (?P<END>\Z)
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(_SKIPPED)

AFTER_EXPRESSION = frozenset((END, "BRACED", ":", ",", ")", "]", ".."))
"""Tokens that follow an expression in some statement."""


class Token(NamedTuple):
    """A piece of a line. ``kind`` is a group of the pattern; of a mark or a key word it is the text itself."""

    kind: str
    text: str
    column: int
    """In the line, from 1."""

    @property
    def stop(self) -> int:
        """The column past its last character."""
        return self.column + len(self.text)


class Tokens:
    """The tokens of a text that begins ``offset`` characters into its line, and the place that reading has come to."""

    def __init__(self, line: str, offset: int = 0) -> None:
        self.line, self.offset = line, offset
        self.taken: list[Token] = []
        self.kind = self.text = ""
        """The next token; its kind is empty where there is none that a line could hold."""
        self.expected: set[str] = set()
        """Kinds of tokens that were asked for in vain since the last one was taken."""
        self._start = 0
        self._noted: Complaint | None = None
        self._noted_at = 0
        self._next()

    def _next(self) -> None:
        at = self._start + len(self.text)
        match = _TOKEN.match(self.line, at)
        self.expected.clear()
        if match is None:
            blank = _BLANK.match(self.line, at)
            self._start, self.kind, self.text = blank.end() if blank else at, "", ""
            return
        kind = match.lastgroup or END
        self._start, self.text = match.start(kind), match[kind]
        self.kind = self.text if kind == "MARK" else END if kind == "END" else kind

    def _take(self, kind: str) -> Token:
        token = Token(kind, self.text, self._start + 1 + self.offset)
        self.taken.append(token)
        self._next()
        return token

    def take(self, *kinds: str) -> Token:
        """Return the next token, which must be of one of the kinds."""
        if self.kind not in kinds:
            self._shorten(kinds)
            if self.kind not in kinds:
                self.fail(*kinds)
        return self._take(self.kind)

    def _shorten(self, kinds: tuple[str, ...]) -> None:
        """See a shorter token where a longer one means nothing: a name before braces or a dot, ``!`` before ``=``."""
        if "NAME" in kinds and self.kind in ("TEMPLATE", "GATED"):
            self.kind, self.text = "NAME", self.text.partition("{")[0].partition(".")[0]
        elif "NOT" in kinds and self.text == "!=":
            self.kind, self.text = "NOT", "!"

    def take_word(self, words: re.Pattern[str], kind: str) -> Token | None:
        """Return the next token where it is, or begins with, one of the words; None where it is something else."""
        match = words.match(self.line, self._start)
        if match is None:
            return None
        self.text = match[0]
        return self._take(kind)

    def has(self, text: str) -> bool:
        """Take the next token where it is this mark or key word; return whether it was."""
        if self.text != text:
            self.expected.add(text)
            return False
        self._take(text)
        return True

    def must(self, text: str) -> None:
        """Take the next token, which must be this mark or key word."""
        if not self.has(text):
            self.fail()

    def ends(self) -> bool:
        """Return whether the text ends here."""
        self.expected.add(END)
        return self.kind == END

    def finish(self) -> None:
        """Raise what was noted about the text, which must end here."""
        if not self.ends():
            self.fail()
        if self._noted is not None:
            raise self._noted

    def close(self, followers: Container[str]) -> None:
        """Forget what could go on in a part of the line where the next token may follow such a part somewhere."""
        if self.kind in followers:
            self.expected.clear()

    # --- complaints ------------------------------------------------------------------------------------------------

    def note(self, complaint: Complaint) -> None:
        """Keep a complaint about what was read: it is raised at the end, where the text cannot be read before."""
        if self._noted is None:
            self._noted, self._noted_at = complaint, self._start

    def fail(self, *expected: str) -> NoReturn:
        """Raise the complaint about the next token, which is none of those that were asked for."""
        if self._noted is not None and (self._noted_at < self._start or self.kind in AFTER_EXPRESSION):
            raise self._noted
        column = self._start + 1 + self.offset
        wanted = _in_words(self.expected.union(expected))
        if not self.kind:
            raise self._character(column)
        if self.kind == END:
            column = len(self.line.split(";")[0].rstrip()) + 1 + self.offset
            raise Complaint(f"the line ends too early; expected {wanted}", column)
        hint = "a constant is defined by: const name = value" if self.kind == "=" else None
        raise Complaint(f"expected {wanted}, found {self.text!r}", column, len(self.text), hint)

    def _character(self, column: int) -> Complaint:
        found = self.line[self._start]
        if found == '"':
            return Complaint('text without a closing "', column, len(self.line) - self._start)
        if found == "'":
            return Complaint("a character in single quotes is one byte, as in 'A'", column)
        if found in "{}":
            return Complaint(f"{found} belongs inside a name, as in fadd{{n}}", column)
        return Complaint(f"unexpected character {found!r}", column)


_WORDS = {
    **dict.fromkeys(("NAME", "TEMPLATE", "GATED"), "a name"),
    **dict.fromkeys(("NUMBER", "FRACTION", "CHARACTER"), "a number"),
    **dict.fromkeys(("SIGN", "OPERATOR", "NOT"), "an operator"),
    "STRING": "text in quotes",
}
_FACTOR = {"NAME", "NUMBER", "(", "SIGN"}


def _in_words(kinds: set[str]) -> str:
    """Return what was expected, as a message says it."""
    words = sorted({_WORDS.get(kind, kind) for kind in kinds})
    if kinds >= {"#", "["} | _FACTOR:
        return "an operand"
    if kinds >= _FACTOR:
        return "a name or a number"
    if len(words) <= 3:
        return " or ".join(words)
    return "an operator, a comma or the end of the line"
