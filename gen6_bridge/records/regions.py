"""Regions and instructions beside the rules of legality that they were recorded to break."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gen6_bridge.code.isa import INSTRUCTIONS, EuInstruction
from gen6_bridge.code.isa.encoding.operands import (
    IDENTITY,
    Controls,
    EuDestination,
    File,
    ImmediateOperand,
    Source,
    SourceRegion,
)
from gen6_bridge.code.isa.encoding.types import EuType
from gen6_bridge.code.legality import broken_rules, source_rules
from gen6_bridge.records.files import Judged, Table, judged
from gen6_bridge.records.programs import plain

__all__ = ["judge_cases", "judge_instructions", "judge_regions"]

_BY_SIZE = {"1": EuType.UB, "2": EuType.UW, "4": EuType.UD}


def _differing(found: tuple[str, ...], row: dict[str, str]) -> Iterator[str]:
    if "rules" not in row:
        if (not found) != (row["legal"] == "1"):
            yield f"breaks {' '.join(found) or 'none'}, recorded as {'legal' if row['legal'] == '1' else 'illegal'}"
        return
    wanted = sorted(row["rules"].split())
    if sorted(found) != wanted or (not wanted) != (row["legal"] == "1"):
        yield f"breaks {' '.join(found) or 'none'}, recorded {' '.join(wanted) or 'none'}"


def judge_regions(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge source regions with one size of execution each."""

    def check(position: int) -> Iterator[str]:
        row = rows[position]
        sub, vertical, width, horizontal = (int(row[key]) for key in ("sub", "vert", "width", "horz"))
        region = SourceRegion(File.GENERAL, _BY_SIZE[row["size"]], 10, sub, vertical, width, horizontal)
        yield from _differing(tuple(dict.fromkeys(source_rules(int(row["exec"]), region))), row)

    names = [f"({row.get('exec')}) <{row.get('vert')};{row.get('width')},{row.get('horz')}>" for row in rows]
    yield from judged(kind, path, names, check)


def judge_instructions(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge whole instructions: the text, the words again, the rules."""

    def check(position: int) -> Iterator[str]:
        row, word = rows[position], int(rows[position]["word"], 16)
        found = INSTRUCTIONS.decode_whole(word)
        if found.whole != word:
            yield f"encoded to {found.whole:032x}"
        if "{" not in row["text"] and plain(found.text().partition("{")[0]) != plain(row["text"]):
            yield f"{found.text()}, recorded {row['text']}"
        yield from _differing(broken_rules(found), row)

    yield from judged(kind, path, [row.get("text", "") for row in rows], check)


def judge_cases(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge instructions whose operands are spelled out."""

    def check(position: int) -> Iterator[str]:
        row = rows[position]
        wide = row["mode"] == "align16"
        controls = Controls(
            align16=int(wide), size_code=int(row["exec"]).bit_length() - 1, saturates=int(row["sat"] or 0),
            selector=5 if row["op"] == "sel" else 0,
        )  # fmt: skip
        mask = 15 if wide else None
        dst = EuDestination(
            File.GENERAL, EuType[row["dst_type"]], 20, int(row["dst_sub"]), int(row["dst_stride"]), mask
        )
        sources = [_source(row, f"s{at}_", wide=wide) for at in (0, 1) if row[f"s{at}_type"]]
        yield from _differing(broken_rules(EuInstruction(INSTRUCTIONS[row["op"]], (controls, dst, *sources))), row)

    yield from judged(kind, path, [row.get("case", "") for row in rows], check)


def _source(row: dict[str, str], key: str, *, wide: bool) -> Source:
    kind = EuType[row[f"{key}type"]]
    if kind.packed or not row[f"{key}vert"]:
        return ImmediateOperand(kind, 0)
    sub, vertical, width, horizontal = (int(row[key + name]) for name in ("sub", "vert", "width", "horz"))
    absolute, negate = (int(row[key + name]) for name in ("abs", "neg"))
    swizzle = IDENTITY if wide else None
    return SourceRegion(File.GENERAL, kind, 10, sub, vertical, width, horizontal, absolute, negate, swizzle)
