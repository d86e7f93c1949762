"""Configuration of a command, and notes on values that have no effect."""

from __future__ import annotations

import argparse

from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, load_effective
from pixelflow.simd.configuration import Effective, leaves


def configuration(args: argparse.Namespace, screen: Screen) -> Effective[NodeConfig]:
    """Return the configuration of ``--config``, ``--preset`` and ``-D``; note values that were set in vain."""
    effective = load_effective(args.config, args.overrides, args.preset)
    for key, about, _, _ in leaves(effective.config):
        if about.read_by is None and not effective.set_by[key].startswith("preset "):
            screen.note(f"note: {key} is set, but no part of the model reads it yet")
    return effective


def unread_keys(config: NodeConfig) -> list[str]:
    """Return the keys that nothing reads; a section of which nothing is read is one entry, ``sdram.*``."""
    sections: dict[str, list[tuple[str, bool]]] = {}
    for key, about, _, _ in leaves(config):
        sections.setdefault(key.rpartition(".")[0], []).append((key, about.read_by is None))
    found = []
    for section, keys in sections.items():
        if section and all(unread for _, unread in keys):
            found.append(f"{section}.*")
        else:
            found += [key for key, unread in keys if unread]
    return found
