"""Reproduce the thesis's tables: published, formula, measured, deviation, standing, and the reason for each difference.

TABLE is the number of a table, or a name such as table7, figure13, section5, 4.1.4 or appendix-b; without one all are
verified. What is measured is executed at that moment. A figure that is not as published must be the one that the
machine's parameters predict, or the print contradicts itself or can be read in another way, or a note says that it is
unexplained; else the exit code is 1. A prediction takes a float routine for what it takes alone, other instructions for
what they are declared to take, and SDRAM accesses from the times of the devices; wires take a cycle each, and
instruction words are there at once. With --strict all of these fail. The programs' results are computed too, and wrong
ones make the exit code 1; --timing-only leaves them out.

Several processes (--jobs) give the same report.

With the name of another machine as the first TABLE, or as --machine, what the paper on it claims is verified.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache, partial
from secrets import token_hex
from typing import NamedTuple, cast

from pixelflow.cli.arguments import add_jobs_option
from pixelflow.cli.machine_values import PIXELFLOW, examples_for
from pixelflow.cli.screen import Progress, Screen
from pixelflow.cli.watching import Watching, add_observer_options
from pixelflow.config import load_effective
from pixelflow.evidence import AnyPaper, Bench, CheckedClaim, Claim, ClaimClass, Verified, evidence_report, paper_of
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import machine_named, machine_names
from pixelflow.simd.report import Column, Report, Table, counted
from pixelflow.simd.workers import WorkerPool

EXAMPLES = (
    "pixelflow verify 6",
    "pixelflow verify --strict 3 table4",
    "pixelflow verify appendix-b 2.2.4 --json",
    "pixelflow verify --list",
    *examples_for("verify", PIXELFLOW),
)

_WATCHED = ("stats", "trace", "live", "frame")
_KINDS = ("table", "figure", "section", "appendix")
_LETTERS = "".join(each.letter for each in ClaimClass)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add tables and outputs."""
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help="what to verify (default: everything)")
    add("--machine", metavar="NAME", help="whose paper (default: pixelflow)")
    add("--strict", action="store_true", help="let every figure fail that is not as published")
    add("--explain", action="store_true", help="show what decides and predicts the figures, and the notes")
    add("--full", action="store_true", help="show every row, and all that --explain has")
    add("--list", action="store_true", help="list what can be verified; execute nothing")
    add("--timing-only", action="store_true", help="count cycles and compute no results")
    add_choice(parser)
    add_observer_options(parser, record=False)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add what chooses among claims in words, and by their time."""
    help_class = "R reproducible, M mechanical, P by proxy, N not reproducible; several letters: RM"
    parser.add_argument("--class", dest="classes", default=_LETTERS, metavar="LETTERS", help=help_class)
    parser.add_argument("--quick", action="store_true", help="leave measures out that take seconds")
    add_jobs_option(parser, "claims")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Verify, write the files, report; fails where a row does."""
    named = [] if args.machine is not None else [name for name in args.tables[:1] if name in machine_names()]
    machine, names = args.machine or (*named, PIXELFLOW)[0], _joined(args.tables[len(named) :])
    paper, own = paper_named(machine), [machine] if machine != PIXELFLOW else []
    if args.timing_only and not paper.computes:
        raise UsageError("--timing-only", "the measures of this paper are not of two kinds")
    for option in ("--full", "--explain"):
        if paper.in_words and getattr(args, option[2:]):
            raise UsageError(option, "the claims of this paper are sentences, which are always shown whole")
    everything = " ".join(["pixelflow verify", *own, "--list"])
    _check_watched(args, paper)
    if args.list:
        claims = _chosen(paper, names, args.classes, "TABLE", everything)
        columns = (Column("name", fixed=True), Column("section", fixed=True), Column("title"))
        table = Table(columns, [(each.name, each.place, each.title) for each in claims])
        return Report(results=[table], schema="pixelflow.tables/1", data={"tables": [each.name for each in claims]})
    return verify(machine, names, args, screen, option="TABLE", everything=everything)


def paper_named(machine: str) -> AnyPaper:
    """Return the paper of a machine; raises UsageError where there is none."""
    paper = paper_of(machine_named(machine))
    if paper is None:
        raise UsageError("TABLE", f"there is no paper on {machine} here")
    return paper


def verify(
    machine: str, names: Sequence[str], args: argparse.Namespace, screen: Screen, *, option: str, everything: str
) -> Report:
    """Measure the claims of those names of a machine's paper, write the files, report.

    ``option`` is what the names were given to, and ``everything`` the command that shows all there are.
    """
    paper, workers = paper_named(machine), WorkerPool(args.jobs)
    claims = _chosen(paper, names, args.classes, option, everything)
    watched = paper.preset and any(getattr(args, name) for name in _WATCHED)
    if watched and not workers.alone(len(claims)):
        raise UsageError("--jobs", "what is watched must run in this process", "leave out one of the two")
    with ExitStack() as stack:
        stack.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(10_000)  # claims make millions of objects that need no collection
        attach: Callable[[object], None] = _unwatched
        if paper.preset:
            effective = load_effective(None, [], paper.preset)
            watching = stack.enter_context(Watching(args, screen, effective, source=""))
            attach = cast("Callable[[object], None]", watching.attach)  # the machines of this paper are nodes
            # A bar on the terminal would fight with the dashboard there.
            screen = screen._replace(progress=screen.progress and not args.live)
        bench = paper.bench(attach)
        bench.timing_only = args.timing_only
        verified = _verified(screen, machine, claims, bench, workers, quick=args.quick)
    return evidence_report(
        verified, screen.width, quiet=screen.quiet, strict=args.strict, full=args.full, explain=args.explain
    )


