"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pixelflow.node.account.run import RoutineUse, Run, stages_of
from pixelflow.node.node import Node
from pixelflow.node.parts.array.lee import EMC_HEIGHT, EMC_WIDTH, LinearExpressionEvaluator, figure9
from pixelflow.node.parts.texture.addresses import AddressForm, AddressMap, Cell, Physical, Texel
from pixelflow.node.parts.texture.gp_memory import GpMemory
from pixelflow.node.parts.texture.transfer import BlockAccess

if TYPE_CHECKING:
    from pixelflow.node.account.energy import EnergyConfig, EnergyMeter, RunEnergy
    from pixelflow.node.account.guesses import Guesses, WordUse, guesses, set_in_vain, supply_of, words_of
    from pixelflow.node.account.timeline import StageSpan, stage_figures, timeline
    from pixelflow.node.account.untimed_run import UntimedRun
    from pixelflow.node.machine import Machine, MachineRun
    from pixelflow.node.parts.sdram.rules import sdram_distances
    from pixelflow.node.replay.pokes import Poke
    from pixelflow.node.replay.replay import Replay
    from pixelflow.node.replay.saved_run import Recorder, RunEnd, SavedRun
    from pixelflow.node.run.costs.extra import cycles_of
    from pixelflow.node.run.streams.upcoming import Upcoming
    from pixelflow.node.saved.checkpoint import Checkpoint

__all__ = [
    "EMC_HEIGHT",
    "EMC_WIDTH",
    "AddressForm",
    "AddressMap",
    "BlockAccess",
    "Cell",
    "Checkpoint",
    "EnergyConfig",
    "EnergyMeter",
    "GpMemory",
    "Guesses",
    "LinearExpressionEvaluator",
    "Machine",
    "MachineRun",
    "Node",
    "Physical",
    "Poke",
    "Recorder",
    "Replay",
    "RoutineUse",
    "Run",
    "RunEnd",
    "RunEnergy",
    "SavedRun",
    "StageSpan",
    "Texel",
    "UntimedRun",
    "Upcoming",
    "WordUse",
    "cycles_of",
    "figure9",
    "guesses",
    "sdram_distances",
    "set_in_vain",
    "stage_figures",
    "stages_of",
    "supply_of",
    "timeline",
    "words_of",
]

_LATER = {
    "Checkpoint": "saved.checkpoint",
    "EnergyConfig": "account.energy",
    "EnergyMeter": "account.energy",
    "Guesses": "account.guesses",
    "Machine": "machine",
    "MachineRun": "machine",
    "Poke": "replay.pokes",
    "Recorder": "replay.saved_run",
    "Replay": "replay.replay",
    "RunEnd": "replay.saved_run",
    "RunEnergy": "account.energy",
    "SavedRun": "replay.saved_run",
    "StageSpan": "account.timeline",
    "UntimedRun": "account.untimed_run",
    "Upcoming": "run.streams.upcoming",
    "WordUse": "account.guesses",
    "cycles_of": "run.costs.extra",
    "guesses": "account.guesses",
    "sdram_distances": "parts.sdram.rules",
    "set_in_vain": "account.guesses",
    "stage_figures": "account.timeline",
    "timeline": "account.timeline",
    "supply_of": "account.guesses",
    "words_of": "account.guesses",
}
"""Names that few runs need, and their files, which are imported when somebody asks."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
