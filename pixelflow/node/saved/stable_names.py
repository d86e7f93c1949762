"""Names of the classes in saved files: declared once, whatever the Python files are called and wherever they are."""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.isa.tas import Addressing
from pixelflow.node.parts.texture.state import AddressGenerator, Moving, TextureState
from pixelflow.node.parts.texture.transfer import Destination, Direction, Load, Return, Transfer, TransferCommand
from pixelflow.node.run.order.emc_ports_box import Collect, Fetch
from pixelflow.node.run.order.gni_items import Grant, LoadPart, LoadRequest, Parcel
from pixelflow.node.run.streams.issue import Issue, IssueKind
from pixelflow.simd.boxes import Sent

__all__ = ["ADDED", "CLASS_OF", "NAME_OF"]

CLASS_OF: Mapping[str, type] = {
    "stream.Issue": Issue,
    "stream.IssueKind": IssueKind,
    "texture.Addressing": Addressing,
    "texture.AddressGenerator": AddressGenerator,
    "texture.Moving": Moving,
    "texture.State": TextureState,
    "transfer.Command": TransferCommand,
    "transfer.Destination": Destination,
    "transfer.Direction": Direction,
    "transfer.Load": Load,
    "transfer.Return": Return,
    "transfer.Transfer": Transfer,
    "ports.Collect": Collect,
    "ports.Fetch": Fetch,
    "gni.Grant": Grant,
    "gni.LoadPart": LoadPart,
    "gni.LoadRequest": LoadRequest,
    "gni.Parcel": Parcel,
    "wire.Sent": Sent,
}
"""Every class (a dataclass or an enumeration) whose values a saved file may hold; a name is never given anew."""

ADDED: Mapping[str, Mapping[str, int]] = {"transfer.Command": {"used": 0, "given": 0, "taken": 0}}
"""Fields that files of before do not have, and what they are then: no run goes another way by them."""

NAME_OF: Mapping[type, str] = {kind: name for name, kind in CLASS_OF.items()}
