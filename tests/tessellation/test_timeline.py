"""Is the timeline of a pass (figure 13) what was executed: no gap, no overlap, waits where a stream waited?"""

from __future__ import annotations

from itertools import pairwise

import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Node, StageSpan, timeline
from pixelflow.simd.errors import InputError
from tessellation.plan.schedule import Stage
from tessellation.reproduction import ThesisBench


def test_a_wait_of_each_stream():
    run = Node(TINY).run(
        assemble(
            'MARK "a"\nLD R, [0]\nWAIT 0\nMARK "b"\nSIGNAL 1\nHALT\n'
            'stream tigc\nMARK "c"\nTAS_SetCounter 0\nSIGNAL 0\nMARK "d"\nWAIT 1\nHALT\n'
        )
    )
    arrival, back = run.cycles, run.beside.cycles
    assert timeline(run) == (
        StageSpan("a", "eigc", 0, arrival, 1, 0, arrival - 1),
        StageSpan("c", "tigc", 0, 1, 1, 0, 0),
        StageSpan("d", "tigc", 1, back, 0, 0, back - 1),
    )
    assert back - arrival == arrival - 1 > 0, "both signals take as long on their wires"


def test_a_stream_without_a_mark_is_one_span_of_its_own_name():
    """The TIGC, with a mark, has what precedes it; names that reports give are no stages' names."""
    run = Node(TINY).run(
        assemble(
            'LD R, [0]\nADD R, #1\nHALT\nstream tigc\nTAS_SetCounter 0\nMARK "c"\nTAS_SetCounter 0\nTAS_SetCounter 0\n'
        )
    )
    assert [(span.name, span.stream, span.start, span.end) for span in timeline(run)] == [
        ("(all)", "eigc", 0, run.cycles),
        ("(before)", "tigc", 0, 1),
        ("c", "tigc", 1, run.beside.cycles),
    ]
    assert run.by_stage == {"(all)": run.cycles} and run.beside.by_stage == {"(before)": 1, "c": run.beside.cycles - 1}
    waiting = Node(TINY).run(assemble("WAIT 0\nHALT\nstream tigc\nSIGNAL 0\nHALT\n"))
    assert waiting.waits_by_stage == {"(all)": {"sem 0": waiting.waits["sem 0"]}}
    for name in ("(all)", "(before)", "(end)"):
        with pytest.raises(InputError, match=r"name"):
            assemble(f'MARK "{name}"\nHALT\n')


@pytest.mark.parametrize("schedule", ["thesis", "shared-columns"])
def test_spans_follow_each_other_and_sum_to_the_account(schedule):
    run = ThesisBench().tessellation(4, schedule=schedule)
    spans = timeline(run)
    for account in run.streams:
        own = [span for span in spans if span.stream == account.stream]
        assert [own[0].start, own[-1].end] == [0, account.cycles]
        assert all(one.end == other.start for one, other in pairwise(own))
        assert all(span.busy + span.transfer + span.wait == span.cycles > 0 for span in own)
        assert sum(span.busy for span in own) == account.busy
        assert sum(span.transfer for span in own) == account.waits.get("transfer", 0)
        assert sum(span.transfer + span.wait for span in own) == sum(account.waits.values())
        for name, cycles in account.by_stage.items():
            named = [span for span in own if span.name == name]
            assert sum(span.cycles for span in named) == cycles
            waits = account.waits_by_stage.get(name, {})
            assert sum(span.transfer for span in named) == waits.get("transfer", 0)
            assert sum(span.transfer + span.wait for span in named) == sum(waits.values())
        assert any(span.transfer for span in own) == (account.stream == "tigc")


def test_the_emcs_wait_once_and_the_transfers_wait_for_them():
    """Section 5 of figure 13: the process is computation bound, so that all stalls are in the transfers."""
    spans = timeline(ThesisBench().tessellation(4))
    emcs = [span for span in spans if span.stream == "eigc" and span.wait]
    assert [span.name for span in emcs] == [Stage.FIRST_STALL.value]
    reads = [span for span in spans if span.stream == "tigc" and span.name.startswith("read")]
    assert [span.name for span in reads] == [Stage.read(number) for number in range(1, 16)]
    assert {span.wait for span in reads} == {0}, "a read that has begun waits for nobody"
    assert all(span.transfer == span.cycles - span.busy > 0 for span in reads)
    waits = [span for span in spans if span.name == Stage.PORTS.value]
    assert len(waits) == 15 and all(span.wait >= span.cycles - 8 for span in waits)
