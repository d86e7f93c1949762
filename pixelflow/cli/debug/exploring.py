"""The run explorer in a notebook: what a page of `pixelflow view` shows of a run, below a cell."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pixelflow.cli.debug.page_dialogue import PageDialogue
from pixelflow.cli.debug.page_traces import is_trace_file, machine_of, trace_run, traced_file, traced_run
from pixelflow.cli.watch.trace_files import known_of
from pixelflow.isa import Program
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.simd.errors import Fault, InputError, must_be
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.trace import Trace
from pixelflow.view import ExplorerRoom, PageRoom, Telling, TracedRun, TraceRoom, run_explorer

if TYPE_CHECKING:
    from pixelflow.view.notebook.widget import RunExplorer

__all__ = ["explore"]


def explore(
    run: SavedRun | AssembledProgram | Trace | str | Path, node: Node | None = None, *, height: int = 760
) -> RunExplorer:
    """Return a widget in which a run is looked into: timeline, program with heat, PEs, the debugger.

    ``run`` is one that was saved (or its file), or a program. A program runs on a copy of ``node`` as it is now, or on
    a fresh one with its initial memory. A trace (or its Perfetto file), and a program of another machine, which runs on
    that machine's defaults, have timeline and listing, and a cursor in the place of the debugger. Needs the extra
    `notebook`. Raises MissingPackageError without it, InputError for anything else.
    """
    known = (SavedRun, AssembledProgram, Trace, str, os.PathLike)
    must_be(run, known, "a trace, a saved run, its file, or a program")
    traced = _traced(run)
    if traced is not None:
        if node is not None:
            raise InputError(Fault("a node runs PixelFlow's programs", hint="leave it out"))
        return run_explorer(lambda tell: (TraceRoom(traced),), height)
    if isinstance(run, Program):
        beginning = Node() if node is None else Node(node.config)
        if node is not None:
            beginning.restore(node.snapshot())
        saved = SavedRun.of(Replay(beginning, run), "pf.explore")
    elif isinstance(run, SavedRun):
        saved = run
    else:
        assert not isinstance(run, (AssembledProgram, Trace))
        saved = SavedRun.load(run)

    def furnish(tell: Telling) -> Iterable[PageRoom]:
        return (ExplorerRoom(saved, PageDialogue, lambda each: known_of(each.config), tell),)

    return run_explorer(furnish, height)


def _traced(run: SavedRun | AssembledProgram | Trace | str | Path) -> TracedRun | None:
    """Return a run that only its trace tells of, None where a node executes it."""
    if isinstance(run, (SavedRun, Program)):
        return None
    if isinstance(run, Trace):
        return traced_run(run, "")
    if isinstance(run, AssembledProgram):
        return trace_run(machine_of(run), run, run.name or "program")
    return traced_file(os.fspath(run)) if is_trace_file(os.fspath(run)) else None
