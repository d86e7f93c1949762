"""Saved runs on the command line: ``--record FILE.npz``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM, check_writable, output_file

if TYPE_CHECKING:
    from pixelflow.node import Node
    from pixelflow.observe import Bus

__all__ = ["Recording", "check_record_name", "open_recording"]


def check_record_name(path: str) -> None:
    """Raise UsageError or InputError where a run cannot be saved under this name."""
    if path == STANDARD_STREAM or Path(path).suffix != ".npz":
        raise UsageError(f"--record {path}", "the name must end in .npz")
    check_writable(path)


class Recording:
    """Keeps one run of a node, and writes it when all runs are over."""

    def __init__(self, path: str, node: Node, command: str, number: int = 1) -> None:
        from pixelflow.node import Recorder

        self._path = path
        self._number = number
        self._recorder = Recorder(node, command, number)

    def attach(self, bus: Bus) -> None:
        """Listen; before the runs begin."""
        self._recorder.attach(bus)

    def close(self, ok: bool = True) -> None:
        """Write the file, also where the run was stopped (``ok`` is false); nothing where it had not begun.

        Raises UsageError where all runs went well but there were not that many.
        """
        saved = self._recorder.saved
        if saved is not None:
            with output_file(self._path, binary=True) as stream:
                stream.write(saved.to_bytes())
        elif ok:
            raise UsageError(f"--record-pass {self._number}", f"no such pass; there were {self._recorder.runs}")


def open_recording(path: str, node: Node, command: str, number: int = 1) -> Recording:
    """Return what saves run ``number`` of a node (counted from 1) under ``path``; raises as `check_record_name`."""
    check_record_name(path)
    return Recording(path, node, command, number)
