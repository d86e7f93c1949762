"""The division of labour between EMCs and GPs (thesis 3.1.2): the three ways compared, executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from microcode import Builder, Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import (
    draw,
)
from pixelflow.simd.report import Column, Json, Report, Table, counted, number
from tessellation.host.session import Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned, emit_return
from tessellation.microprogram.method import Method
from tessellation.microprogram.passes import Plan
from tessellation.picture import BACKGROUND, View
from tessellation.plan.memory_map import MemoryMap, MemoryUse
from tessellation.plan.schedule import Stage
from tessellation.rendering.instruction_words import SEND_STAGE, InstructionWords, draw_words, generate_words
from tessellation.rendering.projection import Places, Projection, ProjectionStage, projection_program, standpoint_for
from tessellation.rendering.renderer import render
from tessellation.surface.bpt import load

# Points, projected points or instruction words from the EMCs, executed.


_WAYS = ("points", "projected", "words")
_GPS = "GPs"
"""Cell for work of the GPs, which takes no cycles."""

_SCREEN = ("x_point", "y_point", "z_point")

_GROUPS = {
    "projection": tuple(stage.value for stage in ProjectionStage),
    "light": ("light",),
    "corners and their neighbours": ("corners as integers", "cells", "neighbours", "corners"),
    "coefficients": ("edges", "reciprocal of the area", "depth", "colours"),
    "regions and marks": ("regions and marks",),
    "coefficients in each region": ("edges in the region", "planes in the region", "next region"),
}
"""Stages of the words by purpose."""


def labour_report(config: NodeConfig, samples: int, gps: int, view: View, tell: Callable[[str], None]) -> Report:
    """Return the cycles of the teapot by the three ways, stage by stage.

    Everything is executed, with results sent to ``gps`` GPs; raises InputError if the node has fewer.
    """
    patches = load("teapot").patches
    method = Method(results="gp", gps=gps)
    tell("points and normals to the GPs")
    points = tessellate(patches, samples, config=config, method=method)
    tell("projected points and normals to the GPs")
    sender = _ScreenSender(config, gps, Projection.of(standpoint_for(patches, samples, view, single=True)))
    tessellate(patches, samples, config=config, method=Method(), after=sender)
    tell("instruction words to the GPs")
    plain, words = generate_words(patches, samples, view, config=config, gps=gps)
    tell("the picture, from the words and as the host sets it up")
    size = view.width, view.height
    drawn = draw_words(words, background=BACKGROUND, config=config)
    host = render(words.triangles, *size, background=BACKGROUND, config=config)
    same = host.picture.equals(drawn.picture) and draw(words.triangles, *size, BACKGROUND).equals(drawn.picture)
    columns = (
        Column("stage", key="stage"),
        *(Column(f"{index}. {name}", _shown, name) for index, name in enumerate(_WAYS, start=1)),
    )
    rows = _rows(points, plain, sender.runs, words, host.cycles, drawn.cycles)
    returned = len(points.plans) * _returned_bytes(points, gps, config)
    bytes_row: tuple[Json, ...] = ("bytes to the GPs", returned, returned, words.bytes_sent)
    text = (
        f"The teapot's 32 patches at {samples}x{samples} samples, {view.width}x{view.height} pixels, results to "
        f"{counted(gps, 'GP')}. All cycles are executed. {_GPS}: their work, for which no cycles are counted."
    )
    return Report(
        "division of labour",
        (f"config {config.sha256[:6]}", f"library {points.library}", "executed"),
        results=[
            text,
            "",
            Table(columns, [*rows, bytes_row], key="stages"),
            "",
            f"{counted(len(words.triangles), 'triangle')} with an area, {words.accepted:,} accepted, "
            f"{len(words.words):,} pairs of a triangle and a region; "
            + ("every pixel equal" if same else "PIXELS DIFFER"),
        ],
        schema="pixelflow.study.labour/1",
        failure=None if same else "the picture drawn from the words differs from the host's",
    )


def _shown(value: Json) -> str:
    return number(value) if isinstance(value, int) else str(value)


def _rows(
    points: Tessellation, plain: Tessellation, projected: Iterable[Run], words: InstructionWords, host: int, drawn: int
) -> list[tuple[Json, ...]]:
    """Return the rows of the table, the sum last."""
    back = _cycles(points.runs, (Stage.RETURN.value,))
    sent = tuple(projected)
    by_stage = Counter(words.cycles_by_stage)
    before = sum(run.cycles for run in plain.runs)
    rows: list[tuple[Json, ...]] = [
        ("tessellation", sum(run.cycles for run in points.runs) - back, before, before),
    ]
    for name, stages in _GROUPS.items():
        executed = _cycles(sent, stages) if name == "projection" else 0
        rows.append((name, _GPS, executed or _GPS, sum(by_stage[stage] for stage in stages)))
    rows.append(("to the GPs", back, _cycles(sent, (Stage.RETURN.value,)), by_stage[SEND_STAGE]))
    rows.append(("drawing", host, host, drawn))
    totals = tuple(
        sum(each for each in column if isinstance(each, int)) for column in list(zip(*rows, strict=True))[1:]
    )
    return [*rows, ("= on the EMCs", *totals)]


def _cycles(runs: Iterable[Run], stages: Iterable[str]) -> int:
    wanted = set(stages)
    return sum(cycles for run in runs for stage, cycles in run.by_stage.items() if stage in wanted)


def _returned_bytes(points: Tessellation, gps: int, config: NodeConfig) -> int:
    sent = Returned.of(points.plans[0].work, gps)
    modules = (module for module in range(config.array.modules) if sent.modules >> module & 1)
    return sum(len(sent.lanes(module, config.array)) for module in modules) * RESULT_BYTES


class _ScreenSender:
    """Projects the samples of each pass and sends x and y in 1/256 pixel, depth and normal: 24 bytes, like points."""

    def __init__(self, config: NodeConfig, gps: int, projection: Projection) -> None:
        self._config, self._gps, self._projection = config, gps, projection
        self.runs: list[Run] = []

    def __call__(self, session: Session, plan: Plan) -> None:
        places = Places.after(plan.memory)
        self._run(session.node, projection_program(places, self._projection, session.library))
        builder = Builder("projected points to the GPs")
        memory = _screen_memory(plan.memory, places)
        emit_return(builder, memory, Returned.of(plan.work, self._gps), self._config.array)
        self._run(session.node, builder.build())

    def _run(self, node: Node, program: Program) -> None:
        self.runs.append(node.run(program))


def _screen_memory(memory: MemoryMap, places: Places) -> MemoryMap:
    """Return the layout with the projected coordinates in place of the point."""
    screen = dict(zip(_SCREEN, (*places.fixed, places.screen[2]), strict=True))
    ranges = (MemoryUse(use.name, screen.get(use.name, use.start), use.size) for use in memory.ranges)
    return replace(memory, ranges=tuple(ranges))
