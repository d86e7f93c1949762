"""Assumptions behind runs: fitted and invented values and costs, the most important ones, and the words needed.

The weight of an assumption is the number of busy cycles that depend on it; `pixelflow study sensitivity` executes runs
with other values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

from pixelflow.caveats import coded, resting_on
from pixelflow.config import NodeConfig
from pixelflow.isa import Declaration, Instruction, Transfers
from pixelflow.isa.control import ENDL, HALT, takes_control
from pixelflow.isa.declarations import transfers_of
from pixelflow.isa.tas import MEM_WR_OVER4
from pixelflow.node.account import Run, UntimedRun
from pixelflow.node.run.stalls import begins_with_read, ends_with_store
from pixelflow.node.run.supply import EXTRA_RULES, WORD_BYTES
from pixelflow.simd.configuration import Effective, Param, Value, leaves
from pixelflow.simd.report import Json, Part, counted, number
from pixelflow.simd.units import GUESSED, Standing

_NAMED = 3
"""Assumptions that the text of a report names."""
_CONTROL = "control"


@dataclass(frozen=True, slots=True)
class WordUse:
    """Instruction words of a run or of several, of both streams."""

    executed: int
    """Words of all executed instructions, repeats included."""
    needed: int
    """Words where each routine, and each loop outside of routines, is sent once a run."""
    delivered: int | None
    """Words sent; None where delivery takes no time."""
    waited: int
    """Cycles of waits for words."""
    cycles: int
    """Cycles of the runs."""
    both: bool
    """True if both streams ran."""


@dataclass(frozen=True, slots=True)
class WordSupply(WordUse):
    """The same with the path of the machine that ran them."""

    rate: int
    """In MB/s."""
    seconds: float
    """Machine time of the runs."""
    shared: bool
    """True if one path fed both IGCs."""

    @property
    def mb_per_second(self) -> float:
        """The average rate of the words needed."""
        return WORD_BYTES * self.needed / self.seconds / 1e6 if self.seconds else 0.0

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON."""
        return {
            "executed_words": self.executed,
            "needed_words": self.needed,
            "needed_bytes": WORD_BYTES * self.needed,
            "needed_mb_per_second": self.mb_per_second,
            "delivered_words": self.delivered,
            "wait_cycles": self.waited,
            "rate_mb_per_second": self.rate or None,
            "shared_path": self.shared if self.rate else None,
        }

    @property
    def amount(self) -> str:
        """The number of words, their rate, and the cycles counted for them."""
        if self.delivered is not None:
            whom = "both IGCs" if self.shared else "each IGC"
            return (
                f"{number(self.delivered)} ({counted(WORD_BYTES * self.delivered, 'byte')}) sent at "
                f"{number(self.rate)} MB/s to {whom} (igc.supply); {counted(self.waited, 'cycle')} of waits for them"
            )
        return (
            f"{number(self.needed)} ({counted(WORD_BYTES * self.needed, 'byte')}) with routines and "
            f"loops sent once, {number(self.executed)} as executed; {self.mb_per_second:,.0f} MB/s on average, for "
            "which no time is counted, as in the thesis (igc.supply)"
        )


