"""Command processor: uploads, programs, clears, draws and the swap of a frame, in order.

Geometry of a draw overlaps the fragments of the one before and the uploads of the next. While it moves bytes the
processor does not see that geometry or fragments have ended. Registers and uploads before the first draw are formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from attila_bridge.time.caches import TRANSACTION_BYTES
from attila_bridge.time.config import CommandConfig
from attila_bridge.time.gpu_box import BOTH, NOTHING, GpuBox, GpuBoxSpec, GpuBoxState
from attila_bridge.time.prepare import FRAGMENTS, VERTICES
from pixelflow.simd.units import Cycle

PHASES = ("Ready", "Draw", "EndGeometry", "EndFragment", "Clear", "MemoryWrite", "MemoryRead", "Swap")
"""States of the processor under the public simulator's names."""

STEPS_OF, FRAGMENTS_OF, UPLOADS_OF = "vertex", "fragment", "upload"
"""Streams of a frame: its steps, of draws their geometry; the fragments of draws; and uploads after the first draw."""

_GEOMETRY = ("fetch", "cache", "commit", "assembly", "clipper")


@dataclass
class CommandProcessorState(GpuBoxState):
    """State of the processor."""

    phases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))
    """Cycles in each state."""
    phase: str = "Ready"
    since: int = 0
    position: int = 0
    at: int = 0
    """Number of the present step."""
    held: int = -1
    """Number of the step that loads a program once the fragments have ended; -1: none."""
    until: int = -1
    """Cycle in which the present step ends, if known."""
    step: str = ""
    bytes_left: int = 0
    """Bytes of an upload not sent, or of a program not requested; `bytes_due` counts those not received."""
    bytes_due: int = 0
    address: int = 0
    """Address of the next bytes."""
    programs: int = 0
    """Programs whose loading has begun."""
    bus_until: int = 0
    returned: int = -1
    """Cycle in which a step that hides the ends of boxes was left."""
    ends: int = 0
    """Ends expected by a clear or swap."""
    geometry: int = -1
    """Draw whose vertices are processed; -1: none."""
    fragments: int = -1
    """Draw whose fragments are processed; -1: none."""
    next_fragments: int = -1
    """Draw whose geometry has begun and whose fragments wait; -1: none."""
    fragment_ends: int = 0
    geometry_begun: int = 0
    """Cycle in which the geometry of the present draw began."""
    rendered: int = 0
    begun: int = 0
    """Cycle in which the present step began."""
    fragments_begun: int = 0
    """Cycle in which the fragments of the present draw began."""
    spans: list[tuple[str, int, int, int]] = field(default_factory=list)
    """Finished steps: stream, number, first cycle, cycle past the last."""
    finished: bool = False
    wake: int = 0


