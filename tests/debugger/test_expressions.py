"""Do expressions mean in every PE what they mean in a program text, and do conditions stop where they become true?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from microcode import assemble
from microcode.language import Complaint, Value
from microcode.reader import read_expression
from pixelflow.debugger import Anywhere, Bytes, DebugSession, PeExpression, StopCondition, find_code
from pixelflow.node import Node, Replay
from pixelflow.simd.errors import InputError
from tests.debugger import programs

TEXT = "range a[1]\nrange b[2]: word\nrange f[4]: float\nrange w[8]: word\nrange long[20]\nLD R, a\n"
OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||")
SEED = 1997


@pytest.fixture(scope="module")
def node() -> Node:
    """A node whose ranges and registers hold random bytes."""
    node = Node(programs.SMALL)
    program = assemble(TEXT)
    node.load(program)
    bytes_of = np.random.default_rng(SEED)
    node.write_memory(0, bytes_of.integers(0, 256, (40, node.lanes), dtype=np.uint8))
    node["f"] = bytes_of.normal(0, 100, node.lanes).astype(np.float32)
    node.set_register("R", bytes_of.integers(0, 256, node.lanes, dtype=np.uint8))
    node.set_flag("C", bytes_of.integers(0, 2, node.lanes) == 1)
    return node


class _OnePe:
    """The names of one PE, for the assembler's own evaluation of an expression."""

    braces: frozenset[str] = frozenset()
    incomplete = False

    def __init__(self, node: Node, lane: int) -> None:
        self._values: dict[str, Value] = {
            "a": int(node["a:word"][lane]),
            "b": int(node["b"][lane]),
            "w": int(node["w"][lane]),
            "f": float(node["f"][lane]),
            "R": int(node.register("R")[lane]),
            "C": int(node.flag("C")[lane]),
            "pe": lane,
        }

    def find(self, name: str) -> Value | None:
        return self._values.get(name)

    def visible(self) -> list[str]:
        return list(self._values)


def _random_text(generator: random.Random, depth: int) -> str:
    if depth == 0 or generator.random() < 0.15:
        return generator.choice(("a", "b", "w", "f", "R", "C", "pe", "0", "3", "255", "70000", "2.5"))
    match generator.randrange(8):
        case 0:
            return generator.choice("-~!+") + _random_text(generator, 0)
        case 1:
            name, whole = generator.choice(("min", "max")), ("a", "b", "w", "R", "pe", "3", "70000")
            return f"{name}({generator.choice(whole)}, -{generator.choice(whole)}, {generator.choice(whole)})"
    left, right = _random_text(generator, depth - 1), _random_text(generator, depth - 1)
    return f"({left} {generator.choice(OPERATORS)} {right})"


def _in_each_pe(text: str, node: Node) -> list[Value] | None:
    """Return what the assembler's evaluation gives in each PE; None where it is refused in any."""
    tree = read_expression(text)
    try:
        return [tree.evaluate(_OnePe(node, lane)) for lane in range(node.lanes)]
    except (Complaint, OverflowError):
        return None


@pytest.mark.slow
def test_expressions_mean_what_they_mean_in_a_program_in_every_pe(node: Node) -> None:
    generator = random.Random(SEED)
    program = assemble(TEXT)
    judged = refused = 0
    for _ in range(300):
        text = _random_text(generator, 3)
        wanted = _in_each_pe(text, node)
        try:
            found = PeExpression.read(text, program).value(node, 7)
        except InputError:
            found = None
        if wanted is None or found is None:
            assert found is None and wanted is None, f"{text}: {found!r} is not {wanted!r}"
            refused += 1
            continue
        values = np.broadcast_to(np.asarray(found), (node.lanes,)).tolist()
        assert len(values) == len(wanted)
        for value, one in zip(values, wanted, strict=True):
            same = value == one or (value != value and one != one)
            assert same, f"{text}: {value!r} is not {one!r}"
        judged += 1
    assert judged > 150 and refused > 20


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cycle * 2", 14),
        ("count(pe < 10)", 10),
        ("sum(pe)", 255 * 256 // 2),
        ("any(pe == 255)", 1),
        ("all(pe < 255)", 0),
        ("count(C) == sum(C)", 1),
        ("count(enable) - count(E)", 0),
        ("sum(pe > 2 && pe < 4 && 6 / (pe - 2) == 6)", 1),
        ("sum(pe == 3 && count(pe) == 255)", 1),
        ("0 && 1 / 0", 0),
        ("1 || 1 / 0", 1),
    ],
)
def test_values_by_hand(node: Node, text: str, value: int) -> None:
    """What stands to the right of && is asked only where it matters; functions are of all PEs even there."""
    found = PeExpression.read(text, assemble(TEXT)).value(node, 7)
    assert found == value


