"""Guesses that took part in runs: what is fitted or invented, what of it weighs most, and what delivery would need.

Weights are counted, not measured: how many cycles of the instructions that were executed a guess decides. What the
waits make of that is what `pixelflow study sensitivity` executes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import compress

from pixelflow.caveats import coded, resting_on
from pixelflow.config import NodeConfig
from pixelflow.isa import Declaration, Transfers
from pixelflow.isa.control import HALT, takes_control
from pixelflow.isa.declarations import transfers_of
from pixelflow.node.account import Run, UntimedRun
from pixelflow.node.run.supply import WORD_BYTES, uses_of
from pixelflow.simd.configuration import Effective, Param, Value, leaves
from pixelflow.simd.report import Json, Part, counted, number
from pixelflow.simd.units import GUESSED, Standing

_NAMED = 3
"""Guesses that the text of a report names."""
_CONTROL = "control"


@dataclass(frozen=True, slots=True)
class WordUse:
    """Words of instructions that one run needed, of both streams."""

    executed: int
    """Of all that was executed, each time."""
    needed: int
    """Where each routine, and each loop outside of routines, is sent once."""
    delivered: int | None
    """What was sent; None where delivery takes no time."""
    waited: int
    """Cycles of waits for them."""
    cycles: int
    """Of the run."""
    both: bool
    """True if both streams ran."""


@dataclass(frozen=True, slots=True)
class WordSupply:
    """Words of instructions that runs needed, of both streams."""

    executed: int
    """Of all that was executed, each time."""
    needed: int
    """Where each routine, and each loop outside of routines, is sent once a run."""
    delivered: int | None
    """What was sent; None where delivery takes no time."""
    waited: int
    """Cycles of waits for them."""
    rate: int
    """Of the path, in MB/s."""
    seconds: float
    """Machine time of the runs."""
    shared: bool = False
    """True if one path fed both IGCs."""

    @property
    def mb_per_second(self) -> float:
        """The rate that the words needed come to on average."""
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
    def text(self) -> str:
        """The same in a paragraph."""
        return f"instruction words: {self.amount}"

    @property
    def amount(self) -> str:
        """How many words, at what rate, and whether time is counted for them."""
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


@dataclass(frozen=True, slots=True)
class Weight:
    """A guess that decides what instructions take, moved to another value."""

    key: str
    value: Value
    text: str
    cycles: int
    """More (or fewer) cycles of the instructions that were executed."""
    busy: int
    """All cycles of these."""

    @property
    def share(self) -> float:
        """The change, as a share of the busy cycles."""
        return self.cycles / self.busy if self.busy else 0.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """What runs used that the thesis does not print."""

    values: Mapping[str, tuple[Value, Standing]]
    """Configuration values by key."""
    instructions: dict[Standing, list[str]]
    """Executed mnemonics whose existence or cost is a guess, by standing."""
    weights: tuple[Weight, ...] = ()
    """What guesses about instructions are worth, the largest first."""
    delivery: WordSupply | None = None
    """What the instructions' words would need; None where no time was simulated."""
    moved: tuple[str, ...] = ()
    """Values that took part and have a source, but are not what it says: somebody has set them."""

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
        """A paragraph each of what delivery needs and of the guesses; nothing where there are none."""
        found: list[Part] = [] if self.delivery is None else ["", coded(self.delivery.text, "PF102")]
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
        """The number of guesses in a line, and what lists them; empty where there are none."""
        return resting_on(self.count) if self.count else ""


def guesses(runs: Iterable[Run], config: NodeConfig) -> Guesses:
    """Return the guesses that took part in ``runs`` on the machine of ``config``."""
    runs = list(runs)
    part = _TookPart(runs, config)
    values = {
        key: (value, about.standing)
        for key, about, value, default in leaves(config)
        if about.read_by is not None and about.standing in GUESSED and part.of(about, value, default)
    }
    moved = tuple(
        key
        for key, about, value, default in leaves(config)
        if about.read_by is not None and value != default and key not in values and part.of(about, value, default)
    )
    return Guesses(
        values, _guessed(part.executed), tuple(_weights(part, config)), supply_of(map(words_of, runs), config), moved
    )


def guesses_without_time(runs: Iterable[UntimedRun]) -> Guesses:
    """Return the guesses that took part where no time was simulated: instructions alone."""
    return Guesses({}, _guessed(_executed(runs)))


def _guessed(executed: Iterable[Declaration]) -> dict[Standing, list[str]]:
    found = {standing: [each.mnemonic for each in executed if each.standing is standing] for standing in GUESSED}
    return {standing: mnemonics for standing, mnemonics in found.items() if mnemonics}


def _weights(part: _TookPart, config: NodeConfig) -> list[Weight]:
    """Return what each guess that is added to instructions is worth, the largest first, one for each value of it."""
    found = []
    for key, about, value, _ in leaves(config):
        times = part.times.get(about.matters, 0)
        if times and isinstance(value, int):
            best = max((each for each in about.moved if isinstance(each, int)), key=lambda each: abs(each - value))
            found.append(Weight(key, best, about.text, times * (best - value), part.busy))
    return sorted((each for each in found if each.cycles), key=lambda each: -abs(each.cycles))


