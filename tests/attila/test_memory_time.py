"""Memory, caches and compression of the machine against cycles and lines worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from attila_bridge.run import run_scene
from attila_bridge.time.caches import Tags, Transaction
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.gpu_box import BOTH, Client, GpuBoxSpec
from attila_bridge.time.memory_controller import MemoryController
from attila_bridge.time.rop_cache import COLOR_LEVELS, DEPTH_LEVELS, compressed_bytes
from pixelflow.simd.boxes import Box, Clock, Netlist
from pixelflow.simd.units import Cycle
from tests.attila.bench import frame_of
from tests.attila.recorded import drawn, quad, scene_of

PAGE = 4 * 4096
"""Bytes from page to page of one of four channels."""


@dataclass(frozen=True)
class Requests:
    transactions: tuple[Transaction, ...]


@dataclass
class Answers:
    sent: int = 0
    cycles: list[int] = field(default_factory=list)


class Asker(Box[Requests, Answers]):
    """Sends a transaction a cycle from cycle 100 on, and notes when answers come."""

    inputs = ("data", "state")
    outputs = ("request",)

    def __init__(self, transactions: list[Transaction]) -> None:
        super().__init__("asker", Requests(tuple(transactions)), Answers())

    def next_event(self) -> Cycle | None:
        s = self.state
        return Cycle(100 + s.sent) if s.sent < len(self.spec.transactions) else None

    def tick(self, cycle: Cycle) -> None:
        s = self.state
        self.level("state").value(cycle)
        s.cycles += [int(cycle) for _ in self.wires["data"].take_all(cycle)]
        if s.sent < len(self.spec.transactions) and cycle == 100 + s.sent:
            self.wires["request"].send(cycle, self.spec.transactions[s.sent])
            s.sent += 1


def answers(*accesses: tuple[bool, int], config: AttilaConfig = PAPER) -> tuple[list[int], dict[str, int]]:
    """Return the cycles in which reads are answered, and what the controller counted."""
    client = Client(0, "asker", "ColorWrite", 64)
    asker = Asker([(write, address, 64, 0, number) for number, (write, address) in enumerate(accesses)])
    memory = MemoryController("memory", GpuBoxSpec(config, frame_of(), clients=(client,)))
    net = Netlist("test")
    net.add(asker)
    net.add(memory)
    net.connect("request", (asker, "request"), (memory, client.request))
    net.connect("data", (memory, client.data), (asker, "data"))
    net.connect_level("state", (memory, client.state), (asker, "state"), BOTH)
    for number in range(4):
        ports = (memory, f"module{number}"), (memory, f"module{number}_back")
        net.connect(f"module{number}", *ports, latency=10)
    Clock(net).run(10_000)
    return asker.state.cycles, memory.state.counts


READ, WRITE = False, True


def test_a_read_takes_its_latencies() -> None:
    """Sent in 100, there in 101, data in 111 to 114, the bus reserved in 115, sent back in 116, there in 117.

    In all cycles but that of the request and those of the data the memory idles.
    """
    cycles, counts = answers((READ, 0))
    assert cycles == [117] and counts["IdleCycles"] == 118 - 1 - 4
    assert counts["DataCycles00"] == 4 and counts["ReadBytesMemoryBus00"] == counts["ColorWriteReadBytes"] == 64


def test_reads_of_a_page_follow_each_other() -> None:
    """A transaction holds its channel for four cycles."""
    cycles, counts = answers(*((READ, 64 * number) for number in range(4)))
    assert [later - earlier for earlier, later in pairwise(cycles)] == [4, 4, 4]
    assert counts["OpenPages00"] == 0, "page 0 is open at the beginning"


def test_another_page_waits_until_it_may_be_opened() -> None:
    """Even pages share one open page, odd ones another: page 2 closes page 0, page 1 does not."""
    first, counts = answers((READ, 0), (READ, 2 * PAGE), (READ, 0))
    assert [later - earlier for earlier, later in pairwise(first)] == [20, 20]
    assert counts["OpenPages00"] == 2 and counts["OpenPagePenalty00"] == 2 * 16
    both, counts = answers((READ, PAGE), (READ, 0), (READ, PAGE), (READ, 0))
    assert [later - earlier for earlier, later in pairwise(both)] == [4, 4, 4]
    assert counts["OpenPages00"] == 1


def test_a_page_opens_with_its_transaction() -> None:
    """The second read waits from 114 to 117 for the only buffer; a write of page 0, in 115, finds it still open."""
    elsewhere = ((WRITE, 256 + 1024 * number) for number in range(12))
    _, counts = answers(
        (READ, 0),
        (READ, 2 * PAGE),
        *elsewhere,
        (WRITE, 64),
        config=PAPER.with_values({"memory.read_buffers": 1, "memory.max_reads": 1, "memory.page_open": 13}),
    )
    assert counts["OpenPages00"] == 1


def test_channels_work_side_by_side() -> None:
    """Four reads of four channels: one is sent a cycle, and the bus of 64 bytes takes an answer a cycle at best."""
    cycles, counts = answers(*((READ, 256 * number) for number in range(4)))
    assert cycles[-1] - cycles[0] <= 2 * 3
    assert [counts[f"DataCycles{channel:02}"] for channel in range(4)] == [4, 4, 4, 4]


def test_a_line_is_reserved_until_it_was_used() -> None:
    tags = Tags(ways=2, sets=1, requests=4)
    lines = [tags.fetch(block) for block in (7, 8)]
    assert sorted(lines) == [0, 1] and tags.misses_ok == 2
    assert tags.fetch(9) == -1 and tags.failed_reserved == 1, "both lines are reserved"
    for _ in range(2):
        tags.finish(tags.queue.popleft(), False)
    tags.release(lines[0])
    assert tags.fetch(9) == lines[0] and tags.fetch(8) == lines[1]
    assert tags.counted()["HitsFetch"] == 1 and tags.counted()["MissFailReserveFetch"] == 1


def test_no_more_misses_than_requests() -> None:
    tags = Tags(ways=4, sets=1, requests=2)
    assert [tags.fetch(block) >= 0 for block in (1, 2, 3)] == [True, True, False]
    assert tags.failed_queue == 1
    assert tags.finish(tags.queue.popleft(), False)
    assert tags.fetch(3) >= 0


def test_a_dirty_line_is_written_back_before_it_is_read() -> None:
    tags = Tags(ways=1, sets=2, requests=2)
    line = tags.allocate(4)
    tags.dirty[line] = True
    tags.release(line)
    assert tags.fetch(6) == line
    request = tags.queue.popleft()
    assert (request.old, request.block, request.spill, request.fill, request.masked) == (4, 6, True, True, True)
    assert not tags.finish(request, True)
    assert tags.replacing[line]
    assert tags.finish(request, False) and not tags.replacing[line]


def test_a_flush_writes_every_valid_line() -> None:
    tags = Tags(ways=2, sets=2, requests=2)
    for block in range(3):
        line = tags.allocate(block)
        tags.use(line)
        tags.release(line)
    assert not tags.flush()
    while tags.queue:
        tags.finish(tags.queue.popleft(), True)
    assert not tags.flush(), "the third"
    tags.finish(tags.queue.popleft(), True)
    assert tags.flush()


@pytest.mark.parametrize(
    ("words", "color", "depth"),
    [
        ([7] * 64, 64, 64),
        ([number % 32 for number in range(64)], 64, 64),
        ([number << 7 for number in range(64)], 128, 128),
        ([number << 15 for number in range(64)], 256, 192),
        ([number << 24 for number in range(64)], 256, 256),
        ([0xFF000000] * 32 + [0x000000FF] * 32, 64, 64),
        ([0xFF000000] * 32 + [0x00FF0000] * 31 + [0x000000FF], 256, 256),
        ([1000] * 63 + [1000 + (1 << 20)], 64, 64),
    ],
)
def test_lines_are_as_short_as_their_words_allow(words: list[int], color: int, depth: int) -> None:
    assert compressed_bytes(words, 256, COLOR_LEVELS) == color
    assert compressed_bytes(words, 256, DEPTH_LEVELS) == depth


def test_a_frame_ends_with_a_narrow_bus_of_a_colour_unit_too() -> None:
    """Two layers over 128x128 pixels are more than the caches hold; 64 bytes take 4 cycles on a bus of 16."""
    state = {"depth": {"func": "lequal", "write": True}, "blend": {"src": "one", "dst": "one"}}
    colors = np.random.default_rng(1).random((12, 4)).tolist()
    corners = [*quad(0, 0, 128, 128, 0.7), *quad(0, 0, 128, 128, 0.4)]
    scene = scene_of(drawn(corners, colors, state=state), size=(128, 128), clear={"color": [0, 0, 0, 1], "depth": 1.0})
    wide, narrow = (run_scene(scene, config=PAPER.with_values({"memory.color_bus": width})) for width in (64, 16))
    assert narrow.cycles != wide.cycles and sum(narrow.timed.phases.values()) + 1 == narrow.cycles
