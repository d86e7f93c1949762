"""Saved files of the first form, whose values have the names of Python files and of private attributes: still read."""

from __future__ import annotations

from typing import Any

from pixelflow.node.stable_names import CLASS_OF
from pixelflow.node.texture_state import TextureState

__all__ = ["CLASS_OF_FIRST", "first_form", "renewed"]

_FIRST_NAMES = {
    "pixelflow.isa.tas:Addressing": "texture.Addressing",
    "pixelflow.node.address_generator:AddressGenerator": "texture.AddressGenerator",
    "pixelflow.node.texture_unit:_Moving": "texture.Moving",
    "pixelflow.node.transfer:Command": "transfer.Command",
    "pixelflow.node.transfer:Destination": "transfer.Destination",
    "pixelflow.node.transfer:Direction": "transfer.Direction",
    "pixelflow.node.transfer:Load": "transfer.Load",
    "pixelflow.node.transfer:Return": "transfer.Return",
    "pixelflow.node.transfer:Transfer": "transfer.Transfer",
    "pixelflow.node.emc_ports_box:Collect": "ports.Collect",
    "pixelflow.node.emc_ports_box:Fetch": "ports.Fetch",
    "pixelflow.node.gni_items:Grant": "gni.Grant",
    "pixelflow.node.gni_items:LoadPart": "gni.LoadPart",
    "pixelflow.node.gni_items:LoadRequest": "gni.LoadRequest",
    "pixelflow.node.gni_items:Parcel": "gni.Parcel",
    "pixelflow.sim.wire:Transfer": "wire.Sent",
}

CLASS_OF_FIRST = {first: CLASS_OF[name] for first, name in _FIRST_NAMES.items()}
"""The class that a file of the first form means by a name."""


def first_form(schema: str) -> str:
    """Return the schema that files of the first form have in place of another one."""
    return f"{schema.partition('/')[0]}/1"


def renewed(state: Any) -> Any:
    """Return the state that a file of the first form holds as it is held now; raises KeyError for any other."""
    first = state["texture"]
    texture = TextureState(
        destinations=first["destinations"],
        act=first["_held_addresses"],
        dct=first["_held_data"],
        generator=first["generator"],
        panel_minor=first["panel_minor"],
        alternate=first["alternate"],
        transfer=first["transfer"],
        moving=first["_moving"],
        moved=first["moved"],
    )
    return state | {"texture": texture}
