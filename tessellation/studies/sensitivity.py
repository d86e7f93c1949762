"""Sensitivity: what four workloads take where each guess of the machine has another value, the largest change first.

The guesses are the values of the configuration that are fitted or invented; each says itself which other values are
tried (`moved`). Those of `config.extra` are abilities of the ALU and start-ups that nobody printed: a fused instruction
is lowered into the shortest sequence of the same meaning, so a library that was rewritten could do better. One guess is
a choice of the microprogram: that table 3's addresses are loaded into more than a patch's own PEs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pixelflow.config import NodeConfig, Value, leaves
from pixelflow.simd.report import Column, Json, Report, Table
from pixelflow.simd.units import Standing
from tessellation.microprogram.passes import Method
from tessellation.studies.workloads import Workload, libraries_text, pass_of

__all__ = ["MovedGuess", "percent_text", "sensitivity_report"]

_GUESSED = (Standing.FITTED, Standing.INVENTED)
_NEEDS_SUPPLY = ("supply", "both supplied", "pieces")
_SUPPLY = 200
_UNUSED = {"gni": "no results are returned", "composition": "no regions are composed"}
"""Parts of the machine that none of the workloads uses, and why."""


@dataclass(frozen=True, slots=True)
class MovedGuess:
    """A guess with another value, and the change of each workload in percent; None where it was not executed so."""

    key: str
    value: str
    text: str
    standing: str
    percent: tuple[float | None, ...]

    @property
    def largest(self) -> float:
        """The largest change, without its sign."""
        return max(abs(each) for each in self.percent if each is not None)


_LIBRARIES = ("plain", "tuned", "tuned-finite")

_HEADINGS = {"picture": "picture, 1 region"}
"""Headings of columns that say more than a key: the study of the supply has another picture."""


def _workloads(picture: Workload) -> Iterator[tuple[str, Workload, Workload | None]]:
    """Yield a heading, the workload, and the same with addresses for a patch alone where it loads any."""

    def both(heading: str, schedule: str, library: str) -> tuple[str, Workload, Workload | None]:
        alone = pass_of(Method(schedule=schedule, exclusive=True), library) if schedule == "thesis" else None
        return heading, pass_of(Method(schedule=schedule), library), alone

    plain, tuned, finite = _LIBRARIES
    yield both("thesis", "thesis", plain)
    yield both("tuned", "thesis", tuned)
    yield both("shared", "shared-columns", finite)
    yield "picture", picture, None


def sensitivity_report(config: NodeConfig, picture: Workload, tell: Callable[[str], None]) -> Report:
    """Return the table of three passes and a picture, executed; guesses that change nothing are named in the end."""
    works = list(_workloads(picture))
    base = [work.on(config).cycles for _, work, _ in works]
    changes = []
    for key, value, text, standing, machine, start in _moves(config):
        tell(f"{key} = {value}")
        start_from = base if start == config else [work.on(start).cycles for _, work, _ in works]
        taken = [work.on(machine).cycles for _, work, _ in works]
        percent = tuple(100 * (after / before - 1) for after, before in zip(taken, start_from, strict=True))
        changes.append(MovedGuess(key, value, text, standing, percent))
    alone = [None if other is None else other.on(config).cycles for _, _, other in works]
    percent_alone = tuple(
        None if after is None else 100 * (after / before - 1) for after, before in zip(alone, base, strict=True)
    )
    text = "base addresses to a patch's own PEs alone, by four compares"
    changes.append(MovedGuess("table 3", "16 cycles", text, Standing.INVENTED.value, percent_alone))
    changes.sort(key=lambda each: -each.largest)
    headings = [f"{heading} ({cycles:,})" for (heading, _, _), cycles in zip(works, base, strict=True)]
    return _report(config, picture.name, [heading for heading, _, _ in works], headings, changes)


def _report(
    config: NodeConfig, picture: str, names: Sequence[str], headings: Sequence[str], changes: Sequence[MovedGuess]
) -> Report:
    columns = (
        Column("guess", key="key", fixed=True), Column("moved to", key="value", fixed=True),
        *(Column(_HEADINGS.get(name, name), percent_text, name) for name in names),
        Column("standing", key="standing", fixed=True, optional=True), Column("what it is", key="text", optional=True),
    )  # fmt: skip
    rows: list[Sequence[Json]] = [
        (each.key, each.value, *each.percent, each.standing, each.text) for each in changes if each.largest
    ]
    still = list(dict.fromkeys(each.key for each in changes if not each.largest))
    moving = {each.key for each in changes if each.largest}
    nothing = [key for key in still if key not in moving]
    unused = [key for key in nothing if key.partition(".")[0] in _UNUSED]
    used = [key for key in nothing if key not in unused]
    return Report(
        "sensitivity",
        (f"config {config.sha256[:6]}", libraries_text(_LIBRARIES), "timing only, executed"),
        results=[
            f"change of cycles in percent: {', '.join(headings)} cycles; thesis and tuned: the pass of the thesis with "
            f"its plain library and with tuned; shared: the pass with shared columns; picture: {picture}",
            "",
            Table(columns, rows, key="changes"),
            "",
            f"* with instruction words at {_SUPPLY} MB/s, beside the same with the value as it is",
            "no change in any of them: " + (", ".join(used) or "none"),
            f"cannot change in these workloads ({', '.join(_UNUSED.values())}): {', '.join(unused) or 'none'}",
        ],
        schema="pixelflow.study.sensitivity/1",
        data={"without_change": nothing, "unused": unused},
    )


def percent_text(change: float | None) -> str:
    """Return a change in percent as tables have it."""
    return "-" if change is None else f"{change:+.2f}" if change else "0"


def _moves(config: NodeConfig) -> Iterator[tuple[str, str, str, str, NodeConfig, NodeConfig]]:
    """Yield key, other value, text, standing, the machine that has it, and the one to compare with.

    What is about the supply of instructions is moved where there is one.
    """
    for key, about, value, _ in leaves(config):
        if about.standing not in _GUESSED:
            continue
        needs = about.matters in _NEEDS_SUPPLY and not config.igc.supply
        start = replace(config, igc=replace(config.igc, supply=_SUPPLY)) if needs else config
        for other in about.moved:
            if other != value:
                shown = f"{str(other).lower()}{' *' if needs else ''}"
                yield key, shown, about.text, about.standing.value, moved(start, key, other), start


def moved(config: NodeConfig, key: str, value: Value) -> NodeConfig:
    """Return a machine with another value; raises InputError where the values contradict each other then."""
    group, _, name = key.partition(".")
    return replace(config, **{group: replace(getattr(config, group), **{name: value})})
