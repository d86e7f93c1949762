"""A texture unit for runs in which only time passes: registers and checks of the real one, and no byte moves.

Addresses that follow from the program (the generator's, and those held from it) are checked as in a run with data.
Those that PEs give are unknown, and so is whether they would be refused: outside texture memory, not a multiple of the
size, or in the bank of the access before although alternate banks were promised. Where equal slots are scheduled one by
one, for refresh or for the command checker, such accesses take turns between the banks (`tasic_box`), as their times
depend on no address; under a greedy controller they do, and the run is refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa.registers import PORT_BYTES
from pixelflow.isa.tas import Addressing
from pixelflow.node.parts.texture.access import TextureAccess
from pixelflow.node.parts.texture.transfer import Transfer
from pixelflow.node.parts.texture.unit import TextureUnit
from pixelflow.node.run.marks.tracker import MarkTracker

__all__ = ["TimedTextureUnit"]

_UNKNOWN = -2
"""Stands for an address that PE data give."""


class TimedTextureUnit(TextureUnit):
    """Takes the marks from a tracker instead of PEs; starts with the registers of ``real`` and leaves those alone."""

    def __init__(self, config: NodeConfig, real: TextureUnit, tracker: MarkTracker) -> None:
        super().__init__(config, tracker, ())
        self.restore(real)
        self.gps_of = real.gps_of
        self._access = _KnownAccess(config, ())
        self._tracker = tracker
        self._no_data = np.zeros((config.lanes, PORT_BYTES), np.uint8)

    def end(self) -> None:
        """Check that the GP memories could take what the transfer brought; nothing is put anywhere."""
        for where, data in self.moving.returned:
            self.gps_of(where.node)[where.gp].check(where.address, len(data))

    def _port(self) -> NDArray[np.uint8]:
        return self._no_data

    def _asked(self, transfer: Transfer) -> None:
        """Nothing is kept of a read that brings nothing."""

    def _tell_addresses(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        if not (addresses[valid] == _UNKNOWN).any():
            super()._tell_addresses(transfer, addresses, valid)
        elif not self._config.sdram.equal_slots:
            raise self._tracker.refusal(
                "the addresses depend on PE data, and with them the times of a greedy controller (sdram.equal_slots)"
            )

    def _groups(self, transfer: Transfer, mark: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        self._tracker.get_bit(mark)  # refuses a mark that is not known
        groups = super()._groups
        return self._tracker.derived(mark, (transfer, self.panel_minor), lambda: groups(transfer, mark))

    def _where(self, transfer: Transfer, givers: NDArray[np.int64], valid: NDArray[np.bool_]) -> NDArray[np.int64]:
        addresses = super()._where(transfer, givers, valid)
        if transfer.addressing in (Addressing.EXPLICIT, Addressing.BASE):
            return np.where(valid[:, :, None], _UNKNOWN, addresses)
        return addresses


class _KnownAccess(TextureAccess):
    """Accesses to no memory at all."""

    def check(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64] | None = None,
    ) -> None:
        super().check(transfer, addresses, valid & (addresses != _UNKNOWN).all(axis=-1), givers)
