"""Runs that are known by their trace alone: of a program on another machine, or read from a trace file."""

from __future__ import annotations

from pathlib import PurePath

from pixelflow.cli.watch.trace_files import reading
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.machine import Code, Configuration, MachineRecord, machine_named, machine_names, machines
from pixelflow.simd.observe import Bus
from pixelflow.simd.telling import Telling
from pixelflow.simd.trace import Selection, Trace, TraceClock, Tracer, tracks_of_streams
from pixelflow.simd.trace.formats import FORMATS
from pixelflow.simd.trace.read.perfetto import read_perfetto
from pixelflow.view import TracedRun

__all__ = ["is_trace_file", "machine_of", "trace_run", "traced_file", "traced_run"]

_SHOWN = Selection(only=("*", "queue *"))
"""Everything but the single items of wires, which are more than all the rest."""
_ZIPPED = ".gz"


def is_trace_file(name: str) -> bool:
    """Whether a name has the suffix of a trace, compressed or not."""
    return PurePath(name.removesuffix(_ZIPPED)).suffix in {each.suffix for each in FORMATS.values()}


def trace_run(
    machine: MachineRecord[Code, Configuration],
    code: Code,
    file: str,
    *,
    config: Configuration | None = None,
    progress: Telling | None = None,
) -> TracedRun:
    """Run a program, or a scene, on a machine to its end, and return its trace.

    Raises SimulatorError for what the machine cannot run; ``progress`` hears of scenes how far they have come.
    """
    clock = machine.clock_mhz(machine.configuration() if config is None else config)
    tracer: Tracer = Tracer(Trace(TraceClock(clock), {"machine": machine.name}), _SHOWN)
    bus = Bus()
    tracer.attach(bus, tracks_of_streams(machine.target.streams))
    if progress is not None:
        progress(f"{machine.title} runs {file}")
    machine.run(code, config=config, bus=bus)
    program = code if isinstance(code, AssembledProgram) else None
    return traced_run(tracer.trace, file, machine.title, program)


def traced_file(file: str) -> TracedRun:
    """Return the run of a Perfetto trace; raises InputError for other formats, and for a trace with faults."""
    with reading(file) as (format, stream):
        if format is not FORMATS["perfetto"]:
            message = f"a {format.name} trace lacks what the timeline needs: {format.loses}"
            raise InputError(Fault(message, Place(file), "give the Perfetto trace of the run"))
        trace = read_perfetto(stream, file)
    name = trace.header.get("machine", "")
    title = machine_named(name).title if name in machine_names() else name
    return traced_run(trace, PurePath(file).name, title)


def traced_run(trace: Trace, file: str, machine: str = "", program: AssembledProgram | None = None) -> TracedRun:
    """Return a trace as a run to look into; raises InputError where nothing is in it."""
    if not trace.end > trace.begin or not trace.events:
        raise InputError(Fault("the trace is empty: no cycle of a run is in it", Place(file) if file else None))
    return TracedRun(trace.header.get("program") or "program", file, machine, trace, program)


def machine_of(program: AssembledProgram) -> MachineRecord[AssembledProgram, Configuration]:
    """Return the machine whose programs are of this class; raises InputError where none is registered."""
    for machine in machines():
        if machine.read is None and machine.target.program is type(program):
            return machine
    raise InputError(
        Fault(f"no machine runs a {type(program).__name__}", hint=f"machines: {', '.join(machine_names())}")
    )
