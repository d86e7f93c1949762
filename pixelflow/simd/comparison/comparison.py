"""Comparison of machines: their drawings of one scene, the cycles of each, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from pixelflow.simd.comparison import scorecard
from pixelflow.simd.drawing import (
    EQUAL,
    Blend,
    Bound,
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
from pixelflow.simd.report import (
    Illustration,
    Json,
    Part,
    RasterImage,
    Table,
    Timeline,
    TimeSpan,
    Topic,
    counted,
    listed,
    number,
    shares,
)
from pixelflow.simd.units import Constant

# Machines that draw one scene: who refuses it, and the comparison of those that draw.


Refusal: TypeAlias = Callable[[Sequence[tuple[str, State]], int], None]
"""Raises InputError, before any work, for draws of those names and states, at this many samples a pixel."""


class Contender(NamedTuple):
    """A machine as it is set for a comparison."""

    title: str
    draw: Callable[[Frame], DrawnFrame]
    built: tuple[Constant, ...] = ()
    """Data of the modelled machine's hardware."""
    refuse: Refusal | None = None


def refused_with(refuse: Refusal, others: Mapping[str, Refusal | None]) -> Refusal:
    """Return a refusal of the same scene that names those of the ``others`` that would take it."""

    def hinted(draws: Sequence[tuple[str, State]], samples: int) -> None:
        try:
            refuse(draws, samples)
        except (UsageError, MissingPackageError):
            raise
        except InputError as error:
            able = [name for name, other in others.items() if other is None or _takes(other, draws, samples)]
            more = f"--machine {listed(able, 'or')} would draw it" if able else "no machine here draws it"
            faults = [each._replace(hint=f"{each.hint}; {more}" if each.hint else more) for each in error.faults]
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


# Machines side by side as a report: a first screen, and topics that explain it.


EXPLAINED = {
    "cycles": "Where the cycles went",
    "sources": "Sources of the figures",
    "left-out": "Left out of the cycles",
    "fair": "What is fair and what is not",
}
"""Topics of every comparison, with their titles."""
_BOUNDED = {
    Bound.FLOOR: "with it the picture takes at least {:,} cycles",
    Bound.AT_MOST: "at most {:,} cycles more",
    Bound.ABOUT: "about {:,} cycles more",
}


class Beside(NamedTuple):
    """Results in addition to the pictures, as a topic of the comparison."""

    title: str
    parts: Sequence[Part]
    data: dict[str, Json]
    times: Sequence[tuple[str, str, float]]
    """For the figure: the machine, what it did, milliseconds."""


def verdict(found: Comparison) -> str:
    """Return how the pictures compare with the one of 64-bit integers."""
    if found.wrong:
        return "PIXELS DIFFER"
    equal = [side.machine for side in found.sides if side.picture.equals(found.expected)]
    if len(equal) == len(found.sides):
        return f"{EQUAL} to 64-bit integers"
    return f"{EQUAL} to 64-bit integers on {listed(equal)}" if equal else "no picture has every pixel equal"


def different(found: Comparison) -> Iterator[str]:
    """Yield of each machine whose picture is another one how many pixels differ, and why they may."""
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            yield f"{side.machine}: {apart.text}"


def comparison_parts(found: Comparison) -> Iterator[Part]:
    """Yield the first screen: the answer, the figures, the work that is not counted, and the assumptions."""
    yield f"{_answer(found)}; {verdict(found)}."
    yield from (f"{text}." for text in different(found))
    yield from refusals(found.refused)
    figures, letters = scorecard.figures_table(found.sides, [each for each in scorecard.QUANTITIES if each.first])
    yield from ("", figures)
    if notes := [text for text in (scorecard.same_work_line(found), letters) if text]:
        yield f"{'; '.join(notes)}"
    uncounted = scorecard.uncounted_table(found)
    yield from ("", uncounted) if uncounted.rows else ()
    caveats = sorted({each.code for side in found.sides for each in side.free})
    left = f", caveats {' '.join(caveats)}" if uncounted.rows else ""
    yield f"{scorecard.assumed_line(found.sides)}{left}; `--explain sources` and `all`"


def _answer(found: Comparison) -> str:
    """Return who draws the picture in the least time, and how many times as long the others take."""
    first, *rest = sorted(found.sides, key=lambda side: side.milliseconds)
    longer = (f"; {_clocked(side)} takes {side.milliseconds / first.milliseconds:.3g} times as long" for side in rest)
    return f"{_clocked(first)} draws it in {number(first.milliseconds)} ms{''.join(longer)}"


def _clocked(side: DrawnFrame) -> str:
    return f"{side.machine} ({counted(side.parts, side.part)}, {side.clock_mhz:,g} MHz)"


def comparison_topics(found: Comparison, besides: Mapping[str, Beside | None]) -> Iterator[Topic]:
    """Yield the explanations of a comparison, topic by topic; ``besides`` are extra topics by name."""
    for (name, title), parts in zip(
        EXPLAINED.items(),
        (_cycles(found), scorecard.sources_parts(found.sides), _left_out(found.sides), scorecard.fairness_parts(found)),
        strict=True,
    ):
        yield Topic(name, title, tuple(parts))
    for name, beside in besides.items():
        if beside is not None:
            yield Topic(name, beside.title, beside.parts)