class Weight(NamedTuple):
    """An assumption about the cost of instructions, moved to another value."""

    key: str
    value: Value
    text: str
    cycles: int
    """The change of the cycles of the executed instructions."""
    busy: int
    """Their cycles."""

    @property
    def share(self) -> float:
        """The change, as a share of the busy cycles."""
        return self.cycles / self.busy if self.busy else 0.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """Values and instruction costs behind runs that the thesis does not print."""

    values: Mapping[str, tuple[Value, Standing]]
    """Configuration values by key."""
    instructions: dict[Standing, list[str]]
    """Executed mnemonics whose existence or cost is assumed, by standing."""
    weights: tuple[Weight, ...] = ()
    """Assumptions about instructions, the most important first."""
    delivery: WordSupply | None = None
    """Instruction words; None where no time was simulated."""
    moved: tuple[str, ...] = ()
    """Values with a source that matter here and were set to something else."""

    def as_object(self) -> dict[str, Json]:
        """Return all of it for JSON."""
        return {
            "values": [f"{key} = {value} ({standing})" for key, (value, standing) in self.values.items()],
            "instructions": {standing.value: mnemonics for standing, mnemonics in self.instructions.items()},
            "weights": [
                {"key": each.key, "value": each.value, "busy_cycles": each.cycles, "share": each.share}
                for each in self.weights
            ],
            "delivery": None if self.delivery is None else self.delivery.as_object(),
        }

    @property
    def parts(self) -> list[Part]:
        """A paragraph each on instruction words and on assumptions; nothing where there are none."""
        found: list[Part] = []
        if self.delivery is not None:
            found += ["", coded(f"instruction words: {self.delivery.amount}", "PF102")]
        if not self.count:
            return found
        counts = [f"{len(mnemonics)} {standing}" for standing, mnemonics in self.instructions.items()]
        used = [counted(len(self.values), "value")] if self.values else []
        used += [f"{counted(self._mnemonics, 'instruction')} ({', '.join(counts)})"] if counts else []
        most = "; ".join(
            f"{each.text} ({each.key} = {each.value}: {100 * each.share:+.1f} %)" for each in self.weights[:_NAMED]
        )
        weigh = f"; of busy cycles these decide most: {most}" if most else ""
        return [*found, "", f"{self.line}: {', '.join(used)}{weigh}; see also: pixelflow study sensitivity"]

    @property
    def _mnemonics(self) -> int:
        return sum(len(mnemonics) for mnemonics in self.instructions.values())

    @property
    def count(self) -> int:
        """Values and instructions together."""
        return len(self.values) + self._mnemonics

    @property
    def line(self) -> str:
        """The number of assumptions in a line, with the command that lists them; empty where there are none."""
        return resting_on(self.count) if self.count else ""


def guesses(runs: Iterable[Run], config: NodeConfig) -> Guesses:
    """Return the assumptions behind ``runs`` on the machine of ``config``."""
    runs = list(runs)
    part = _TookPart(runs, config)
    used = [
        (key, about, value, value != default)
        for key, about, value, default in leaves(config)
        if about.read_by is not None and part.of(about, value, default)
    ]
    values = {key: (value, about.standing) for key, about, value, _ in used if about.standing in GUESSED}
    moved = tuple(key for key, _, _, is_set in used if is_set and key not in values)
    delivery = supply_of(map(words_of, runs), config)
    return Guesses(values, _guessed(part.executed), tuple(_weights(part, config)), delivery, moved)


def guesses_without_time(runs: Iterable[UntimedRun]) -> Guesses:
    """Return the assumptions behind runs without time: those about instructions."""
    return Guesses({}, _guessed(_executed(runs)))


def _guessed(executed: Iterable[Declaration]) -> dict[Standing, list[str]]:
    found = {standing: [each.mnemonic for each in executed if each.standing is standing] for standing in GUESSED}
    return {standing: mnemonics for standing, mnemonics in found.items() if mnemonics}


def _weights(part: _TookPart, config: NodeConfig) -> list[Weight]:
    """Return the weight of each assumption about the cost of instructions, the largest first."""
    found = []
    for key, about, value, _ in leaves(config):
        times = part.times.get(about.matters, 0)
        if times and isinstance(value, int):
            best = max((each for each in about.moved if isinstance(each, int)), key=lambda each: abs(each - value))
            found.append(Weight(key, best, about.text, times * (best - value), part.busy))
    return sorted((each for each in found if each.cycles), key=lambda each: -abs(each.cycles))


def words_of(run: Run) -> WordUse:
    """Return the instruction words of a run."""
    sent = [each.delivered for each in run.streams if each.delivered is not None]
    executed = sum(each.words.executed(each.times) for each in run.streams)
    return WordUse(
        executed=executed,
        needed=executed - sum(each.words.repeated(each.executed) for each in run.streams),
        delivered=sum(sent) if sent else None,
        waited=sum(each.waits.get("instructions", 0) for each in run.streams),
        cycles=run.total_cycles,
        both=len(run.streams) > 1,
    )


def supply_of(uses: Iterable[WordUse], config: NodeConfig) -> WordSupply:
    """Return the sum over runs on the machine of ``config``."""
    uses = list(uses)
    sent = [each.delivered for each in uses if each.delivered is not None]
    cycles, both = sum(each.cycles for each in uses), any(each.both for each in uses)
    return WordSupply(
        executed=sum(each.executed for each in uses),
        needed=sum(each.needed for each in uses),
        delivered=sum(sent) if sent else None,
        waited=sum(each.waited for each in uses),
        cycles=cycles,
        both=both,
        rate=config.igc.supply,
        seconds=config.seconds(cycles),
        shared=config.igc.shared_supply and both,
    )


