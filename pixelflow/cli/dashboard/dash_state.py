"""What a dashboard shows of a node and its run: the part that must know the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.pe_map import grid
from pixelflow.node.run.order.clocked import Clocked
from pixelflow.node.run.order.tasic_box import TasicBox
from pixelflow.node.run.streams.semaphores import use_of
from pixelflow.observe import NodeRunView
from pixelflow.observe.dashboard import Facts, Look, SemaphoreUse, Watch
from pixelflow.observe.dashboard.state import MapState

if TYPE_CHECKING:
    from pixelflow.node.replay.replay import Replay

__all__ = ["NodeView", "facts_of"]

_ALONE = "one stream runs alone"
_EQUAL_SLOTS = "not scheduled: equal slots"


def facts_of(config: NodeConfig, preset: str, engine: str, program: Program, view: NodeRunView | Replay) -> Facts:
    """Return what stays the same while a program runs."""
    two = len(view.streams) > 1
    return Facts(
        config=preset,
        config_hash=config.sha256,
        engine=engine,
        clock_mhz=config.clock_mhz,
        pes=config.lanes,
        modules=config.array.modules,
        semaphores=_semaphores(program),
        texture_missing=None if two else _ALONE,
        banks_missing=_EQUAL_SLOTS if two else _ALONE,
    )


def _semaphores(program: Program) -> tuple[SemaphoreUse, ...]:
    uses = {entry.upper(): use_of(program, entry) for entry in program.entries}
    numbers = sorted({number for use in uses.values() for number in (*use.waits, *use.signals)})
    return tuple(
        SemaphoreUse(
            number,
            tuple(name for name, use in uses.items() if number in use.signals),
            tuple(name for name, use in uses.items() if number in use.waits),
        )
        for number in numbers
    )


class NodeView:
    """Looks at a node for the frames of its runs: the array's map, enabled PEs, bytes on the ports, open rows."""

    def __init__(self, node: Node, title: str, values: Callable[[Node], np.ndarray]) -> None:
        """``values`` returns what the map shows: bool[lanes] or uint8[lanes]."""
        self._node = node
        self._title = title
        self._values = values
        self._places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None] | None = None

    def enabled(self) -> tuple[int, ...]:
        """Return how many PEs of each module are enabled."""
        return self._node.array.enabled_by_module()

    def look(self, watch: Watch, *, at: int | None = None, data: bool = True) -> Look:
        """Return what the node shows now; without ``data`` the run touches no PE, and there is no map.

        ``at`` is the cycle up to which all of the run has been done, None for a run that goes on.
        """
        view = watch.view
        runner = getattr(view, "runner", view)
        look = Look()
        if isinstance(runner, Clocked) and runner.boxes is not None:
            boxes = runner.boxes
            known = _known(runner) if at is None and watch.ended is None else watch.cycle
            look = Look(
                from_emcs=tuple(box.state.sent_bytes for box in boxes.emcs),
                to_emcs=tuple(box.state.received_bytes for box in boxes.emcs),
                open_rows=_open_rows(boxes.tasics),
                transferring=("tigc",) if runner.sequencers[1].state.outstanding else (),
                simulated=known if known < watch.cycle else None,
            )
        return replace(look, array=self._map(), enabled=self.enabled()) if data else look

    def _map(self) -> MapState | None:
        x, y = self._node.coordinates()
        # Whether the PEs make a plane takes longer to find out than everything else, and it seldom changes.
        if self._places is None or not (np.array_equal(x, self._places[0]) and np.array_equal(y, self._places[1])):
            self._places = (x, y, grid(np.arange(1, len(x) + 1), x, y))
        order = self._places[2]
        if order is None:
            return None
        values = self._values(self._node)
        with_nothing = np.concatenate(([0], values)).astype(np.uint8)  # places without a PE show nothing
        height, width = order.shape
        return MapState(self._title, width, height, with_nothing[order].tobytes(), values.dtype == np.bool_)


def _known(runner: Clocked) -> int:
    """Return the cycle up to which a run that goes on has been simulated: one stream may be ahead of that."""
    clock = getattr(runner, "clock", None)  # in a machine of several nodes, the machine has it
    return min(stream.cycle for stream in runner.streams.values()) if clock is None else clock.cycle


def _open_rows(tasics: Sequence[TasicBox]) -> tuple[tuple[int | None, ...], ...] | None:
    """Return the open row of each bank of each module (of its device 0), where accesses are scheduled."""
    rows = []
    for tasic in tasics:
        if tasic.sdrams is None:
            return None
        rows.append(tuple(tasic.sdrams.parts[0].scheduler.sdram.open_row))
    return tuple(rows)
