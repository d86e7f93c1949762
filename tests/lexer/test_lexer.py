"""Does the pygments lexer say of every word of `.mc` what it is, lose no character, and reach pygments and rich?"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments import highlight
from pygments.formatters import NullFormatter
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Token
from rich.console import Console
from rich.syntax import Syntax

from microcode.language import FUNCTIONS
from microcode.lexer import MicrocodeLexer
from pixelflow.isa import INSTRUCTIONS

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "microcode").rglob("*.mc"))
BLOCKS = re.findall(r"^```mc\n(.*?)^```", (ROOT / "microcode/LANGUAGE.md").read_text(), re.MULTILINE | re.DOTALL)


def tokens(text: str) -> list[tuple[object, str]]:
    return [(kind, part) for _, kind, part in MicrocodeLexer().get_tokens_unprocessed(text)]


def words(text: str) -> list[tuple[object, str]]:
    return [(kind, part) for kind, part in tokens(text) if part.strip()]


LINES = {
    "again: JMP again ; back": [
        (Name.Label, "again"), (Punctuation, ":"), (Name.Builtin, "JMP"), (Name.Label, "again"),
        (Comment.Single, "; back"),
    ],
    "LD.E R, [d - 0x1F]": [
        (Name.Builtin, "LD.E"), (Name.Builtin.Pseudo, "R"), (Punctuation, ","), (Punctuation, "["), (Name, "d"),
        (Operator, "-"), (Number.Integer, "0x1F"), (Punctuation, "]"),
    ],
    "overlay in[32] at 320": [
        (Keyword, "overlay"), (Name.Variable, "in"), (Punctuation, "["), (Number.Integer, "32"), (Punctuation, "]"),
        (Keyword, "at"), (Number.Integer, "320"),
    ],
    "LD R, in": [(Name.Builtin, "LD"), (Name.Builtin.Pseudo, "R"), (Punctuation, ","), (Name, "in")],
    "repeat i in 0 .. n": [
        (Keyword, "repeat"), (Name.Variable, "i"), (Keyword, "in"), (Number.Integer, "0"), (Punctuation, ".."),
        (Name, "n"),
    ],
    "data x: float 1.5, inf": [
        (Keyword, "data"), (Name, "x"), (Punctuation, ":"), (Keyword.Type, "float"), (Number.Float, "1.5"),
        (Punctuation, ","), (Name.Builtin.Pseudo, "inf"),
    ],
    "data x: lane": [(Keyword, "data"), (Name, "x"), (Punctuation, ":"), (Keyword.Type, "lane")],
    "data x: y": [(Keyword, "data"), (Name, "x"), (Punctuation, ":"), (Name, "y")],
    "const c{i} = float(2) << 'A'": [
        (Keyword, "const"), (Name.Constant, "c{i}"), (Punctuation, "="), (Name.Builtin, "float"), (Punctuation, "("),
        (Number.Integer, "2"), (Punctuation, ")"), (Operator, "<<"), (String.Char, "'A'"),
    ],
    "macro clear(r, n)": [
        (Keyword, "macro"), (Name.Function, "clear"), (Punctuation, "("), (Name, "r"), (Punctuation, ","), (Name, "n"),
        (Punctuation, ")"),
    ],
    "clear S, #-1": [
        (Name.Function, "clear"), (Name.Builtin.Pseudo, "S"), (Punctuation, ","), (Punctuation, "#"), (Operator, "-"),
        (Number.Integer, "1"),
    ],
    "routine f() uses 152, 4": [
        (Keyword, "routine"), (Name.Function, "f"), (Punctuation, "("), (Punctuation, ")"), (Keyword, "uses"),
        (Number.Integer, "152"), (Punctuation, ","), (Number.Integer, "4"),
    ],
    "CALL fadd{n + 1}, x": [
        (Name.Builtin, "CALL"), (Name.Label, "fadd{n + 1}"), (Punctuation, ","), (Name, "x"),
    ],
    'include "a;b.mc" with N = 2': [
        (Keyword, "include"), (String.Double, '"a;b.mc"'), (Keyword, "with"), (Name, "N"), (Punctuation, "="),
        (Number.Integer, "2"),
    ],
    "else if !(a == ~1)": [
        (Keyword, "else"), (Keyword, "if"), (Operator, "!"), (Punctuation, "("), (Name, "a"), (Operator, "=="),
        (Operator, "~"), (Number.Integer, "1"), (Punctuation, ")"),
    ],
    'MARK "points"': [(Name.Builtin, "MARK"), (String.Double, '"points"')],
    "stream tigc": [(Keyword, "stream"), (Name, "tigc")],
    "LD R,, 3 ; no": [
        (Name.Builtin, "LD"), (Name.Builtin.Pseudo, "R"), (Punctuation, ","), (Error, ", 3 ; no"),
    ],
    '  "open': [(Error, '"open')],
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_lines(line: str) -> None:
    assert words(line) == LINES[line]


@pytest.mark.parametrize("mnemonic", INSTRUCTIONS)
def test_every_declared_mnemonic_is_known_and_nothing_else(mnemonic: str) -> None:
    assert words(mnemonic) == [(Name.Builtin, mnemonic)]
    assert words(f"{mnemonic}x") == [(Name.Function, f"{mnemonic}x")]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_is_known(function: str) -> None:
    assert words(f"const a = {function}(1)")[3] == (Name.Builtin, function)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_library_has_no_errors_and_loses_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = tokens(text)
    assert "".join(part for _, part in found) == text
    assert not [part for kind, part in found if kind is Error]


def test_the_examples_of_the_language_have_no_errors() -> None:
    assert len(BLOCKS) > 5
    for block in BLOCKS:
        assert not [part for kind, part in tokens(block) if kind is Error], block


@given(st.text(alphabet=st.sampled_from("LDR x1#[],:;\"'{}.\r\n\t+<é\x00") | st.characters(), max_size=80))
def test_tokens_put_together_are_the_text(text: str) -> None:
    at = 0
    for start, _, part in MicrocodeLexer().get_tokens_unprocessed(text):
        assert start == at and part
        at += len(part)
    assert "".join(part for _, part in tokens(text)) == text


@given(st.lists(st.sampled_from([*LINES, *INSTRUCTIONS, "", "  ; only this", "end"]), max_size=8).map("\n".join))
def test_lines_keep_their_tokens_among_others(text: str) -> None:
    alone = [token for line in text.split("\n") for token in words(line)]
    assert words(text) == alone


def test_rich_shows_program_text_unchanged() -> None:
    text = "LD R, [p]  ; [bold]not markup[/bold]\n"
    out = io.StringIO()
    Console(file=out, width=80, color_system="truecolor", force_terminal=True).print(Syntax(text, MicrocodeLexer()))
    shown = out.getvalue()
    assert "\x1b[" in shown
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).rstrip() == text.rstrip()


def test_pygments_keeps_the_text() -> None:
    text = SOURCES[0].read_text(encoding="utf-8")
    assert highlight(text, MicrocodeLexer(stripnl=False, ensurenl=False), NullFormatter()) == text


def test_the_entry_point_names_the_lexer(repository: Path) -> None:
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pygments.lexers"] == {"mc": "microcode.lexer:MicrocodeLexer"}


def test_pygmentize(repository: Path) -> None:
    """By the file of the lexer: the entry point is there only where the package is installed."""
    source = repository / "microcode/examples/triangle.mc"
    lexer = repository / "microcode/lexer.py"
    command = [sys.executable, "-m", "pygments", "-x", "-l", f"{lexer}:MicrocodeLexer", "-f", "raw", str(source)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=600)
    assert result.returncode == 0, result.stderr
    assert "Token.Name.Builtin\t'EMC_" in result.stdout and str(Token.Error) not in result.stdout
