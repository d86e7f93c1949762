"""Machines: the record of each for commands, and the register that finds them by name.

A package announces its machines as entry points of the group ``pixelflow.machines``: a name, and where its
:class:`MachineRecord` is; and in the group ``pixelflow.commands`` those that commands draw with or measure. Nothing
is looked up or imported before a name is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from pixelflow.simd.attendance import Telling
from pixelflow.simd.errors import Fault, InputError, suggestion
from pixelflow.simd.isa.declare import Declaration, InstructionSet
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import Report
from pixelflow.simd.units import Constant

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from pixelflow.simd.commands import MachineCommands
    from pixelflow.simd.drawing import DrawnFrame, Frame

GROUP = "pixelflow.machines"
"""The group of entry points of records."""
COMMANDS_GROUP = "pixelflow.commands"
"""The group of entry points of the machines' additional commands."""

Code = TypeVar("Code")
"""Input of a machine: its class of programs, or whatever it reads from its files."""
Configuration = TypeVar("Configuration", bound="DataclassInstance")
"""A machine's class of configurations: a frozen dataclass of `param` values."""
_Run = TypeVar("_Run", contravariant=True)
_Taken = TypeVar("_Taken", contravariant=True)


class ProgramRun(Protocol):
    """A run of a program that has ended."""

    @property
    def cycles(self) -> int:
        """From the first cycle to the last of whichever part took longest."""

    def report(self) -> Report:
        """Return the account of the run."""


class ProgramRunner(Protocol[_Run, _Taken]):
    """Runs a program to its end; what else a machine lets one choose has defaults."""

    def __call__(self, program: _Run, /, *, config: _Taken | None = None, bus: Bus | None = None) -> ProgramRun:
        """Return the run; ``bus`` receives its events.

        Raises InputError for a program or a configuration of another machine.
        """


class FrameDrawer(Protocol[_Taken]):
    """Draws a frame; what else a machine lets one choose has defaults."""

    def __call__(
        self,
        frame: Frame,
        *,
        parts: int = 1,
        config: _Taken | None = None,
        progress: Telling | None = None,
    ) -> DrawnFrame:
        """Return picture and account by ``parts`` side by side; raises InputError for what the machine cannot draw."""


@dataclass(frozen=True, eq=False)
class MachineRecord(Generic[Code, Configuration]):
    """A simulated machine, as commands know it."""

    name: str
    """As ``--machine`` has it."""
    title: str
    """As prose has it."""
    part: str
    """Unit of which it has several side by side: a node, a core."""
    most_parts: int
    target: ProgramTarget[AssembledProgram]
    configuration: type[Configuration]
    """Its defaults are the machine's."""
    clock_mhz: Callable[[Configuration], int]
    """The clock that cycles are counted in."""
    run: ProgramRunner[Code, Configuration]
    draw: FrameDrawer[Configuration] | None = None
    """None where it draws nothing."""
    presets: Mapping[str, Configuration] = field(default_factory=dict)
    """Named configurations, in addition to the defaults."""
    attended: bool = False
    """True if ``run`` takes an `Attendance`, so that a run can be limited, watched and ended by Ctrl-C."""
    threads: bool = False
    """True if ``run`` takes ``threads``, a number side by side, ``per_core`` of them taking turns, and what to ``show``
    of their end: registers of the first one, ``ranges`` of its memory, as words of a ``form``."""
    read: Callable[[Path], Code] | None = None
    """Reads the file that ``run`` takes, where that is not a program of ``target``: a scene, say."""
    paper: str = ""
    """Place of its paper's record, ``file:NAME``; imported when needed."""
    debug: str = ""
    """Place of the function that opens a dialogue with a run, of a program, a configuration and a viewer
    (`pixelflow.simd.dialogue`), ``file:NAME``; empty where runs cannot be debugged."""
    watch: str = ""
    """Place of the function that opens a run that can be shown at any cycle, of the input of ``run``
    (`pixelflow.simd.dashboard.WatchedRun`), ``file:NAME``; empty without a dashboard."""
    built: tuple[Constant, ...] = ()
    """Data of the modelled hardware: year, process, area, as far as a source gives it."""
    commands: MachineCommands | None = None
    """Additional commands; None where it only runs programs."""

    @property
    def instructions(self) -> InstructionSet[Declaration]:
        """The declarations of its instructions."""
        return self.target.instructions


AnyMachine: TypeAlias = MachineRecord[Any, Any]
"""A machine of whatever programs and configurations."""

_REGISTERED: dict[str, AnyMachine] = {}


def register(machine: AnyMachine) -> AnyMachine:
    """Enter a machine of this process, which needs no entry point; raises InputError where the name is taken."""
    if _REGISTERED.setdefault(machine.name, machine) is not machine:
        raise InputError(Fault(f"there is a machine {machine.name} already"))
    return machine


def machine_names() -> tuple[str, ...]:
    """Return the names of all machines, sorted; none is imported."""
    return tuple(sorted({*_REGISTERED, *_announced(GROUP)}))


def machines() -> tuple[AnyMachine, ...]:
    """Return all machines, by name."""
    return tuple(machine_named(name) for name in machine_names())


def machine_named(name: str) -> AnyMachine:
    """Return a machine; raises InputError with the nearest name where there is none."""
    found = _REGISTERED.get(name)
    if found is not None:
        return found
    place = _announced(GROUP).get(name)
    if place is None:
        known = machine_names()
        hint = suggestion(name, known, f"machines: {', '.join(known)}")
        raise InputError(Fault(f"unknown machine {name}", hint=hint))
    file, _, attribute = place.partition(":")
    machine = getattr(import_module(file), attribute, None)
    if not isinstance(machine, MachineRecord) or machine.name != name:
        raise InputError(Fault(f"{place} is not a machine of the name {name}"))
    return register(machine)


def commands_of_machines(*besides: str) -> dict[str, MachineCommands]:
    """Return the additional commands of machines by name, without ``besides``; imports no record."""
    from pixelflow.simd.commands import MachineCommands

    found: dict[str, object] = {name: each.commands for name, each in _REGISTERED.items()}
    for name, place in _announced(COMMANDS_GROUP).items():
        if name not in {*found, *besides}:
            found[name] = resolve_name(place)
    return {
        name: each for name, each in sorted(found.items()) if isinstance(each, MachineCommands) and name not in besides
    }


def _announced(group: str) -> dict[str, str]:
    """Return names and places of the entry points of a group, those of the tree that this file is in first."""
    return _entry_points(tuple(sys.path)).get(group, {})


@lru_cache(maxsize=4)
def _entry_points(path: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return the entry points of our groups; those of a search path are looked for once, in every installed package."""
    import tomllib
    from importlib.metadata import entry_points

    every = entry_points()
    found = {group: {each.name: each.value for each in every.select(group=group)} for group in (GROUP, COMMANDS_GROUP)}
    project = Path(__file__).parents[2] / "pyproject.toml"  # there where the tree is not installed
    own = tomllib.loads(project.read_text(encoding="utf-8"))["project"] if project.is_file() else {}
    return {group: known | own.get("entry-points", {}).get(group, {}) for group, known in found.items()}
