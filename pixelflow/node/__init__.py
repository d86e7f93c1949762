"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pixelflow.node.account import RoutineUse, Run, stages_of
from pixelflow.node.lee import EMC_HEIGHT, EMC_WIDTH, LinearExpressionEvaluator, figure9
from pixelflow.node.node import Node
from pixelflow.node.texture_addresses import AddressForm, AddressMap, Cell, Physical, Texel
from pixelflow.node.texture_memory import GpMemory
from pixelflow.node.transfer import BlockAccess

if TYPE_CHECKING:
    from pixelflow.node.account import StageSpan, UntimedRun, stage_figures, timeline
    from pixelflow.node.assumptions import Guesses, WordUse, guesses, set_in_vain, supply_of, words_of
    from pixelflow.node.energy import EnergyConfig, EnergyMeter, RunEnergy
    from pixelflow.node.nodes import Machine, MachineRun
    from pixelflow.node.replay import Poke, Recorder, Replay, RunEnd, SavedRun
    from pixelflow.node.run.stream import Upcoming
    from pixelflow.node.run.supply import cycles_of
    from pixelflow.node.saved_state import Checkpoint
    from pixelflow.node.sdram import sdram_distances

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
    "Checkpoint": "saved_state",
    "EnergyConfig": "energy",
    "EnergyMeter": "energy",
    "Guesses": "assumptions",
    "Machine": "nodes",
    "MachineRun": "nodes",
    "Poke": "replay",
    "Recorder": "replay",
    "Replay": "replay",
    "RunEnd": "replay",
    "RunEnergy": "energy",
    "SavedRun": "replay",
    "StageSpan": "account",
    "UntimedRun": "account",
    "Upcoming": "run.stream",
    "WordUse": "assumptions",
    "cycles_of": "run.supply",
    "guesses": "assumptions",
    "sdram_distances": "sdram",
    "set_in_vain": "assumptions",
    "stage_figures": "account",
    "timeline": "account",
    "supply_of": "assumptions",
    "words_of": "assumptions",
}
"""Names that few runs need, and their files, which are imported on first use."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
