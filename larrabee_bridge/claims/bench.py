"""Bench of the claims: scenes and ways that a caller brings, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from larrabee_bridge.pipeline.front_end import FrontEndResult
from pixelflow.evidence import Bench, NotMeasured, Number
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import InputError

__all__ = ["Printed", "SceneBench", "SeenFrame"]

Printed = Mapping[str, Number]
"""The printed figures of a claim, for what is stated relative to them; what is executed depends on none."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenFrame:
    """A frame and the front ends that made its triangles of vertices, one for each draw, None where generated."""

    frame: Frame
    fronts: Sequence[FrontEndResult | None]


class SceneBench(Bench):
    """Frames by name for measures that need some, and by name and number along the way of a camera."""

    def __init__(
        self,
        scenes: Mapping[str, Callable[[], Frame]] = MappingProxyType({}),
        ways: Mapping[str, Callable[[int], SeenFrame]] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.scenes, self.ways = scenes, ways

    def frame(self, name: str) -> Frame:
        """Return a scene; raises NotMeasured where the caller has none of that name, or cannot make it here."""
        if name not in self.scenes:
            raise NotMeasured(f"needs a scene named {name}, which was not given")
        try:
            return self.once(("scene", name), self.scenes[name])
        except InputError as fault:
            raise NotMeasured(f"the scene {name} cannot be made: {' '.join(str(fault).split())}") from None

    def seen(self, name: str, frame: int) -> SeenFrame:
        """Return a frame of a way, made anew each time; raises NotMeasured as `frame` does."""
        if name not in self.ways:
            raise NotMeasured(f"needs a way named {name}, which was not given")
        try:
            return self.ways[name](frame)
        except InputError as fault:
            raise NotMeasured(f"the way {name} cannot be made: {' '.join(str(fault).split())}") from None
