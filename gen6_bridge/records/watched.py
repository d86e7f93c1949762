"""Kernels beside themselves under watch: nothing that subscribers are told of changes a bit or a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gen6_bridge.records.files import Entry, Judged, judged
from gen6_bridge.records.kernels import LONGEST, kernel_unit
from gen6_bridge.time import EuConfig, Stretches, ThreadTraces, schedule
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault

__all__ = ["judge_watched"]


def judge_watched(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Carry each kernel out with and without a subscriber, and schedule it with and without."""

    def check(position: int) -> Iterator[str]:
        try:
            yield from _differences(entries[position])
        except (CycleLimitError, MachineFault, InputError) as error:
            yield f"refused: {error}"

    yield from judged(kind, path, names, check)


def _differences(entry: Entry) -> Iterator[str]:
    (alone, sent), (watched, told) = kernel_unit(entry), kernel_unit(entry)
    traces = ThreadTraces(watched)
    alone.run(limit=LONGEST)
    watched.run(traces, limit=LONGEST)
    for what, mine, theirs in (
        ("registers", watched.memory.data, alone.memory.data),
        ("f0", watched.flags, alone.flags),
        ("instructions issued", watched.issued, alone.issued),
    ):
        if (mine != theirs).any():
            yield f"{what}: other than where nobody watches"
    if [each.payload.tobytes() for each in told.requests] != [each.payload.tobytes() for each in sent.requests]:
        yield "messages: other than where nobody watches"
    noted: list[int] = []

    def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
        noted.append(instruction)

    config = EuConfig()
    cycles = schedule(watched.instructions, traces.steps, config).cycles
    seen = schedule(watched.instructions, traces.steps, config, watcher=issued, carrier=lambda *rest: None).cycles
    if seen != cycles or noted != [step.number for step in traces.steps[0]]:
        yield f"cycles: {seen}, where nobody watches {cycles}"
