"""Energy of runs, as the command line asks for it."""

from __future__ import annotations

from pixelflow.cli.shell.machine_values import configured
from pixelflow.config import NodeConfig
from pixelflow.node import EnergyConfig, EnergyMeter

__all__ = ["energy_meter"]


def energy_meter(config: NodeConfig, prices: list[str]) -> EnergyMeter:
    """Return what accounts for the energy of a node's runs at the prices given; raises InputError with all faults."""
    return EnergyMeter(config, configured(EnergyConfig, "--price", prices))
