"""Runs to go back and forth in: one stream and two, examples, random exchanges, a pass of the tessellator."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from microcode import assemble
from pixelflow.config import ArrayConfig, NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Node, Recorder, Replay, SavedRun
from tessellation import Method, load, tessellate
from tests.streams import exchanges

EXAMPLES = Path(__file__).resolve().parents[2] / "microcode" / "examples"
SIZES = ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"]
SMALL = load_config(None, SIZES, "tiny")
NODE = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))
NAMES = ("mandelbrot", "texture_copy", "panel_sum", "exchange", "pass")


@cache
def saved(name: str, *overrides: str) -> SavedRun:
    """Return a run that came to its end while it was recorded."""
    if name == "pass":
        return _tessellation_pass()
    config = load_config(None, [*SIZES, *overrides], "tiny")
    node = Node(config)
    program = _program(name)
    node.load(program)
    recorder = Recorder(node, f"pixelflow run {name}")
    recorder.attach(node.bus)
    node.run(program)
    return recorder.saved


def _program(name: str) -> Program:
    return assemble(exchanges.program(7)) if name == "exchange" else assemble(EXAMPLES / f"{name}.mc")


def _tessellation_pass() -> SavedRun:
    recorders: list[Recorder] = []

    def watch(node: Node) -> None:
        recorders.append(Recorder(node, "pixelflow tessellate"))
        recorders[0].attach(node.bus)

    tessellate(load("teapot").patches[:4], 3, library="tuned", config=NODE, method=Method(), watch=watch)
    return recorders[0].saved


def replay_of(text: str, config: NodeConfig = SMALL, **options) -> Replay:
    """Return the run of a program's text at cycle 0."""
    program = assemble(text)
    node = Node(config)
    node.load(program)
    return Replay(node, program, **options)
