"""Do accounts and events of schedules add up?"""

from __future__ import annotations

from collections import Counter

import pytest

from gen6_bridge.claims.scheduling import chains, independent, off
from gen6_bridge.drawing.account import FrameAccount
from gen6_bridge.machine import run_program
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from pixelflow.simd.configuration import check_values
from pixelflow.simd.errors import InputError
from pixelflow.simd.observe import Bus, Carried, Executed, Waited

CHAIN = "add (8) g1<1>F g1<8,8,1>F g2<8,8,1>F"
"""An instruction that waits for itself."""


def test_closed_forms_by_hand() -> None:
    """Two of them computed by hand: 3 turns of 16 cycles and a last add; five threads of two chains fill the pipe."""
    found = {name: (cycles, wanted) for name, cycles, wanted in chains(4)}
    assert found["1 thread of 1 chain, t 2, L 16"] == (50, 50)
    assert found["5 threads of 2 chains, t 2, L 16"] == (80, 80)
    assert off(iter([("one", 3, 4)]), independent(20)) == (11, ["one: 3, by the closed form 4"])


def test_five_threads_use_five_eighths() -> None:
    """K t / L: 12.5 % a thread at 16 cycles, of a chain long enough that its end does not count."""
    code = assemble_eu(CHAIN).code
    account = schedule(code, [[CarriedStep(0)] * 10_000] * 5, EuConfig(caches=False))
    assert account.utilisation() == pytest.approx(0.625, abs=1e-4)


def test_a_report_has_each_thread_and_the_rules_that_are_broken() -> None:
    """The add of thread 1 waits for the pipe until 2, and its nop has the front end from 3 to 5."""
    config = EuConfig(caches=False, count=2)
    report = run_program(assemble_eu(CHAIN + "\nnop\n"), config=config).report()
    assert report.data["threads"] == [
        {"unit": 0, "begin": 0, "end": 3, "issued": 2, "waited": {}},
        {"unit": 0, "begin": 0, "end": 5, "issued": 2, "waited": {"fpu held": 2}},
    ]
    assert any("even 2, odd 2;" in str(each) for each in report.parts), "g2 and g1, by each"
    assert "legality" not in str(report.brief)
    broken = run_program(assemble_eu("mov (8) g1<1>UB g2<8,8,1>F\nnop\n")).report()
    assert "D2 in 1" in str(broken.brief)


def test_twelve_units_are_the_most() -> None:
    check_values(EuConfig(units=12))
    with pytest.raises(InputError, match="units: 13 is out of range"):
        check_values(EuConfig(units=13))


def test_watching_changes_nothing() -> None:
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
def test_each_part_of_a_wait_has_its_cause(threads: int) -> None:
    """A sum of what is moved in 2, there 16 cycles later, and of a message, asked for in 0 and there in 100."""
    source = "send (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1\nmov (8) g1<1>D 1D\n"
    source += "add (8) g2<1>D g1<8,8,1>D g20<8,8,1>D\n"
    bus, seen = Bus(), list[Waited]()
    bus.subscribe(seen.append, Waited)
    run = run_program(assemble_eu(source), config=EuConfig(caches=False, count=threads), bus=bus)
    first = [each for each in seen if each.stream in ("main", "main0") and each.index == 2]
    assert [(each.reason, each.end) for each in first[-2:]] == [("operand", 18), ("message", 100)]
    assert [each.cycle for each in first[1:]] == [each.end for each in first[:-1]], "one begins where another ends"
    assert len({each.reason for each in first}) == len(first) == 3
    for number, thread in enumerate(run.account.threads):
        waited = Counter[str]()
        for each in seen:
            if each.stream == (f"main{number}" if threads > 1 else "main"):
                waited[each.reason] += each.end - each.cycle
        assert waited == thread.waited
    if threads == 1:
        assert run.account.idle == {"operand": 14, "message": 82}, "the pipe is held up to 4 by the move"


def test_idle_cycles_add_up_by_hand() -> None:
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
    assert sum(account.idle.values()) == last - 3, "the first unit is busy up to 3, and again once the result is there"
    busy, imbalance = 8 - account.together, last
    assert busy + imbalance + (last - 3) == 2 * account.cycles

    drawn = FrameAccount(config)
    program = assemble_eu(source + "add (8) g22<1>F g20<8,8,1>F g12<8,8,1>F\n")
    steps = [[CarriedStep(0), CarriedStep(1), CarriedStep(2)], [CarriedStep(1)]]
    drawn.took("first", program, steps)
    drawn.took("second", program, steps[:1])
    assert drawn.ended == [2 * (last + 2), 2], "the second unit has nothing to do in the second batch"
    assert (drawn.cycles, drawn.together, drawn.held.total()) == (2 * (last + 2), 2, 8 + 6)


def test_messages_and_lines_are_events() -> None:
    program = assemble_eu("mov (8) m1<1>D 1D\nsend (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1\nnop\n")
    bus, seen = Bus(), []
    bus.subscribe(seen.append, Carried)
    run = run_program(program, config=EuConfig(), bus=bus)
    fetch, message = sorted(seen, key=lambda each: each.cycle)
    assert (fetch.wire, fetch.amount, fetch.arrives) == ("instruction fetch main", 64, 200)
    assert (message.wire, message.amount) == ("sampler cache main", 32) and message.arrives == message.cycle + 100
    assert run.usage.sent == {4: 64} and run.usage.regions == {"immediate": 1, "scalar": 1}


def test_channels_disabled_by_a_predicate_are_counted() -> None:
    source = "mov (1) f0.0<1>UW 3UW\n(+f0.0) sel (8) g20<1>F g10<8,8,1>F g11<8,8,1>F\n"
    source += "(+f0.0) add (8) g20<1>F g10<8,8,1>F 1.0F\ncmp.l.f0.1 (8) null<1>W g1<8,8,1>W 5W\n"
    channels = run_program(assemble_eu(source)).channels
    assert (channels.possible, channels.enabled, channels.taken["predicate"]) == (25, 19, 6)
    assert channels.issued == {"mov UW 1": 1, "sel F 8": 1, "add F 8": 1, "cmp W 8": 1}


def test_regions_and_banks_are_counted() -> None:
    source = "add (8) g3<1>F g1<8,8,1>F g2.1<0,1,0>F\nmov (8) g4<1>D g10<16,8,2>W\nmov (8) g5<1>F g6<4,4,1>F {align16}"
    run = run_program(assemble_eu(source), config=EuConfig(count=3))
    assert run.usage.regions == {"packed": 3, "scalar": 3, "strided": 3, "swizzled": 3}
    assert run.usage.read == {"odd": 3, "even": 9} and run.usage.written == {"odd": 6, "even": 3}
