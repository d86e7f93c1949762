"""The configuration tree of a node, its derived totals and its fingerprint.

A tree is checked as a whole when it is built, so that every fault is reported at once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pixelflow.config.checks import combination_faults
from pixelflow.config.instructions import ExtraConfig, IgcConfig
from pixelflow.config.sections import (
    ArrayConfig,
    CompositionConfig,
    GniConfig,
    LeeConfig,
    SdramConfig,
    TasicConfig,
)
from pixelflow.simd.config.param import Value, check_values, leaves, param, section
from pixelflow.simd.errors import InputError
from pixelflow.simd.report import Report, Shown, overview, plain_table
from pixelflow.simd.units import Standing

__all__ = [
    "ArrayConfig",
    "CompositionConfig",
    "ExtraConfig",
    "GniConfig",
    "IgcConfig",
    "LeeConfig",
    "NodeConfig",
    "SdramConfig",
    "TasicConfig",
]

_NODE = "pixelflow/node/node.py"


# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NodeConfig(Shown):
    """One PixelFlow node.

    Building one checks every value and their combinations, and raises an InputError that holds all faults.
    """

    clock_mhz: int = param(100, "clock of the array and of texture memory", unit="MHz", low=1, high=10_000,
        source="thesis 2.2.3", standing=Standing.THESIS, read_by=_NODE)
    array: ArrayConfig = section(ArrayConfig)
    lee: LeeConfig = section(LeeConfig)
    igc: IgcConfig = section(IgcConfig)
    extra: ExtraConfig = section(ExtraConfig)
    tasic: TasicConfig = section(TasicConfig)
    sdram: SdramConfig = section(SdramConfig)
    gni: GniConfig = section(GniConfig)
    composition: CompositionConfig = section(CompositionConfig)
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)
        faults = combination_faults(self.clock_mhz, self.array, self.lee, self.sdram, self.gni)
        if faults:
            raise InputError(faults)

    def __repr__(self) -> str:
        return f"NodeConfig({self.lanes} PEs at {self.clock_mhz} MHz, sha256 {self.sha256[:12]})"

    def report(self) -> Report:
        """Return every value with its unit and standing."""
        rows = tuple((key, str(value), known.unit, known.standing.value) for key, known, value, _ in leaves(self))
        facts = (("sha256", self.sha256), *((name, f"{total:,}") for name, total in self.derived.items()))
        return overview("configuration of a node", facts, (plain_table(("key", "value", "unit", "standing"), rows),))

    @property
    def lanes(self) -> int:
        """PEs of the node: 8192 on the thesis machine."""
        return self.array.lanes

    @property
    def values(self) -> dict[str, Value]:
        """Every value by its dotted key, in declaration order."""
        return {key: value for key, _, value, _ in leaves(self)}

    @property
    def derived(self) -> dict[str, int]:
        """Totals that follow from the values, by name."""
        array, sdram = self.array, self.sdram
        module_bytes = sdram.devices_per_module * sdram.banks * sdram.rows * sdram.columns
        return {
            "EMCs": array.emcs,
            "panels": array.panels,
            "blocks": array.blocks,
            "PEs": array.lanes,
            "bytes of a PE": array.bytes_of_pe,
            "bytes of all PEs": array.bytes_of_pe * array.lanes,
            "texture bytes of a module": module_bytes,
        }

    @property
    def sha256(self) -> str:
        """Fingerprint of the effective values; equal for equal machines, whatever file or version they came from."""
        values = {key: value for key, known, value, default in leaves(self) if not known.added or value != default}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def seconds(self, cycles: int) -> float:
        """Return the machine time of ``cycles`` in seconds."""
        return cycles / (self.clock_mhz * 1e6)
