"""Reader of the `.mc` language: search for files, tokens, lines, blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from math import isinf
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

from microcode import syntax
from microcode.language import Complaint, DataKind, Line, Source, first_word, read_source
from microcode.places import EXAMPLES, LIBRARY
from microcode.syntax import ExpressionNode, NameExpression, Statement, StatementItem, Template
from pixelflow.simd.errors import Fault, suggestion
from pixelflow.simd.isa.program import AssembledProgram, RangeForm
from pixelflow.simd.isa.target import ProgramTarget

# Search for included files.


def shipped_beside(name: str) -> Path:
    """Return a file, or for a bare name without a file here the one among the examples."""
    path = EXAMPLES / name
    return path if Path(name).name == name and not _is_file(Path(name)) and _is_file(path) else Path(name)


def find_source(path: str, including: Source | None, first: Source | None, folders: Sequence[Path]) -> Source:
    """Return the source that ``include "path"`` means; raises Complaint or InputError.

    It is searched in the including file's folder, ``folders``, and the library. ``first`` is the program's own source
    (None: ``path`` comes from the caller, not from a source). A source may include only files in or below the folder of
    the program, one of ``folders``, or the library, after following links: messages show lines of included files, and
    another person's program must not show lines of any file that its user may read.
    """
    if not path or "\0" in path:
        raise Complaint("a file name is needed here")
    sibling = (Path(), "")
    if including is not None and including.path is not None:
        head, slash, _ = including.file.rpartition("/")
        sibling = (including.path.parent, head + slash)
    outside = False
    for folder, shown in (sibling, *((each, f"{each}/") for each in folders), (LIBRARY, "library/")):
        candidate = folder / path
        if not _is_file(candidate):
            continue
        resolved = candidate.resolve()
        if first is None or any(resolved.is_relative_to(root) for root in _roots(first, folders)):
            return read_source(resolved, shown + path)
        outside = True
    if outside:
        raise Complaint(
            f"file {path} is outside of the program's folder",
            hint="a program includes files in that folder, or below it",
        )
    library = [file.relative_to(LIBRARY).as_posix() for file in LIBRARY.rglob("*.mc")]
    hint = suggestion(path, library, "it is searched next to this file, then in the library")
    raise Complaint(f"file {path} is not found", hint=hint)


def _roots(first: Source, folders: Sequence[Path]) -> list[Path]:
    """Return the folders in and below which files may be included; a text has the working folder."""
    own = Path() if first.path is None else first.path.parent
    return [each.resolve() for each in (own, *folders, LIBRARY)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


# Tokens of a line, taken one by one. Kinds that were tried in vain before a fault are those that were expected there.


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
"""Tokens that may follow an expression."""


class Token(NamedTuple):
    """Token of a line. ``kind`` is a group of the pattern, or the text itself of a mark or a key word."""

    kind: str
    text: str
    column: int
    """Column in the line, from 1."""

    @property
    def stop(self) -> int:
        """The column past its last character."""
        return self.column + len(self.text)


class Tokens:
    """Tokens of a text that begins ``offset`` characters into its line, and the position of reading."""

    def __init__(self, line: str, offset: int = 0) -> None:
        self.line, self.offset = line, offset
        self.taken: list[Token] = []
        self.kind = self.text = ""
        """Next token; its kind is empty for characters of no token."""
        self.expected: set[str] = set()
        """Kinds of tokens that were tried in vain since the last one was taken."""
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
        """Shorten the next token to one that is allowed: a name before braces or a dot, ``!`` before ``=``."""
        if "NAME" in kinds and self.kind in ("TEMPLATE", "GATED"):
            self.kind, self.text = "NAME", self.text.partition("{")[0].partition(".")[0]
        elif "NOT" in kinds and self.text == "!=":
            self.kind, self.text = "NOT", "!"

    def take_word(self, words: re.Pattern[str], kind: str) -> Token | None:
        """Take the next token if it is, or begins with, one of the words; else return None."""
        match = words.match(self.line, self._start)
        if match is None:
            return None
        self.text = match[0]
        return self._take(kind)

    def has(self, text: str) -> bool:
        """Take the next token if it is this mark or key word; return whether it was."""
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
        """Clear ``expected`` after a part of the line if the next token is one that may follow such a part."""
        if self.kind in followers:
            self.expected.clear()

    # --- complaints ------------------------------------------------------------------------------------------------

    def note(self, complaint: Complaint) -> None:
        """Keep a complaint about what was read; it is raised at the end, unless reading fails before."""
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
        character = self.line[self._start]
        if character == '"':
            return Complaint('text without a closing "', column, len(self.line) - self._start)
        if character == "'":
            return Complaint("a character in single quotes is one byte, as in 'A'", column)
        if character in "{}":
            return Complaint(f"{character} belongs inside a name, as in fadd{{n}}", column)
        return Complaint(f"unexpected character {character!r}", column)


_WORDS = {
    **dict.fromkeys(("NAME", "TEMPLATE", "GATED"), "a name"),
    **dict.fromkeys(("NUMBER", "FRACTION", "CHARACTER"), "a number"),
    **dict.fromkeys(("SIGN", "OPERATOR", "NOT"), "an operator"),
    "STRING": "text in quotes",
}
_FACTOR = {"NAME", "NUMBER", "(", "SIGN"}


def _in_words(kinds: set[str]) -> str:
    """Return the expected kinds in words."""
    words = sorted({_WORDS.get(kind, kind) for kind in kinds})
    if kinds >= {"#", "["} | _FACTOR:
        return "an operand"
    if kinds >= _FACTOR:
        return "a name or a number"
    if len(words) <= 3:
        return " or ".join(words)
    return "an operator, a comma or the end of the line"


# Lines of the `.mc` language: label and statement of each. `LANGUAGE.md` has the grammar.


LONGEST = 4000
"""Longest line, in characters."""
DIGITS = 40
NAME_LENGTH = 80
DEPTH = 100
"""Nested expressions."""

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
    """Reader of a line, or of an expression inside a name, with a method for each rule of the grammar."""

    depth = 0

    # --- expressions -----------------------------------------------------------------------------------------------

    def expression(self, lowest: int = 0) -> ExpressionNode:
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
                left = syntax.Logical(left.column, right.stop, operator.text == "&&", left, right)
            else:
                left = syntax.Binary(left.column, right.stop, operator.text, left, right)
        self.expected |= {"OPERATOR", "SIGN"}
        self.close(AFTER_EXPRESSION)
        return left

    def factor(self) -> ExpressionNode:
        if self.depth == DEPTH:
            raise Complaint("this is nested too deeply", *first_word(self.line, self.offset))
        self.depth += 1
        node = self.parenthesis() if self.has("(") else self.operand_of_operator(self.take(*_FACTORS))
        self.depth -= 1
        return node

    def parenthesis(self) -> ExpressionNode:
        inner = self.expression()
        self.must(")")
        return inner

    def operand_of_operator(self, token: Token) -> ExpressionNode:
        match token.kind:
            case "NUMBER" | "FRACTION" | "CHARACTER" | "STRING":
                return self.literal(token)
            case "SIGN" | "NOT":
                operand = self.factor()
                return syntax.Unary(token.column, operand.stop, token.text, operand)
        if self.has("["):
            index = self.expression()
            self.must("]")
            return syntax.Index(token.column, index.stop + 1, self.spelled(token), index)
        if token.kind == "NAME" and self.has("("):
            arguments: tuple[ExpressionNode, ...] = ()
            if not self.has(")"):
                arguments = self.expressions()
                self.must(")")
            stop = arguments[-1].stop + 1 if arguments else token.stop + 2
            return syntax.CallExpression(token.column, stop, token.text, arguments)
        return self.spelled(token)

    def literal(self, token: Token) -> syntax.Literal:
        return syntax.Literal(token.column, token.stop, self.value(token))

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

    def spelled(self, token: Token) -> NameExpression | Template:
        """Return the node of a name, which may have computed parts."""
        if token.kind != "TEMPLATE" or len(token.text) > NAME_LENGTH:
            return self.plain(token)
        column = token.column
        parts: list[str | ExpressionNode] = []
        for part in re.split(r"(\{[^}]*\})", token.text):
            if part.startswith("{"):
                parts.append(self.computed(part[1:-1], column))
            elif part:
                parts.append(part)
            column += len(part)
        return Template(token.column, token.stop, tuple(parts))

    def plain(self, token: Token) -> NameExpression:
        """Return the node of a plain name."""
        if len(token.text) > NAME_LENGTH:
            self.note(Complaint(f"a name has at most {NAME_LENGTH} characters", token.column, len(token.text)))
        return NameExpression(token.column, token.stop, token.text)

    def computed(self, inner: str, offset: int) -> ExpressionNode:
        """Read what is in the braces of a name."""
        if not _BRACED_WORD.fullmatch(inner):
            try:
                return _read(inner, _Reader.expression, offset)
            except Complaint as complaint:
                self.note(complaint)
        return NameExpression(offset + 1, offset + 1 + len(inner), inner)

    # --- parts of statements -----------------------------------------------------------------------------------------

    def several(self, read: Callable[[], _Read]) -> tuple[_Read, ...]:
        """Read one or more of something, with commas between them."""
        parts = [read()]
        while self.has(","):
            parts.append(read())
        return tuple(parts)

    def expressions(self) -> tuple[ExpressionNode, ...]:
        nodes = self.several(self.expression)
        self.close((")", END))
        return nodes

    def name(self) -> Token:
        return self.take("NAME", "TEMPLATE")

    def parameters(self) -> tuple[NameExpression, ...]:
        self.must("(")
        if self.has(")"):
            return ()
        names = self.names()
        self.must(")")
        return names

    def names(self) -> tuple[NameExpression, ...]:
        tokens = self.several(lambda: self.take("NAME"))
        return tuple(NameExpression(token.column, token.stop, token.text) for token in tokens)

    def place(self) -> ExpressionNode:
        """Read an expression, or an address in brackets."""
        if not self.has("["):
            return self.expression()
        inner = self.expression()
        self.must("]")
        return syntax.Address(inner.column - 1, inner.stop + 1, inner)

    def operand(self) -> ExpressionNode:
        if self.has("#"):
            inner = self.expression()
            return syntax.Immediate(inner.column - 1, inner.stop, inner)
        node, words = self.place(), []
        while self.kind == "BRACED":
            words.append(self.take("BRACED"))
        if not words:
            return node
        return syntax.Braced(node.column, words[-1].stop, node, tuple(word.text.strip("{} \t") for word in words))

    # --- statements --------------------------------------------------------------------------------------------------

    def label_and_statement(self) -> tuple[NameExpression | Template | None, Statement | None]:
        label = None
        if self.kind in ("NAME", "TEMPLATE") and self.text not in _STATEMENTS:
            word = self.take(self.kind)
            if not self.has(":"):
                return None, self.operation(word)
            label = self.spelled(word)
        return label, None if self.ends() else self.statement()

    def statement(self) -> Statement:
        read = _STATEMENTS.get(self.text)
        if read is not None:
            self.must(self.text)
            return read(self)
        if self.kind not in ("NAME", "GATED", "TEMPLATE"):
            self.expected.clear()
            self.fail("a statement")
        return self.operation(self.take(self.kind))

    def operation(self, word: Token) -> syntax.OperationStatement:
        operands = () if self.ends() else self.several(self.operand)
        if word.kind != "GATED":
            return syntax.OperationStatement(self.spelled(word), None, operands)
        mnemonic, suffix = word.text.split(".")
        dot = word.column + len(mnemonic)
        return syntax.OperationStatement(
            NameExpression(word.column, dot, mnemonic), NameExpression(dot, word.stop, suffix), operands
        )

    def include(self) -> syntax.Include:
        path = self.literal(self.take("STRING"))
        return syntax.Include(path, self.several(self.binding) if self.has("with") else ())

    def binding(self) -> tuple[NameExpression, ExpressionNode]:
        name = self.take("NAME")
        self.must("=")
        value = self.expression()
        return self.plain(name), value

    def const(self) -> syntax.Const:
        name = self.name()
        self.must("=")
        value = self.expression()
        return syntax.Const(self.spelled(name), value)

    def range(self, *, overlay: bool = False) -> syntax.RangeDef:
        name = self.name()
        self.must("[")
        size = self.expression()
        self.must("]")
        if overlay:
            self.must("at")
        place = self.place() if overlay or self.has("at") else None
        return syntax.RangeDef(self.spelled(name), size, place, overlay, self.form() if self.has(":") else None)

    def form(self) -> RangeForm:
        word = self.take_word(_RANGE_FORM, "TYPE") or self.take("NAME")
        if word.kind != "TYPE":
            known = ", ".join(form.value for form in RangeForm)
            raise Complaint(f"{word.text} is not a form of a range", word.column, len(word.text), f"forms: {known}")
        return RangeForm(word.text)

    def data(self) -> syntax.Data:
        where = self.place()
        self.must(":")
        if self.has("lane"):
            return syntax.Data(where, DataKind.LANE, () if self.ends() else (self.expression(),))
        kind = self.take_word(_DATA_KIND, "TYPE")
        return syntax.Data(where, DataKind(kind.text) if kind else DataKind.BYTE, self.expressions())

    def repeat(self) -> syntax.Repeat:
        variable = self.take("NAME")
        self.must("in")
        low = self.expression()
        self.must("..")
        high = self.expression()
        return syntax.Repeat(self.plain(variable), low, high)

    def routine(self, *, started: bool = True) -> syntax.RoutineDef:
        name, parameters = self.name(), self.parameters()
        entire = self.names() if self.has("whole") else ()
        apart = self.names() if self.has("apart") else ()
        uses = self.expressions() if self.has("uses") else ()
        return syntax.RoutineDef(self.spelled(name), parameters, uses, started, entire, apart)

    def macro(self) -> syntax.Macro:
        name, parameters = self.name(), self.parameters()
        return syntax.Macro(self.spelled(name), parameters)

    def assertion(self) -> syntax.Assertion:
        return syntax.Assertion(self.expression(), self.expressions() if self.has(",") else ())

    def needs(self) -> syntax.NeedsStatement:
        key = self.literal(self.take("STRING"))
        self.must("=")
        value = self.expression()
        return syntax.NeedsStatement(key, value, self.expressions() if self.has(",") else ())


_STATEMENTS: dict[str, Callable[[_Reader], Statement]] = {
    "include": _Reader.include,
    "const": _Reader.const,
    "param": lambda line: syntax.RoutineParameter(*line.binding()),
    "range": _Reader.range,
    "overlay": lambda line: line.range(overlay=True),
    "data": _Reader.data,
    "macro": _Reader.macro,
    "repeat": _Reader.repeat,
    "if": lambda line: syntax.Condition(line.expression()),
    "else": lambda line: syntax.Otherwise(line.expression() if line.has("if") else None),
    "end": lambda line: syntax.EndStatement(),
    "routine": _Reader.routine,
    "proc": lambda line: line.routine(started=False),
    "loop": lambda line: syntax.Loop(line.expression()),
    "stream": lambda line: syntax.StreamStatement(line.plain(line.take("NAME"))),
    "assert": _Reader.assertion,
    "needs": _Reader.needs,
    "error": lambda line: syntax.Message(line.expressions()),
}
"""First words of statements. Elsewhere they are names, as are all words of the language where no statement can continue
with them."""


def _read(text: str, rule: Callable[[_Reader], _Read], offset: int = 0) -> _Read:
    """Read a whole text by a rule; raises Complaint. ``offset`` is added to every column."""
    reader = _Reader(text, offset)
    tree = rule(reader)
    reader.finish()
    return tree


def read_expression(text: str) -> ExpressionNode:
    """Return the expression that a text is; raises Complaint."""
    if len(text) > LONGEST:
        raise Complaint(f"the expression is longer than {LONGEST} characters")
    return _read(text, _Reader.expression)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a line up to the first wrong one."""
    reader = _Reader(text)
    try:
        reader.label_and_statement()
        reader.finish()
    except Complaint:
        pass
    return reader.taken


