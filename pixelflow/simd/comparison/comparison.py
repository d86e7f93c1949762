"""Machines side by side: who draws a scene, what each took, and the report of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from pixelflow.simd.comparison.scorecard import (
    QUANTITIES,
    fairness_object,
    fairness_parts,
    marked,
    marks_line,
    scorecard_object,
    scorecard_parts,
)
from pixelflow.simd.drawing import (
    EQUAL,
    Blend,
    Comparison,
    DrawnFrame,
    Frame,
    State,
    Work,
    draw_frame,
    free_object,
    free_standing,
)
from pixelflow.simd.errors import InputError, MissingPackageError, UsageError
from pixelflow.simd.report import Column, Heading, Json, Part, Table, counted, listed, number, shares, verbatim
from pixelflow.simd.units import Constant

# Machines that draw one scene: who refuses it, and the comparison of those that draw.


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


# Machines side by side as a report: what each took, stages, instructions, bytes.


_LABEL = 16
"""Columns that labels of figures take at least."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What machines did besides the picture, to stand in its comparison."""

    title: str
    """Of its section."""
    parts: Sequence[Part]
    data: dict[str, Json]
    times: Sequence[tuple[str, str, float]]
    """For the figure: the machine, what it did, milliseconds."""


def verdict(found: Comparison) -> str:
    """Return how the pictures stand to the one of 64-bit integers; who is left out has pixels that differ."""
    if found.wrong:
        return "PIXELS DIFFER"
    equal = [side.machine for side in found.sides if side.picture.equals(found.expected)]
    return f"{EQUAL} to that of 64-bit integers on {listed(equal)}" if equal else "no picture has every pixel equal"


def different(found: Comparison) -> Iterator[str]:
    """Yield of each machine whose picture is another one how many pixels differ, and why they may."""
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            yield f"{side.machine}: {apart.text}"


def comparison_parts(found: Comparison) -> Iterator[Part]:
    """Yield what holds for all, then stages, instructions and bytes of each, section by section."""
    yield Heading("What the picture took")
    drawers = listed([side.whole for side in found.sides])
    yield f"drawn by {drawers}; a part, below, is one of these {_kinds(found.sides)}"
    yield f"{counted(found.triangles, 'triangle')}, {found.dropped:,} without an area; {verdict(found)}"
    yield from different(found)
    yield from refusals(found.refused)
    yield from ("", _table(found.sides), marks_line(found.sides))
    yield from _section("What the figures are to be taken for", scorecard_parts(found.sides))
    tables = [table for each in zip(*map(side_tables, found.sides), strict=True) for table in each]
    yield from _section("Where the cycles went", [*tables[:1], *(part for each in tables[1:] for part in ("", each))])
    yield from _section("Left out of the cycles", [line for side in found.sides for line in _left_out(side)])
    facts = [f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts]
    yield from _section("Facts", facts)
    if len(found.sides) > 1:
        yield from _section("What is fair and what is not", fairness_parts(found))


def beside_parts(besides: Iterable[Beside | None]) -> Iterator[Part]:
    """Yield what stands beside a comparison, a section each."""
    for each in besides:
        if each is not None:
            yield from _section(each.title, each.parts)


def _section(title: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts under a heading; nothing where there are none."""
    found = list(parts)
    if found:
        yield from ("", Heading(title))
        yield from found


def _kinds(sides: Sequence[DrawnFrame]) -> str:
    return listed([f"{kind}s" for kind in dict.fromkeys(side.part for side in sides)], "or")


def _table(sides: Sequence[DrawnFrame]) -> Table:
    """Return the figures of all machines beside each other, after each a letter for its standing."""
    rows: list[list[Json]] = []
    for each in QUANTITIES:
        cells = [marked(each.kind(each.value(side)), side, each.key, sides) for side in sides]
        rows.append([each.label, *cells])
    for clock in _clocks(sides):
        times = [marked(number(side.milliseconds_at(clock)), side, "milliseconds_at", sides) for side in sides]
        rows.append([f"at {clock:g} MHz each, ms", *times])
    return Table([Column("", least=_LABEL), *(Column(side.machine, verbatim) for side in sides)], rows)


def refusals(refused: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield who does not draw the scene, and why."""
    yield from (f"{machine} does not draw it: {reason}" for machine, reason in refused)


def _clocks(sides: Sequence[DrawnFrame]) -> list[float]:
    """Return the clocks that all machines are given in turn; none where they have the same."""
    clocks = sorted({side.clock_mhz for side in sides})
    return clocks if len(clocks) > 1 else []


def side_tables(side: DrawnFrame) -> Iterator[Table]:
    """Yield stages, instructions and bytes of one machine with their shares."""
    for title, values, unit in (
        (f"cycles {side.whose_stages}", side.stages, "cycles"),
        ("instructions", side.mix, "executed"),
        ("bytes moved", side.traffic, "bytes"),
    ):
        yield shares(values, unit, "what", foot="= all", title=f"{side.machine}: {title}")


def _left_out(side: DrawnFrame) -> Iterator[str]:
    """Yield what a machine's account leaves out, with cycles and their standing where a formula bounds them."""
    if side.free:
        yield f"{side.machine}: left out of its cycles (not executed)"
    for each in side.free:
        size = "" if each.cycles is None else f" {each.cycles:,} cycles ({free_standing(each)})"
        yield f"  {each.what}: {each.bound.value}{size}; {each.why}."


def comparison_object(found: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON holds it."""
    return {
        "triangles": found.triangles,
        "without_area": found.dropped,
        "identical": found.identical,
        "machines": [
            {
                **side_object(side),
                "milliseconds_at": {f"{clock:g}": side.milliseconds_at(clock) for clock in _clocks(found.sides)},
                "pixels_different": apart.colours,
                "depths_different": apart.depths,
                "largest_difference": apart.largest,
                "why_different": apart.reason or None,
                **scorecard_object(side, found.sides),
            }
            for side, apart in zip(found.sides, found.differences, strict=True)
        ],
        "refused": [{"machine": machine, "reason": reason} for machine, reason in found.refused],
        "fairness": fairness_object(found),
    }


def side_object(side: DrawnFrame) -> dict[str, Json]:
    """Return one machine's account as JSON holds it."""
    return {
        **{each.key: each.value(side) for each in QUANTITIES if each.single},
        "machine": side.machine,
        "parts": side.parts,
        "stages": side.stages,
        "stages_are": side.whose_stages,
        "instructions": side.mix,
        "bytes": side.traffic,
        "facts": [{"name": name, "text": text} for name, text in side.facts],
        "left_out": [free_object(each) for each in side.free],
    }
