"""Do schedules keep the closed forms?"""

from __future__ import annotations

from collections import Counter

import pytest

from gen6_bridge.claims.scheduling import LOOPS, chains, independent, loop_misses, off, parts
from gen6_bridge.drawing.account import FrameAccount
from gen6_bridge.machine import run_program
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from pixelflow.simd.observe import Bus, Carried, Executed, Waited

CHAIN = "add (8) g1<1>F g1<8,8,1>F g2<8,8,1>F"
"""An instruction that waits for itself."""


def cycles(source: str, threads: int, count: int) -> int:
    """Return what ``threads`` take that carry out ``count`` instructions each, the source again and again."""
    code = assemble_eu(source).code
    return schedule(
        code, [[CarriedStep(at % len(code)) for at in range(count)]] * threads, EuConfig(caches=False)
    ).cycles


def test_schedules_are_their_closed_forms() -> None:
    """One to five threads with one to four chains, both widths, three latencies; what waits for nothing; roots."""
    assert off(chains(), independent(), parts()) == (131, [])


def test_closed_forms_by_hand() -> None:
    """Two of them worked out once: 3 turns of 16 cycles and a last add; five threads of two chains fill the pipe."""
    found = {name: (cycles, wanted) for name, cycles, wanted in chains(4)}
    assert found["1 thread of 1 chain, t 2, L 16"] == (50, 50)
    assert found["5 threads of 2 chains, t 2, L 16"] == (80, 80)
    assert off(iter([("one", 3, 4)]), independent(20)) == (11, ["one: 3, by the closed form 4"])


def test_five_threads_use_five_eighths() -> None:
    """K t / L: 12.5 % a thread at 16 cycles, of a chain long enough that its end does not count."""
    code = assemble_eu(CHAIN).code
    account = schedule(code, [[CarriedStep(0)] * 10_000] * 5, EuConfig(caches=False))
    assert account.utilisation() == pytest.approx(0.625, abs=1e-4)


def test_sixteen_channels_issue_as_two_eights() -> None:
    eights = "add (8) g10<1>F g1<8,8,1>F g3<8,8,1>F\nadd (8) g11<1>F g2<8,8,1>F g4<8,8,1>F {align1 sechalf}"
    assert cycles("add (16) g10<1>F g1<8,8,1>F g3<8,8,1>F", 1, 1) == cycles(eights, 1, 2) == 4


@pytest.mark.parametrize(("lines", "each_turn"), LOOPS.items())
def test_a_loop_misses_what_the_cache_cannot_hold(lines: int, each_turn: int) -> None:
    """64 lines in 16 sets of 4 ways: each set that has a fifth line misses all five."""
    assert loop_misses(lines, 3) == lines + 2 * each_turn


def test_three_units_in_step_fetch_a_line_once() -> None:
    code = assemble_eu("nop\n" * 32).code
    account = schedule(code, [[CarriedStep(at) for at in range(32)]] * 3, EuConfig(units=3))
    assert account.l1_misses == 8 and account.fetches == 24


def test_messages_hide_each_others_latency() -> None:
    """m reads in flight take the longer of one's latency and m times the sampler's time."""
    reads = "\n".join(f"send (8) 1 g{20 + 4 * at}<1>UW null sampler(1, 0, F) mlen 1 rlen 4" for at in range(8))
    use = "\n".join(f"mov (8) g1<1>F g{20 + 4 * at}<8,8,1>F" for at in range(8))
    code = assemble_eu(f"{reads}\n{use}").code
    steps = [CarriedStep(at) for at in range(16)]
    found = schedule(code, [steps], EuConfig(caches=False, dependent_cycles=2)).cycles
    assert found == 7 * 16 + 140 + 2  # the eighth message has waited for seven


