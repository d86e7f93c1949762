"""Bench of the claims: scenes that a caller brings, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pixelflow.evidence import Bench, NotMeasured, Number
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import InputError

__all__ = ["Printed", "SceneBench"]

Printed = Mapping[str, Number]
"""The printed figures of a claim, for what is stated relative to them; what is executed depends on none."""


class SceneBench(Bench):
    """Frames by name for measures that need some."""

    def __init__(self, scenes: Mapping[str, Callable[[], Frame]] = MappingProxyType({})) -> None:
        super().__init__()
        self.scenes = scenes

    def frame(self, name: str) -> Frame:
        """Return a scene; raises NotMeasured where the caller has none of that name, or cannot make it here."""
        if name not in self.scenes:
            raise NotMeasured(f"needs a scene named {name}, which was not given")
        try:
            return self.once(("scene", name), self.scenes[name])
        except InputError as fault:
            raise NotMeasured(f"the scene {name} cannot be made: {' '.join(str(fault).split())}") from None
