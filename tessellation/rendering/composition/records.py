"""Records: what rasterizers leave for each sample of a pixel, and what a shader has to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from microcode import Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Frame
from tessellation.rendering.instructions import SENT_BYTES, TriangleData, region_program
from tessellation.rendering.regions import Region, regions
from tessellation.rendering.renderer import plain_triangles
from tessellation.rendering.shading import (
    ShadedFrame,
    load_textures,
    read_record,
    receive_program,
    record_program,
    shade_region,
    sorted_layers,
)

__all__ = ["DeferredRecords", "FinishedRecords", "FrameRecords"]


class FrameRecords(Protocol):
    """The records of a frame; where they lie in image composition memory is ``place``, None for one node alone."""

    @property
    def size(self) -> int:
        """Bytes of a record that are sent, the depth first, highest byte first."""

    @property
    def samples(self) -> int:
        """Samples a pixel."""

    @property
    def triangles(self) -> int:
        """How many triangles rasterizers draw, from the first on."""

    @property
    def regions(self) -> Sequence[Region]:
        """The regions, and which triangles reach into each."""

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load what a node needs before its first region, one that ``shades`` or one that draws; None for nothing."""

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a sample of a region, and copies the records to ``place``."""

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return the records that a node has drawn: uint8[byte, lane]."""


class FinishedRecords:
    """Records of plain frames at one sample: depth, red, green, blue, which the rasterizer has finished."""

    size = SENT_BYTES
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

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Nothing is to be loaded."""
        return None

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a region, and copies the records to ``place``."""
        return region_program(self._data, region, self._frame.background, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return what lies at ``place``: uint8[byte, lane]."""
        if place is None:
            raise ValueError("finished records are there to be sent")
        return node.read_memory(place, self.size)


class DeferredRecords:
    """Records of frames whose nearest samples are shaded when all is drawn (`tessellation.rendering.shading`)."""

    def __init__(self, frame: Frame, config: NodeConfig) -> None:
        self._shaded = ShadedFrame.of(frame, config)
        self.size = len(self._shaded.record.sent)
        self.samples = frame.samples
        self.regions = self._shaded.regions()
        self._cut = any(draw.cutout for draw in self._shaded.draws)

    @property
    def triangles(self) -> int:
        """How many triangles rasterizers draw: those that are opaque."""
        return self._shaded.opaque

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load the textures: of a shader, and of a rasterizer that cuts out by them."""
        textures = self._shaded.textures
        return load_textures(node, textures) if textures.textures and (shades or self._cut) else None

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a sample of a region, and copies the records to ``place``."""
        return record_program(self._shaded, region, sample, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return the records: uint8[byte, lane]."""
        return read_record(node, self._shaded.record) if place is None else node.read_memory(place, self.size)

    def received(self, node: Node, place: int) -> Run:
        """Take records out of image composition memory."""
        return node.run(receive_program(self._shaded.record, place))

    def shaded(self, node: Node, region: Region, sample: int) -> tuple[Run, ...]:
        """Divide, read texels, multiply, lay sorted triangles over it, as far as the region has such triangles."""
        shading = shade_region(node, self._shaded, self._shaded.present(region.triangles.tolist()))
        layers = tuple(sorted_layers(node, self._shaded, region, sample))
        return layers if shading is None else (shading, *layers)

    @property
    def colours(self) -> tuple[int, int, int]:
        """Where red, green and blue are finished."""
        red, green, blue = (each.offset for each in self._shaded.record.finished)
        return red, green, blue