def test_an_answer_of_the_render_cache_waits_for_the_writes_before() -> None:
    """Three writes that hold it for 450 cycles each; the last is asked to say when it is done, 300 cycles later."""
    write = "send (8) 1 null null write(0, 4, 12, 0) mlen 5 rlen 0"
    source = f"{write}\n{write}\nsend (8) 1 g20<1>UW null write(0, 4, 12, 1) mlen 5 rlen 1\nmov (8) g1<1>D g20<8,8,1>D"
    code = assemble_eu(source).code
    account = schedule(code, [[CarriedStep(at) for at in range(4)]], EuConfig(caches=False))
    assert account.cycles == 2 * 450 + 300 + 2 and account.served == {5: 3 * 450}
    config = EuConfig(caches=False, render_busy=6)
    assert schedule(code, [[CarriedStep(at) for at in range(4)]], config).cycles == 2 * 6 + 300 + 2


def test_priority_switch_and_atomic() -> None:
    order: list[int] = []

    def issued(thread: int, *rest: object) -> None:
        order.append(thread)

    plain, config = assemble_eu("nop\nnop\nnop\n").code, EuConfig(caches=False)
    steps = [[CarriedStep(at) for at in range(3)]] * 2
    schedule(plain, steps, config, priorities=[0, 1], watcher=issued)
    assert order[:1] == [1]
    order.clear()
    switching = assemble_eu("\n".join(f"mov (8) g{at}<1>D 1D {{align1 switch}}" for at in (1, 2, 3))).code
    schedule(switching, steps, config, watcher=issued)
    assert order == [0, 1, 0, 1, 0, 1]
    order.clear()
    atomic = assemble_eu("\n".join("mov (8) g1<1>D g1<8,8,1>D {align1 atomic}" for _ in range(3))).code
    schedule(atomic, steps, config, watcher=issued)
    assert order == [0, 0, 0, 1, 1, 1]


def test_a_sixth_thread_waits_for_a_place() -> None:
    code = assemble_eu(CHAIN).code
    account = schedule(code, [[CarriedStep(0)] * 10] * 6, EuConfig(caches=False))
    assert [each.begin for each in account.threads[:5]] == [0] * 5
    assert account.threads[5].begin >= min(each.end for each in account.threads[:5]) - 2


def test_who_watches_changes_nothing() -> None:
    program = assemble_eu("cmp.g.f0.0 (8) null<1>D g10<8,8,1>D 1D\n(+f0.0) mov (8) g20<1>D 7D\nnop\n")
    config = EuConfig(count=7)
    alone = run_program(program, config=config)
    bus, seen = Bus(), []
    bus.subscribe(seen.append, Executed)
    bus.subscribe(seen.append, Waited)
    watched = run_program(program, config=config, bus=bus)
    assert watched.cycles == alone.cycles and (watched.unit.general == alone.unit.general).all()
    issued = [each for each in seen if isinstance(each, Executed)]
    assert len(issued) == 21 and {each.stream for each in issued} == {f"main{at}" for at in range(7)}
    assert max(each.cycle + each.cycles for each in issued) == watched.cycles


@pytest.mark.parametrize("threads", [1, 2])
def test_each_part_of_a_wait_is_told_with_its_cause(threads: int) -> None:
    """A sum of what is moved in 2, there 16 cycles later, and of a message, asked for in 0 and there in 100."""
    source = "send (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1\nmov (8) g1<1>D 1D\n"
    source += "add (8) g2<1>D g1<8,8,1>D g20<8,8,1>D\n"
    bus, seen = Bus(), list[Waited]()
    bus.subscribe(seen.append, Waited)
    run = run_program(assemble_eu(source), config=EuConfig(caches=False, count=threads), bus=bus)
    first = [each for each in seen if each.stream in ("main", "main0") and each.index == 2]
    assert [(each.reason, each.end) for each in first[-2:]] == [("operand", 18), ("message", 100)]
    assert [each.cycle for each in first[1:]] == [each.end for each in first[:-1]], "one goes on where another ends"
    assert len({each.reason for each in first}) == len(first) == 3
    for number, thread in enumerate(run.account.threads):
        told = Counter[str]()
        for each in seen:
            if each.stream == (f"main{number}" if threads > 1 else "main"):
                told[each.reason] += each.end - each.cycle
        assert told == thread.waited
    if threads == 1:
        assert run.account.idle == {"operand": 14, "message": 82}, "the pipe is held up to 4 by the move"


