"""Do instruction words that come at a rate make a stream wait as worked out by hand, the same in every kind of run?"""

from __future__ import annotations

from pathlib import Path

import pytest

from microcode import assemble
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Node, Replay, Run
from pixelflow.node.run.supply import ProgramWords, Supply, words_of
from pixelflow.observe import Executed, Waited
from pixelflow.simd.errors import CycleLimitError, MachineFault
from tests.streams import exchanges

REASON = "instructions"
ONE_LOAD = "LD R, #1\n"
LOOP = "loop 10\nADD R, #1\nADD R, #2\nADD R, #3\nend\n"
TWO_ROUTINES = """
CALL first, [0]
CALL second, [0]
CALL first, [0]
CALL second, [0]
routine first(d)
ADD R, d
ADD R, d
ADD R, d
end
routine second(d)
SUB R, d
SUB R, d
SUB R, d
end
"""
EXAMPLES = Path(__file__).parents[2] / "microcode" / "examples"


def machine(supply: int, **more: int | bool) -> NodeConfig:
    values = [f"igc.{name}={str(value).lower()}" for name, value in more.items()]
    return load_config(None, [f"igc.supply={supply}", *values], "tiny")


def timed(source: str, config: NodeConfig) -> Run:
    return Node(config, "rows").run(assemble(source), function=False)


def straight(words: int, count: int) -> ProgramWords:
    """Return ``count`` instructions of so many words each, outside of routines and loops."""
    found = ProgramWords(assemble(ONE_LOAD * count))
    found.each = (words,) * count
    return found


def test_straight_code_at_two_cycles_a_word() -> None:
    """200 MB/s are a word in two cycles; HALT is the eleventh word, and takes no cycle of its own."""
    run = timed(ONE_LOAD * 10, machine(200))
    assert (run.cycles, run.busy, run.waits, run.delivered) == (22, 10, {REASON: 12}, 11)


def test_a_rate_that_is_no_whole_number_of_cycles_a_word() -> None:
    """300 MB/s: word k is there after ceil(4 k / 3) cycles."""
    assert timed(ONE_LOAD * 10, machine(300)).cycles == -(-4 * 11 // 3)


def test_a_rate_of_a_word_a_cycle_costs_the_first_word_alone() -> None:
    """The words of START-less code are one a cycle; the first comes after one, and HALT with the end of the last."""
    assert timed(ONE_LOAD * 10, machine(400)).cycles == 11


def test_a_loop_is_delivered_once() -> None:
    """LOOP, three additions and ENDL come at 2, 4, 6, 8 and 10; then nine rounds of three cycles, HALT long there."""
    run = timed(LOOP, machine(200))
    assert (run.cycles, run.delivered, run.waits) == (37, 6, {REASON: 7})


def test_a_loop_without_memory_comes_again_in_every_round() -> None:
    """LOOP, ten times three additions and ENDL, HALT: 42 words of two cycles."""
    run = timed(LOOP, machine(200, memory_words=0))
    assert (run.cycles, run.delivered) == (84, 42)


def test_routines_stay_where_there_is_room_and_go_where_there_is_not() -> None:
    """A call has 5 words, a routine START, 3 and RET; outside of routines are 4 calls and HALT."""
    program = assemble(TWO_ROUTINES)
    words = words_of(program)
    assert [piece.words for piece in words.pieces] == [5, 5]
    outside = 4 * 5 + 1
    delivered = [
        Node(machine(200, memory_words=size), "rows").run(program, function=False).delivered for size in (10, 9, 5, 4)
    ]
    # Two of them, then one at a time; where none fits, each call brings the words that it executes.
    assert delivered == [outside + 10, outside + 20, outside + 20, outside + 20]


LOOP_AND_BURST = "loop 64\nADD R, #1\nend\n" + ONE_LOAD * 32


@pytest.mark.parametrize(("places", "cycles"), [(8, 119), (16, 103), (32, 101), (64, 101)])
def test_a_larger_fifo_hides_a_burst(places: int, cycles: int) -> None:
    """The loop has its words at 2, 4 and 6 and ends at 69, while words come until the FIFO is full.

    Load k begins at 68 + k, or as its word comes: those beyond the FIFO's places come 2, 4, ... cycles after 69. HALT
    is word 33, the 25th beyond 8 places (119), the 17th beyond 16 (103), the first beyond 32: there before its time.
    """
    assert timed(LOOP_AND_BURST, machine(200, fifo_words=places)).cycles == cycles


def test_without_prefetch_every_word_is_waited_for() -> None:
    """The loop's three words are sent as it comes first, and it ends at 69 as before; a load begins two cycles after
    the end of the one before: 69 + 32 x 3, and two for HALT. With prefetch the same takes 101."""
    run = timed(LOOP_AND_BURST, machine(200, prefetch=False))
    assert (run.cycles, run.busy, run.waits) == (167, 96, {REASON: 71})


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        # Instruction 0 begins with its second word, and words 2 to 9 wait in the FIFO for cycle 100. From then on two
        # words go out and one comes in each cycle: the eighth instruction begins as its words 16 and 17 come at 108.
        (2, [2, 100, 101, 102, 103, 104, 105, 106, 108, 110, 112]),
        # Words 7 to 14 wait for cycle 100, one of them of instruction 2, the other six of which come from then on.
        (7, [7, 100, 106, 113, 120]),
        (8, [8, 100, 108, 116]),
    ],
)
def test_a_fifo_of_eight_words_holds_eight(words: int, begins: list[int]) -> None:
    """At a word a cycle; instruction 1 can begin in cycle 100, each after it a cycle after the one before."""
    supply = Supply(straight(words, len(begins)), machine(400, fifo_words=8))
    found = [supply.take(0, 0)]
    for index in range(1, len(begins)):
        found.append(supply.take(index, max(100, found[-1] + 1)))
    assert found == begins


