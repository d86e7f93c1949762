"""The guesses that runs used: fitted and invented values of the configuration, and instructions, that took part."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import TYPE_CHECKING

from pixelflow.cli.screen import Screen, counted
from pixelflow.config import Effective, NodeConfig, leaves
from pixelflow.isa import Declaration, Transfers, Unit
from pixelflow.isa.control import HALT, MARK
from pixelflow.node import Run
from pixelflow.simd.records import record
from pixelflow.simd.units import Standing

if TYPE_CHECKING:
    from pixelflow.node import UntimedRun

__all__ = ["Guesses", "guesses", "guesses_without_time", "note_set_in_vain", "note_times_set_in_vain"]

_GUESSED = (Standing.FITTED, Standing.INVENTED)
_READS = ("tasic.read_overhead_cycles", "sdram.cl_cycles")
_WRITES = ("sdram.twr_cycles",)
_REFRESH = ("sdram.refresh_interval_cycles", "sdram.trfc_cycles")
_RESULTS = ("gni.gp_buffers", "gni.port_buffers")
_LOADS = ("gni.load_parts", "gni.part_blocks")
_LIMITS = ("igc.call_depth", "igc.loop_depth")
_OPTIONS = {"sdram.check_commands": False}
"""Switches of the model rather than values of the machine: no guess while they are as delivered."""
_SIZES = ("sdram.devices_per_module", "sdram.banks", "sdram.rows", "sdram.columns", "gni.gp_count")
"""Beside all of ``array`` and ``lee``, what decides about the state that a run leaves; the rest is about time."""


@record
class Guesses:
    """What runs used that the thesis does not print."""

    values: dict[str, tuple[object, Standing]]
    """Configuration values by key."""
    instructions: dict[Standing, list[str]]
    """Executed mnemonics whose existence or cost is a guess, by standing."""

    def as_object(self) -> dict[str, object]:
        """Return both for JSON."""
        return {
            "values": [f"{key} = {value} ({standing})" for key, (value, standing) in self.values.items()],
            "instructions": {standing.value: mnemonics for standing, mnemonics in self.instructions.items()},
        }

    def show(self, screen: Screen) -> None:
        """Print them in a few lines: names and counts, and where to read on."""
        sections: dict[str, list[str]] = {}
        for key in self.values:
            section, _, name = key.rpartition(".")
            sections.setdefault(section, []).append(name)
        parts = [
            f"{section}.{names[0]}" if len(names) == 1 else f"{section}: {', '.join(names)}"
            for section, names in sections.items()
        ]
        counts = [f"{len(mnemonics)} {standing}" for standing, mnemonics in self.instructions.items()]
        if counts:
            total = sum(len(mnemonics) for mnemonics in self.instructions.values())
            parts.append(f"{counted(total, 'instruction')} ({', '.join(counts)})")
        if parts:
            screen.text()
            screen.paragraph("guesses used: " + "; ".join(parts) + "; see: pixelflow about --model")


def guesses(runs: Iterable[Run], config: NodeConfig) -> Guesses:
    """Return the guesses that took part in ``runs`` on the machine of ``config``."""
    runs = list(runs)
    executed, paths = _executed(runs), _paths(runs)
    values = {}
    for key, about, value, _ in leaves(config):
        guessed = about.read_by is not None and about.standing in _GUESSED
        if guessed and _took_part(key, value, executed, paths, config):
            values[key] = (value, about.standing)
    return Guesses(values, _guessed(executed))


def guesses_without_time(runs: Iterable[UntimedRun]) -> Guesses:
    """Return the guesses that took part where no time was simulated: instructions alone."""
    return Guesses({}, _guessed(_executed(runs)))


def _guessed(executed: Iterable[Declaration]) -> dict[Standing, list[str]]:
    instructions = {
        standing: [each.mnemonic for each in executed if each.standing is standing] for standing in _GUESSED
    }
    return {standing: found for standing, found in instructions.items() if found}


def note_set_in_vain(screen: Screen, runs: Iterable[Run], effective: Effective) -> None:
    """Say which values somebody set although nothing that was executed depends on them."""
    runs = list(runs)
    executed, paths = _executed(runs), _paths(runs)
    for key, about, value, _ in leaves(effective.config):
        origin = effective.set_by[key]
        if origin.startswith("preset ") or about.read_by is None or key in _LIMITS:
            continue
        if not _took_part(key, value, executed, paths, effective.config):
            screen.note(f"note: {key} (set by {origin}) made no difference: nothing that was executed depends on it")


def note_times_set_in_vain(screen: Screen, effective: Effective) -> None:
    """Say which values somebody set that are about time, where none was simulated."""
    for key, about, _, _ in leaves(effective.config):
        origin = effective.set_by[key]
        if origin.startswith("preset ") or about.read_by is None or key in (*_LIMITS, *_SIZES):
            continue
        if key.partition(".")[0] not in ("array", "lee"):
            screen.note(f"note: {key} (set by {origin}) made no difference: no time was simulated")


def _executed(runs: Iterable[Run | UntimedRun]) -> dict[Declaration, None]:
    """Return the declarations of all instructions that were executed, in the order of the programs."""
    found: dict[int, Declaration] = {}  # by the object: there is one of each
    for run in runs:
        for each in run.streams:
            done = compress(each.program.instructions, each.executed)
            found |= {id(instruction.declaration): instruction.declaration for instruction in done}
    return dict.fromkeys(found.values())


def _paths(runs: Iterable[Run]) -> set[str]:
    """Return the paths of the GNI that were used."""
    return {path for run in runs for path in run.gni_cycles}


def _took_part(key: str, value: object, executed: Iterable[Declaration], paths: set[str], config: NodeConfig) -> bool:
    """Return whether a value of the configuration could have made a difference to what was executed."""
    section = key.partition(".")[0]
    if key == "igc.control_cycles":
        # That the HALT at the end is free is no guess worth telling.
        control = {each for each in executed if each.unit is Unit.SEQUENCER and each is not MARK}
        return bool(control - {HALT}) or (bool(control) and bool(value))
    if key in _LIMITS or section == "composition":
        return False  # limits: a run that ended stayed below them; nodes are joined by those that draw (`render`)
    if section == "gni":
        loads = {path for path in paths if path.startswith("from_gni")}
        return bool(loads if key in _LOADS else paths - loads if key in _RESULTS else paths)
    if section not in ("tasic", "sdram"):
        return True
    transfers = {each.transfers for each in executed} & {Transfers.READ, Transfers.WRITE}
    if not transfers:
        return False
    if key in _OPTIONS:
        return value != _OPTIONS[key]
    if key in _REFRESH:
        return config.sdram.refresh
    if key in _READS:
        return Transfers.READ in transfers
    if key in _WRITES:
        return Transfers.WRITE in transfers
    return True
