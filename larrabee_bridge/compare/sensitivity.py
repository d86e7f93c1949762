"""Sensitivity: what pictures take on Larrabee where a value of the model is another, the largest change first.

Every value of the core and of the texture unit says itself which other values are tried (`moved`). The pictures are
drawn from triangles on the screen on, as `compare` draws them, vertices, bins and planes executed. A change of the
cycles is one of the ratio to another machine, whose cycles stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from larrabee_bridge.pipeline.backend import TextureConfig
from larrabee_bridge.pipeline.frame import draw_on_larrabee
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.config.param import Value, leaves
from pixelflow.simd.drawing import Frame
from pixelflow.simd.report import Column, Json, Report, Table
from tessellation.scenes import SceneSource, load_scene
from tessellation.studies.sensitivity import MovedGuess, percent_text

__all__ = ["larrabee_sensitivity"]

CORES = 10
_SCENES = ("still", "glass")
_SIZE = (320, 240)

Values = TypeVar("Values", CoreConfig, TextureConfig)
"""A group of values of the model."""


@dataclass(frozen=True, slots=True)
class _Model:
    core: CoreConfig
    texture: TextureConfig

    def cycles(self, frame: Frame) -> int:
        """Return the cycles of a frame on the cores."""
        return draw_on_larrabee(frame, parts=CORES, config=self.core, texture=self.texture).cycles


def larrabee_sensitivity(tell: Callable[[str], None], size: tuple[int, int] = _SIZE) -> Report:
    """Return the table of two pictures on ten cores, executed; values that change nothing are named in the end."""
    frames = [load_scene(name, SceneSource(size=size)).frame for name in _SCENES]
    usual = _Model(CoreConfig(caches=True), TextureConfig())
    base = [usual.cycles(frame) for frame in frames]
    changes = []
    for key, value, text, standing, model in _moves(usual):
        tell(f"{key} = {value}")
        taken = [model.cycles(frame) for frame in frames]
        percent = tuple(100 * (after / before - 1) for after, before in zip(taken, base, strict=True))
        changes.append(MovedGuess(key, str(value).lower(), text, standing, percent))
    changes.sort(key=lambda each: -each.largest)
    columns = (
        Column("value", key="key", fixed=True), Column("moved to", key="value", fixed=True),
        *(Column(name, percent_text, name) for name in _SCENES),
        Column("standing", key="standing", fixed=True, optional=True), Column("what it is", key="text", optional=True),
    )  # fmt: skip
    rows: list[Sequence[Json]] = [
        (each.key, each.value, *each.percent, each.standing, each.text) for each in changes if each.largest
    ]
    moving = {each.key for each in changes if each.largest}
    nothing = [key for key in dict.fromkeys(each.key for each in changes) if key not in moving]
    shown = ", ".join(f"{name} ({cycles:,})" for name, cycles in zip(_SCENES, base, strict=True))
    return Report(
        "sensitivity of Larrabee",
        (f"{CORES} cores", "{}x{}".format(*size), "executed"),
        results=[
            f"change of cycles in percent: {shown} cycles, from triangles on the screen on",
            "",
            Table(columns, rows, key="changes"),
            "",
            f"no change in any of them: {', '.join(nothing) or 'none'}",
        ],
        schema="pixelflow.study.sensitivity-larrabee/1",
        data={"without_change": nothing, "cycles": dict(zip(_SCENES, base, strict=True))},
    )


def _moves(usual: _Model) -> Iterator[tuple[str, Value, str, str, _Model]]:
    """Yield key, other value, text, standing, and the model that has it."""
    for key, about, value, _ in leaves(usual.core):
        for other in about.moved:
            if other != value:
                moved = replace(usual, core=_with(usual.core, key, other))
                yield key, other, about.text, about.standing.value, moved
    for key, about, value, _ in leaves(usual.texture):
        for other in about.moved:
            if other != value:
                moved = replace(usual, texture=_with(usual.texture, key, other))
                yield f"texture.{key}", other, about.text, about.standing.value, moved


def _with(values: Values, key: str, value: Value) -> Values:
    """Return values of which one is another."""
    return type(values)(**{each.name: getattr(values, each.name) for each in fields(values)} | {key: value})
