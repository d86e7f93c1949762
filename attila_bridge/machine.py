"""Record of ATTILA among the machines."""

from __future__ import annotations

from pathlib import Path

from attila_bridge.assembler import TARGET
from attila_bridge.commands import COMMANDS
from attila_bridge.run import CLOCK_MHZ, run_scene
from attila_bridge.scene import AttilaScene, load_scene
from attila_bridge.time.config import PRESETS, AttilaConfig
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.machine import MachineRecord
from pixelflow.simd.units import Constant, Standing


def _read(path: Path) -> AttilaScene:
    return load_scene(path)


def _draw(
    frame: Frame,
    *,
    parts: int = 1,
    config: AttilaConfig | None = None,
    progress: Telling | None = None,
) -> DrawnFrame:
    # Imported by drawing only.
    from attila_bridge.picture import draw_on_attila

    return draw_on_attila(frame, parts=parts, config=config, progress=progress)


_NO_CHIP = "Moya et al., ISPASS 2006: a simulator and its results, no chip"
_BUILT = (
    Constant("year", 2006, Standing.DERIVED, "Moya et al., ISPASS 2006", "in which the machine is described"),
    Constant("process", "none", Standing.DERIVED, _NO_CHIP),
    Constant("area", "none", Standing.DERIVED, _NO_CHIP),
)

MACHINE = MachineRecord(
    name="attila",
    title="ATTILA",
    part="GPU",
    most_parts=1,
    target=TARGET,
    configuration=AttilaConfig,
    clock_mhz=lambda config: CLOCK_MHZ,
    run=run_scene,
    draw=_draw,
    presets=PRESETS,
    read=_read,
    watch="attila_bridge.watched:watch",
    paper="attila_bridge.claims.paper:PAPER",
    built=_BUILT,
    commands=COMMANDS,
)