def set_in_vain(runs: Iterable[Run], effective: Effective[NodeConfig]) -> list[str]:
    """Return a note on each value that was set although no executed instruction depends on it."""
    chosen = list(_set(effective))
    if not chosen:
        return []
    part = _TookPart(list(runs), effective.config)
    return [
        f"note: {key} (set by {origin}) made no difference: nothing that was executed depends on it"
        for key, about, value, default, origin in chosen
        if about.matters != "limit" and not part.of(about, value, default)
    ]


def times_set_in_vain(effective: Effective[NodeConfig]) -> list[str]:
    """Return a note on each value about time that was set, where no time was simulated."""
    return [
        f"note: {key} (set by {origin}) made no difference: no time was simulated"
        for key, about, _, _, origin in _set(effective)
        if not about.state
    ]


def _set(effective: Effective[NodeConfig]) -> Iterator[tuple[str, Param, object, object, str]]:
    """Yield key, param, value, default and origin of values that are read and differ from the preset."""
    for key, about, value, default in leaves(effective.config):
        origin = effective.set_by[key]
        if about.read_by is not None and not origin.startswith("preset "):
            yield key, about, value, default, origin


def _executed(runs: Iterable[Run | UntimedRun]) -> dict[Declaration, None]:
    """Return the declarations of all executed instructions, in program order."""
    found: dict[Declaration, None] = {}
    for each in (stream for run in runs for stream in run.streams):
        by_kind = each.program.by_kind
        executed = by_kind.in_order(each.executed)
        found |= dict.fromkeys(by_kind.kinds[kind].declaration for kind in executed)
    return found


def _times(runs: Iterable[Run]) -> dict[str, int]:
    """Return the number of executed instructions to which each cost is added, by the word of ``matters``."""
    found: Counter[str] = Counter()
    names: dict[int, list[str]] = {}  # of the costs of a kind, by its identity
    for each in (stream for run in runs for stream in run.streams):
        for kind, times in zip(each.program.by_kind.kinds, each.times, strict=True):
            if id(kind) not in names:
                names[id(kind)] = [f"extra {rule.name}" for rule in EXTRA_RULES if rule.holds(kind)]
                names[id(kind)] += [_CONTROL] * takes_control(kind.declaration)
            for name in names[id(kind)]:
                found[name] += times
    return found


class _TookPart:
    """The values of a configuration that could have made a difference to runs."""

    def __init__(self, runs: list[Run], config: NodeConfig) -> None:
        self.executed = _executed(runs)
        paths = {path for run in runs for path in run.gni_cycles}
        loads = {path for path in paths if path.startswith("from_gni")}
        moved = {transfers_of(each) for each in self.executed} & {Transfers.READ, Transfers.WRITE}
        self._matters = {
            "": True,
            "transfers": bool(moved),
            "reads": Transfers.READ in moved,
            "writes": Transfers.WRITE in moved,
            "crossings": MEM_WR_OVER4 in self.executed,
            "refresh": bool(moved) and config.sdram.refresh,
            "paths": bool(paths),
            "loads": bool(loads),
            "results": bool(paths - loads),
            "limit": False,  # a run that ended stayed below it
            "pictures": False,  # only pictures join nodes
            "delivery": True,
            "supply": bool(config.igc.supply),
            "both supplied": bool(config.igc.supply) and any(len(run.streams) > 1 for run in runs),
            "rounds": ENDL in self.executed,
            "stores before reads": self._executes(runs, ends_with_store) and self._executes(runs, begins_with_read),
            "pieces": bool(config.igc.supply) and any(each.words.pieces for run in runs for each in run.streams),
        }
        self.times = _times(runs)
        """The number of instructions to which a value of `config.extra`, or that of control, was added."""
        self.busy = sum(each.busy for run in runs for each in run.streams)

    @staticmethod
    def _executes(runs: list[Run], holds: Callable[[Instruction], bool]) -> bool:
        streams = [each for run in runs for each in run.streams]
        return any(any(map(holds, compress(each.program.by_kind.kinds, each.times))) for each in streams)

    def of(self, about: Param, value: object, default: object) -> bool:
        """Return whether a value could have made a difference."""
        if about.matters.startswith("extra "):
            return bool(self.times.get(about.matters))
        if about.matters == _CONTROL:
            # A free HALT at the end alone is not worth mentioning.
            control = {each for each in self.executed if takes_control(each)}
            return bool(control - {HALT}) or (bool(control) and bool(value))
        if about.matters == "option":  # a switch of the model, an assumption only where it was set
            return self._matters["transfers"] and value != default
        return self._matters[about.matters]
