"""Records: what rasterizers leave for each sample of a pixel, and what a shader has to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from microcode import Program
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Frame
from tessellation.rendering.composition.merging import DEPTH_BYTES
from tessellation.rendering.instructions import SENT_BYTES, TriangleData, region_program
from tessellation.rendering.regions import Region, regions
from tessellation.rendering.renderer import plain_triangles

__all__ = ["FinishedRecords", "Records", "records_of"]


class Records(Protocol):
    """The records of a frame."""

    @property
    def size(self) -> int:
        """Bytes of a record, the depth first, highest byte first."""

    @property
    def finished(self) -> bool:
        """Whether a record's colour is that of the pixel."""

    @property
    def samples(self) -> int:
        """Samples a pixel."""

    @property
    def triangles(self) -> int:
        """How many triangles there are."""

    @property
    def regions(self) -> Sequence[Region]:
        """The regions, and which triangles reach into each."""

    def prepared(self, node: Node) -> tuple[Run, ...]:
        """Do what a node does once, before its first region."""

    def program(self, region: Region, sample: int, place: int) -> Program:
        """Return the program that draws a sample of a region, and copies the records to ``place``."""

    def shaded(self, node: Node, place: int) -> tuple[Run, ...]:
        """Shade the records that lie at ``place``."""

    def colour_places(self, place: int) -> tuple[int, int, int]:
        """Return where red, green and blue lie when that is done."""

    def colours(self, record: np.ndarray) -> np.ndarray:
        """Return the colours of finished records: uint8[lane, rgb]."""


class FinishedRecords:
    """Records of plain frames at one sample: depth, red, green, blue, which the rasterizer has finished."""

    size = SENT_BYTES
    finished = True
    samples = 1

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._triangles = plain_triangles(frame)
        self._data = TriangleData.of(self._triangles)

    @property
    def triangles(self) -> int:
        """How many triangles there are."""
        return len(self._triangles)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions, and which triangles reach into each."""
        return tuple(regions(self._triangles, self._frame.width, self._frame.height))

    def prepared(self, node: Node) -> tuple[Run, ...]:
        """Nothing is to be done before."""
        return ()

    def program(self, region: Region, sample: int, place: int) -> Program:
        """Return the program that draws a region, and copies the records to ``place``."""
        return region_program(self._data, region, self._frame.background, place)

    def shaded(self, node: Node, place: int) -> tuple[Run, ...]:
        """Nothing is left to shade."""
        return ()

    def colour_places(self, place: int) -> tuple[int, int, int]:
        """Return where they lie in the record."""
        red, green, blue = range(place + DEPTH_BYTES, place + SENT_BYTES)
        return red, green, blue

    def colours(self, record: np.ndarray) -> np.ndarray:
        """Return the colours of records: uint8[lane, rgb]."""
        return record[DEPTH_BYTES:].T


def records_of(frame: Frame, *, deferred: bool) -> Records:
    """Return the records of a frame, ``deferred`` where shaders are to finish them."""
    return FinishedRecords(frame)
