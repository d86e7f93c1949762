"""Bench of the claims: the probe scenes, each run once, and what their wires carried."""

from __future__ import annotations

import numpy as np

from attila_bridge.claims.probes import (
    DEPTH,
    OVER,
    WireLog,
    attributes,
    corners,
    giants,
    layers,
    probe,
    reading,
    watched,
)
from attila_bridge.drawing.run import SceneRun
from attila_bridge.scene.model import AttilaScene
from attila_bridge.time.config import PAPER, AttilaConfig
from pixelflow.evidence import Bench

__all__ = ["MOST_ATTRIBUTES", "AttilaBench"]

MOST_ATTRIBUTES = 12
"""Attributes that a fragment program of ARB can read here."""
_FEW = 64
"""Pixels of a side of probes of which every wire is watched."""
_SLOW = PAPER.with_values({"memory.read_latency": 100})
"""A slow memory, so that queues in front of it become full."""


class AttilaBench(Bench):
    """Runs of probe scenes, kept for as long as the bench."""

    def small(self) -> tuple[SceneRun, WireLog]:
        """Return 400 small triangles that share vertices by an index: what streams vertices and sets triangles up."""
        points = np.array(list(corners(400, 2.0)))
        indices = [each for number in range(400) for each in (3 * number, 3 * number + 1, 3 * number + 2)]
        again = [each for number in range(0, 24, 3) for each in (number, number + 1, number + 2)] * 20
        return self._run("small", probe(points, indices=(*again, *indices)))

    def crowded(self) -> tuple[SceneRun, WireLog]:
        """Return sixty triangles that cover the screen and are shaded for long, so that all before them is full."""
        return self._run("crowded", probe(giants(60), size=_FEW // 2, fragment=reading(0, 30)))

    def hidden(self) -> tuple[SceneRun, WireLog]:
        """Return two triangles that cover the screen, with a depth test, the nearest last, and a slow memory."""
        return self._run("hidden", probe(giants(2), size=2 * _FEW, state=DEPTH), _SLOW)

    def covering(self) -> tuple[SceneRun, WireLog]:
        """Return four triangles that cover the screen, without a test."""
        return self._run("covering", probe(giants(4), size=_FEW))

    def interpolated(self, count: int) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program that reads so many attributes."""
        coordinates = np.ones((3, 4))
        scene = probe(giants(1), size=_FEW // 2, fragment=attributes(count), coordinates=coordinates)
        return self._run(f"{count} attributes", scene)

    def long(self) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program of thirty instructions and one temporary register."""
        return self._run("long", probe(giants(2), size=_FEW, fragment=reading(0, 30)))

    def four_registers(self) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program that has four temporaries."""
        program = (
            "!!ARBfp1.0\nTEMP a, b, c, d;\nMOV a, fragment.color;\nADD b, a, a;\nADD c, b, a;\nADD d, c, b;\n"
            + "MAD a, b, c, d;\nMAD b, a, c, d;\n" * 8
            + "MOV result.color, b;\nEND"
        )
        return self._run("four registers", probe(giants(2), size=_FEW, fragment=program))

    def opaque(self) -> tuple[SceneRun, WireLog]:
        """Return layers that are written without a test."""
        return self._run("opaque", probe(layers(2), size=2 * _FEW))

    def blended(self) -> tuple[SceneRun, WireLog]:
        """Return layers that are blended, with a slow memory."""
        return self._run("blended", probe(layers(4), size=2 * _FEW, state=OVER), _SLOW)

    def _run(self, name: str, scene: AttilaScene, config: AttilaConfig = PAPER) -> tuple[SceneRun, WireLog]:
        return self.once(name, lambda: watched(scene, config), f"the probe {name}")
