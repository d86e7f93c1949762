"""Judging of a folder: every file of records that it has, kind by kind, and the report of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gen6_bridge.records.files import Entry, Judged, read_json, read_table
from gen6_bridge.records.kernels import judge_kernels
from gen6_bridge.records.programs import judge_rules, judge_sources, judge_text, judge_words
from gen6_bridge.records.regions import judge_cases, judge_instructions, judge_regions
from gen6_bridge.records.runs import judge_colours, judge_runs
from gen6_bridge.records.watched import judge_watched
from gen6_bridge.records.widths import judge_narrowed, judge_narrowed_runs, judge_widened
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.report import Column, Json, Part, Report, Table, number
from pixelflow.simd.telling import Counting, unseen
from pixelflow.simd.workers import HERE, Workers

__all__ = ["Judgement", "judge", "report"]

_SHOWN = 10
"""Differences that the report spells out."""
_ABSENT = {
    "kernels": "kernels*.json", "programs": "programs*.json", "program_runs": "program_runs*.json",
    "regions_source": "regions_source*.csv", "regions_instructions": "regions_instructions*.csv",
    "regions_mesa": "regions_mesa*.csv", "yuv_rgb": "yuv_rgb*.json",
}  # fmt: skip


@dataclass(slots=True)
class Judgement:
    """What came of a folder."""

    folder: Path
    found: list[Judged] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """What is not there, and why it was skipped."""

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return for each kind how many records are equal, and how many there are."""
        result: dict[str, tuple[int, int]] = {}
        for each in self.found:
            equal, total = result.get(each.kind, (0, 0))
            result[each.kind] = (equal + (not each.difference), total + 1)
        return result

    def leave_out(self, what: str, reasons: Counter[str]) -> None:
        """Note how many records have no other width, and why."""
        if reasons:
            self.skipped[what] = "; ".join(f"{count} with {reason}" for reason, count in reasons.most_common())

    @property
    def different(self) -> list[Judged]:
        """Records that differ."""
        return [each for each in self.found if each.difference]


def judge(folder: Path) -> Judgement:
    """Judge every file of records in a folder; what is absent is skipped. Raises InputError where a file is damaged."""
    if not folder.is_dir():
        raise InputError(Fault("is no folder of records", Place(str(folder)), "files: " + ", ".join(_ABSENT.values())))
    result = Judgement(folder)
    programs: dict[str, Entry] = {}
    for path in _files(result, "programs"):
        entries, names = _named(path)
        programs |= dict(zip(names, entries, strict=True))
        if _have(result, path, entries, "text"):
            result.found += judge_text("programs: text", path, entries, names, "text")
        result.found += judge_words("programs: words", path, entries, names)
        if any("rules_broken" in each for each in entries):
            result.found += judge_rules("programs: rules", path, entries, names)
    for path in _files(result, "kernels"):
        entries, names = _named(path)
        if _have(result, path, entries, "disasm"):
            result.found += judge_text("kernels: text", path, entries, names, "disasm")
        result.found += judge_words("kernels: words", path, entries, names)
        if _have(result, path, entries, "asm"):
            result.found += judge_sources("kernels: sources", path, entries, names)
        result.found += judge_kernels("kernels: registers", path, entries, names)
        result.found += judge_watched("kernels: watched", path, entries, names)
        for kind, widths in (("SIMD16 as SIMD8", judge_narrowed), ("SIMD8 as SIMD16", judge_widened)):
            reasons = Counter[str]()
            result.found += widths(f"kernels: {kind}", path, entries, names, reasons)
            result.leave_out(f"{path.name}: {kind}", reasons)
    runs: tuple[tuple[str, str, Callable[..., Iterator[Judged]]], ...] = (
        ("program_runs", "runs of programs", judge_runs),
        ("yuv_rgb", "colours", judge_colours),
    )
    for stem, kind, check in runs:
        for path in _files(result, stem):
            entries, names = _named(path)
            if programs:
                result.found += check(kind, path, entries, names, programs)
                if stem == "program_runs":
                    reasons = Counter[str]()
                    kind = "runs: SIMD16 as SIMD8"
                    result.found += judge_narrowed_runs(kind, path, entries, names, programs, reasons)
                    result.leave_out(f"{path.name}: SIMD16 as SIMD8", reasons)
            else:
                result.skipped[path.name] = "there are no programs in the folder"
    tables: tuple[tuple[str, str, Callable[..., Iterator[Judged]]], ...] = (
        ("regions_source", "regions of sources", judge_regions),
        ("regions_instructions", "instructions: text and rules", judge_instructions),
        ("regions_mesa", "cases of rules", judge_cases),
    )
    for stem, kind, check in tables:
        for path in _files(result, stem):
            result.found += check(kind, path, read_table(path))
    return result


def _have(result: Judgement, path: Path, entries: list[Entry], key: str) -> bool:
    """Return whether all records of a file have a field; note it where they have not."""
    found = bool(entries) and all(key in each for each in entries)
    if not found:
        result.skipped[f"{path.name}: {key}"] = "not in every record"
    return found


def _files(result: Judgement, stem: str) -> list[Path]:
    """Return the files of a kind, plain or gzipped; note it where there is none."""
    pattern = _ABSENT[stem]
    found = sorted({*result.folder.glob(pattern), *result.folder.glob(pattern + ".gz")})
    if not found:
        result.skipped[pattern] = "not in the folder"
    return found


def _named(path: Path) -> tuple[list[Entry], list[str]]:
    """Return the records of a file with their names; runs are called by program and case."""
    entries = read_json(path)
    names = []
    for at, each in enumerate(entries):
        parts = [str(each[key]) for key in ("name", "program", "case", "matrix") if key in each]
        names.append(" ".join(parts) or f"record {at}")
    return entries, names


def report(folder: Path, workers: Workers = HERE, progress: Counting = unseen) -> Report:
    """Judge a folder and report: how many records are equal, and the first difference of those that are not.

    A folder is one piece of work: kernels and runs are judged with the programs of the other files.
    """
    progress(1, 1, folder.name)
    (found,) = workers.each(judge, [folder], lambda folder: f"the folder {folder.name}")
    counts, different = found.counts(), found.different
    rows = [(kind, equal, total - equal) for kind, (equal, total) in counts.items()]
    parts: list[Part] = [Table((Column("records"), Column("equal", number), Column("different", number)), rows)]
    parts += [f"skipped: {name} ({reason})" for name, reason in found.skipped.items()]
    for each in different[:_SHOWN]:
        parts.append(f"{each.kind}, {each.name}: {each.difference}")
    if len(different) > _SHOWN:
        parts.append(f"and {len(different) - _SHOWN} more")
    data: dict[str, Json] = {
        "folder": str(folder),
        "equal": sum(equal for equal, _ in counts.values()),
        "different": len(different),
        "records": {kind: {"equal": equal, "different": total - equal} for kind, (equal, total) in counts.items()},
        "skipped": dict(found.skipped),
        "differences": [{"kind": each.kind, "name": each.name, "difference": each.difference} for each in different],
    }
    nothing = "" if found.found else "nothing to judge"
    failure = "" if different else nothing or None
    return Report(results=parts, schema="pixelflow.gen6-records/1", data=data, failure=failure)
