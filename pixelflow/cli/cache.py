"""Show or clear what is kept between processes: native code, assembled programs, tessellations of shipped models."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from pixelflow.cli.arguments import Parser
from pixelflow.cli.screen import Screen
from pixelflow.simd.report import Column, Part, Report, Table, counted, fixed, number
from pixelflow.simd.store import MOST_BYTES, MOST_FILES, StoredFile, store

EXAMPLES = ("pixelflow cache", "pixelflow cache --clear")

_DAY = 24 * 3600


def add_arguments(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("--clear", action="store_true", help="remove everything; it is made again when it is needed")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Report what is kept, or what was removed."""
    kept = store()
    if args.clear:
        files, size = kept.clear()
        return Report(
            "pixelflow cache",
            (str(kept.path),),
            [f"removed {counted(files, 'file')}, {_megabytes(size)}"],
            schema="pixelflow.cache/1",
            data={"folder": str(kept.path), "removed": files, "bytes": size},
        )
    parts = [*_parts(list(kept.files()))]
    return Report(
        "pixelflow cache", (str(kept.path),), parts, schema="pixelflow.cache/1", data={"folder": str(kept.path)}
    )


def _parts(files: list[StoredFile]) -> Iterator[Part]:
    kept = f"{counted(len(files), 'file')}, {_megabytes(sum(each.size for each in files))}"
    yield f"{kept}; at most {number(MOST_FILES)} files, {_megabytes(MOST_BYTES)}"
    kinds: dict[str, list[StoredFile]] = {}
    for each in files:
        kinds.setdefault(each.kind, []).append(each)
    now = time.time()
    rows = [
        (kind, len(some), sum(each.size for each in some), max(0, int(now - max(each.used for each in some)) // _DAY))
        for kind, some in sorted(kinds.items())
    ]
    columns = [
        Column("kind", key="kind", fixed=True),
        Column("files", number, "files"),
        Column("bytes", number, "bytes"),
        Column("days since the last use", number, "days"),
    ]
    yield Table(columns, rows, key="kinds")


def _megabytes(size: int) -> str:
    return f"{fixed(1)(size / (1 << 20))} MiB"
