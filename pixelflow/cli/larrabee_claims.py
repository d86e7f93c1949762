"""The action ``pixelflow larrabee claims``: what Seiler et al. 2008 claim beside what is found here.

Everything that is measured is executed at that moment. A claim that cannot be measured here says why.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.simd.errors import ExpectationError, nearest

if TYPE_CHECKING:
    from larrabee_bridge.claims import Claim, Kind, Row
    from pixelflow.simd.drawing import Frame

_LETTERS = "RMPN"
_MESH_SIZE = (800, 600)
_SMALL_SIZE = (256, 192)
"""Pixels of the screen of single meshes, and of what takes long to execute."""
_TABLE_WIDTH = 110
"""Columns below which each claim becomes a block of lines."""
_PLACE = 7
_SHARES = {"claim": 24, "published": 16, "measured here": 26, "conditions": 24}
"""Columns of a place and of each text in the narrowest table; texts of wider ones are divided alike."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, and how long."""
    add = parser.add_argument
    help_only = "claims of a section, table or figure (3.3, table1, fig12), or a claim's name (repeatable)"
    add("--only", action="extend", nargs="+", default=[], metavar="CLAIM", help=help_only)
    help_class = "R reproducible, M mechanical, P by proxy, N not reproducible; several letters: RM"
    add("--class", dest="classes", default=_LETTERS, metavar="LETTERS", help=help_class)
    add("--quick", action="store_true", help="leave measures out that take seconds")


def run(args: argparse.Namespace) -> int:
    """Measure and report."""
    from larrabee_bridge.claims import CLAIMS, Bench, is_long, measured_rows
    from pixelflow.cli.progress import Progress

    screen = Screen.of(args)
    claims = _of_classes(_chosen(CLAIMS, args.only), args.classes)
    bench = Bench(_scenes())
    rows: list[Row] = []
    with Progress(screen, len(claims)) as progress:
        for claim in claims:
            if is_long(claim) and not args.quick and not progress.shown:
                screen.note(f"measuring {claim.name} ({claim.where}), which takes seconds")
            progress.doing(claim.name)
            rows += measured_rows([claim], bench, quick=args.quick)
            progress.step()
    if screen.json:
        _object(screen, rows)
    elif screen.quiet:
        _rows(screen, rows)
    else:
        _report(screen, rows)
    wrong = [row.claim.name for row in rows if row.measured is not None and row.measured.equal(row.claim) is False]
    if wrong:
        raise ExpectationError(f"figures that must be the same are others here: {', '.join(wrong)}")
    return 0


def _scenes() -> dict[str, Callable[[], Frame]]:
    """Return the scenes of the measures by name, each made when a measure asks for it."""
    from functools import partial

    from tessellation.scenes import MESHES, SCENES

    found = {name: partial(_scene, name) for name in SCENES}
    found |= {name: partial(_scene, name, _MESH_SIZE) for name in MESHES}
    return found | {"small nut": partial(_scene, "nut", _SMALL_SIZE), "shadow volumes": _volumes}


def _scene(name: str, size: tuple[int, int] | None = None) -> Frame:
    from tessellation.scenes import SceneSource, load_scene

    return load_scene(name, SceneSource(size=size)).frame


def _volumes() -> Frame:
    from pixelflow.simd.drawing import Frame
    from tessellation.scenes import volumes

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


def _object(screen: Screen, rows: list[Row]) -> None:
    from larrabee_bridge.claims import by_class, closing

    screen.object(
        "pixelflow.larrabee-claims/1",
        claims=[_row_object(row) for row in rows],
        classes={kind.value: count for kind, count in by_class(rows).items()},
        closing=closing(),
    )


def _row_object(row: Row) -> dict[str, Any]:
    claim, measured = row.claim, row.measured
    return {
        "name": claim.name,
        "where": claim.where,
        "claim": claim.text,
        "classes": [kind.value for kind in claim.kinds],
        "published": {"text": claim.published, "values": dict(claim.values)},
        "measured": None if measured is None else {"text": measured.text, "values": dict(measured.figures)},
        "expected": dict(claim.expected),
        "compared": [] if measured is None else list(measured.compared(claim)),
        "equal": None if measured is None else measured.equal(claim),
        "reason": row.reason or None,
        "conditions": claim.conditions,
        "note": claim.note or None,
    }


def _report(screen: Screen, rows: list[Row]) -> None:
    from larrabee_bridge.claims import closing

    title = "Seiler et al., Larrabee: A Many-Core x86 Architecture for Visual Computing, SIGGRAPH 2008"
    screen.paragraph(f"Claims of {title}, in our words. R reproducible, M mechanical, P by proxy, N not reproducible.")
    screen.text()
    _rows(screen, rows)
    notes = [row.claim for row in rows if row.claim.note]
    if notes:
        screen.text()
        screen.text("at odds with itself")
        for claim in notes:
            screen.paragraph(f"{claim.where}: {claim.note}", indent="  ")
    screen.text()
    screen.paragraph(_summary(rows))
    screen.paragraph(closing())


def _rows(screen: Screen, rows: list[Row]) -> None:
    """Show the claims beside what is measured, which is all that ``--quiet`` leaves."""
    if screen.width >= _TABLE_WIDTH:
        _table(screen, rows)
    else:
        _blocks(screen, rows)


def _letters(kinds: Iterable[Kind]) -> str:
    return "/".join(kind.letter for kind in kinds)


def _table(screen: Screen, rows: list[Row]) -> None:
    spare = screen.width - _TABLE_WIDTH
    place = min(_PLACE + spare, max(_PLACE, *(len(row.claim.where) for row in rows)))
    texts = sum(_SHARES.values()) + spare - (place - _PLACE)
    columns = [
        Column("where", least=place),
        Column("", fixed=True),
        *(Column(name, least=texts * share // sum(_SHARES.values())) for name, share in _SHARES.items()),
    ]
    cells = [
        [
            row.claim.where,
            _letters(row.claim.kinds),
            row.claim.text,
            row.claim.published,
            row.text,
            row.claim.conditions,
        ]
        for row in rows
    ]
    screen.table(columns, cells)


def _blocks(screen: Screen, rows: list[Row]) -> None:
    for row in rows:
        claim = row.claim
        screen.paragraph(f"{claim.where} ({_letters(claim.kinds)}) {claim.name}: {claim.text}")
        for label, text in (
            ("published", claim.published),
            ("measured", row.text),
            ("conditions", claim.conditions),
        ):
            _labelled(screen, label, text)
        screen.text()


def _labelled(screen: Screen, label: str, text: str) -> None:
    import textwrap

    first, rest = f"  {label:<10}  ", " " * 14
    wrapped = textwrap.wrap(
        text, screen.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )
    screen.text("\n".join(wrapped))


def _summary(rows: list[Row]) -> str:
    """Return how many rows are of which class, and what became of them."""
    from larrabee_bridge.claims import Kind, by_class

    classes = by_class(rows)
    parts = ", ".join(f"{classes[kind]} {kind.value}" for kind in Kind if classes[kind])
    two = sum(len(row.claim.kinds) > 1 for row in rows)
    measured = [(row.measured, row.claim) for row in rows if row.measured is not None]
    compared = [found.equal(claim) for found, claim in measured if found.equal(claim) is not None]
    text = f"{counted(len(rows), 'claim')}: {parts}" + (f" ({two} of two classes)" if two else "")
    text += f"; {len(measured)} measured, {len(rows) - len(measured)} not"
    if compared:
        text += f"; of {len(compared)} with figures that must be the same, {sum(compared)} have them"
    return f"{text}."
