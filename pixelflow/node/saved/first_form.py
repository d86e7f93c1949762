"""Saved files of the first form, whose values have the names of Python files and of private attributes: still read."""

from __future__ import annotations

from dataclasses import asdict

from pixelflow.node.parts.texture.state import TextureState
from pixelflow.node.run.order.emc_ports_box import PortState
from pixelflow.node.run.order.igc_box import IgcState
from pixelflow.node.run.streams.issue import BLOCKED, SIGNALLED, UNLATCH, Issue, IssueKind
from pixelflow.node.run.streams.semaphores import STREAMS
from pixelflow.node.saved.stable_names import CLASS_OF
from pixelflow.simd.snapshot import Snapshot

__all__ = ["CLASS_OF_FIRST", "first_form", "renewed"]

_FIRST_NAMES = {
    "isa.tas:Addressing": "texture.Addressing",
    "node.address_generator:AddressGenerator": "texture.AddressGenerator",
    "node.texture_unit:_Moving": "texture.Moving",
    "node.transfer:Command": "transfer.Command",
    "node.transfer:Destination": "transfer.Destination",
    "node.transfer:Direction": "transfer.Direction",
    "node.transfer:Load": "transfer.Load",
    "node.transfer:Return": "transfer.Return",
    "node.transfer:Transfer": "transfer.Transfer",
    "node.emc_ports_box:Collect": "ports.Collect",
    "node.emc_ports_box:Fetch": "ports.Fetch",
    "node.gni_items:Grant": "gni.Grant",
    "node.gni_items:LoadPart": "gni.LoadPart",
    "node.gni_items:LoadRequest": "gni.LoadRequest",
    "node.gni_items:Parcel": "gni.Parcel",
    "sim.wire:Transfer": "wire.Sent",
}
"""What files of the first form call a class, without the package, and its stable name."""

CLASS_OF_FIRST = {f"pixelflow.{first}": CLASS_OF[name] for first, name in _FIRST_NAMES.items()}
"""The class that a file of the first form means by a name."""

_SPECIAL = {-1: UNLATCH, -2: BLOCKED, -3: SIGNALLED}


def first_form(schema: str) -> str:
    """Return the schema that files of the first form have in place of another one."""
    return f"{schema.partition('/')[0]}/1"


def renewed(state: Snapshot, entry: str | None) -> Snapshot:
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
    if "run" not in state:
        return state | {"texture": texture}
    run = state["run"]
    run = _with_one_box(run["stream"], entry or STREAMS[0], texture.moved) if "stream" in run else _with_issues(run)
    return state | {"texture": texture, "run": run}


def _with_one_box(stream: Snapshot, name: str, moved: dict[str, int]) -> Snapshot:
    """Return the state of a run of one stream, which had no boxes: a wait that it has begun is begun again."""
    box = asdict(IgcState(resume_at=None if stream["halted"] else stream["cycle"]))
    return {
        "streams": {name: stream},
        "clock": {"cycle": -1, "boxes": {name: box}, "wires": {}},
        "ports": asdict(PortState()),
        "counts": {"totals": {}, "signals": {}},
        "moved_before": moved,
    }


def _with_issues(run: Snapshot) -> Snapshot:
    """Return the state of a run of both streams; what a stream had issued was a number."""
    boxes = dict(run["clock"]["boxes"])
    for name in STREAMS:
        pending = boxes[name]["pending"]
        if pending is not None:
            issue = _SPECIAL.get(pending) or Issue(IssueKind.EXECUTE, pending)
            boxes[name] = boxes[name] | {"pending": issue}
    return run | {"clock": run["clock"] | {"boxes": boxes}}
