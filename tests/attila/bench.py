"""Bench for a single box: it sends what a script says, on wires like the machine's, and notes what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from attila_bridge.function.work import AttributeWork, InstructionWork, ProgramWork
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes, netlist
from attila_bridge.time.prepare import BatchPlan, DrawPlan, FramePlan, ReadPlan, TrianglePlan
from pixelflow.simd.boxes import Box, Clock, Level, Netlist, Sent
from pixelflow.simd.units import Cycle

__all__ = ["Send", "arrivals", "frame_of", "plan", "program"]

Send = tuple[int, str, Any] | tuple[int, str, Any, int]
"""The cycle in which something arrives at the box, at which port, the item, and how much it counts as."""


@dataclass(frozen=True)
class Script:
    sends: tuple[Send, ...]


@dataclass
class Position:
    next: int = 0


class Bench(Box[Script, Position]):
    """Everything around a box: sends its inputs so that they arrive when the script says, and reads its outputs."""

    def __init__(self, sends: Sequence[Send], inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        super().__init__("bench", Script(tuple(sends)), Position())
        self.inputs, self.outputs = inputs, outputs

    def _due(self, send: Send) -> int:
        return send[0] - self.wires[send[1]].latency

    def wired(self) -> None:
        self._order = sorted(self.spec.sends, key=self._due)
        assert not self._order or self._due(self._order[0]) >= 0

    def next_event(self) -> Cycle | None:
        s = self.state
        return Cycle(self._due(self._order[s.next])) if s.next < len(self._order) else None

    def tick(self, cycle: Cycle) -> None:
        s = self.state
        for port in self.inputs:
            self.wires[port].take_all(cycle)
        while s.next < len(self._order) and self._due(self._order[s.next]) == cycle:
            _, port, item, *amount = self._order[s.next]
            wire = self.wires[port]
            if isinstance(wire, Level):
                wire.drive(cycle, item)
            else:
                wire.send(cycle, item, *amount)
            s.next += 1


def frame_of(
    *draws: DrawPlan,
    steps: Sequence[tuple[str, int]] = (),
    blocks: int = 64,
    written: tuple[tuple[int, int], ...] = (),
    uploads: tuple[tuple[int, int], ...] = (),
) -> FramePlan:
    """Return a frame of draws; programs that its steps read begin at pages of memory."""
    programs = tuple((4096 * at, size) for at, size in enumerate(size for kind, size in steps if kind == "read"))
    rest = 4096, 0, 1 << 20, 0, 0xFFFFFF, programs, 0
    return FramePlan(draws, tuple(steps), blocks, *rest, uploads=uploads, written=written)


def arrivals(
    pick: Callable[[Boxes], Any],
    sends: Sequence[Send],
    *draws: DrawPlan,
    config: AttilaConfig = PAPER,
    steps: Sequence[tuple[str, int]] = (),
    until: int = 2000,
    blocks: int = 64,
    written: tuple[tuple[int, int], ...] = (),
    uploads: tuple[tuple[int, int], ...] = (),
) -> dict[str, list[tuple[int, Any]]]:
    """Drive one box of the machine; return, by output port, the cycle in which each item can be read, and the item.

    Wires have the latencies and widths that they have in the machine, those from the box to itself too.
    """
    frame = frame_of(*draws, steps=steps, blocks=blocks, written=written, uploads=uploads)
    around, boxes = Boxes(config, frame), Boxes(config, frame)
    netlist(around)
    like, box = pick(around), pick(boxes)
    port_of = {wire.name: port for port, wire in like.wires.items() if port in like.outputs}
    loops = {port: port_of[like.wires[port].name] for port in like.inputs if like.wires[port].name in port_of}
    inputs = tuple(port for port in like.inputs if port not in loops)
    outputs = tuple(port for port in like.outputs if port not in loops.values())
    bench = Bench(sends, outputs, inputs)
    net = Netlist("bench")
    net.add(bench)
    net.add(box)
    for port in (*inputs, *outputs):
        wire = like.wires[port]
        ends = ((bench, port), (box, port)) if port in inputs else ((box, port), (bench, port))
        if isinstance(wire, Level):
            net.connect_level(port, *ends, wire.seen, latency=wire.latency)
        else:
            net.connect(port, *ends, latency=wire.latency, bandwidth=wire.bandwidth, unit=wire.unit)
    for port, source in loops.items():
        wire = like.wires[port]
        net.connect(source, (box, source), (box, port), latency=wire.latency, bandwidth=wire.bandwidth, unit=wire.unit)
    found: dict[str, list[tuple[int, Any]]] = {port: [] for port in (*outputs, *loops.values())}

    def note(sent: Sent) -> None:
        if sent.wire in found:
            found[sent.wire].append((int(sent.arrives), sent.item))

    Clock(net, watchers=(note,)).run_until(until)
    return found


def program(*instructions: InstructionWork, inputs: int = 1, outputs: int = 1, temporaries: int = 1) -> ProgramWork:
    """Return a program; without instructions one of a MOV and its end."""
    return ProgramWork(instructions or (InstructionWork(4, (), -1, -1, True),), inputs, outputs, temporaries, None)


_PLAIN: Mapping[str, object] = {
    "number": 0, "indices": [0, 1, 2], "attributes": (AttributeWork(0, 0, 16, 16),), "index_bytes": 0,
    "index_address": 0,
    "triangles": (TrianglePlan(3, 3, 4, 100.0),), "batches": (BatchPlan(1, 0, ((0, 1, 0),)),),
    "vertex_program": program(), "fragment_program": program(), "early": True, "hierarchical": False,
    "culls_equal": True, "tests": False, "blends": False, "color_mask": 15, "color_bytes": (1 << 16) - 1,
    "fragment_inputs": 1, "first_textures": 0, "step_quads": [(0,)], "blocks": [0],
    "rops": bytes(4), "shaders": bytes(4), "steps_inside": [(15, 0, 0, 0, 1)], "steps_covered": [4],
    "nearest": [0] * 64, "tested": b"\x0f" * 64, "to_depth": b"\x0f" * 64,
    "to_color": b"\x0f" * 64, "depth_words": [0] * 256, "color_words": [7] * 256,
    "reads": tuple[ReadPlan, ...](),
}  # fmt: skip


def plan(**changes: object) -> DrawPlan:
    """Return a draw of one triangle that covers one quad of one step, with changes."""
    values: dict[str, Any] = {**_PLAIN, **changes}
    return DrawPlan(**{each.name: values[each.name] for each in fields(DrawPlan)})