def words_of(run: Run) -> WordUse:
    """Return what a run needed of instructions' words."""
    sent = [each.delivered for each in run.streams if each.delivered is not None]
    return WordUse(
        executed=sum(each.words.executed(each.executed) for each in run.streams),
        needed=sum(each.words.needed(each.executed) for each in run.streams),
        delivered=sum(sent) if sent else None,
        waited=sum(each.waits.get("instructions", 0) for each in run.streams),
        cycles=run.total_cycles,
        both=len(run.streams) > 1,
    )


def supply_of(uses: Iterable[WordUse], config: NodeConfig) -> WordSupply:
    """Return the sum over runs on the machine of ``config``."""
    uses = list(uses)
    sent = [each.delivered for each in uses if each.delivered is not None]
    return WordSupply(
        executed=sum(each.executed for each in uses),
        needed=sum(each.needed for each in uses),
        delivered=sum(sent) if sent else None,
        waited=sum(each.waited for each in uses),
        rate=config.igc.supply,
        seconds=config.seconds(sum(each.cycles for each in uses)),
        shared=config.igc.shared_supply and any(each.both for each in uses),
    )


def set_in_vain(runs: Iterable[Run], effective: Effective[NodeConfig]) -> list[str]:
    """Return which values somebody set although nothing that was executed depends on them."""
    part = _TookPart(list(runs), effective.config)
    return [
        f"note: {key} (set by {origin}) made no difference: nothing that was executed depends on it"
        for key, about, value, default, origin in _set(effective)
        if about.matters != "limit" and not part.of(about, value, default)
    ]


def times_set_in_vain(effective: Effective[NodeConfig]) -> list[str]:
    """Return which values somebody set that are about time, where none was simulated."""
    return [
        f"note: {key} (set by {origin}) made no difference: no time was simulated"
        for key, about, _, _, origin in _set(effective)
        if not about.state
    ]


def _set(effective: Effective[NodeConfig]) -> Iterator[tuple[str, Param, object, object, str]]:
    """Yield key, param, value, default and origin of what is read and is not as the preset has it."""
    for key, about, value, default in leaves(effective.config):
        origin = effective.set_by[key]
        if about.read_by is not None and not origin.startswith("preset "):
            yield key, about, value, default, origin


def _executed(runs: Iterable[Run | UntimedRun]) -> dict[Declaration, None]:
    """Return the declarations of all instructions that were executed, in the order of the programs."""
    found: dict[int, Declaration] = {}  # by the object: there is one of each
    for run in runs:
        for each in run.streams:
            declarations = each.program.by_kind.each(lambda instruction: instruction.declaration)
            found |= {id(declaration): declaration for declaration in compress(declarations, each.executed)}
    return dict.fromkeys(found.values())


def _times(runs: Iterable[Run]) -> dict[str, int]:
    """Return how many of the executed instructions a cost is added to, by the word that a value matters to."""
    found: dict[str, int] = {_CONTROL: 0}
    for each in (stream for run in runs for stream in run.streams):
        for name, indices in uses_of(each.program).items():
            found[f"extra {name}"] = found.get(f"extra {name}", 0) + sum(each.executed[index] for index in indices)
        control = each.program.by_kind.each(lambda instruction: takes_control(instruction.declaration))
        found[_CONTROL] += sum(compress(each.executed, control))
    return found


class _TookPart:
    """Which values of a configuration could have made a difference to what was executed."""

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
            "refresh": bool(moved) and config.sdram.refresh,
            "paths": bool(paths),
            "loads": bool(loads),
            "results": bool(paths - loads),
            "limit": False,  # a run that ended stayed below it
            "pictures": False,  # nodes are joined by those that draw
            "delivery": True,
            "supply": bool(config.igc.supply),
            "both supplied": bool(config.igc.supply) and any(len(run.streams) > 1 for run in runs),
            "pieces": bool(config.igc.supply) and any(each.words.pieces for run in runs for each in run.streams),
        }
        self.times = _times(runs)
        """How many instructions a value of `config.extra`, or that of control, was added to."""
        self.busy = sum(each.busy for run in runs for each in run.streams)

    def of(self, about: Param, value: object, default: object) -> bool:
        """Return whether it is so for one value."""
        if about.matters.startswith("extra "):
            return bool(self.times.get(about.matters))
        if about.matters == _CONTROL:
            # That the HALT at the end is free is no guess worth telling.
            control = {each for each in self.executed if takes_control(each)}
            return bool(control - {HALT}) or (bool(control) and bool(value))
        if about.matters == "option":  # a switch of the model: no guess while it is as delivered
            return self._matters["transfers"] and value != default
        return self._matters[about.matters]
