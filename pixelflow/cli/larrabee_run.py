"""The action ``pixelflow larrabee run``: one program on the vector unit, its cycles, registers and memory."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError, count
from pixelflow.cli.core_values import core_config
from pixelflow.cli.output import STANDARD_STREAM
from pixelflow.cli.programs import add_parameter_option, read_program
from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.config import leaves

if TYPE_CHECKING:
    from larrabee_bridge.core import Core, CoreConfig
    from larrabee_bridge.core.threads import SharedCore, ThreadTrace
    from larrabee_bridge.unit.vector_unit import VectorUnit
    from pixelflow.isa import Program

LARGEST = 4096
"""Most bytes of memory that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the program and what to show of its end."""
    add = parser.add_argument
    add("program", metavar="PROG.mc", help="source or object file; - is standard input; or a shipped one: blocks.mc")
    add_parameter_option(parser)
    add("--threads", type=count, default=1, metavar="N", help="threads side by side, r0 holds each one's number")
    add("--per-core", type=count, metavar="N", help="also time cores on which N threads take turns")
    add("--show", action="append", default=[], metavar="REGISTERS", help="v1,k1,r1 of thread 0 at the end (repeatable)")
    add("--memory", action="append", default=[], metavar="RANGE", help="a range, or START:BYTES, as words (repeatable)")
    add("--as", dest="form", choices=("hex", "int", "float"), default="int", help="how words are shown (default: int)")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="a value of the core model")


def run(args: argparse.Namespace) -> int:
    """Run the program and report."""
    from larrabee_bridge.core import Core
    from larrabee_bridge.core.threads import ThreadTrace
    from larrabee_bridge.unit.program import TARGET
    from larrabee_bridge.unit.vector_unit import VectorUnit

    screen = Screen.of(args)
    config = core_config("-D", args.overrides)
    if config.caches and args.per_core is None:
        raise UsageError("-D caches=true", "caches belong to cores that threads share", "add --per-core 4")
    program = read_program(_path(args.program), args.parameters, TARGET)
    unit = VectorUnit(program, args.threads)
    registers = [name for names in args.show for name in _registers(names)]
    memory = {text: _span(text, unit) for text in args.memory}
    unit.set_scalar(0, list(range(args.threads)))
    core = Core(program, args.threads, config)
    recording = ThreadTrace(args.threads)

    def listen(*step: Any) -> None:
        core(*step)
        if args.per_core is not None:
            recording(*step)

    unit.run(listen)
    cores = _cores(program, recording, args.per_core, config)
    shown = {name: _register(unit, name) for name in registers}
    words = {text: _words(unit, *span) for text, span in memory.items()}
    if screen.json:
        screen.object("pixelflow.larrabee-run/1", **_object(unit, core, cores, shown, words))
    else:
        _report(screen, args, unit, core, cores, shown, words)
    return 0


def _path(given: str) -> str:
    """Return the path of a program; a bare name that is no file here may be that of a shipped one."""
    if given == STANDARD_STREAM or Path(given).name != given or Path(given).exists():
        return given
    shipped = resources.files("larrabee_bridge").joinpath("programs", given)
    return str(shipped) if shipped.is_file() else given


def _registers(names: str) -> list[str]:
    from larrabee_bridge.isa import NAMES

    found = [name.strip() for name in names.split(",")]
    for name in found:
        if name not in NAMES:
            raise UsageError(f"--show {names}", f"there is no register {name}", "v0..v31, k0..k7, r0..r15")
    return found


def _register(unit: VectorUnit, name: str) -> list[int]:
    """Return a register of thread 0: sixteen words of a vector, or one number."""
    place = int(name[1:])
    if name[0] == "v":
        return unit.vector(place)[0].tolist()
    return [int((unit.mask if name[0] == "k" else unit.scalar)(place)[0])]


def _span(text: str, unit: VectorUnit) -> tuple[int, int]:
    """Return first byte and size of a range of the program, or of START:BYTES."""
    ranges = {each.name: (each.start, each.size) for each in unit.program.ranges}
    start, colon, size = text.partition(":")
    if text in ranges:
        start, size = ranges[text]
    elif colon and start.isdigit() and size.isdigit():
        start, size = int(start), int(size)
    else:
        hint = f"ranges: {', '.join(ranges)}; or START:BYTES" if ranges else "write START:BYTES"
        raise UsageError(f"--memory {text}", "is no range of the program", hint)
    if start % 4 or size % 4 or not 0 < size <= LARGEST or start + size > unit.memory.size:
        raise UsageError(f"--memory {text}", f"whole words inside the memory are shown, {LARGEST} bytes at most")
    return start, size


def _words(unit: VectorUnit, start: int, size: int) -> list[int]:
    return [int.from_bytes(bytes(unit.memory.data[0, at : at + 4]), "little") for at in range(start, start + size, 4)]


def _formed(words: list[int], form: str) -> list[str]:
    if form == "hex":
        return [f"{word:08x}" for word in words]
    if form == "int":
        return [str(word - (word >> 31 << 32)) for word in words]
    import struct

    return [f"{struct.unpack('<f', struct.pack('<I', word))[0]:g}" for word in words]


def _misses(core: SharedCore) -> dict[str, int | None]:
    return {"l1_misses": core.l1_misses, "l2_misses": core.l2_misses}


def _share(core: SharedCore) -> float:
    return core.issued / core.cycles


def _cores(program: Program, recording: ThreadTrace, threads: int | None, config: CoreConfig) -> list[SharedCore]:
    """Return what cores with so many threads each did; none where nobody asked."""
    from larrabee_bridge.core.threads import take_turns

    if threads is None:
        return []
    return [
        take_turns(program, recording.steps[first : first + threads], config)
        for first in range(0, recording.threads, threads)
    ]


def _object(
    unit: VectorUnit, core: Core, cores: list[SharedCore], shown: dict[str, list[int]], words: dict[str, list[int]]
) -> dict[str, Any]:
    from larrabee_bridge.core import invented

    return {
        "program": {"name": unit.program.name, "sha256": unit.program.sha256},
        "threads": unit.threads,
        "cycles": core.cycles.tolist(),
        "paired": core.paired.tolist(),
        "waited": core.waited.tolist(),
        "lines": core.lines.tolist(),
        "instructions": {family.value: counts.tolist() for family, counts in core.counts.items()},
        "vector_share": core.vector_share,
        "cores": [
            {"cycles": each.cycles, "issued": each.issued, "paired": each.paired, **_misses(each)} for each in cores
        ]
        or None,
        "config": {key: value for key, _, value, _ in leaves(core.config)},
        "invented": invented(core.config),
        "registers": shown,
        "memory": words,
    }


def _report(
    screen: Screen,
    args: argparse.Namespace,
    unit: VectorUnit,
    core: Core,
    cores: list[SharedCore],
    shown: dict[str, list[int]],
    words: dict[str, list[int]],
) -> None:
    from larrabee_bridge.core import invented

    name = Path(args.program).name
    screen.text(f"{name}: {counted(unit.threads, 'thread')}; sha256 {unit.program.sha256[:12]}")
    screen.text()
    columns = [Column("per thread"), *(Column(each, numbers=True) for each in ("fewest", "mean", "most"))]
    carried_out = sum(core.counts.values())
    figures = {
        "cycles alone on a core": core.cycles,
        "instructions": carried_out,
        "of them paired": core.paired,
        "cycles waited for a result": core.waited,
        "cache lines touched": core.lines,
    }
    rows = [
        [what, number(int(each.min())), number(float(each.mean())), number(int(each.max()))]
        for what, each in figures.items()
    ]
    if cores:
        cycles = [each.cycles for each in cores]
        share = [f"{each.issued / each.cycles:.0%}" for each in (min(cores, key=_share), max(cores, key=_share))]
        label = f"core of {args.per_core}: "
        rows.append([f"{label}cycles", number(min(cycles)), number(sum(cycles) / len(cycles)), number(max(cycles))])
        rows.append([f"{label}cycles with an issue", share[0], "", share[1]])
        for name in _misses(cores[0]) if core.config.caches else ():
            missed = [_misses(each)[name] or 0 for each in cores]
            row = [number(min(missed)), number(sum(missed) / len(missed)), number(max(missed))]
            rows.append([f"{label}{name.replace('_', ' ').replace('l', 'L', 1)}", *row])
    screen.table(columns, rows)
    screen.text()
    total = int(carried_out.sum())
    mix = [
        [family.value, number(int(counts.sum())), f"{counts.sum() / total:.0%}"]
        for family, counts in core.counts.items()
        if counts.any()
    ]
    screen.table([Column("instructions"), Column("count", numbers=True), Column("share", numbers=True)], mix)
    screen.text(f"share of the vector unit: {core.vector_share:.2f}")
    for label, values in (shown | words).items():
        screen.text()
        scalar = len(values) == 1
        text = _formed(values, "hex" if label[0] == "k" and scalar else args.form)
        screen.paragraph(f"{label}: {' '.join(text)}")
    screen.text()
    hits = "" if core.config.caches else "; every access hits the L1 cache"
    screen.paragraph(f"no source on Larrabee gives: {', '.join(invented(core.config))}{hits}")