def test_an_instruction_that_no_fifo_holds_is_refused() -> None:
    with pytest.raises(MachineFault, match=r"9 words needs a FIFO of as many: igc\.fifo_words is 8"):
        Supply(straight(9, 2), machine(400, fifo_words=8))


@pytest.mark.parametrize(
    ("name", "values"),
    [("supply", (0, 100, 200)), ("fifo_words", (8, 32)), ("memory_words", (0, 64)), ("prefetch", (False, True))],
)
def test_every_value_changes_cycles(name: str, values: tuple[int, ...]) -> None:
    found = {timed(LOOP_AND_BURST, machine(**{"supply": 200} | {name: value})).cycles for value in values}
    assert len(found) == len(values)


def test_without_a_rate_nothing_is_delivered_and_nothing_waits() -> None:
    run = timed(LOOP, machine(0))
    assert (run.cycles, run.waits, run.delivered) == (30, {}, None)


def test_mark_is_no_word() -> None:
    assert timed('MARK "a"\n' + ONE_LOAD, machine(200)).delivered == 2


TWO_STREAMS = """
stream eigc
{}
stream tigc
{}
"""


def of_two(eigc: str, tigc: str, config: NodeConfig) -> list[tuple[int, int, dict[str, int]]]:
    """Return the end, the busy cycles and the waits of both streams."""
    run = timed(TWO_STREAMS.format(eigc, tigc), config)
    return [(each.cycles, each.busy, each.waits) for each in run.streams]


def test_two_streams_on_one_path_take_turns() -> None:
    """At a word a cycle, the EIGC first: its words are there at 1, 3, 5 and, when the TIGC has all, at 7 and 8.

    Alone it has them at 1 to 5, so that HALT comes with the end of the last load.
    """
    two = (ONE_LOAD * 4, "SIGNAL 5\n" * 2)
    assert of_two(*two, machine(400)) == [(5, 4, {REASON: 1}), (3, 0, {REASON: 3})]
    assert of_two(*two, machine(400, shared_supply=True)) == [(8, 4, {REASON: 4}), (6, 0, {REASON: 6})]


def test_a_full_fifo_leaves_the_path_to_the_other_stream() -> None:
    """The EIGC waits from cycle 1 on for a signal that is the TIGC's 13th word, at a word a cycle.

    Turn about, words 1 to 8 of each are there until 16, and word 9 of the EIGC, in the place of the WAIT, at 17. Word
    10 has no place until the first load begins. So the TIGC has its word 9 at 18 and 10 to 13 at 19 to 22; the signal
    arrives at 23, and 12 loads follow each other. With a path of its own the TIGC signals at 13.
    """
    two = ("WAIT 1\n" + ONE_LOAD * 12, "SIGNAL 5\n" * 12 + "SIGNAL 1\n")
    found = of_two(*two, machine(400, fifo_words=8, shared_supply=True))
    assert found == [(35, 12, {REASON: 1, "sem 1": 22}), (23, 0, {REASON: 23})]
    found = of_two(*two, machine(400, fifo_words=8))
    assert found == [(26, 12, {REASON: 1, "sem 1": 13}), (14, 0, {REASON: 14})]


