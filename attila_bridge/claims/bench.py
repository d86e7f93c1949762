"""Bench of the claims: the probe scenes, each run once, and what their wires carried."""

from __future__ import annotations

import numpy as np

from attila_bridge.claims.probes import DEPTH, OVER, WireLog, corners, giants, layers, probe, reading, watched
from attila_bridge.run import AttilaRun
from attila_bridge.time.config import PAPER, AttilaConfig
from pixelflow.evidence import Bench

__all__ = ["AttilaBench"]

_FEW = 64
"""Pixels of a side of probes of which every wire is watched."""


class AttilaBench(Bench):
    """Runs of probe scenes, kept for as long as the bench."""

    def small(self) -> tuple[AttilaRun, WireLog]:
        """Return 400 small triangles that share vertices by an index: what streams vertices and sets triangles up."""
        points = np.array(list(corners(400, 2.0)))
        indices = [each for number in range(400) for each in (3 * number, 3 * number + 1, 3 * number + 2)]
        again = [each for number in range(0, 48, 3) for each in (number, number + 1, number + 2)] * 20
        return self._run("small", points, PAPER, indices=(*again, *indices))

    def hidden(self) -> tuple[AttilaRun, WireLog]:
        """Return thirty triangles that cover the screen, with a depth test, the nearest last."""
        return self._run("hidden", giants(30), PAPER, size=_FEW, state=DEPTH)

    def covering(self) -> tuple[AttilaRun, WireLog]:
        """Return four triangles that cover the screen, without a test."""
        return self._run("covering", giants(4), PAPER, size=_FEW)

    def long(self) -> tuple[AttilaRun, WireLog]:
        """Return a screen of a program of thirty instructions and one temporary register."""
        return self._run("long", giants(2), PAPER, size=_FEW, fragment=reading(0, 30))

    def four_registers(self) -> tuple[AttilaRun, WireLog]:
        """Return a screen of a program that has four temporaries."""
        program = (
            "!!ARBfp1.0\nTEMP a, b, c, d;\nMOV a, fragment.color;\nADD b, a, a;\nADD c, b, a;\nADD d, c, b;\n"
            + "MAD a, b, c, d;\nMAD b, a, c, d;\n" * 8
            + "MOV result.color, b;\nEND"
        )
        return self._run("four registers", giants(2), PAPER, size=_FEW, fragment=program)

    def opaque(self) -> tuple[AttilaRun, WireLog]:
        """Return layers that are written without a test."""
        return self._run("opaque", layers(4), PAPER, size=2 * _FEW)

    def blended(self) -> tuple[AttilaRun, WireLog]:
        """Return layers that are blended."""
        return self._run("blended", layers(4), PAPER, size=2 * _FEW, state=OVER)

    def _run(self, name: str, positions: np.ndarray, config: AttilaConfig, **how: object) -> tuple[AttilaRun, WireLog]:
        return self.once(name, lambda: watched(probe(positions, **how), config), f"the probe {name}")
