"""What the application and the GPs have worked out of a frame that is shaded later: planes, materials, textures.

A material is how records are shaded: with which texture, and whether their values are numerators. It has the number
that is in a record; 0 is the background. Those that are divided, and those with a texture, follow each other, so that
PEs find either with two compares: linear colours, linear with textures, divided with textures, divided colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.simd.drawing import (
    Blend,
    Draw,
    Edges,
    Frame,
    Interpolation,
    ScreenTriangles,
    State,
    Texture,
    edges_of,
    places_of,
    steady,
)
from pixelflow.simd.errors import Fault, InputError
from tessellation.rendering.regions import Region, regions
from tessellation.rendering.shading.record import SampleRecord
from tessellation.rendering.shading.textures import TextureLayout

__all__ = ["MOST_SORTED", "DrawData", "Material", "ShadedFrame", "deferred", "require_deferred"]

_MOST_MATERIALS = 255
_LOST = "blending in the order of drawing, stencil or other tests"
MOST_SORTED = (1 << 16) - 1
"""Triangles of draws that are sorted: their numbers, from 1, have two bytes in a key."""


@dataclass(frozen=True, slots=True)
class Material:
    """How a record is shaded."""

    texture: int | None
    """The number of the texture, where there is one."""
    divided: bool
    """Whether colours and coordinates are numerators."""
    bits: int = 0
    """By how many bits numerators of coordinates go up before they are divided: K of the reference."""
    alpha: int | None = None
    """Opacity of what is sorted; None of what is opaque."""
    cutout: int = 0
    """The least opacity of a texel of what is sorted."""

    @property
    def order(self) -> tuple[int, ...]:
        """What materials are sorted by."""
        return (
            2 * self.divided + (self.divided == (self.texture is None)),
            -1 if self.texture is None else self.texture,
            self.bits,
            self.alpha or 0,
            self.cutout,
        )


@dataclass(frozen=True, slots=True, eq=False)
class DrawData:
    """A draw as the GPs have it, at each of the places in a pixel."""

    edges: tuple[Edges, ...]
    values: tuple[Interpolation, ...]
    flat: np.ndarray
    """Which triangles have one colour: bool[triangle]; in perspective those whose quotients have it as well."""
    materials: tuple[Material, ...]
    """Of each triangle."""
    state: State

    @property
    def cutout(self) -> int:
        """The least opacity of a texel that is seen; 0 where none is cut out."""
        return self.state.cutout


@dataclass(frozen=True, eq=False)
class ShadedFrame:
    """A frame of opaque draws, ready to be drawn region by region; triangles are numbered through all draws."""

    frame: Frame
    draws: tuple[DrawData, ...]
    materials: tuple[Material, ...]
    """In the order of their numbers, the first of which is 1."""
    textures: TextureLayout
    record: SampleRecord
    triangles: ScreenTriangles

    @classmethod
    def of(cls, frame: Frame, config: NodeConfig = THESIS) -> ShadedFrame:
        """Return what a frame comes to; raises InputError for draws that cannot be shaded later."""
        require_deferred((draw.name, draw.state) for draw in frame.draws)
        places = places_of(frame.samples)
        textures: list[Texture] = []
        for draw in frame.draws:
            if draw.state.texture is not None and not any(draw.state.texture is each for each in textures):
                textures.append(draw.state.texture)
        draws = tuple(_data(draw, places, textures) for draw in frame.draws if len(draw.triangles))
        materials = tuple(sorted({each for draw in draws for each in draw.materials}, key=lambda each: each.order))
        if len(materials) > _MOST_MATERIALS:
            hint = f"at most {_MOST_MATERIALS}: a texture, and how its coordinates are interpolated"
            raise InputError(Fault(f"{len(materials)} materials", hint=hint))
        used = [each for each in materials if each.texture is not None]
        record = SampleRecord(
            divisor=any(each.divided for each in materials),
            coordinates=bool(used),
            block=any(textures[each.texture].mipmaps for each in used if each.texture is not None),
            slopes=frame.samples == 1,
        )
        count = sum(len(draw.triangles) for draw in frame.draws if draw.state.blend is Blend.SORTED)
        if count > MOST_SORTED:
            hint = f"at most {MOST_SORTED:,}, whose numbers the PEs compare in two bytes"
            raise InputError(Fault(f"{count:,} triangles of draws sorted by depth", hint=hint))
        joined = ScreenTriangles.joined([draw.triangles for draw in frame.draws])
        return cls(frame, draws, materials, TextureLayout.of(textures, config), record, joined)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where in a pixel the planes of samples lie."""
        return places_of(self.frame.samples)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *(len(draw.materials) for draw in self.draws)])

    def place_of(self, number: int) -> tuple[DrawData, int]:
        """Return the draw of a triangle, and its number there."""
        draw = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self.draws[draw], number - int(self._starts[draw])

    def regions(self) -> list[Region]:
        """Return the regions of the screen, the same for all planes of samples."""
        return list(regions(self.triangles, self.frame.width, self.frame.height, self.places))

    def number(self, material: Material) -> int:
        """Return the number that records have."""
        return self.materials.index(material) + 1

    @cached_property
    def opaque(self) -> int:
        """How many triangles are opaque; those that are sorted follow them."""
        return sum(len(draw.materials) for draw in self.draws if draw.state.blend is not Blend.SORTED)

    def present(self, triangles: Iterable[int]) -> tuple[Material, ...]:
        """Return the materials of the opaque ones of triangles, in the order of their numbers."""
        return self.materials_of(number for number in triangles if number < self.opaque)

    def materials_of(self, triangles: Iterable[int]) -> tuple[Material, ...]:
        """Return the materials of triangles, in the order of their numbers."""
        found = {draw.materials[index] for draw, index in map(self.place_of, triangles)}
        return tuple(each for each in self.materials if each in found)

    @cached_property
    def bits(self) -> int:
        """The largest K of all materials: quotients of coordinates have as many bits past the point."""
        return max((each.bits for each in self.materials), default=0)


