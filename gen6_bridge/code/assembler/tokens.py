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
_LONGEST = 80
"""Characters of a word or a number."""
_BITS = 64
"""Of what an expression amounts to."""
_DEEPEST = 50
"""Parentheses within each other."""
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
    def key(self) -> str:
        """The text as the language compares it: letters' case says nothing but in names of labels and registers."""
        return self.text.lower()

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.line.file, self.line.number, self.column, self.line.text, max(1, len(self.text)))


class EuTokens:
    """A statement as it is read from left to right."""

    def __init__(self, tokens: Sequence[EuToken]) -> None:
        self._tokens, self._at, self._open = tokens, 0, 0
        self.line = tokens[0].line
        self.said_unsigned = False
        """Whether a message's descriptor was written as a number of type UD."""
        self.unread_bits = 0
        """Bits of that number that no field has."""

    @property
    def here(self) -> EuToken | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a token that comes, in small letters; empty past the end."""
        at = self._at + ahead
        return self._tokens[at].key if at < len(self._tokens) else ""

    def take(self) -> EuToken:
        """Take the next token; raises InputError at the end."""
        found = self.here
        if found is None:
            raise self.fault("the instruction ends here", "an operand, a size or options are missing")
        self._at += 1
        return found

    def option(self, name: str) -> bool:
        """Return whether an option stands between the braces at the end."""
        keys = [token.key for token in self._tokens]
        return "{" in keys and name in keys[keys.index("{") :]

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

    def begins_number(self, ahead: int = 0) -> bool:
        """Return whether a number, or an expression in parentheses, comes."""
        while self.peek(ahead) in ("-", "("):
            ahead += 1
        return self.peek(ahead)[:1].isdigit()

    def integer(self, what: str) -> int:
        """Take a constant expression of whole numbers (``2 * (3 + 4) - 1``) and return its value; raises InputError.

        As in C, a quotient is rounded toward zero. A sign goes on with it only where a number follows.
        """
        total = self._term(what)
        while self.peek() in ("+", "-") and self.begins_number(1):
            sign = self.take()
            term = self._term(what)
            total = self._small(total - term if sign.text == "-" else total + term, what, sign)
        return total

    def _small(self, value: int, what: str, token: EuToken | None) -> int:
        if value.bit_length() > _BITS:
            raise self.fault(f"{what} has more than {_BITS} bits", f"at most {_BITS}, on the way too", token)
        return value

    def _term(self, what: str) -> int:
        product = self._small(self._factor(what), what, self.here)
        while self.peek() in ("*", "/") and self.begins_number(1):
            sign = self.take()
            factor = self._factor(what)
            if sign.text == "*":
                product = self._small(product * factor, what, sign)
            elif factor:
                product = abs(product) // abs(factor) * (1 if (product < 0) == (factor < 0) else -1)
            else:
                raise self.fault("a division by 0", None, sign)
        return product

    def _factor(self, what: str) -> int:
        sign = 1
        while self.accept("-"):
            sign = -sign
        if self.accept("("):
            self._open += 1
            if self._open > _DEEPEST:
                raise self.fault(f"{what} is nested too deeply", f"at most {_DEEPEST} parentheses")
            inner = self.integer(what)
            self._open -= 1
            self.expect(")", "after an expression")
            return sign * inner
        found = self.here
        if found is None or found.kind != "number" or "." in found.text:
            raise self.fault(f"expected {what}, a whole number", None)
        self._at += 1
        return sign * int(found.text, 16 if found.key.startswith("0x") else 10)

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
        if found.lastgroup in ("word", "number") and len(found.group()) > _LONGEST:
            place = Place(line.file, line.number, found.start() + 1, line.text)
            message = f"a {found.lastgroup} of {len(found.group())} characters"
            raise InputError(Fault(message, place, f"at most {_LONGEST}"))
        yield EuToken(found.lastgroup or "", found.group(), line, found.start() + 1, joined)
        joined = True
