"""Texture memory in reports: what keeping results took, who has how much, and a map of logical texture space (4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pixelflow.node import Run
from pixelflow.simd.report import Column, Json, Table, number, plural, share
from tessellation.host.caching import KeptResults
from tessellation.host.tessellator import Tessellation
from tessellation.plan.stages import Stage
from tessellation.plan.texture_space import Owner, TextureSpace

__all__ = ["memory_object", "memory_parts", "texture_facts"]

_ROWS, _COLUMNS = 32, 64
"""Letters of a map: twice as many a row, as a letter is twice as high as it is wide."""


def texture_facts(result: Tessellation) -> list[tuple[str, str]]:
    """Return what keeping results took, where they and the pictures lie, and what the way back takes."""
    found: list[tuple[str, str]] = []
    if result.kept is not None:
        found += [("kept in texture", text) for text in _kept_texts(result.kept)]
        found += [("read back", _alone(result.recalls))] if result.recalls else []
    for held in result.textures:
        size = f"{held.place.columns}x{held.place.rows}"
        found.append((f"texture {held.name}", f"{size} texels, {held.place.text}; unchanged in every module"))
    return found


def _kept_texts(kept: KeptResults) -> Iterator[str]:
    if kept.beside:
        work, wait = (sum(run.by_stage.get(stage.value, 0) for run in kept.beside) for stage in _OF_KEEPING)
        passes = plural(len(kept.beside), "pass")
        yield f"beside {passes}: {number(work)} cycles of the EMCs and {number(wait)} of waits, both in the count above"
    yield f"by {plural(len(kept.stores), 'program')} of {_its(len(kept.stores))} own: {_alone(kept.stores)}"
    if kept.no_room:
        yield f"{plural(kept.no_room, 'pass')} had not 40 bytes of PE memory left, and kept nothing beside"
    empty = kept.taken_bytes - kept.result_bytes
    yield (
        f"{number(kept.result_bytes)} bytes in each module, in {number(kept.taken_bytes)}: "
        f"{share(empty, kept.taken_bytes)} left empty"
    )


_OF_KEEPING = (Stage.KEEPING, Stage.KEPT_STALL)


def _its(count: int) -> str:
    return "its" if count == 1 else "their"


def _alone(runs: Sequence[Run]) -> str:
    total, busy = sum(run.total_cycles for run in runs), sum(max(run.tasic_cycles) for run in runs)
    return f"{number(total)} cycles besides the count above; TASICs busy {number(busy)}"


def memory_parts(result: Tessellation) -> list[str | Table]:
    """Return whose texture memory is, module by module, and a map of the first; nothing where patches have it alone."""
    space = result.space
    if space is None or (result.kept is None and not result.textures):
        return []
    there = _there(space)
    columns = (
        Column("module", key="module"),
        *(Column(owner.title, number, owner.title) for owner in there),
        Column("largest free square", _side, "largest_free_square"),
    )
    rows: list[Sequence[Json]] = [
        (module, *(space.bytes_of(owner, module) for owner in there), space.largest_square(module))
        for module in range(space.modules)
    ]
    letters = ", ".join(f"{owner.letter} {owner.title}" for owner in there)
    lines = _cut(space.drawn(0, _ROWS, _COLUMNS))
    return [
        "",
        Table(columns, rows, title="bytes of texture memory", key="texture_memory"),
        "",
        f"logical texture space of module 0, each letter {space.part(_ROWS, _COLUMNS)} texels: {letters}",
        *lines,
    ]


def _there(space: TextureSpace) -> list[Owner]:
    """Return the owners that have something in any module, what is free last."""
    owners = [*list(Owner)[1:], Owner.FREE]
    return [each for each in owners if any(space.bytes_of(each, module) for module in range(space.modules))]


def _side(texels: int) -> str:
    return f"{texels}x{texels} texels"


def _cut(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a map, of several empty ones next to each other one."""
    empty = "." * len(lines[0])
    for line, same in groupby(lines):
        times = len(list(same))
        if line == empty and times > 2:
            yield f"  {line} x {times}"
        else:
            yield from (f"  {line}" for _ in range(times))


def memory_object(result: Tessellation) -> dict[str, Json]:
    """Return the same for JSON."""
    kept = result.kept
    return {
        "kept": None
        if kept is None
        else {
            "result_bytes": kept.result_bytes,
            "taken_bytes": kept.taken_bytes,
            "passes_beside": len(kept.beside),
            "passes_without_room": kept.no_room,
            "beside_cycles": sum(run.by_stage.get(stage.value, 0) for run in kept.beside for stage in _OF_KEEPING),
        },
        "textures": [{"name": held.name, **held.place._asdict()} for held in result.textures],
    }
