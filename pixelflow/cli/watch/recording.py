"""One run of a node, kept until all runs are over and then written: ``--record FILE.npz``."""

from __future__ import annotations

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import output_file
from pixelflow.node import Node, Recorder
from pixelflow.observe import Bus

__all__ = ["Recording"]


class Recording:
    """Keeps one run of a node, and writes it when all runs are over."""

    def __init__(self, path: str, node: Node, command: str, number: int = 1) -> None:
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
