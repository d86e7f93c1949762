"""Tile sizes of a picture, each executed: latency, throughput, imbalance and waiting, beside a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from larrabee_bridge.machine import MACHINE
from larrabee_bridge.pipeline.coverage.binning import TILES
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison import Beside
from pixelflow.simd.comparison.scorecard import standing_lines, standings_of
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.report import Column, Json, Table, number, percent
from tessellation.picture import SceneSource

__all__ = ["TileRow", "best_of", "in_every_tile"]


@dataclass(frozen=True, slots=True)
class TileRow:
    """What a picture took in tiles of one size."""

    tile: int
    latency: int
    """Cycles of the picture."""
    interval: int
    """Cycles to the next one, where pictures overlap."""
    imbalance: float | None
    """Share of the cores' cycles after a core's last work and before the last core's."""
    waiting: float | None
    """Share in which they are not busy besides."""

    @classmethod
    def of(cls, tile: int, side: DrawnFrame) -> TileRow:
        """Return the row of a picture that was drawn."""
        return cls(tile, side.cycles, side.next_after, side.imbalance, side.waiting)


def in_every_tile(
    scene: str, how: SceneSource, told: Mapping[str, Told], frame: Frame, drawn: Sequence[DrawnFrame]
) -> Beside | None:
    """Draw a frame in tiles of the other sizes as well; None where Larrabee is not ``told``."""
    words = told.get(MACHINE.name)
    if words is None or MACHINE.draw is None:
        return None
    (own,) = (side for name, side in zip(told, drawn, strict=True) if name == MACHINE.name)
    sides = {
        tile: own if tile == words["tile"] else MACHINE.draw(frame, progress=how.progress, **{**words, "tile": tile})
        for tile in TILES
    }
    rows = [TileRow.of(tile, side) for tile, side in sides.items()]
    latency, interval = best_of(rows)
    columns = (
        Column("tile", number, "tile"), Column("cycles (latency)", number, "cycles"),
        Column("to the next one", number, "next_after"), Column("lost to imbalance", percent, "imbalance"),
        Column("waiting besides", percent, "waiting"),
    )  # fmt: skip
    cells: list[list[Json]] = [[row.tile, row.latency, row.interval, row.imbalance, row.waiting] for row in rows]
    data: dict[str, Json] = {
        "best_latency": latency.tile,
        "best_throughput": interval.tile,
        "tiles": [dict(zip([each.key for each in columns], row, strict=True)) for row in cells],
    }
    text = (
        f"least latency in tiles of {latency.tile}, {number(latency.latency)} cycles; highest throughput in tiles of "
        f"{interval.tile}, {number(interval.interval)} cycles a picture; the other sections are about "
        f"tiles of {words['tile']}"
    )
    figures = {
        "cycles (latency)": ("cycles",), "to the next one": ("next_after",), "lost to imbalance": ("imbalance",),
        "waiting besides": ("waiting",),
    }  # fmt: skip
    standings = standings_of([(own.machine, side) for side in sides.values()], figures)
    data["standings"] = {name: dict(each) for name, each in standings.items()}
    table = Table(columns, cells)
    return Beside("Larrabee in tiles of every size", (table, text, *standing_lines(standings)), data, ())


def best_of(rows: Sequence[TileRow]) -> tuple[TileRow, TileRow]:
    """Return the row of the least latency, and that of the shortest interval; of equal ones the smaller tile's."""
    return min(rows, key=lambda row: (row.latency, row.tile)), min(rows, key=lambda row: (row.interval, row.tile))
