"""Are all sentences of the grammar in LANGUAGE.md read, and damaged ones answered by complaints with a place?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from microcode import assemble
from microcode.reader import read_line
from pixelflow.simd.errors import InputError

LANGUAGE = (Path(__file__).parents[2] / "microcode" / "LANGUAGE.md").read_text(encoding="utf-8")
(GRAMMAR,) = re.findall(r"^```ebnf\n(.*?)^```", LANGUAGE, re.DOTALL | re.MULTILINE)
SYMBOL = re.compile(r'\s*("[^"]*"|[A-Za-z]+|[][{}()|=;])')

TERMINALS = {
    "NAME": ("x", "y_1", "R", "at", "in", "uses", "with", "n" * 80),
    "TEMPLATE": ("f{n}", "x{n + 1}y{-2}", "v1{k1}", "v{i}{1to16}"),
    "GATED": ("LD.E", "end.E"),
    "BRACED": ("{k1}", "{ 1to16 }", "{7}"),
    "NUMBER": ("0", "10", "0x1F", "0b101", "1_000"),
    "FRACTION": ("1.5", "2e-3", "1.0E5"),
    "CHARACTER": ("'A'", "';'", r"'\n'", r"'\''"),
    "STRING": ('"x"', '""', r'"a;\"b\\"'),
}
SIGNS = (*"()[]{},:=#.+-~!<&|;'\"@\\ é\x00", "..", "end", "if", "x{", "0x")


def rules() -> dict[str, list]:
    """Return the grammar: of each rule its alternatives, nested as (kind, parts)."""
    symbols = SYMBOL.findall(GRAMMAR)
    assert "".join(symbols) == "".join(GRAMMAR.split())
    found, at = {}, 0
    while at < len(symbols):
        assert symbols[at + 1] == "="
        found[symbols[at]], at = alternatives(symbols, at + 2, ";")
    return found


def alternatives(symbols: list[str], at: int, close: str) -> tuple[list, int]:
    found: list[list] = [[]]
    while symbols[at] != close:
        symbol = symbols[at]
        at += 1
        if symbol == "|":
            found.append([])
        elif symbol in "[{(":
            inner, at = alternatives(symbols, at, {"[": "]", "{": "}", "(": ")"}[symbol])
            found[-1].append((symbol, inner))
        else:
            found[-1].append(symbol)
    return found, at + 1


RULES = rules()


def sentence(chance: random.Random, part: object, room: int) -> Iterator[str]:
    """Yield the tokens of a random sentence; with no ``room`` left of the shortest."""
    match part:
        case str() if part.startswith('"'):
            yield part[1:-1]
        case str() if part in TERMINALS:
            yield chance.choice(TERMINALS[part])
        case str():
            yield from sentence(chance, ("(", RULES[part]), room - 1)
        case ("(", choices):
            for each in chance.choice(choices) if room > 0 else min(choices, key=recursions):
                yield from sentence(chance, each, room)
        case (kind, choices):
            while room > 0 and chance.random() < 0.3:
                yield from sentence(chance, ("(", choices), room - 1)
                if kind == "[":
                    break


def recursions(parts: list) -> int:
    return sum(part in RULES for part in parts if isinstance(part, str)) + (parts[0] == '"("')


def line(seed: int) -> str:
    chance = random.Random(seed)
    tokens = list(sentence(chance, "line", 24))
    comment = chance.choice(("", "  ", "; no 'quotes", ' ; "half'))
    return "".join(token + chance.choice((" ", "  ", "\t")) for token in tokens) + comment


def complaints(text: str) -> None:
    """Assemble a text; anything but a program and faults with a place is an error of this test."""
    try:
        assemble(text + "\n")
    except InputError as error:
        for fault in error.faults:
            assert fault.message and not fault.message.endswith("expected ")
            assert fault.place is not None or "nothing to assemble" in fault.message or "not shown" in fault.message
            assert fault.place is None or fault.place.line is None or 1 <= fault.place.line <= text.count("\n") + 1


def damaged(chance: random.Random, text: str) -> str:
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        sign = chance.choice(
            [*"()[]{},:=#.+-~!<&|;'\"@\\ é\x00", "..", "end", "if", "x{", "0x", chr(chance.randrange(33, 0x250))]
        )
        text = text[:at] + sign + text[at + chance.randrange(3) :]
    return text


def check(seeds: range) -> None:
    for seed in seeds:
        text = line(seed)
        read_line(text)
        chance = random.Random(seed)
        complaints(text)
        complaints("range x[4]\n" + "\n".join(damaged(chance, text) for _ in range(2)))


def test_every_rule_is_used() -> None:
    named = set(re.findall(r"[A-Za-z]+", re.sub(r'"[^"]*"', "", GRAMMAR)))
    assert named == set(RULES) | set(TERMINALS)


def test_sentences_and_damaged_ones() -> None:
    check(range(600))


@pytest.mark.slow
def test_many_sentences() -> None:
    check(range(600, 60_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LD R, 3)", "expected , or the end of the line, found ')'"),
        ("LD R, f(1, 2", "the line ends too early; expected )"),
        ("if 1 2", "expected an operator or the end of the line, found '2'"),
        ("data x: word{n}", "expected a name or a number, found '{n}'"),
        ("macro m(a{n})", "expected ) or ,, found '{n}'"),
        ("LD R, !=3", "expected a name or a number, found '='"),
        ("else iff 1", "expected if or the end of the line, found 'iff'"),
        ("again: = 3", "expected a statement, found '='"),
        ("x{n,}: NOP", "expected the end of the line, found ','"),
        ("LD R, #0xZZ @", "unexpected character '@'"),
        ("LD R, #0xZZ, @", "0xZZ is not a number"),
        ("LD R, " + "(" * 101 + "1" + ")" * 101, "this is nested too deeply"),
    ],
)
def test_messages_name_the_expected_tokens(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble(text + "\n")
    assert caught.value.faults[0].message == message
