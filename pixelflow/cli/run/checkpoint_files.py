"""Saved states on the command line: ``--save-at CYCLE FILE`` and ``--load FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM, check_writable, output_file

if TYPE_CHECKING:
    from pixelflow.node import Checkpoint

__all__ = ["read_checkpoint", "save_options"]


def save_options(values: Sequence[str] | None) -> dict[str, Any]:
    """Return what `Node.run` must be told for ``--save-at``; raises UsageError or InputError before anything runs."""
    if values is None:
        return {}
    text, path = values
    option = f"--save-at {text} {path}"
    try:
        cycle = int(text.replace(",", ""))
    except ValueError:
        cycle = -1
    if cycle < 0:
        raise UsageError(option, f"{text!r} is not a cycle", "example: --save-at 1000 state.npz")
    if path == STANDARD_STREAM or Path(path).suffix != ".npz":
        raise UsageError(option, "the name must end in .npz")
    check_writable(path)

    def save(checkpoint: Checkpoint) -> None:
        with output_file(path, binary=True) as stream:
            stream.write(checkpoint.to_bytes())

    return {"save_at": cycle, "save": save}


def read_checkpoint(path: str) -> Checkpoint:
    """Return a saved state; raises InputError where it cannot be read or is not one."""
    from pixelflow.node import Checkpoint

    return Checkpoint.load(path)
