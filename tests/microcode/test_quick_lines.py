"""Does a line mean the same whether it is read quickly or by the grammar?"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from microcode.language.source import Complaint
from microcode.quick import Unusual, read_expression, read_line
from microcode.read.lines import _RULES, _parse_by_grammar

ROOT = Path(__file__).resolve().parents[2]
LINES = sorted(
    {
        line.rstrip()
        for folder in ("microcode", "tessellation", "larrabee_bridge", "tests")
        for file in (ROOT / folder).rglob("*.mc")
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip() and len(line) < 200
    }
)
PIECES = (
    *("at", "in", "end", "if", "with", "uses", "lane", "word", "const", "data", "x", "x{n}", "x.E"),
    *("7", "0x1F", "1.5", "2e3", '"a;b"', "'c'", "(", ")", "[", "]", ",", ":", "=", "#", ".."),
    *("+", "-", "~", "==", "&&", "<<", "{1to16}", ";"),
)


def outcome(read, *arguments) -> str:
    try:
        return repr(read(*arguments))
    except Complaint as complaint:
        return f"complaint {complaint.message}"


def agrees(text: str) -> bool:
    """Return whether a line was read quickly; it then means what the grammar says."""
    try:
        quick = read_line(text, _RULES)
    except (Unusual, Complaint):
        return False
    assert repr(quick) == outcome(_parse_by_grammar, text, "line"), text
    return True


def test_every_line_that_ships() -> None:
    """Nearly all are read quickly: the others are the wrong ones of the tests."""
    shipped = [agrees(line) for line in LINES[:: max(1, len(LINES) // 700)]]
    assert len(shipped) > 400 and sum(shipped) > 0.95 * len(shipped)


def damaged(rng: random.Random, line: str) -> str:
    words = line.replace(",", " , ").replace("[", " [ ").replace("]", " ] ").split(" ")
    at = rng.randrange(len(words))
    match rng.randrange(3):
        case 0:
            del words[at]
        case 1:
            words.insert(at, rng.choice(PIECES))
        case 2:
            words[at] = rng.choice(PIECES)
    return " ".join(words)


def check_damaged(seed: int, count: int) -> None:
    rng = random.Random(seed)
    read = [agrees(damaged(rng, rng.choice(LINES))) for _ in range(count)]
    assert 0.05 * count < sum(read) < 0.95 * count


def test_lines_with_a_word_too_many_or_too_few() -> None:
    check_damaged(1, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_such_lines(seed: int) -> None:
    check_damaged(seed, 5000)


@pytest.mark.parametrize(
    "text", ["a + b * c == d && !e", "min(a, b[2], -3)", "f{n}g", "f()", "(1 + 2) << 3", "at + in", "x{n + 1}[2]"]
)
def test_expressions(text: str) -> None:
    assert repr(read_expression(text, _RULES)) == repr(_parse_by_grammar(text, "expression"))


@pytest.mark.parametrize(
    "text",
    [
        *("'a'", "end: NOP", "const 5 = 3", "1 = 2", "LD R,", "\N{NO-BREAK SPACE}x", "NOP ;x\n garbage"),
        *("data x: word{n}", "data x: byte{i}_y", "data x: float{1+2}"),
    ],
)
def test_what_is_left_to_the_grammar(text: str) -> None:
    """Wrong lines, mostly; and a character in quotes, which few programs hold."""
    with pytest.raises(Unusual):
        read_line(text, _RULES)


def test_a_program_of_usual_lines_needs_no_grammar() -> None:
    """Then lark, which takes a tenth of a second, is not even loaded."""
    text = (
        "import sys; from microcode import assemble; "
        "assemble('range x[2]\\nLD R, x[1]\\nloop 3\\nADD R, #2\\nend\\nST x, R\\nHALT\\n'); "
        "print('lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