def _cycles(found: Comparison) -> Iterator[Part]:
    """Yield all figures, the time at each other's clocks, stages, instructions and bytes, and facts."""
    table, letters = scorecard.figures_table(found.sides)
    for clock in _clocks(found.sides):
        times = [number(side.milliseconds_at(clock)) for side in found.sides]
        table = table._replace(rows=[*table.rows, [f"at {clock:g} MHz each, ms", *times]])
    yield table
    yield from [letters] if letters else []
    yield from [f"{counted(found.dropped, 'triangle')} without an area not drawn"] if found.dropped else []
    for tables in zip(*map(side_tables, found.sides), strict=True):
        yield from (part for each in tables for part in ("", each))
    yield ""
    yield from (f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts)


def refusals(refused: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the machines that refuse the scene, and why."""
    yield from (f"{machine} does not draw it: {reason}." for machine, reason in refused)


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


def _left_out(sides: Sequence[DrawnFrame]) -> Iterator[str]:
    """Yield what each account leaves out, with cycles and their standing where a formula bounds them."""
    for side in sides:
        for each in side.free:
            bound = "no bound" if each.cycles is None else _BOUNDED[each.bound].format(each.cycles)
            standing = "" if each.cycles is None else f" ({free_standing(each)})"
            yield f"{side.machine}, {each.what}: {bound}{standing}; {each.why}."


def comparison_object(found: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON holds it."""
    return {
        "triangles": found.triangles,
        "without_area": found.dropped,
        "identical": found.identical,
        "same_work": [work.value for work in scorecard.shared_work(found.sides) if work in found.asked],
        "machines": [
            {
                **side_object(side, found.sides),
                "milliseconds_at": {f"{clock:g}": side.milliseconds_at(clock) for clock in _clocks(found.sides)},
                "pixels_different": apart.colours,
                "depths_different": apart.depths,
                "largest_difference": apart.largest,
                "why_different": apart.reason or None,
                **scorecard.scorecard_object(side, found.sides),
            }
            for side, apart in zip(found.sides, found.differences, strict=True)
        ],
        "refused": [{"machine": machine, "reason": reason} for machine, reason in found.refused],
        "fairness": scorecard.fairness_object(found),
    }


def side_object(side: DrawnFrame, sides: Sequence[DrawnFrame] = ()) -> dict[str, Json]:
    """Return one machine's account as JSON holds it; ``sides`` are those that it is compared with, itself included."""
    return {
        **{each.key: each.value(side, sides) for each in scorecard.QUANTITIES if each.single and (sides or each.alone)},
        "machine": side.machine,
        "parts": side.parts,
        "stages": side.stages,
        "stages_are": side.whose_stages,
        "instructions": side.mix,
        "bytes": side.traffic,
        "facts": [{"name": name, "text": text} for name, text in side.facts],
        "left_out": [free_object(each) for each in side.free],
    }


# Illustrations of a page or a notebook: picture, where others differ, timelines.


_COLOUR_OFF, _DEPTH_OFF = 255, 110
_WIDE = 480
"""Points of a page that small pictures are as wide as."""
_MOST_PARTS = 4
"""Of a machine, in the figure of all."""
_LONGEST = 22
"""Letters of a lane's name that a figure has room for."""


def pictures_of(found: Comparison) -> Iterator[Illustration]:
    """Yield the picture of 64-bit integers, and a map of what differs for each machine that has drawn another one.

    White has another colour, grey another depth alone.
    """
    height, width = found.expected.depths.shape
    caption = f"{found.scene}, {width} x {height}, as 64-bit integers draw it"
    scale = max(1, _WIDE // width)
    yield RasterImage(width, height, 3, found.expected.colours.tobytes(), caption, scale)
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            colours = (side.picture.colours != found.expected.colours).any(axis=2)
            depths = side.picture.depths != found.expected.depths
            shades = np.where(colours, _COLOUR_OFF, np.where(depths, _DEPTH_OFF, 0)).astype(np.uint8)
            caption = f"{side.machine}, white: another colour, grey: another depth alone; {apart.text}"
            yield RasterImage(width, height, 1, shades.tobytes(), caption, scale)


def timelines_of(found: Comparison) -> Iterator[Illustration]:
    """Yield what went on when on all machines, on one scale of time at their clocks, then of each by its cycles.

    A machine of many parts has its first ones in the common figure.
    """
    lanes = []
    for side in found.sides:
        for part, spans in side.timeline[:_MOST_PARTS]:
            lanes.append((f"{side.machine}, {part}"[:_LONGEST], [_at(span, 1e3 / side.clock_mhz) for span in spans]))
    if lanes:
        yield Timeline("activity over time, at each machine's clock", lanes, "ns")
    for side in found.sides:
        if side.timeline:
            yield Timeline(f"{side.machine}: activity over time", side.timeline)


def _at(span: TimeSpan, scale: float) -> TimeSpan:
    return TimeSpan(span.name, round(span.start * scale), round(span.end * scale))
