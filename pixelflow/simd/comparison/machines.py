"""Machines that draw one scene: who refuses it, and the comparison of those that draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from pixelflow.simd.drawing import Blend, Comparison, DrawnFrame, Frame, State, Work, draw_frame
from pixelflow.simd.errors import InputError, MissingPackageError, UsageError
from pixelflow.simd.report import listed
from pixelflow.simd.units import Constant

__all__ = ["Contender", "Refusal", "Sides", "refused_with"]


Refusal: TypeAlias = Callable[[Sequence[tuple[str, State]], int], None]
"""Raises InputError, before any work, for draws of those names and states, at so many samples a pixel."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A machine as it is set for a comparison."""

    title: str
    draw: Callable[[Frame], DrawnFrame]
    built: tuple[Constant, ...] = ()
    """What the machine was that is modelled."""
    refuse: Refusal | None = None


def refused_with(refuse: Refusal, others: Mapping[str, Refusal | None]) -> Refusal:
    """Return what refuses the same, and names those of the ``others`` that would not."""

    def hinted(draws: Sequence[tuple[str, State]], samples: int) -> None:
        try:
            refuse(draws, samples)
        except (UsageError, MissingPackageError):
            raise
        except InputError as error:
            able = [name for name, other in others.items() if other is None or _takes(other, draws, samples)]
            more = f"--machine {listed(able, 'or')} would draw it" if able else "no machine here draws it"
            faults = [replace(each, hint=f"{each.hint}; {more}" if each.hint else more) for each in error.faults]
            raise InputError(faults) from None

    return hinted


def _takes(refuse: Refusal, draws: Sequence[tuple[str, State]], samples: int) -> bool:
    try:
        refuse(draws, samples)
    except InputError:
        return False
    return True


@dataclass(slots=True)
class Sides:
    """Machines by name, for one scene. One that refuses it is left out, with its reason, as long as another draws."""

    contenders: Mapping[str, Contender]
    others: Mapping[str, Refusal | None] = field(default_factory=dict)
    """Machines that were not asked to draw, and what they refuse: where all of those refuse, these are named."""
    refused: dict[str, InputError] = field(default_factory=dict, init=False)

    @property
    def drawing(self) -> list[str]:
        """The machines that have not refused."""
        return [name for name in self.contenders if name not in self.refused]

    def require(self, draws: Sequence[tuple[str, State]], samples: int) -> None:
        """Ask every machine that can say it before any work; raises InputError where all refuse."""
        for name in self.drawing:
            refuse = self.contenders[name].refuse
            if refuse is not None:
                self._asked(name, partial(refused_with(refuse, self.others), draws, samples))

    def compared(self, scene: str, frame: Frame) -> Comparison:
        """Draw a frame on all that have not refused; raises InputError where none is left."""
        found: list[DrawnFrame] = []
        for name in self.drawing:
            self._asked(name, partial(self._draw, name, frame, found))
        return Comparison(
            scene,
            sum(len(draw.triangles) for draw in frame.draws),
            sum(draw.triangles.dropped for draw in frame.draws),
            draw_frame(frame),
            tuple(found),
            asked_of(frame),
            {side.machine: self.contenders[name].built for name, side in zip(self.drawing, found, strict=True)},
            tuple((self.contenders[name].title, _reason(error)) for name, error in self.refused.items()),
        )

    def _draw(self, name: str, frame: Frame, found: list[DrawnFrame]) -> None:
        found.append(self.contenders[name].draw(frame))

    def _asked(self, name: str, ask: Callable[[], None]) -> None:
        try:
            ask()
        except (UsageError, MissingPackageError):
            raise
        except InputError as error:
            self.refused[name] = error
            if not self.drawing:
                faults = [fault for each in self.refused.values() for fault in each.faults]
                raise InputError(dict.fromkeys(faults)) from None


def _reason(error: InputError) -> str:
    """Return why, in one line; the places are those of the scene."""
    return "; ".join(fault.message for fault in error.faults)


def asked_of(frame: Frame) -> frozenset[Work]:
    """Return the work that a frame asks for: texels and blending only where a draw has such."""
    asked = set(Work)
    if not any(draw.state.texture is not None for draw in frame.draws):
        asked.discard(Work.TEXELS)
    if all(draw.state.blend is Blend.REPLACE for draw in frame.draws):
        asked.discard(Work.BLENDING)
    return frozenset(asked)
