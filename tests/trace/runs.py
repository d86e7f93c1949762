"""Real runs with a tracer on them, and their traces as files of every format."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from microcode import assemble
from pixelflow.config import TINY, NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node import Node, Run
from pixelflow.observe import Bus
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.trace import EVERYTHING, Selection, Trace, TraceClock, Track, known_tracks
from pixelflow.simd.trace.formats import FORMATS, PERFETTO
from pixelflow.simd.trace.perfetto import read_perfetto
from pixelflow.simd.trace.trace_model import STREAMS
from tests.streams.exchanges import program as exchange
from tests.trace.readers import Checked, read_kanata, read_vcd

EXAMPLES = Path(__file__).resolve().parents[2] / "microcode" / "examples"
PATHS = ("store0", "store1", "from_gni0", "from_gni1", "from_gni2", "from_gni3", "network_out")
KNOWN = known_tracks(STREAMS, 4, PATHS, SEMAPHORES)
EIGC, TIGC = (Track.named(name) for name in STREAMS)

PING_PONG = """\
MARK "give"
loop 3
    LD R, #1
    SIGNAL 0
    WAIT 1
end
LD R, #2
stream tigc
MARK "take"
loop 3
    WAIT 0
    TAS_SetStep 1
    SIGNAL 1
end
"""
"""Two streams that wait for each other, three times."""


@dataclass(frozen=True)
class Traced:
    """A run, the trace of it, and the state of the PEs after it."""

    run: Run
    trace: Trace
    digest: str


def listen(bus: Bus, selection: Selection = EVERYTHING, mhz: int = 100) -> NodeTracer:
    """Put a new tracer on a bus."""
    tracer = NodeTracer(Trace(TraceClock(mhz), {"tool": "pixelflow-sim test"}), selection)
    tracer.attach(bus, KNOWN)
    return tracer


def traced(program: Program | str, selection: Selection = EVERYTHING, config: NodeConfig = TINY) -> Traced:
    """Run a program with a tracer on the bus of its node."""
    if isinstance(program, str):
        program = assemble(program)
    node = Node(config)
    tracer = listen(node.bus, selection)
    node.load(program)
    run = node.run(program)
    return Traced(run, tracer.trace, node.digest())


def exchanges(seed: int) -> Program:
    """Return a random program of two streams with transfers and semaphores."""
    return assemble(exchange(seed))


def written(trace: Trace, format: str) -> bytes:
    """Return the trace as a file of this format."""
    stream = io.BytesIO()
    FORMATS[format].write(trace, stream)
    return stream.getvalue()


def checked(data: bytes, format: str) -> Checked:
    """Return what a reader finds in a file: of Perfetto the strict one of the product, of the others one of ours."""
    if format == PERFETTO:
        trace = read_perfetto(io.BytesIO(data), "test.perfetto")
        counts = {
            "spans": sum(map(len, trace.spans.values())),
            "counter values": sum(map(len, trace.counters.values())),
            "arrows": len(trace.flows),
        }
        return Checked("perfetto", trace.legend, trace.begin, trace.end, trace.totals(), counts)
    return {"vcd": read_vcd, "kanata": read_kanata}[format](data)


def account(run: Run) -> dict[str, dict[str, int]]:
    """Return the cycles of a run as traces must show them: by track and heading, without those that are none."""
    found = {}
    for each in run.streams:
        waits = {f"wait {reason}": cycles for reason, cycles in each.waits.items()}
        found[each.stream] = {"busy": each.busy, **waits}
    found |= {f"tasic[{module}]": {"busy": cycles} for module, cycles in enumerate(run.tasic_cycles)}
    found |= {f"gni {path}": {"busy": cycles} for path, cycles in run.gni_cycles.items()}
    return nonzero(found)


def nonzero(totals: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Leave out headings without cycles, and tracks without headings."""
    kept = {track: {what: n for what, n in cycles.items() if n} for track, cycles in totals.items()}
    return {track: cycles for track, cycles in kept.items() if cycles}
