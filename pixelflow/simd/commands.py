"""Commands' view of a machine besides its record: its drawing, its studies and its kernels, as data.

Commands that draw or study import the :class:`MachineCommands` of every machine, for ``--help`` too. So the file that
holds it imports nothing heavy: what executes a thing is named by its place, ``file:NAME``, and imported when it is
asked for. An entry point of the group ``pixelflow.commands`` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from pixelflow.simd.report import Report

_Kernel = TypeVar("_Kernel")
_Taken = TypeVar("_Taken")
_Result = TypeVar("_Result")

Told: TypeAlias = Mapping[str, Any]
"""Arguments passed to a machine's drawer by keyword: its options, and ``config``."""


class MachineOption(NamedTuple):
    """An option of one machine for its pictures."""

    flag: str
    """One that no other machine has."""
    keyword: str
    """The argument of the machine's drawer that takes the value."""
    help: str
    parse: Callable[[str], object] = str
    """Returns the value of a text; raises ValueError with a text for users."""
    default: object = None
    """None leaves it to the drawer."""
    metavar: str | None = None
    choices: tuple[object, ...] | None = None
    most: int | None = None
    """The largest number, where that is judged after parsing."""
    key: str = ""
    """Under which name JSON has the value; none where the account of the machine says it."""
    commands: tuple[str, ...] = ("render", "compare")
    switch: bool = False
    """True if it takes no value: given, it says True."""


@dataclass(frozen=True)
class ConfigurationOption:
    """The option that sets values of a machine's configuration for its pictures."""

    flag: str
    help: str
    in_vain: Mapping[str, str] = field(default_factory=dict)
    """Reasons why a value that matters to something else (`param`'s ``matters``) changes no picture."""


class ProjectionChoice(NamedTuple):
    """A way to project that only one machine has, in addition to the host's."""

    name: str
    """One that no other machine has."""
    who: str
    """The part that projects, as help has it."""
    refusal: str
    """The owner, as a clause of a refusal."""
    tessellates: bool = False
    """True if it begins with control points, so that no node of another machine is needed."""


@dataclass(frozen=True)
class MachineDrawing:
    """How a machine draws for commands."""

    title: str
    """Its name as prose has it."""
    options: tuple[MachineOption, ...] = ()
    configuration: ConfigurationOption | None = None
    projections: tuple[ProjectionChoice, ...] = ()
    engines: tuple[str, ...] = ()
    """Lane engines that ``draw`` and ``run`` of its record take by name, as ``engine``; empty where they take none."""
    picture: str = ""
    """Place of a picture maker that does more than the record's drawer."""
    require: str = ""
    """Place of a function that refuses undrawable frames before any work."""
    compared: bool = False
    """True if it is compared where no machine is named."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Other data it contributes to a comparison: name in JSON, and place of the function. It takes the scene, its
    sampling, the arguments of each machine by name, the frame, and the machines' drawings."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Names of ``beside`` as topics of a comparison, where they differ from the names in JSON."""
    ways_by_size: str = ""
    """Place of a function that yields the ways in which it draws triangles of one size, where it has several; it
    takes the machine's arguments and a receiver of progress."""
    block: str = "blocks of pixels"
    """The unit that its lanes work on at once."""
    ways: str = "moved"
    """Where bytes go that its account counts."""


@dataclass(frozen=True)
class MachineKernels(Generic[_Kernel, _Taken, _Result]):
    """Kernels that a machine executes, and the reports of them."""

    known: Mapping[str, _Kernel]
    """By name."""
    carry_out: Callable[[_Kernel, _Taken, Callable[[str], None]], _Result]
    """Takes a configuration and a receiver of progress."""
    listed: Callable[[Sequence[_Kernel]], Report]
    """Reports which there are."""
    report: Callable[[Sequence[tuple[_Kernel, _Result]], _Taken], Report]
    """Takes kernels with their results, and the configuration."""


@dataclass(frozen=True)
class MachineCommands:
    """Abilities of a machine that commands use in addition to runs of programs."""

    drawing: MachineDrawing | None = None
    """None where commands cannot let it draw."""
    studies: Mapping[str, str] = field(default_factory=dict)
    """Place of the function that executes each study for this machine, by the study's name; it takes a receiver of
    progress and returns the report."""
    examples: tuple[str, ...] = ()
    """Command lines for the ends of helps; the tests run them."""
    kernels: str = ""
    """Place of the `MachineKernels`; empty without kernels."""
