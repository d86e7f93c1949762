"""Case study of section 5: texture units against arithmetic, with the window and in order, on scenes of ours.

The games' shaders are not public, so there is a family of programs: some reads of one texture, trilinear, and some
instructions. What the paper says of three units and two follows from them: a quad takes the shader a third of its
instructions in cycles, and the texture units two bilinear steps for each read, shared among them. The program that is
laid beside the paper is the one for which that gives a loss of 5 to 10 %; it is chosen by this formula alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attila_bridge.claims.bench import AttilaBench
from attila_bridge.claims.probes import giants, probe, reading, texture
from attila_bridge.claims.sections import texels_of
from attila_bridge.run import AttilaRun, run_scene
from attila_bridge.time.config import CASE
from pixelflow.evidence import Measured, Number

__all__ = ["FAMILY", "MEASURES", "Program"]

Printed = Mapping[str, Number]
_SIDE = 128
_ISSUE = 3
_STEPS = 2


@dataclass(frozen=True, slots=True)
class Program:
    """A member of the family."""

    reads: int
    instructions: int

    def bound(self, units: int) -> float:
        """Return the cycles that a quad takes at least: one for the ROP, issue, and bilinear steps."""
        return max(1.0, self.instructions / _ISSUE, _STEPS * self.reads / units)


FAMILY = tuple(Program(reads, instructions) for reads in (1, 2, 4) for instructions in (2 * reads + 1, 11, 17))
"""From programs that texturing bounds to programs that arithmetic bounds."""
LIKE_THE_PAPER = next(each for each in FAMILY if 1.05 <= each.bound(2) / each.bound(3) <= 1.10)


def case_run(bench: AttilaBench, program: Program, units: int, *, window: bool) -> AttilaRun:
    """Return a screen of a program on the machine of section 5."""
    config = CASE.with_values({"texture.units": units, "texture.request_rate": units, "shader.window": window})
    scene = probe(
        giants(1),
        size=_SIDE,
        fragment=reading(program.reads, program.instructions),
        textures={0: texture(256, levels=True)},
        coordinates=texels_of(1, 0.75),
    )
    name = f"{program.reads} reads, {program.instructions} instructions, {units} units, window {window}"
    return bench.once(name, lambda: run_scene(scene, config=config), name)


def _cycles(bench: AttilaBench, program: Program, *, window: bool) -> list[int]:
    """Return cycles of drawing with three, two and one unit."""
    return [case_run(bench, program, units, window=window).columns["cycles_drawing"] for units in (3, 2, 1)]


def window_3_to_2(bench: AttilaBench, printed: Printed) -> Measured:
    """Take a third of the texture units away, for every program of the family."""
    lines, within = [], 0
    for program in FAMILY:
        three, two, one = _cycles(bench, program, window=True)
        bound = program.bound(2) / program.bound(3) - 1
        lines.append(
            f"{program.reads} reads of {program.instructions}: {three:,} / {two:,} / {one:,} cycles, "
            f"{two / three - 1:+.1%} for two (formula {bound:+.1%}), {one / three - 1:+.1%} for one"
        )
        if program == LIKE_THE_PAPER:
            within = int(1.05 <= two / three <= 1.10)
            lines[-1] += "  <- by the formula like the paper"
    return Measured("\n".join(lines), {"within": within})


def window_3_to_1(bench: AttilaBench, printed: Printed) -> Measured:
    """Take two of three units away from the program that is like the paper."""
    three, two, one = _cycles(bench, LIKE_THE_PAPER, window=True)
    much = int(one / three - 1 > 2 * (two / three - 1))
    return Measured(f"{one / three - 1:+.1%} beside {two / three - 1:+.1%}", {"more_than_twice_that": much})


def in_order(bench: AttilaBench, printed: Printed) -> Measured:
    """Do the same in order."""
    with_window, without = (_cycles(bench, LIKE_THE_PAPER, window=window)[0] for window in (True, False))
    return Measured(f"{without:,} cycles in order, {with_window:,} with it", {"slower": int(without > with_window)})


def in_order_units(bench: AttilaBench, printed: Printed) -> Measured:
    """Take units away in order."""
    three, two, one = _cycles(bench, LIKE_THE_PAPER, window=False)
    text = f"{three:,} / {two:,} / {one:,} cycles with three, two and one"
    return Measured(text, {"within_5": int(abs(two / three - 1) < 0.05)})


def hit_rate(bench: AttilaBench, printed: Printed) -> Measured:
    """Count what texture units fetch."""
    found = {units: case_run(bench, LIKE_THE_PAPER, units, window=True).columns["texture_bytes"] for units in (3, 1)}
    text = f"{found[3]:,} bytes with three, {found[1]:,} with one: as many lines of 256 bytes that missed"
    grow = int(found[3] > found[1])
    return Measured(text, {"bytes_grow": grow, "misses_grow": grow})


def one_unit_busy(bench: AttilaBench, printed: Printed) -> Measured:
    """See how much of the drawing the one texture unit's arithmetic works."""
    run = case_run(bench, LIKE_THE_PAPER, 1, window=True)
    busy = sum(count for name, count in run.statistics.items() if name.startswith("AddressALUBusyCycles_"))
    share = busy / run.columns["cycles_drawing"]
    return Measured(f"{share:.1%} of the cycles of drawing", {"within": int(0.95 <= share <= 0.995)})


MEASURES: dict[str, Callable[[AttilaBench, Printed], Measured]] = {
    "window-3-to-2": window_3_to_2,
    "window-3-to-1": window_3_to_1,
    "in-order": in_order,
    "in-order-units": in_order_units,
    "hit-rate": hit_rate,
    "one-unit-busy": one_unit_busy,
}
"""By the names of the claims."""
