"""What measures are made on: the scenes that a caller brings, and a register of the measures by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from larrabee_bridge.claims.published.claim import Measured
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import InputError
from pixelflow.simd.records import record

__all__ = ["LONG", "MEASURES", "Bench", "Measure", "NotMeasured", "measure"]


class NotMeasured(Exception):
    """A measure that cannot be made on this bench; its text says why."""


@record
class Bench:
    """Scenes for measures that need some: ``scenes`` gives a frame by name, made when it is asked for."""

    scenes: Mapping[str, Callable[[], Frame]] = field(default_factory=lambda: MappingProxyType({}))
    made: dict[str, Frame] = field(default_factory=dict)
    kept: dict[str, object] = field(default_factory=dict)
    """What measures share, so that it is computed once."""

    def frame(self, name: str) -> Frame:
        """Return a scene; raises NotMeasured where the caller has none of that name, or cannot make it here."""
        if name not in self.scenes:
            raise NotMeasured(f"needs a scene named {name}, which was not given")
        if name not in self.made:
            try:
                self.made[name] = self.scenes[name]()
            except InputError as fault:
                raise NotMeasured(f"the scene {name} cannot be made: {' '.join(str(fault).split())}") from None
        return self.made[name]

    def once(self, name: str, compute: Callable[[], object]) -> object:
        """Return what ``compute`` gives, computed once on this bench."""
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]


Measure = Callable[[Bench, Mapping[str, float]], Measured]
"""Takes a bench, and the printed figures for what is stated relative to them; what is executed depends on none."""

MEASURES: dict[str, Measure] = {}
LONG: set[str] = set()
"""Those that take more than a second or two."""


def measure(function: Measure | None = None, *, long: bool = False) -> Any:
    """Enter a measure into the register under its function's name; ``long`` says that it takes seconds."""

    def enter(measured: Measure) -> Measure:
        MEASURES[measured.__name__] = measured
        if long:
            LONG.add(measured.__name__)
        return measured

    return enter if function is None else enter(function)
