"""The linear expression evaluator's coordinate registers: where each PE lies in the plane (thesis 2.2.9).

    y(P, I) = 2^ye * yp[P] + ys[I mod 8]
    x(P, I) = 2^xe * xp[(P mod 2) * 8 + I / 4] + xs[I mod 8]

with P the panel within its EMC and I the PE within its panel. Every EMC has registers of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.simd.errors import MachineFault

__all__ = ["LinearExpressionEvaluator"]

_SIZES = {"xe": 1, "ye": 1, "xp": 16, "yp": 8, "xs": 8, "ys": 8}


class LinearExpressionEvaluator:
    """The registers of all EMCs of a node: one array per register set, ``registers[name][module, emc, index]``."""

    def __init__(self, config: NodeConfig) -> None:
        array, lee = config.array, config.lee
        self._shape = array.shape
        self._bits = {name: getattr(lee, f"{name}_bits") for name in _SIZES}
        self.registers = {
            name: np.zeros((array.modules, array.emcs_per_module, size), np.int64) for name, size in _SIZES.items()
        }
        self.version = 0
        """Grows with every write, so that a reader knows when to compute the coordinates again."""
        if lee.arrangement == "figure9":
            self._arrange()

    def _arrange(self) -> None:
        """Set what figure 9 must hold, derived from the properties that section 3.2 lists."""
        modules, emcs, _, _ = self._shape
        column, panel = np.arange(16), np.arange(8)
        self.registers["xp"][:] = 16 * np.arange(emcs)[None, :, None] + column
        self.registers["yp"][:] = 16 * np.arange(modules)[:, None, None] + 4 * (panel // 2)
        self.registers["ys"][:] = np.arange(8) % 4

    def write(self, module: int, emc: int, register: str, index: int, value: int) -> None:
        """Write one register; raises MachineFault where EMC, index or value do not exist."""
        modules, emcs, _, _ = self._shape
        if module >= modules or emc >= emcs:
            raise MachineFault(f"EMC_SetLEE: there is no EMC {emc} of module {module} ({modules} x {emcs})")
        if index >= _SIZES[register]:
            raise MachineFault(f"EMC_SetLEE: register {register} has indices 0..{_SIZES[register] - 1}, not {index}")
        if value >> self._bits[register]:
            raise MachineFault(f"EMC_SetLEE: {value} does not fit the {self._bits[register]} bits of {register}")
        self.registers[register][module, emc, index] = value
        self.version += 1

    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return x and y of every PE by the equations above: int64[lanes] each."""
        modules, emcs, panels, pes = self._shape
        panel, pe = np.arange(panels), np.arange(pes)
        get = self.registers
        x_index = (panel[:, None] % 2) * 8 + pe[None, :] // 4
        x = (get["xp"] << get["xe"])[:, :, x_index] + get["xs"][:, :, pe % 8][:, :, None, :]
        y = (get["yp"] << get["ye"])[:, :, panel][:, :, :, None] + get["ys"][:, :, pe % 8][:, :, None, :]
        shape = (modules, emcs, panels, pes)
        return np.broadcast_to(x, shape).reshape(-1), np.broadcast_to(y, shape).reshape(-1)
