"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pixelflow.node.addresses import AddressMap, Cell, Form
from pixelflow.node.gp_memory import GpMemory
from pixelflow.node.lee import EMC_HEIGHT, EMC_WIDTH, LinearExpressionEvaluator, figure9
from pixelflow.node.node import Node
from pixelflow.node.run import RoutineUse, Run

if TYPE_CHECKING:
    from pixelflow.node.checkpoint import Checkpoint
    from pixelflow.node.machine import Machine, MachineRun
    from pixelflow.node.replay import Replay
    from pixelflow.node.run_report import guesses, set_in_vain
    from pixelflow.node.saved_run import Recorder, RunEnd, SavedRun
    from pixelflow.node.untimed_run import UntimedRun
    from pixelflow.node.upcoming import Upcoming

__all__ = [
    "EMC_HEIGHT",
    "EMC_WIDTH",
    "AddressMap",
    "Cell",
    "Checkpoint",
    "Form",
    "GpMemory",
    "LinearExpressionEvaluator",
    "Machine",
    "MachineRun",
    "Node",
    "Recorder",
    "Replay",
    "RoutineUse",
    "Run",
    "RunEnd",
    "SavedRun",
    "UntimedRun",
    "Upcoming",
    "figure9",
    "guesses",
    "set_in_vain",
]

_LATER = {
    "Checkpoint": "checkpoint",
    "Machine": "machine",
    "MachineRun": "machine",
    "Recorder": "saved_run",
    "Replay": "replay",
    "RunEnd": "saved_run",
    "SavedRun": "saved_run",
    "UntimedRun": "untimed_run",
    "Upcoming": "upcoming",
    "guesses": "run_report",
    "set_in_vain": "run_report",
}
"""Names that few runs need, and their files, which are imported when somebody asks."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