def test_bytes_and_forms_are_those_of_the_node(node: Node) -> None:
    program = assemble(TEXT)

    def value(text: str) -> list[int]:
        return PeExpression.read(text, program).value(node, 0).tolist()

    assert value("b[1]") == node.read_memory(2)[0].tolist()
    assert value("b") == [low + 256 * high for low, high in zip(value("b[0]"), value("b[1]"), strict=True)]
    assert value("f:word") == node["f:word"].tolist() and value("w + 0") == [int(each) for each in node["w"]]
    assert value("f:float") == node["f"].tolist()
    with pytest.raises(InputError, match="long has 20 bytes, no single value"):
        value("long")


COUNTING = "range n[1]\nLOOP 20\nLD R, n\nADD R, #1\nST n, R\nENDL\n"


def _session(text: str) -> DebugSession:
    program = assemble(text)
    node = Node(programs.SMALL)
    node.load(program)
    return DebugSession(Replay(node, program))


def test_a_condition_stops_where_it_becomes_true_and_not_again_while_it_stays() -> None:
    """Of three cycles a round the second makes R one more: 5 from position 14 on, through ST and LD."""
    session = _session(COUNTING)
    session.add(Anywhere(), condition=StopCondition(PeExpression.read("R == 5", session.program)))
    (hit,) = session.go_on().hits
    assert session.replay.position == 14 and hit.stop.number == 1 and set(session.node.register("R")) == {5}
    assert session.go_on().hits == () and session.replay.ended


@pytest.mark.parametrize("line", range(3, 6))
def test_a_stop_with_a_condition_is_met_where_single_steps_find_it(line: int) -> None:
    found, stepped = _session(COUNTING), _session(COUNTING)
    condition = StopCondition(PeExpression.read("n % 3 == 1 && cycle > 10", found.program))
    code = find_code(found.program, str(line))
    found.add(code, condition=condition)
    wanted = []
    while not stepped.replay.ended:
        stepped.step()
        ahead = stepped.replay.ahead("eigc")
        cycle = stepped.replay.position
        if ahead is not None and ahead.index in code.indices and condition.holds(stepped.node, cycle):
            wanted.append(cycle)
    positions = []
    while found.go_on().hits:
        positions.append(found.replay.position)
    assert positions == wanted and len(wanted) > 3


def test_a_condition_at_the_end_stops_there() -> None:
    session = _session("LD R, #1\nLD R, #2\n")
    session.add(Anywhere(), condition=StopCondition(PeExpression.read("R == 2", session.program)))
    (hit,) = session.go_on().hits
    assert session.replay.ended and hit.event is None


def test_what_is_met_in_the_position_after_a_change_is_told_with_it() -> None:
    """ST in cycle 2 changes n; the stop at the LD after it stands at the same position."""
    session = _session("range n[1]\nLD R, n\nADD R, #1\nST n, R\nLD R, #9\n")
    session.add(Bytes("n", 0, 1, None))
    session.add(find_code(session.program, "5"))
    assert [hit.stop.number for hit in session.go_on().hits] == [1, 2] and session.replay.position == 3
