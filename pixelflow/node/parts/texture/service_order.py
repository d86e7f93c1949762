"""Which marked PEs of an EMC are served when, which belong together, and what a module has to do (thesis 2.2.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig
from pixelflow.node.parts.texture.transfer import Destination, Direction, RoundAddresses, Transfer, TransferCommand

__all__ = ["commands_of", "in_groups", "rounds_of", "service_order"]


def service_order(marks: NDArray[np.bool_], array: ArrayConfig, *, panel_minor: bool) -> NDArray[np.int64]:
    """Return the marked lanes of each EMC in the order of service: int64[emcs, most marked], -1 where there is none.

    PE minor serves panel after panel; panel minor takes one marked PE of each panel in turn (thesis 2.2.7).
    """
    marked = marks.reshape(array.emcs, array.panels_per_emc, array.pes_per_panel)
    key = np.arange(array.panels_per_emc * array.pes_per_panel, dtype=np.int64).reshape(marked.shape[1:])
    if panel_minor:
        # The first marked PE of every panel comes before the second one of any.
        rank = np.cumsum(marked, axis=2, dtype=np.int64) - 1
        keys = rank * array.panels_per_emc + np.arange(array.panels_per_emc)[None, :, None]
    else:
        keys = np.broadcast_to(key, marked.shape)
    flat = marked.reshape(array.emcs, -1)
    last = np.iinfo(keys.dtype).max
    order = np.argsort(np.where(flat, keys.reshape(array.emcs, -1), last), axis=1, kind="stable")
    counts = flat.sum(axis=1)
    most = int(counts.max(initial=0))
    lanes = order[:, :most] + np.arange(array.emcs, dtype=np.int64)[:, None] * flat.shape[1]
    return np.where(np.arange(most)[None, :] < counts[:, None], lanes, -1)


def in_groups(lanes: NDArray[np.int64], transfer: Transfer) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who gives the address of each round, and whom it serves; -1 where there is no PE left.

    From lanes in the order of service: int64[emcs, rounds] and int64[emcs, rounds, PEs of a round].
    """
    together, each = transfer.pes_per_group, transfer.pes_per_round
    padded = np.pad(lanes, ((0, 0), (0, -lanes.shape[1] % together)), constant_values=-1)
    groups = padded.reshape(len(lanes), -1, together)
    if not transfer.group:
        return groups[:, :, 0], groups
    givers = np.repeat(groups[:, :, 0], transfer.group, axis=1)
    served = groups[:, :, 1:].reshape(len(lanes), -1, each)
    rounds = max((transfer.rounds(int(count)) for count in (lanes >= 0).sum(axis=1)), default=0)
    return givers[:, :rounds], served[:, :rounds]


def rounds_of(transfer: Transfer, marks: NDArray[np.bool_], array: ArrayConfig) -> tuple[int, ...]:
    """Return how many rounds each module needs: as many as its EMC with the most marked PEs."""
    if not (transfer.accesses or transfer.direction is Direction.LOOP_BACK):
        return (0,) * array.modules
    most = marks.reshape(array.modules, array.emcs_per_module, -1).sum(axis=2).max(axis=1)
    return tuple(transfer.rounds(int(count)) for count in most)


def _slots(transfer: Transfer, marks: NDArray[np.bool_], array: ArrayConfig) -> tuple[tuple[int, int, int], ...]:
    """Return for each module the slots that EMCs use, and the bytes that they give and take in these."""
    marked = marks.reshape(array.modules, array.emcs_per_module, -1).sum(axis=2).tolist()
    moves = (transfer.rounds, transfer.given_bytes, transfer.taken_bytes)
    used, given, taken = ([sum(map(of, counts)) for counts in marked] for of in moves)
    return tuple(zip(used, given, taken, strict=True))


def commands_of(
    transfer: Transfer,
    marks: Callable[[str], NDArray[np.bool_]],
    destinations: Sequence[Destination],
    array: ArrayConfig,
    addresses: Sequence[tuple[RoundAddresses, ...]] | None = None,
) -> tuple[TransferCommand, ...]:
    """Return what the TASICs of each module are told; ``marks`` gives the marks MR or MW: bool[lanes]."""
    rounds, slots = (0,) * array.modules, ((0, 0, 0),) * array.modules
    if transfer.accesses or transfer.direction is Direction.LOOP_BACK:
        rounds, slots = rounds_of(transfer, marks(transfer.mark), array), _slots(transfer, marks(transfer.mark), array)
    parcels: list[tuple[int, ...]] = [()] * array.modules
    if transfer.returned is not None:
        counts = marks("MW").reshape(array.modules, array.emcs_per_module, -1).sum(axis=2)
        for module in range(array.modules):
            if transfer.returned.includes(module):
                served = range(int(counts[module].max()))
                there = [int((counts[module] > index).sum()) for index in served]
                parcels[module] = tuple(transfer.returned.size * emcs for emcs in there)
    return tuple(
        TransferCommand(
            transfer,
            rounds[module],
            parcels[module],
            destinations[module],
            addresses and addresses[module],
            *slots[module],
        )
        for module in range(array.modules)
    )
