"""Does any input at all lead to anything but a program or an InputError, within bounds?"""

from __future__ import annotations

import random

import pytest

from microcode import LIBRARY, assemble, check, disassemble, listing, symbols
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.errors import InputError, format_error

INPUTS = 400
KEYWORDS = (
    "include const param range overlay data macro repeat if else end routine proc loop stream assert error in at uses "
    "with byte word float lane R S M P0 P6 x z foo f{1} f{x} .E .F 0 1 2 10 0xff 400 -1 1.5 1e39 1e999 inf nan "
    "min log2 size addr eigc tigc"
)
SIGNS = """ 'A' "t" "x.mc" # [ ] ( ) { } , : = .. + - * / % << >> & | ^ ~ ! && || == != < > ; @ " ' \\ """
WORDS = f"{KEYWORDS} {SIGNS}".split()


def attempt(text: str) -> None:
    """Put a text through every tool; only InputError may come out."""
    try:
        program = assemble(text + "\n")
        again = assemble(disassemble(program))
        assert again.words == program.words
        assert again.sha256 == program.sha256
        listing(program)
        symbols(program)
        check(program)
    except InputError as error:
        assert format_error(error)


def noise(chance: random.Random) -> str:
    return "".join(chr(chance.choice((10, chance.randrange(32, 127), chance.randrange(0x250)))) for _ in range(150))


def soup(chance: random.Random) -> str:
    words = [*WORDS, *INSTRUCTIONS]
    lines = (" ".join(chance.choice(words) for _ in range(chance.randrange(1, 9))) for _ in range(12))
    return "\n".join(lines)


LINES = [line for path in LIBRARY.rglob("*.mc") for line in path.read_text(encoding="utf-8").split("\n")]


def damaged(chance: random.Random) -> str:
    start = chance.randrange(len(LINES))
    lines = LINES[start : start + 40]
    for _ in range(4):
        at = chance.randrange(len(lines))
        column = chance.randrange(len(lines[at]) + 1)
        lines[at] = chance.choice(
            ("", chance.choice(LINES), lines[at][:column] + chr(chance.randrange(33, 127)) + lines[at][column + 1 :])
        )
    return "\n".join(lines)


@pytest.mark.parametrize("make", [noise, soup, damaged])
def test_nothing_but_messages(make) -> None:
    for seed in range(INPUTS):
        text = make(random.Random(seed))
        try:
            attempt(text)
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}\n{text!r}")


@pytest.mark.slow
@pytest.mark.parametrize("make", [noise, soup, damaged])
def test_nothing_but_messages_at_length(make) -> None:
    for seed in range(INPUTS, 100 * INPUTS):
        attempt(make(random.Random(seed)))


def test_long_chains_of_calls() -> None:
    attempt("CALL f0\nrepeat i in 0 .. 999\nproc f{i}()\nCALL f{i + 1}\nend\nend\nproc f1000()\nMSTEP\nend")