def test_what_units_are_not_busy_adds_up_by_hand() -> None:
    """A math result of 2 issue cycles, asked for in 0; an add in 1, its pipe held up to 3; a third one waits for it.

    The first unit's sum of the math result issues in 0 + its latency; the second unit has one add, and is done at 2.
    """
    source = "math (8) g20<1>F g10<8,8,1>F rsq\nadd (8) g21<1>F g11<8,8,1>F g12<8,8,1>F\n"
    code = assemble_eu(source + "add (8) g22<1>F g20<8,8,1>F g12<8,8,1>F\n").code
    config = EuConfig(caches=False, units=2)
    account = schedule(code, [[CarriedStep(0), CarriedStep(1), CarriedStep(2)], [CarriedStep(1)]], config)
    last = config.math_cycles
    assert account.held == {"math": 2, "fpu": 2 + 2 + 2} and account.together == 1, "both pipes in cycle 1"
    assert account.ended == [last + 2, 2] and account.cycles == last + 2
    assert sum(account.idle.values()) == last - 3, "the first unit is busy up to 3, and again from the result on"
    busy, imbalance = 8 - account.together, last
    assert busy + imbalance + (last - 3) == 2 * account.cycles

    drawn = FrameAccount(config)
    program = assemble_eu(source + "add (8) g22<1>F g20<8,8,1>F g12<8,8,1>F\n")
    steps = [[CarriedStep(0), CarriedStep(1), CarriedStep(2)], [CarriedStep(1)]]
    drawn.took("first", program, steps)
    drawn.took("second", program, steps[:1])
    assert drawn.ended == [2 * (last + 2), 2], "the second unit has nothing to do in the second batch"
    assert (drawn.cycles, drawn.together, drawn.held.total()) == (2 * (last + 2), 2, 8 + 6)


def test_messages_and_lines_are_told() -> None:
    program = assemble_eu("mov (8) m1<1>D 1D\nsend (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1\nnop\n")
    bus, seen = Bus(), []
    bus.subscribe(seen.append, Carried)
    run = run_program(program, config=EuConfig(), bus=bus)
    fetch, message = sorted(seen, key=lambda each: each.cycle)
    assert (fetch.wire, fetch.amount, fetch.arrives) == ("instruction fetch main", 64, 200)
    assert (message.wire, message.amount) == ("sampler cache main", 32) and message.arrives == message.cycle + 100
    assert run.usage.sent == {4: 64} and run.usage.regions == {"immediate": 1, "scalar": 1}


def test_what_a_predicate_disables_is_counted_and_what_it_chooses_is_not() -> None:
    source = "mov (1) f0.0<1>UW 3UW\n(+f0.0) sel (8) g20<1>F g10<8,8,1>F g11<8,8,1>F\n"
    source += "(+f0.0) add (8) g20<1>F g10<8,8,1>F 1.0F\ncmp.l.f0.1 (8) null<1>W g1<8,8,1>W 5W\n"
    channels = run_program(assemble_eu(source)).channels
    assert (channels.possible, channels.enabled, channels.taken["predicate"]) == (25, 19, 6)
    assert channels.issued == {"mov UW 1": 1, "sel F 8": 1, "add F 8": 1, "cmp W 8": 1}


def test_what_threads_use_is_counted() -> None:
    source = "add (8) g3<1>F g1<8,8,1>F g2.1<0,1,0>F\nmov (8) g4<1>D g10<16,8,2>W\nmov (8) g5<1>F g6<4,4,1>F {align16}"
    run = run_program(assemble_eu(source), config=EuConfig(count=3))
    assert run.usage.regions == {"packed": 3, "scalar": 3, "strided": 3, "swizzled": 3}
    assert run.usage.read == {"odd": 3, "even": 9} and run.usage.written == {"odd": 6, "even": 3}