def _data(draw: Draw, places: Sequence[tuple[int, int]], textures: Sequence[Texture]) -> DrawData:
    triangles, texture = draw.triangles, draw.state.texture
    number = next((index for index, each in enumerate(textures) if each is texture), None)
    values = tuple(Interpolation.of(triangles, place, textured=texture is not None) for place in places)
    flat, quotients = steady(triangles), values[0].quotients
    layer = (draw.state.alpha, draw.state.cutout) if draw.state.blend is Blend.SORTED else (None, 0)
    if texture is not None:
        bits = 0 if quotients is None else quotients.bits
        materials = [Material(number, quotients is not None, bits, *layer)] * len(triangles)
    else:
        # As without textures: colours of triangles that are flat or equally far are linear.
        divided = ~(flat | triangles.level)
        materials = [Material(None, bool(each), 0, *layer) for each in divided]
    return DrawData(tuple(edges_of(triangles, place) for place in places), values, flat, tuple(materials), draw.state)


def deferred(state: State) -> bool:
    """Whether draws in a state can be shaded later: the nearest fragment is all that is seen, or they are sorted."""
    opaque = State(texture=state.texture, cutout=state.cutout, alpha=state.alpha)
    return state in (opaque, replace(opaque, blend=Blend.SORTED, depth_write=False))


def require_deferred(draws: Iterable[tuple[str, State]]) -> None:
    """Raise InputError, naming the draws, for states in which more than the nearest fragment is seen."""
    others = [name for name, state in draws if not deferred(state)]
    if others:
        hint = "nodes keep the nearest of each sample and lose the order of draws"
        raise InputError(Fault(f"not drawn on PixelFlow here: {', '.join(others)}: {_LOST}", hint=hint))
