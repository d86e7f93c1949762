"""The options that watch runs, and what subscribes to the events of nodes for them."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import count
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, refuse_clashes, refuse_overwrite
from pixelflow.config import NodeConfig
from pixelflow.simd.configuration import Effective
from pixelflow.simd.errors import (
    SimulatorError,
    UsageError,
    format_error,
)

if TYPE_CHECKING:
    from types import TracebackType

    from pixelflow.cli.live import NodeDisplay
    from pixelflow.cli.recording import MemoryChecks, Recording
    from pixelflow.cli.stats import StatsFiles
    from pixelflow.cli.trace_files import TraceFiles
    from pixelflow.node import EnergyMeter, Node
    from pixelflow.simd.report import Report


def add_observer_options(parser: argparse.ArgumentParser, *, passes: bool = False, record: bool = True) -> None:
    """Add the options of `Watching`; ``passes`` for a command whose nodes run several programs.

    Without ``record`` for one whose runs are timing-only: they have no data of PEs that could be saved; it reports no
    energy either.
    """
    add = parser.add_argument_group("watch").add_argument
    add("--stats", action="append", default=[], metavar="FILE", help="write statistics: .json or .csv (repeatable)")
    add("--trace", action="append", default=[], metavar="FMT[:FILE]",
        help="write a trace: perfetto, vcd, kanata or a file name that says it; .gz packs it (repeatable)")  # fmt: skip
    add("--window", metavar="A:B", help="trace only the cycles from A up to B (either may be missing)")
    add("--only", action="append", default=[], metavar="TRACK",
        help="trace only this track: eigc, 'tigc*', 'tasic[0]', 'wire *' (repeatable)")  # fmt: skip
    if record:
        add("--record", metavar="FILE.npz", help="save the run, to be taken again by dash, debug and diff")
        add("--check-memory", action="store_true",
            help="exit code 1 where bytes matter that nothing has written, or writes of one round collide")  # fmt: skip
    if passes:
        add("--record-pass", type=count, metavar="N", help="which of several runs to save, counted from 1 (default: 1)")
    if record:
        add("--energy", action="store_true",
            help="account for energy by kind of work; prices are invented (also in --stats)")  # fmt: skip
        add("--price", action="append", default=[], metavar="WORK=FJ",
            help="with --energy: another price, in femtojoules (repeatable)")  # fmt: skip
    else:
        parser.set_defaults(record=None, check_memory=False, energy=False, price=[])
    add("--live", action="store_true", help="show the dashboard while it runs")
    add("--frame", action="store_true", help="show the dashboard once, at the end")


_FILES = ("output", "preview", "svg", "html")
"""Options outside the group ``watch`` that name a file to write."""


class Watching:
    """Observers that a command's options ask for, as a context around everything that it runs.

    Made before long work, so that a bad name is refused at once. Files are written when the context ends, also where a
    run was stopped; nothing is written where no run has begun.
    """

    def __init__(self, args: argparse.Namespace, screen: Screen, effective: Effective[NodeConfig], source: str) -> None:
        """``source`` is the file that the command reads, which no output may overwrite.

        Raises UsageError for options that contradict each other, InputError for files that cannot be written.
        """
        self._args, self._screen, self._effective, self._source = args, screen, effective, source
        self._record_pass = getattr(args, "record_pass", None)
        self.energy = self._open_energy()
        """The energy of the runs, None unless requested."""
        self._stats = self._open_stats()
        self._check()
        self._traces = self._open_traces()
        refuse_clashes(self._outputs(), self._inputs())
        self._recording: Recording | None = None
        self._memory: MemoryChecks | None = None
        self._open = contextlib.ExitStack()
        self._display: NodeDisplay | None = None

    def _check(self) -> None:
        args, screen = self._args, self._screen
        if args.record is not None:
            if args.record == STANDARD_STREAM or Path(args.record).suffix != ".npz":
                raise UsageError(f"--record {args.record}", "the name must end in .npz")
            check_writable(args.record)
        elif self._record_pass is not None:
            raise UsageError("--record-pass", "there is no --record")
        for path in (*args.stats, *([args.record] if args.record else [])):
            refuse_overwrite(self._source, path)
        check_display(args, screen)

    def _outputs(self) -> Iterator[tuple[str, str]]:
        """Every file that the command will write, by option; not every command has all of these options."""
        args = self._args
        yield from (("--stats", path) for path in args.stats)
        yield from (("--trace", path) for path in (self._traces.paths if self._traces is not None else ()))
        saved = getattr(args, "save_at", None)
        named = {"--record": args.record, "--save-at": saved[1] if saved else None}
        named |= {f"--{name}": getattr(args, name, None) for name in _FILES}
        yield from ((option, path) for option, path in named.items() if path is not None)

    def _inputs(self) -> Iterator[tuple[str, str]]:
        named = {f"--{name}": getattr(self._args, name, None) for name in ("load", "memory", "config")}
        # What --load names on other commands is not a file.
        yield from ((option, path) for option, path in named.items() if path is not None and os.path.exists(path))

    def _open_traces(self) -> TraceFiles | None:
        args = self._args
        if not args.trace:
            if args.window is not None or args.only:
                raise UsageError("--window" if args.window is not None else "--only", "there is no --trace to cut")
            return None
        from pixelflow.cli.trace_files import node_subject, open_traces  # formats, for those who trace

        cut = {"window": args.window, "only": args.only}
        return open_traces(args.trace, self._source, node_subject(self._effective), **cut, note=self._screen.note)

    def _open_stats(self) -> StatsFiles | None:
        if not self._args.stats:
            return None
        from pixelflow.cli.stats import StatsFiles  # 10 ms for those who want no statistics

        return StatsFiles(self._args.stats, self._effective, None if self.energy is None else self.energy.values)

    def _open_energy(self) -> EnergyMeter | None:
        if not self._args.energy:
            if self._args.price:
                raise UsageError("--price", "there is no --energy to account for")
            return None
        from pixelflow.cli.stats import energy_meter

        return energy_meter(self._effective.config, self._args.price)

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()  # the terminal first: what follows may have something to say
        failed: list[SimulatorError] = []
        for write in self._writers(ok=kind is None):
            try:
                write()
            except SimulatorError as refused:  # the other files are still written
                failed.append(refused)
        first = failed.pop(0) if failed and kind is None else None
        for each in failed:
            sys.stderr.write(format_error(each) + "\n")
        if first is not None:
            raise first

    def _writers(self, *, ok: bool) -> Iterator[Callable[[], None]]:
        if self._stats is not None:
            yield from self._stats.writers()
        if self._traces is not None:
            yield self._traces.close
        if self._recording is not None:
            yield partial(self._recording.close, ok=ok)

    def attach(self, node: Node) -> None:
        """Listen to a node, before its runs; the runs of several nodes follow each other in every file."""
        if self.energy is not None:  # before the statistics, which ask for it
            self.energy.attach(node.bus)
        if self._stats is not None:
            self._stats.attach(node.bus)
        if self._traces is not None:
            self._traces.attach(node.bus)
        if self._args.record is not None and self._recording is None:
            from pixelflow.cli.recording import Recording  # 20 ms for those who save no run

            self._recording = Recording(self._args.record, node, self._args.command_line, self._record_pass or 1)
            self._recording.attach(node.bus)
        if self._args.check_memory:
            from pixelflow.cli.recording import MemoryChecks

            self._memory = self._memory or MemoryChecks()
            self._memory.attach(node)
        self._attach_display(node)

    def shown(self, name: str, rows: Iterable[int], cycle: int, lanes: Sequence[int] | None = None) -> None:
        """Say which bytes are shown after the runs, so that ``--check-memory`` knows that they matter."""
        if self._memory is not None:
            self._memory.shown(name, rows, cycle, lanes)

    def checked(self, report: Report) -> Report:
        """Return a report with the findings of ``--check-memory``; it fails where there are any."""
        return report if self._memory is None else self._memory.checked(report)

    def completed(self, report: Report) -> Report:
        """Return a report with energy and with what ``--check-memory`` has found."""
        return self.checked(self.with_energy(report))

    def with_energy(self, report: Report) -> Report:
        """Return a report with the energy of all runs together, if requested and if there were any."""
        if self.energy is None or not self.energy.runs:
            return report
        energy = self.energy.together()
        return report.with_parts(["", *energy.parts()], energy=energy.as_object())

    def part(self, number: int, total: int) -> None:
        """Say which of several passes begins."""
        if self._display is not None:
            self._display.part(number, total)

    def _attach_display(self, node: Node) -> None:
        args = self._args
        if self._display is None and (args.live or args.frame):
            from pixelflow.cli.live import NO_TERMINAL, NodeDisplay, takes_live

            if args.live and not takes_live():
                self._screen.note(NO_TERMINAL)
                args.live = False
                return
            self._display = NodeDisplay(self._screen, self._effective.preset, live=args.live)
            self._open.callback(self._display.close)
        if self._display is not None:
            self._display.follow(node)


def check_display(args: argparse.Namespace, screen: Screen) -> None:
    """Raise UsageError where a dashboard cannot be shown."""
    if args.live and args.frame:
        raise UsageError("--frame", "--live shows the last frame already")
    for option in ("live", "frame"):
        if getattr(args, option) and (screen.json or screen.quiet):
            raise UsageError(f"--{option}", "a dashboard goes to standard output, which --json and --quiet keep")
