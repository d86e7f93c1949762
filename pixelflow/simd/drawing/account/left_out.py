"""What accounts leave out: as JSON holds it, and of several pictures together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pixelflow.simd.drawing.account.drawn import Bound, FreeWork
from pixelflow.simd.report import Json

__all__ = ["free_in_all", "free_lines", "free_object", "free_standing"]


def free_standing(free: FreeWork) -> str:
    """Return the standing of the cycles of what is left out, ``-`` where there are none."""
    return "-" if free.ground is None else free.ground.standing.value


def free_object(free: FreeWork) -> dict[str, Json]:
    """Return what an account leaves out as JSON holds it."""
    return {
        "what": free.what,
        "of": [work.value for work in free.of],
        "bound": free.bound.value,
        "cycles": free.cycles,
        "standing": free_standing(free),
        "why": free.why,
    }


def free_in_all(pictures: Sequence[Sequence[FreeWork]]) -> list[FreeWork]:
    """Return what several pictures, one after the other, leave out together: cycles of the same work added up.

    Work is the same where name and bound are, and the path where it has several: the first of a picture's is the first
    of another's. What one picture bounds with cycles and another does not is there twice, with cycles and without.
    """
    found: dict[tuple[str, Bound, bool, int], FreeWork] = {}
    for picture in pictures:
        seen: Counter[tuple[str, Bound, bool]] = Counter()
        for each in picture:
            same = (each.what, each.bound, each.cycles is None)
            key = (*same, seen[same])
            seen[same] += 1
            before = found.get(key)
            if before is not None and before.cycles is not None and each.cycles is not None:
                why = each.why if each.why == before.why else ""
                each = replace(before, cycles=before.cycles + each.cycles, why=why)
            found[key] = each
    return list(found.values())


_IN_ALL = {Bound.FLOOR: "in all at least", Bound.AT_MOST: "in all at most more:", Bound.ABOUT: "in all about more:"}


def free_lines(free: Sequence[FreeWork]) -> Iterator[str]:
    """Yield what several pictures leave out, with cycles and their standing; what nothing bounds is in one line."""
    for each in free:
        if each.cycles is not None:
            path = f", {each.why}" if each.bound is Bound.FLOOR and each.why else ""
            yield f"{each.what}: {_IN_ALL[each.bound]} {each.cycles:,} cycles ({free_standing(each)}){path}"
    unbounded = [each.what for each in free if each.cycles is None]
    if unbounded:
        yield f"no bound: {'; '.join(dict.fromkeys(unbounded))}"