def test_a_routine_that_comes_does_not_hold_up_the_other_stream() -> None:
    """At two cycles a word, turn about: CALL has five words, there at 18, and the TIGC its six at 4, 8 ... 24.

    START comes between its last two, at 22; three additions, RET and HALT at 26, 28, 30, 32 and 34.
    """
    program = "CALL once, [0]\n", "SIGNAL 5\n" * 5
    source = TWO_STREAMS.format(*program) + "routine once(d)\nADD R, d\nADD R, d\nADD R, d\nend\n"
    words = words_of(assemble(source))
    assert [piece.words for piece in words.pieces] == [5]
    run = timed(source, machine(200, shared_supply=True))
    assert [(each.cycles, each.busy, each.delivered) for each in run.streams] == [(34, 4, 11), (24, 0, 6)]


@pytest.mark.parametrize("seed", range(4))
def test_a_state_on_one_path_depends_on_no_way_to_it(seed: int) -> None:
    """A debugger that steps, goes back and jumps finds the digests of one that goes straight to each cycle."""
    config = load_config(None, [*SIZES, "igc.supply=100", "igc.fifo_words=8", "igc.shared_supply=true"], "tiny")
    program = assemble(exchanges.program(seed))
    straight, other = (Replay(Node(config, "rows"), program) for _ in range(2))
    end = Node(config, "rows").run(program, function=False).total_cycles
    places = sorted({*range(1, 40, 3), end // 3, end // 2, end - 1})
    digests = {}
    for place in places:
        straight.goto(place)
        digests[place] = straight.digest()
    for place in reversed(places):
        other.goto(place)
        assert other.digest() == digests[place], place
        other.step(count=3)
        other.back(3)
        other.goto(place)
        assert other.digest() == digests[place], place


SIZES = ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"]
PROGRAMS = [TWO_ROUTINES, LOOP, *(exchanges.program(seed) for seed in range(6))]


def _account(run: Run) -> list[tuple[object, ...]]:
    return [
        (each.cycles, each.waits, each.stage_waits, each.routine_cycles, each.stages, each.executed, each.delivered)
        for each in run.streams
    ]


@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=[pytest.mark.slow] * (each > 2)) for each in range(len(PROGRAMS))]
)
@pytest.mark.parametrize("shared", ["false", "true"])
@pytest.mark.parametrize(
    "values",
    [
        ("100", "8", "4096"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in (("300", "16", "20"), ("50", "64", "0"))),
        ("200", "8", "20", "false"),
    ],
)
def test_every_kind_of_run_gives_the_same_account(number: int, values: tuple[str, ...], shared: str) -> None:
    """Skipping straight code or not, with data or without, in any order of ticks, saved and resumed, watched."""
    names = ("shared_supply", "supply", "fifo_words", "memory_words", "prefetch")
    keys = zip(names, (shared, *values), strict=False)
    config = load_config(None, [*SIZES, *(f"igc.{key}={value}" for key, value in keys)], "tiny")
    program: Program = assemble(PROGRAMS[number])
    full = Node(config, "rows")
    run = full.run(program)
    account = _account(run)
    assert all(each.waits[REASON] for each in run.streams)

    def again(**how: object) -> tuple[Node, list[tuple[object, ...]]]:
        node = Node(config, "rows")
        return node, _account(node.run(program, **how))  # type: ignore[call-overload]

    assert _account(Node(config, "rows").run(program, function=False)) == account
    assert again(shuffle_seed=number)[1] == account
    watched = Node(config, "rows")
    waits: list[int] = []
    watched.bus.subscribe(lambda event: None, Executed)
    watched.bus.subscribe(lambda event: waits.append(event.end - event.cycle), Waited)
    assert _account(watched.run(program)) == account
    assert sum(waits) == sum(sum(each.waits.values()) for each in run.streams)
    for at in {0, run.total_cycles // 3, run.total_cycles // 2, run.total_cycles - 1}:
        saved: list[Checkpoint] = []
        node, there = again(save_at=at, save=saved.append)
        assert there == account and node.digest() == full.digest()
        other = Node(config, "rows")
        assert _account(other.resume(program, saved[0])) == account and other.digest() == full.digest()
    untimed = Node(config, "rows")
    untimed.run(program, timing=False)
    assert untimed.digest() == full.digest()


def test_a_repeated_run_has_the_waits_of_the_first() -> None:
    pytest.importorskip("llvmlite")
    config = load_config(None, ["igc.supply=200"], "tiny")
    node, program = Node(config, "macro"), assemble(EXAMPLES / "vector_add.mc")
    first, second = node.run(program), node.run(program)
    assert second.repeated and second.waits == first.waits and first.waits[REASON]


def test_the_limit_is_seen_inside_a_wait() -> None:
    node = Node(machine(100), "rows")
    with pytest.raises(CycleLimitError, match=f"waits for {REASON} since cycle 5"):
        node.run(assemble(ONE_LOAD * 3), max_cycles=6)
