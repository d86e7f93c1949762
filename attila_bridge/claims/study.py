"""Case study of section 5: texture units against arithmetic, with the window and in order, on scenes of ours.

The games' shaders are not public, so two families of programs combine reads of one texture, trilinear at one and a half
texels a pixel, with instructions. Without stalls a quad takes a third of its instructions in cycles of the shader, and
two bilinear steps for each read, shared among the texture units. The programs compared with the paper are those for
which this formula gives a loss of 5 to 10 % from three units to two; no measurement chooses them.

The families differ in the texture only. One fits the cache of each unit, as the formula assumes. The other does not:
each unit reads lines that others have read too, until memory costs more than a further unit gains.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attila_bridge.claims.probes import AttilaBench, giants, probe, reading, texture
from attila_bridge.claims.sections import texels_of
from attila_bridge.run import SceneRun, run_scene
from attila_bridge.time.config import CASE
from pixelflow.evidence import Measured, Number

Printed = Mapping[str, Number]
_SCREEN = 128
_ISSUE = 3
_STEPS = 2
_PER_PIXEL = 1.5
"""Texels a pixel, between two levels, so that reads are trilinear."""
_LINE = 256
_UNITS = (3, 2, 1)
_LEAST, _MOST = 1.05, 1.10


class StudyProgram(NamedTuple):
    """Program of a family."""

    reads: int
    instructions: int
    side: int
    """Texels along the edge of the texture."""

    def bound(self, units: int) -> float:
        """Return the least cycles of a quad: one for the ROP, issue, bilinear steps."""
        return max(1.0, self.instructions / _ISSUE, _STEPS * self.reads / units)

    def __str__(self) -> str:
        return f"{self.reads} reads of {self.instructions}"


_MEMBERS = ((2, 5), (2, 9), (4, 9), (4, 11), (4, 17), (6, 17))
"""Reads and instructions, from programs bound by texturing to programs bound by arithmetic."""
FITTING = tuple(StudyProgram(*each, 32) for each in _MEMBERS)
"""The two finest levels take 20 of the 64 lines of a unit's cache."""
WIDE = tuple(StudyProgram(*each, 256) for each in _MEMBERS)
"""The screen reads four times as many lines as the cache has, and every unit reads the borders of tiles."""
LIKE_THE_PAPER = tuple(each for each in FITTING if _LEAST <= each.bound(2) / each.bound(3) <= _MOST)


def case_run(bench: AttilaBench, program: StudyProgram, units: int, *, window: bool) -> SceneRun:
    """Return a screen of a program on the machine of section 5."""
    config = CASE.with_values({"texture.units": units, "texture.request_rate": units, "shader.window": window})
    scene = probe(
        giants(1),
        size=_SCREEN,
        fragment=reading(program.reads, program.instructions),
        textures={0: texture(program.side, levels=True)},
        coordinates=texels_of(1, _PER_PIXEL * _SCREEN / program.side),
    )
    name = f"{program} of {program.side} texels, {units} units, window {window}"
    return bench.once(name, lambda: run_scene(scene, config=config), name)


def _cycles(bench: AttilaBench, program: StudyProgram, *, window: bool) -> tuple[int, ...]:
    """Return cycles of drawing with three, two and one unit."""
    return tuple(case_run(bench, program, units, window=window).columns["cycles_drawing"] for units in _UNITS)


def _line(program: StudyProgram, cycles: tuple[int, ...]) -> str:
    three, two, one = cycles
    bounds = [program.bound(units) for units in _UNITS]
    return (
        f"{program}: {three:,} / {two:,} / {one:,} cycles, {two / three - 1:+.1%} for two "
        f"(formula {bounds[1] / bounds[0] - 1:+.1%}), {one / three - 1:+.1%} for one ({bounds[2] / bounds[0] - 1:+.1%})"
    )


def _holds(cycles: tuple[int, ...]) -> bool:
    """Return whether both sentences hold: 5 to 10 % for two units, and more than twice that for one."""
    three, two, one = cycles
    return _LEAST <= two / three <= _MOST and one / three - 1 > 2 * (two / three - 1)


def _map(bench: AttilaBench, family: tuple[StudyProgram, ...]) -> list[str]:
    lines = []
    for program in family:
        cycles = _cycles(bench, program, window=True)
        marks = ["by the formula like the paper"] if program in LIKE_THE_PAPER else []
        marks += ["both sentences hold"] if _holds(cycles) else []
        lines.append(_line(program, cycles) + (f"  <- {', '.join(marks)}" if marks else ""))
    return lines