def _unwatched(machine: object) -> None:
    """Listen to nothing."""


def _verified(
    screen: Screen, machine: str, claims: Sequence[Claim], bench: Bench, workers: WorkerPool, *, quick: bool
) -> Verified:
    """Measure claims on the bench, or in other processes, whose executions the bench then includes."""
    paper = paper_named(machine)
    found: dict[int, CheckedClaim] = {}
    here = workers.alone(len(claims))
    with Progress(screen, sum(map(paper.effort, claims))) as progress:
        bench.progress = progress.doing

        def measure_here(name: str) -> _Found:
            claim = claims[[each.name for each in claims].index(name)]
            if paper.in_words and paper.effort(claim) > 1 and not quick and not progress.shown:
                screen.note(f"measuring {claim.name} ({claim.place}), which takes seconds")
            progress.doing(claim.name)
            return paper.find(claim, bench, quick=quick), bench.executed

        elsewhere = partial(_measure_elsewhere, _Asked(machine, token_hex(8), bench.timing_only, quick))
        if not here:
            progress.doing(counted(len(claims), "claim"))
        finished = workers.finished(measure_here if here else elsewhere, [claim.name for claim in claims])
        with closing(finished):
            for place, (found[place], executed) in finished:
                bench.executed |= executed
                progress.step(paper.effort(claims[place]))
    return Verified(paper, tuple(found[place] for place in range(len(claims))), bench.remarks())


_Found = tuple[CheckedClaim, Mapping[Hashable, object]]
"""A measured claim, and the executions of the bench up to then."""


class _Asked(NamedTuple):
    """Order from a command to the processes that measure for it."""

    machine: str
    command: str
    """Identity of the command: a bench serves one command, however long its process lives."""
    timing_only: bool
    quick: bool


def _measure_elsewhere(asked: _Asked, name: str) -> _Found:
    """Measure a claim in this process."""
    paper, bench = paper_named(asked.machine), _bench_of(asked)
    claim = next(each for each in paper.claims if each.name == name)
    return paper.find(claim, bench, quick=asked.quick), bench.executed


@lru_cache(maxsize=1)
def _bench_of(asked: _Asked) -> Bench:
    """Return the bench of a command in this process."""
    bench: Bench = paper_named(asked.machine).bench(_unwatched)
    bench.timing_only = asked.timing_only
    return bench


def _check_watched(args: argparse.Namespace, paper: AnyPaper) -> None:
    """Raise UsageError where options watch a paper without runs of a node."""
    for name in _WATCHED:
        if getattr(args, name) and not paper.preset:
            raise UsageError(f"--{name}", "there is nothing to watch: no run of a node is part of these measures")


def _joined(words: Sequence[str]) -> list[str]:
    """Return names of which each may be two words: table 3, appendix b."""
    names: list[str] = []
    for word in words:
        if names and names[-1].lower() in _KINDS:
            names[-1] += f" {word}"
        else:
            names.append(word)
    return names


def _chosen(paper: AnyPaper, names: Iterable[str], letters: str, option: str, everything: str) -> list[Claim]:
    """Return the claims of those names and classes in their own order, all for none.

    Raises UsageError for what is unknown or prints no figure, and where nothing is left.
    """
    wanted = {found for given in names for found in _called(paper, given, option, everything)}
    claims = [claim for claim in paper.claims if not wanted or claim.name in wanted]
    if not letters or not set(letters.upper()) <= set(_LETTERS):
        raise UsageError("--class", f"{letters[:60]!r} are not classes", f"letters of {_LETTERS}")
    if letters == _LETTERS:
        return claims
    claims = [claim for claim in claims if {each.letter for each in claim.classes} & set(letters.upper())]
    if not claims:
        raise UsageError("--class", f"none of the claims of {option} is of class {letters[:60]}")
    return claims


def _called(paper: AnyPaper, given: str, option: str, everything: str) -> Sequence[str]:
    """Return the names of the claims that are called so; raises UsageError where none is."""
    found, plain = paper.called(given), paper.plain(given)
    if not found and plain in paper.without:
        raise UsageError(option, f"{plain} has no figures to verify: {paper.without[plain]}")
    if not found:
        near = paper.nearest(given)
        hint = f"did you mean {near}?" if near else f"all of them: {everything}"
        raise UsageError(option, f"{given[:60]!r} is not a {paper.kinds}", hint)
    return found
