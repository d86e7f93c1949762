"""Reproduce the thesis's tables: published, formula, measured, deviation, standing, and a note for every difference.

TABLE is the number of a table, or a name such as table7, figure13, section5, 4.1.4 or appendix-b; without one all are
verified. What is measured is executed at that moment. A row that deviates must have a note that accounts for it, else
the exit code is 1; with --strict no note excuses a deviation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.observing import Watching, add_observer_options
from pixelflow.cli.output import STANDARD_STREAM, check_writable
from pixelflow.cli.screen import Screen, counted
from pixelflow.simd.errors import ExpectationError

if TYPE_CHECKING:
    from pixelflow.cli.verify_rows import Verified
    from tessellation.reproduction import Bench, Reproduction
    from tessellation.rows import Row

EXAMPLES = (
    "pixelflow verify 6",
    "pixelflow verify --strict 2 3 table6",
    "pixelflow verify appendix-b 2.2.4 --json",
    "pixelflow verify --list",
)

_MOST_NAMED = 20
_SUFFIXES = {"markdown": (".md",), "svg": (".svg",), "figure": (".png", ".svg")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add tables and outputs."""
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help="what to verify (default: everything)")
    add("--strict", action="store_true", help="let every deviation fail, also those that a note accounts for")
    add("--list", action="store_true", help="list what can be verified; execute nothing")
    add_observer_options(parser, record=False)
    group = parser.add_argument_group("outputs")
    add = group.add_argument
    add("--markdown", metavar="FILE.md", help="write the report as Markdown")
    add("--svg", metavar="FILE.svg", help="write a picture of the report")
    add("--figure", metavar="FILE", help="draw the curves, .png or .svg (needs matplotlib: extra plot)")


def run(args: argparse.Namespace) -> int:
    """Verify, write the files, report; raises ExpectationError where a row fails."""
    screen = Screen.of(args)
    _check_outputs(args)

    from pixelflow.cli.verify_names import chosen
    from pixelflow.cli.verify_report import show_list, show_verified

    tables = chosen(args.tables)
    if args.list:
        if screen.json:
            screen.object("pixelflow.tables/1", tables=[table.name for table in tables])
        else:
            show_list(screen, tables)
        return 0

    from pixelflow.cli.verify_files import SCHEMA, verified_object, write_markdown, write_svg
    from pixelflow.config import load_effective
    from tessellation.reproduction import Bench

    effective = load_effective(None, [], "thesis")
    with Watching(args, screen, effective, source="") as watching:
        bench = Bench(watching.attach)
        # A bar on the terminal would fight with the dashboard there.
        verified = _verified(replace(screen, progress=screen.progress and not args.live), tables, bench)
    if args.markdown:
        write_markdown(args.markdown, verified)
    if args.svg:
        write_svg(args.svg, verified)
    if args.figure:
        from pixelflow.cli.verify_figure import write_figure

        write_figure(args.figure, verified.tables, bench)
    if screen.json:
        screen.object(SCHEMA, **verified_object(verified))
    elif not screen.quiet:
        show_verified(screen, verified)
    _expect(verified.failures(strict=args.strict), strict=args.strict)
    return 0


def _verified(screen: Screen, tables: Sequence[Reproduction], bench: Bench) -> Verified:
    """Execute the reproductions on the bench."""
    from pixelflow.cli.progress import Progress
    from pixelflow.cli.verify_rows import Verified
    from tessellation.reproduction import REPRODUCTIONS

    found = []
    with Progress(screen, sum(table.effort for table in tables)) as progress:
        bench.progress = progress.doing
        for table in tables:
            found.append((table, tuple(table.rows(bench))))
            progress.step(table.effort)
    return Verified(tuple(found), complete=len(tables) == len(REPRODUCTIONS))


def _check_outputs(args: argparse.Namespace) -> None:
    """Raise UsageError or InputError for output files that could not be written; changes nothing."""
    for option, suffixes in _SUFFIXES.items():
        path = getattr(args, option)
        if path is None:
            continue
        if path == STANDARD_STREAM:
            raise UsageError(f"--{option} -", "standard output has the report", f"name a {suffixes[0]} file")
        if PurePath(path).suffix.lower() not in suffixes:
            raise UsageError(f"--{option}", f"{path!r} is no {' or '.join(suffixes)} file")
        check_writable(path)
    if args.figure:
        from pixelflow.cli.verify_figure import check_drawing

        check_drawing()


def _expect(failures: Sequence[tuple[Reproduction, Row]], *, strict: bool) -> None:
    """Raise ExpectationError that names what fails, if anything does."""
    from pixelflow.cli.verify_rows import unexplained_text

    if not failures:
        return
    named = [f"    {unexplained_text(table, row)}" for table, row in failures[:_MOST_NAMED]]
    if len(failures) > _MOST_NAMED:
        named.append(f"    and {len(failures) - _MOST_NAMED} more")
    reason = "and --strict excuses none" if strict else "without a note that accounts for it"
    raise ExpectationError("\n".join([f"{counted(len(failures), 'row')} off, {reason}:", *named]))