def window_3_to_2(bench: AttilaBench, printed: Printed) -> Measured:
    """Remove a third of the texture units, for every program whose texture fits the caches."""
    lines = _map(bench, FITTING)
    runs = [_cycles(bench, program, window=True) for program in LIKE_THE_PAPER]
    within = int(all(_LEAST <= two / three <= _MOST for three, two, _ in runs))
    return Measured("\n".join(["texture that fits each unit's cache:", *lines]), {"within": within})


def window_3_to_1(bench: AttilaBench, printed: Printed) -> Measured:
    """Remove two of three units, for the programs like the paper's."""
    found = {program: _cycles(bench, program, window=True) for program in LIKE_THE_PAPER}
    text = "; ".join(
        f"{program}: {one / three - 1:+.1%} against {two / three - 1:+.1%}"
        for program, (three, two, one) in found.items()
    )
    much = all(one / three - 1 > 2 * abs(two / three - 1) for three, two, one in found.values())
    return Measured(text, {"more_than_twice_that": int(much)})


def in_order(bench: AttilaBench, printed: Printed) -> Measured:
    """Compare the window with order for the same programs."""
    found = {
        program: tuple(_cycles(bench, program, window=window)[0] for window in (True, False))
        for program in LIKE_THE_PAPER
    }
    text = "; ".join(f"{each}: {slow:,} cycles, {fast:,} with the window" for each, (fast, slow) in found.items())
    return Measured(text, {"slower": int(all(slow > fast for fast, slow in found.values()))})


def in_order_units(bench: AttilaBench, printed: Printed) -> Measured:
    """Remove units in order."""
    found = {program: _cycles(bench, program, window=False) for program in LIKE_THE_PAPER}
    same = all(abs(two / three - 1) < _LEAST - 1 for three, two, _ in found.values())
    return Measured("; ".join(_line(*each) for each in found.items()), {"within_5": int(same)})


def hit_rate(bench: AttilaBench, printed: Printed) -> Measured:
    """Execute the same programs with a texture that exceeds the caches."""
    lines = ["texture that does not fit:", *_map(bench, WIDE)]
    faster = sum(three > one for three, _, one in (_cycles(bench, each, window=True) for each in WIDE))
    lines.append(f"{faster} of {len(WIDE)} are slower with three units than with one: memory bounds them")
    grow = all(_bytes(bench, each, 3) > _bytes(bench, each, 2) > _bytes(bench, each, 1) for each in WIDE)
    misses = all(_missed(bench, each, 3) > _missed(bench, each, 1) for each in WIDE)
    for each in WIDE:
        shares = " / ".join(f"{_missed(bench, each, units):.2%}" for units in _UNITS)
        moved = " / ".join(f"{_bytes(bench, each, units):,}" for units in _UNITS)
        lines.append(f"{each}: {moved} bytes of texels, {shares} of the texels that are read missed")
    return Measured("\n".join(lines), {"bytes_grow": int(grow), "misses_grow": int(misses)})


def _bytes(bench: AttilaBench, program: StudyProgram, units: int) -> int:
    return case_run(bench, program, units, window=True).columns["texture_bytes"]


def _missed(bench: AttilaBench, program: StudyProgram, units: int) -> float:
    """Return lines requested as a share of texels read."""
    run = case_run(bench, program, units, window=True)
    read = sum(count for name, count in run.statistics.items() if name.startswith("ReadsOK_TU"))
    return _bytes(bench, program, units) / _LINE / max(1, read)


def one_unit_busy(bench: AttilaBench, printed: Printed) -> Measured:
    """Measure the busy share of one texture unit's arithmetic, and of three in order."""
    shares = {program: _busy(bench, program, 1, window=True) for program in LIKE_THE_PAPER}
    text = "; ".join(f"{program}: {share:.1%} of the cycles of drawing" for program, share in shares.items())
    order = max(_busy(bench, program, 3, window=False) for program in LIKE_THE_PAPER)
    within = int(all(0.95 <= share <= 0.995 for share in shares.values()))
    text += f"; in order each of three units is busy for at most {order:.1%}"
    return Measured(text, {"within": within, "under_used": int(order < 0.5)})


def _busy(bench: AttilaBench, program: StudyProgram, units: int, *, window: bool) -> float:
    run = case_run(bench, program, units, window=window)
    busy = sum(count for name, count in run.statistics.items() if name.startswith("AddressALUBusyCycles_"))
    return busy / units / run.columns["cycles_drawing"]