def read_line(text: str) -> tuple[NameExpression | Template | None, Statement | None]:
    """Return (label or None, statement or None) of a line; raises Complaint."""
    if len(text) > LONGEST:
        raise Complaint(f"the line is longer than {LONGEST} characters", hint="one statement a line")
    if ";" in text and '"' not in text and "'" not in text:
        text = text[: text.index(";")]
    return _read_stripped(text.rstrip())


@lru_cache(maxsize=16384)
def _read_stripped(text: str) -> tuple[NameExpression | Template | None, Statement | None]:
    return _read(text, _Reader.label_and_statement) if text else (None, None)


# From source text to a tree of items: lines are parsed one by one and put together to blocks. A line that cannot be
# read is reported and left out, so that one run finds many faults.


NESTING = 40
"""Deepest nesting of blocks."""
STATEMENTS = 200_000
"""Most lines of a file with a label or a statement: no text may expand to more (`expander.STEPS`), and a longer file is
refused before it becomes a tree in memory."""

_OPENERS = {
    syntax.Macro: "macro",
    syntax.Repeat: "repeat",
    syntax.Condition: "if",
    syntax.RoutineDef: "routine",
    syntax.Loop: "loop",
}

_DEFINES = re.compile(r"\s*(const|param|range|overlay|include|macro|routine|proc|repeat)\b|\s*[\w{}]+\s*:")


