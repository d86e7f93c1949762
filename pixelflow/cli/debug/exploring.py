"""The run explorer in a notebook: what a page of `pixelflow view` shows of a run, below a cell."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pixelflow.cli.debug.page_dialogue import PageDialogue
from pixelflow.cli.watch.trace_files import known_of
from pixelflow.isa import Program
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.simd.errors import must_be
from pixelflow.view import ExplorerRoom, PageRoom, Telling, run_explorer

if TYPE_CHECKING:
    from pixelflow.view.notebook.widget import RunExplorer

__all__ = ["explore"]


def explore(run: SavedRun | Program | str | Path, node: Node | None = None, *, height: int = 760) -> RunExplorer:
    """Return a widget in which a run is looked into: timeline, program with heat, PEs, the debugger.

    ``run`` is one that was saved (or its file), or a program. A program runs on a copy of ``node`` as it is now, or on
    a fresh one with its initial memory. Needs the extra `notebook`. Raises MissingPackageError without it, InputError
    for anything else.
    """
    must_be(run, (SavedRun, Program, str, os.PathLike), "a saved run, its file, or a program")
    if isinstance(run, Program):
        beginning = Node() if node is None else Node(node.config)
        if node is None:
            beginning.load(run)
        else:
            beginning.restore(node.snapshot())
        saved = SavedRun.of(Replay(beginning, run), "pf.explore")
    else:
        saved = run if isinstance(run, SavedRun) else SavedRun.load(run)

    def furnish(tell: Telling) -> Iterable[PageRoom]:
        return (ExplorerRoom(saved, PageDialogue, lambda each: known_of(each.config), tell),)

    return run_explorer(furnish, height)
