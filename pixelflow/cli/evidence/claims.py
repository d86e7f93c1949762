"""The action ``pixelflow larrabee claims``: what Seiler et al. 2008 claim beside what is found here.

Everything that is measured is executed at that moment. A claim that cannot be measured here says why.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from larrabee_bridge.claims import CLAIMS, Bench, Claim, Row, is_long, measured_rows
from larrabee_bridge.claims.claims_report import claims_report
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import nearest
from pixelflow.simd.report import Report
from tessellation.scenes import MESHES, SCENES, SceneSource, load_scene, volumes

_LETTERS = "RMPN"
_MESH_SIZE = (800, 600)
_SMALL_SIZE = (256, 192)
"""Pixels of the screen of single meshes, and of what takes long to execute."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, and how long."""
    add = parser.add_argument
    help_only = "claims of a section, table or figure (3.3, table1, fig12), or a claim's name (repeatable)"
    add("--only", action="extend", nargs="+", default=[], metavar="CLAIM", help=help_only)
    help_class = "R reproducible, M mechanical, P by proxy, N not reproducible; several letters: RM"
    add("--class", dest="classes", default=_LETTERS, metavar="LETTERS", help=help_class)
    add("--quick", action="store_true", help="leave measures out that take seconds")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Measure and report."""
    return claims(screen, args.only, args.classes, quick=args.quick)


def claims(screen: Screen, names: Sequence[str], classes: str, *, quick: bool) -> Report:
    """Measure the claims of these names and classes, and report."""
    chosen = _of_classes(_chosen(CLAIMS, names), classes)
    bench = Bench(_scenes())
    rows: list[Row] = []
    with Progress(screen, len(chosen)) as progress:
        for claim in chosen:
            if is_long(claim) and not quick and not progress.shown:
                screen.note(f"measuring {claim.name} ({claim.where}), which takes seconds")
            progress.doing(claim.name)
            rows += measured_rows([claim], bench, quick=quick)
            progress.step()
    return claims_report(rows, screen.width, quiet=screen.quiet)


def _scenes() -> dict[str, Callable[[], Frame]]:
    """Return the scenes of the measures by name, each made when a measure asks for it."""

    found = {name: partial(_scene, name) for name in SCENES}
    found |= {name: partial(_scene, name, _MESH_SIZE) for name in MESHES}
    return found | {"small nut": partial(_scene, "nut", _SMALL_SIZE), "shadow volumes": _volumes}


def _scene(name: str, size: tuple[int, int] | None = None) -> Frame:
    return load_scene(name, SceneSource(size=size)).frame


def _volumes() -> Frame:
    return Frame(*_SMALL_SIZE, (0, 0, 0), tuple(volumes(*_SMALL_SIZE, count=20, size=60)))


def _plain(text: str) -> str:
    return re.sub(r"[\s.,_-]+", "", text.lower().replace("figure", "fig").replace("section", ""))


def _places(claim: Claim) -> set[str]:
    """Return what a claim's place is called: each part of it, without spaces, dots and hyphens."""
    return {_plain(part) for part in claim.where.split(",")} | {_plain(claim.where)}


def _chosen(claims: Sequence[Claim], names: Iterable[str]) -> list[Claim]:
    """Return the claims of those names in their own order, all for none; raises UsageError for an unknown one."""
    wanted: set[str] = set()
    for given in names:
        found = [claim.name for claim in claims if given.lower() == claim.name or _plain(given) in _places(claim)]
        if not found:
            known = [claim.name for claim in claims] + sorted({claim.where for claim in claims})
            near = nearest(given, known)
            hint = f"did you mean {near}?" if near else "all of them: pixelflow larrabee claims --quick"
            raise UsageError("--only", f"{given[:60]!r} is no claim and no place of one", hint)
        wanted.update(found)
    return [claim for claim in claims if not wanted or claim.name in wanted]


def _of_classes(claims: list[Claim], letters: str) -> list[Claim]:
    wanted = set(letters.upper())
    if not wanted or not wanted <= set(_LETTERS):
        raise UsageError("--class", f"{letters[:60]!r} are not classes", "letters of RMPN")
    found = [claim for claim in claims if wanted & {kind.letter for kind in claim.kinds}]
    if not found:
        raise UsageError("--class", f"none of the claims of --only is of class {letters[:60]}")
    return found
