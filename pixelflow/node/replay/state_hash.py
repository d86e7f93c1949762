"""Hash of everything that a run has at a position, equal however the run was taken there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.node import Node
from pixelflow.node.run.order.clocked import Clocked
from pixelflow.node.saved.values import pack
from pixelflow.simd.snapshot import Snapshot

__all__ = ["state_hash"]


def state_hash(node: Node, runner: Clocked) -> str:
    """Return a hash of PEs, texture and GP memory, TASICs, streams, boxes, wires."""
    # Left out is what tells how the run was taken here: when the clock ticked last, how often a WAIT was tried.
    state = {
        "texture_memory": [memory.digest() for memory in node.texture_memory],
        "gp_memory": [memory.snapshot() for memory in node.gp_memory],
        "streams": {name: _without(stream.snapshot(), {"control_since"}) for name, stream in runner.streams.items()},
    }
    run = _without(runner.snapshot(), {"streams"})
    run["clock"] = _without(run["clock"], {"cycle"})
    state |= {"texture": node.snapshot()["texture"], "run": run}
    arrays: list[NDArray[np.generic]] = []
    found = hashlib.sha256(json.dumps(pack(state, arrays)).encode())
    found.update(node.digest().encode())
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def _without(state: Snapshot, names: Iterable[str]) -> Snapshot:
    return {name: value for name, value in state.items() if name not in names}
