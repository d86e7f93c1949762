"""The actions ``pixelflow larrabee run`` and ``kernels``: a program and its registers; kernels on many cores."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from larrabee_bridge.kernels.catalogue import STUDIES
from larrabee_bridge.kernels.study import kernels_report, list_of
from larrabee_bridge.machine import run_program
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import NAMES
from larrabee_bridge.vpu.program import MEMORY_BYTES, TARGET, VectorProgram
from pixelflow.cli.arguments import count
from pixelflow.cli.machine_values import configured
from pixelflow.cli.picture_files import write_picture
from pixelflow.cli.programs import add_parameter_option, read_program
from pixelflow.cli.screen import STANDARD_STREAM, Progress, Screen, check_writable
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import UsageError, nearest
from pixelflow.simd.files import shipped
from pixelflow.simd.report import Report
from tessellation.picture.preview import require_pillow

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
    forms = ("hex", "int", "float", "double")
    add("--as", dest="form", choices=forms, default="int", help="how words are shown (default: int); double: two each")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="a value of the core model")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program and report."""
    config = configured(CoreConfig, "-D", args.overrides)
    if config.caches and args.per_core is None:
        raise UsageError("-D caches=true", "caches belong to cores that threads share", "add --per-core 4")
    program = read_program(_path(args.program), args.parameters, TARGET)
    registers = [name for names in args.show for name in _registers(names)]
    memory = {text: _span(text, program) for text in args.memory}
    done = run_program(program, config=config, threads=args.threads, per_core=args.per_core)
    shown = {name: done.register(name) for name in registers}
    words = {text: done.words(*span) for text, span in memory.items()}
    report = done.report(shown | words, args.form, Path(args.program).name)
    return replace(report, data={**report.data, "registers": shown, "memory": words})


def _path(given: str) -> str:
    """Return the path of a program; a bare name that is no file here may be that of a shipped one."""
    if given == STANDARD_STREAM or Path(given).name != given or Path(given).exists():
        return given
    path = shipped("larrabee_bridge", "programs") / given
    return str(path) if path.is_file() else given


def _registers(names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    for name in found:
        if name not in NAMES:
            raise UsageError(f"--show {names}", f"there is no register {name}", "v0..v31, k0..k7, r0..r15")
    return found


def _span(text: str, program: VectorProgram) -> tuple[int, int]:
    """Return first byte and size of a range of the program, or of START:BYTES."""
    ranges = {each.name: (each.start, each.size) for each in program.ranges}
    start, colon, size = text.partition(":")
    if text in ranges:
        start, size = ranges[text]
    elif colon and start.isdigit() and size.isdigit():
        start, size = int(start), int(size)
    else:
        hint = f"ranges: {', '.join(ranges)}; or START:BYTES" if ranges else "write START:BYTES"
        raise UsageError(f"--memory {text}", "is no range of the program", hint)
    if start % 4 or size % 4 or not 0 < size <= LARGEST or start + size > MEMORY_BYTES:
        raise UsageError(f"--memory {text}", f"whole words inside the memory are shown, {LARGEST} bytes at most")
    return start, size


def add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which kernels, where pictures go, and values of the core model."""
    add = parser.add_argument
    add("kernels", nargs="*", metavar="KERNEL", help="kernels by name: ray-tracer, matrix-product (default: all)")
    add("--list", action="store_true", help="show the names and places of all kernels, carry out none")
    add("-o", dest="pictures", metavar="FOLDER", help="write the pictures of kernels that have one, as FOLDER/NAME.png")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="a value of the core model")


def run_kernels(args: argparse.Namespace, screen: Screen) -> Report:
    """Carry out kernels and report."""
    known = {each.name: each for each in STUDIES}
    for name in args.kernels:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"kernels: {', '.join(known)}"
            raise UsageError("KERNEL", f"there is no kernel {name!r}", hint)
    chosen = [known[name] for name in dict.fromkeys(args.kernels)] or list(STUDIES)
    if args.list:
        return list_of(chosen)
    config = configured(CoreConfig, "-D", args.overrides)
    if args.pictures is not None:
        require_pillow()
        if not Path(args.pictures).is_dir():
            raise UsageError("-o", f"{args.pictures!r} is no folder", "make it first")
        for study in chosen:
            check_writable(Path(args.pictures) / f"{study.name}.png")
    found, wrote = [], []
    with Progress(screen, len(chosen)) as progress:
        for study in progress.over(chosen):
            progress.doing(study.name)
            result = study.study(config, progress.doing)
            found.append((study, result))
            if args.pictures is not None and result.picture is not None:
                path = str(Path(args.pictures) / f"{study.name}.png")
                rows, columns, _ = result.picture.shape
                write_picture(path, replace(Picture.empty(columns, rows), colours=result.picture))
                wrote.append(path)
    return kernels_report(found, wrote, config)