class CommandProcessor(GpuBox[CommandProcessorState]):
    """Executes step after step, those of the next draw during the geometry of one."""

    section, suffix, label, holds = "command", "CP", "command", CommandProcessorState
    config: CommandConfig
    memory_bus = "command_bus"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        self.steps = spec.frame.steps
        self._held = {draw.fragment_program.address for draw in spec.frame.draws}
        gpu = spec.config.gpu
        rops, self._shaders = range(gpu.rops), range(gpu.shaders)
        self._rops = rops
        self._fragment = ("setup", "traversal", "hz", "fifo", *(f"{kind}{rop}" for rop in rops for kind in _KINDS))
        self.inputs = (
            "memory_data",
            "memory_state",
            *(f"{box}_ended" for box in ("clipper", "display")),
            *(f"{box}_ended" for box in self._fragment),
        )
        self.outputs = (
            "memory_request",
            *(f"{box}_command" for box in (*_GEOMETRY, *self._fragment)),
            *(f"shader{shader}_command" for shader in self._shaders),
        )

    def why_blocked(self) -> str | None:
        """A frame has to end."""
        s = self.state
        return None if s.finished else f"waits for the end of: {s.step or s.phase}"

    def tick(self, cycle: Cycle) -> None:
        """Take ends, continue with the present step, begin the next ones."""
        s = self.state
        s.cycle = cycle
        ended_fragments = self._ends(cycle)
        self._memory(cycle)
        if s.step in _TIMED and 0 <= s.until <= cycle:
            self._end_step(cycle)
        if not s.step and not s.finished and not ended_fragments:
            self._begin(cycle)
        phase = self._phase(cycle, ended_fragments)
        if phase != s.phase:
            s.phases[s.phase] += cycle - s.since
            s.phase, s.since = phase, cycle
        sent = s.begun if s.step in _SENT_FIRST else -1
        if ended_fragments or cycle <= max(s.returned, s.fragments_begun + 1, sent):
            s.wake = cycle + 1
        elif s.step in _TIMED and s.until > cycle:
            s.wake = s.until
        elif s.step in ("read", "upload") and s.bus_until > cycle:
            s.wake = s.bus_until
        elif s.step in ("read", "upload") and s.bytes_left and self.level("memory_state").value(cycle) != NOTHING:
            s.wake = cycle + 1
        else:
            s.wake = 0

    # --- ends ----------------------------------------------------------------------------------------------------

    def _ends(self, cycle: Cycle) -> bool:
        """Note ended boxes; return whether the last of a draw's fragments ended."""
        s, wires = self.state, self.wires
        seen = s.step not in ("read", "upload") and cycle > s.returned
        if seen and s.fragments == s.geometry and cycle > s.fragments_begun + 1 and wires["clipper_ended"].ready(cycle):
            wires["clipper_ended"].take(cycle)
            s.spans.append((STEPS_OF, self.steps.index(("draw", s.geometry)), s.geometry_begun, cycle))
            s.geometry, s.returned = -1, cycle
            seen = False
        if wires["display_ended"].ready(cycle):
            wires["display_ended"].take(cycle)
            s.ends -= 1
        for box in self._fragment:
            wire = wires[f"{box}_ended"]
            if wire.ready(cycle):
                for _ in wire.take_all(cycle):
                    if s.fragments >= 0:
                        s.fragment_ends -= 1
                    else:
                        s.ends -= 1
        if s.step in ("clear", "swap") and not s.ends:
            self._end_step(cycle)
        if seen and s.fragments >= 0 and s.geometry != s.fragments and not s.fragment_ends:
            if s.held >= 0 and not s.step:
                self._load(cycle, s.held)
                s.held = -1
                return False
            s.spans.append((FRAGMENTS_OF, self.steps.index(("draw", s.fragments)), s.fragments_begun, cycle))
            s.fragments = -1
            if s.next_fragments >= 0:
                self._start_fragments(cycle, s.next_fragments)
                s.next_fragments = -1
            return True
        return False

    def _phase(self, cycle: Cycle, ended_fragments: bool) -> str:
        """Return the state that this cycle counts for."""
        s = self.state
        if s.step in _STEP_PHASES and not (s.step in _SENT_FIRST and s.begun == cycle):
            return _STEP_PHASES[s.step]
        if ended_fragments:
            return "EndFragment"
        if s.fragments >= 0:
            return "Draw" if s.geometry == s.fragments else "EndGeometry"
        return "Ready"

    def _end_step(self, cycle: Cycle) -> None:
        """Record the present step and leave it."""
        s = self.state
        moves = s.step in ("read", "upload")
        later = (moves or s.step == "registers") and s.at > self.steps.index(("draw", 0))
        s.spans.append((UPLOADS_OF if later else STEPS_OF, s.at, s.begun, cycle))
        if moves:
            s.returned = cycle
        s.step = ""

    # --- steps ---------------------------------------------------------------------------------------------------

    def _begin(self, cycle: Cycle) -> None:
        """Begin the next step if possible."""
        s = self.state
        if s.position == len(self.steps):
            if s.fragments < 0 and s.geometry < 0:
                s.phases[s.phase] += cycle - s.since
                s.since = cycle
                s.finished = True
            return
        kind, argument = self.steps[s.position]
        idle = s.fragments < 0 and s.geometry < 0
        if not idle and (kind in ("clear", "frame", "swap") or not self.spec.config.gpu.pipelined_draws):
            return
        if s.next_fragments >= 0 or (kind in ("read", "registers", "draw") and s.geometry >= 0):
            return
        if kind == "read" and not idle and self.spec.frame.programs[s.programs][0] in self._held:
            s.held = s.position
            s.position += 1
            return
        s.at = s.position
        s.position += 1
        s.until = -1
        if kind == "draw":
            self._draw(cycle, argument)
            return
        if kind in ("ready", "write", "registers", "frame"):
            s.until = cycle + argument
        elif kind == "upload":
            s.address, s.bytes_left = self.spec.frame.uploads[argument]
            s.bus_until = cycle
            self._send(cycle)
        elif kind == "read":
            self._load(cycle, s.at)
            self._request(cycle)
        elif kind == "clear":
            self._clear(cycle, argument)
        else:
            s.rendered = cycle
            for rop in self._rops:
                self.wires[f"color{rop}_command"].send(cycle, ("swap", 0))
            s.ends = len(self._rops) + 1
        s.step, s.begun = kind, cycle

    def _load(self, cycle: Cycle, step: int) -> None:
        """Begin to load a program."""
        s = self.state
        s.step, s.at, s.begun = "read", step, cycle
        s.bytes_left = s.bytes_due = self.steps[step][1]
        s.address = self.spec.frame.programs[s.programs][0]
        s.programs += 1

    def _draw(self, cycle: Cycle, draw: int) -> None:
        s, wires = self.state, self.wires
        s.geometry, s.geometry_begun = draw, cycle
        for box in _GEOMETRY:
            wires[f"{box}_command"].send(cycle, ("draw", draw))
        for shader in self._shaders:
            resources = self.draws[draw].vertex_program.registers
            wires[f"shader{shader}_command"].send(cycle, (VERTICES, resources))
        if s.fragments < 0:
            self._start_fragments(cycle, draw)
        else:
            s.next_fragments = draw

    def _start_fragments(self, cycle: Cycle, draw: int) -> None:
        s, wires = self.state, self.wires
        s.fragments, s.fragments_begun = draw, cycle
        s.fragment_ends = len(self._fragment)
        for box in self._fragment:
            wires[f"{box}_command"].send(cycle, ("draw", draw))
        for shader in self._shaders:
            resources = self.draws[draw].fragment_program.registers
            wires[f"shader{shader}_command"].send(cycle, (FRAGMENTS, resources))

    def _clear(self, cycle: Cycle, buffer: int) -> None:
        s = self.state
        boxes = [f"{_KINDS[1 - buffer]}{rop}" for rop in self._rops] + (["hz"] if buffer else [])
        for box in boxes:
            self.wires[f"{box}_command"].send(cycle, ("clear", 0))
        s.ends = len(boxes)

    def _memory(self, cycle: Cycle) -> None:
        """Request the program being loaded, and take its bytes."""
        s, wires = self.state, self.wires
        data = wires["memory_data"]
        if data.ready(cycle):
            size = data.take(cycle)[2]
            s.bus_until = cycle + -(-size // self.spec.clients[0].width) - 1
            s.bytes_due -= size
        if s.step == "upload":
            self._send(cycle)
        elif s.step == "read":
            self._request(cycle)
            if not s.bytes_due and cycle >= s.bus_until:
                self._end_step(cycle)

    def _send(self, cycle: Cycle) -> None:
        """Send the next bytes of an upload, whose step ends once the last ones have left the bus."""
        s = self.state
        if s.bytes_left and cycle >= s.bus_until and self.level("memory_state").value(cycle) == BOTH:
            size = min(TRANSACTION_BYTES, s.bytes_left)
            self.wires["memory_request"].send(cycle, (True, s.address, size, self.client, 0))
            s.address += size
            s.bytes_left -= size
            s.bus_until = cycle + -(-size // self.spec.clients[0].width)
            if not s.bytes_left:
                s.until = s.bus_until + 1

    def _request(self, cycle: Cycle) -> None:
        """Request the next bytes of the program being loaded."""
        s = self.state
        if s.bytes_left and self.level("memory_state").value(cycle) != NOTHING and cycle >= s.bus_until:
            size = min(TRANSACTION_BYTES, s.bytes_left)
            self.wires["memory_request"].send(cycle, (False, s.address, size, self.client, 0))
            s.address += size
            s.bytes_left -= size


_KINDS = ("depth", "color")
_TIMED = ("ready", "write", "upload", "registers", "frame")
"""Steps that end in a cycle known before."""
_SENT_FIRST = ("upload", "swap")
"""Steps whose first cycle counts for the state before."""
_STEP_PHASES = {
    "ready": "Ready",
    "frame": "Ready",
    "write": "MemoryWrite",
    "upload": "MemoryWrite",
    "read": "MemoryRead",
    "clear": "Clear",
    "swap": "Swap",
}