class Parsed:
    """Source as a tree, and the faults of lines missing from it."""

    def __init__(self) -> None:
        self.items: list[StatementItem] = []
        self.faults: list[Fault] = []
        self.damaged = False
        """True if a missing line may have defined a name: unknown names are then not further faults."""
        self.open: list[StatementItem] = []
        """Blocks that have no end yet, outermost first."""
        self.count = 0
        """Lines with a label or a statement."""

    @property
    def body(self) -> list[StatementItem]:
        if not self.open:
            return self.items
        inner = self.open[-1]
        return inner.branches[-1].body if inner.branches else inner.body

    def add(self, line: Line, label: NameExpression | Template | None, statement: Statement | None) -> None:
        if isinstance(statement, syntax.EndStatement | syntax.Otherwise):
            if label is not None:
                self.body.append(StatementItem(line, label, None))
            if isinstance(statement, syntax.EndStatement):
                self.close(line)
            else:
                self.otherwise(line, statement)
            return
        if label is None and statement is None:
            return
        item = StatementItem(line, label, statement)
        self.body.append(item)
        self.count += 1
        if self.count > STATEMENTS:
            raise Complaint(f"the file has more than {STATEMENTS} lines with a statement", *line.first_word)
        if type(statement) in _OPENERS:
            if isinstance(statement, syntax.Condition):
                item.branches.append(syntax.Branch(line, statement.test))
            self.open.append(item)
            if len(self.open) == NESTING + 1:
                raise Complaint(f"blocks are nested deeper than {NESTING}", *line.first_word)

    def close(self, line: Line) -> None:
        if not self.open:
            raise Complaint("end without macro, repeat, if, routine, proc or loop", *line.first_word)
        self.open.pop().end = line

    def otherwise(self, line: Line, statement: syntax.Otherwise) -> None:
        branches = self.open[-1].branches if self.open else []
        if not branches:
            raise Complaint("else without if", *line.first_word)
        if branches[-1].test is None:
            raise Complaint("a second else", *line.first_word, f"the first is in line {branches[-1].line.number}")
        branches.append(syntax.Branch(line, statement.test))


