"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`run`, `sdram`) are separate files; `node` puts them together.
"""

from typing import TYPE_CHECKING

from pixelflow.simd.faces import on_first_use

if TYPE_CHECKING:
    from pixelflow.node.account import RoutineUse, Run, StageSpan, UntimedRun, stage_figures, stages_of, timeline
    from pixelflow.node.assumptions import Guesses, WordUse, guesses, set_in_vain, supply_of, words_of
    from pixelflow.node.energy import EnergyConfig, EnergyMeter, RunEnergy
    from pixelflow.node.lee import EMC_HEIGHT, EMC_WIDTH, LinearExpressionEvaluator, figure9
    from pixelflow.node.node import Node
    from pixelflow.node.nodes import Machine, MachineRun
    from pixelflow.node.replay import Poke, Recorder, Replay, RunEnd, SavedRun
    from pixelflow.node.run.stream import Upcoming
    from pixelflow.node.run.supply import cycles_of
    from pixelflow.node.run_report import report_of
    from pixelflow.node.saved_state import Checkpoint
    from pixelflow.node.sdram import sdram_distances
    from pixelflow.node.texture_addresses import AddressForm, AddressMap, Cell, Physical, Texel
    from pixelflow.node.texture_memory import GpMemory
    from pixelflow.node.transfer import BlockAccess

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
    "report_of",
    "sdram_distances",
    "set_in_vain",
    "stage_figures",
    "stages_of",
    "supply_of",
    "timeline",
    "words_of",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "account": "RoutineUse Run StageSpan UntimedRun stage_figures stages_of timeline",
        "assumptions": "Guesses WordUse guesses set_in_vain supply_of words_of",
        "energy": "EnergyConfig EnergyMeter RunEnergy",
        "lee": "EMC_HEIGHT EMC_WIDTH LinearExpressionEvaluator figure9",
        "node": "Node",
        "nodes": "Machine MachineRun",
        "replay": "Poke Recorder Replay RunEnd SavedRun",
        "run.stream": "Upcoming",
        "run.supply": "cycles_of",
        "run_report": "report_of",
        "saved_state": "Checkpoint",
        "sdram": "sdram_distances",
        "texture_addresses": "AddressForm AddressMap Cell Physical Texel",
        "texture_memory": "GpMemory",
        "transfer": "BlockAccess",
    },
)
