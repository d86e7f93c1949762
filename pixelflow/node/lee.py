"""The linear expression evaluator's coordinate registers: where each PE is in the plane (thesis 2.2.9).

    y(P, I) = 2^ye * yp[P] + ys[I mod 8]
    x(P, I) = 2^xe * xp[(P mod 2) * 8 + I / 4] + xs[I mod 8]

with P the panel within its EMC and I the PE within its panel. Every EMC has separate registers. Here are x and y only;
the expression A x + B y + C itself is `affine` of the lane engines in `simd/lanes/`: `bitserial.py` is the
reference, `form.py` has numpy, `native/lowering.py` native code.

Figure 9, which says what they hold, is missing from the text. The values here satisfy every property that section 3.2
lists, with the equations above (standing: derived): xe = ye = 0, xs = 0, ys[i] = i mod 4,
xp[8 p + c] = 16 emc + 8 p + c with p the parity of the panel and c = PE div 4,
yp[P] = 16 module + 4 (P div 2). A block of 16 PEs is then 4x4 with x = PE div 4 and y = PE mod 4, a panel 8x4, an EMC
16x16, a module 128x16 and the node 128x64. (3.2 also says that two panels of an EMC cannot be adjacent in x, which
contradicts the "P mod 2" of the equation; the equation is followed.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa.tree import LEE_REGISTERS
from pixelflow.simd.errors import MachineFault

EMC_WIDTH = 16
"""Width of an EMC in PEs under figure 9."""

EMC_HEIGHT = 16
"""Height of an EMC of eight panels in PEs under figure 9."""

_SIZES = dict(zip(LEE_REGISTERS, (1, 1, 16, 8, 8, 8), strict=True))


def figure9(array: ArrayConfig) -> dict[str, NDArray[np.int64]]:
    """Return the register values of figure 9 by name, each int64[module, emc, index]."""
    found = _registers(array)
    found["xp"][:] = EMC_WIDTH * np.arange(array.emcs_per_module)[:, None] + np.arange(16)
    found["yp"][:] = EMC_HEIGHT * np.arange(array.modules)[:, None, None] + 4 * (np.arange(8) // 2)
    found["ys"][:] = np.arange(8) % 4
    return found


def _registers(array: ArrayConfig) -> dict[str, NDArray[np.int64]]:
    """Return registers that hold 0."""
    return {name: np.zeros((array.modules, array.emcs_per_module, size), np.int64) for name, size in _SIZES.items()}


class LinearExpressionEvaluator:
    """The registers of all EMCs of a node: one array per register set, ``registers[name][module, emc, index]``."""

    def __init__(self, config: NodeConfig) -> None:
        array, lee = config.array, config.lee
        self._shape = array.shape
        self._bits = {name: getattr(lee, f"{name}_bits") for name in _SIZES}
        self.registers = figure9(array) if lee.arrangement == "figure9" else _registers(array)
        self.version = 0
        """Grows with every write, so that readers know when to compute the coordinates again."""
        self._coordinates: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None
        """The last coordinates, after their version."""

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
        """Return x and y of every PE by the equations above: int64[lanes] each, which cannot be written."""
        if self._coordinates is None or self._coordinates[0] != self.version:
            x, y = self._equations()
            x.flags.writeable = y.flags.writeable = False
            self._coordinates = self.version, x, y
        return self._coordinates[1:]

    def _equations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        modules, emcs, panels, pes = self._shape
        panel, pe = np.arange(panels), np.arange(pes)
        get = self.registers
        x_index = (panel[:, None] % 2) * 8 + pe[None, :] // 4
        x = (get["xp"] << get["xe"])[:, :, x_index] + get["xs"][:, :, pe % 8][:, :, None, :]
        y = (get["yp"] << get["ye"])[:, :, panel][:, :, :, None] + get["ys"][:, :, pe % 8][:, :, None, :]
        shape = (modules, emcs, panels, pes)
        return np.broadcast_to(x, shape).reshape(-1), np.broadcast_to(y, shape).reshape(-1)