def _usage(line: Line, target: ProgramTarget[AssembledProgram]) -> str | None:
    """Return the usage of a line's instruction, if it begins with one."""
    words = line.text.split(":")[-1].split()
    mnemonic = words[0].partition(".")[0] if words else ""
    if mnemonic not in target.instructions:
        return None
    return f"usage: {target.instructions[mnemonic].synopsis}     see: {target.manual} {mnemonic}"


def parse(source: Source, target: ProgramTarget[AssembledProgram]) -> Parsed:
    """Return the tree of a source, with every fault in it; nothing is raised."""
    found = Parsed()
    for line in source.lines:
        try:
            found.add(line, *read_line(line.text))
        except Complaint as complaint:
            complaint.hint = complaint.hint or _usage(line, target)
            found.faults.append(complaint.fault(line))
            found.damaged = found.damaged or bool(_DEFINES.match(line.text))
            if len(found.open) > NESTING or found.count > STATEMENTS:
                found.items, found.damaged = [], True
                return found
    for item in found.open:
        word = _OPENERS[type(item.statement)]
        if isinstance(item.statement, syntax.RoutineDef) and not item.statement.started:
            word = "proc"
        found.faults.append(Complaint(f"{word} without end", *item.line.first_word).fault(item.line))
        found.damaged = found.damaged or isinstance(item.statement, syntax.Macro | syntax.RoutineDef)
    return found
