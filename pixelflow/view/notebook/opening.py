"""Opening the explorer of a notebook, whose library is an extra: imported when there is one to be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pixelflow.simd.errors import Fault, InputError, MissingPackageError
from pixelflow.view.server.messages import PageRoom, Telling

if TYPE_CHECKING:
    from pixelflow.view.notebook.widget import RunExplorer

__all__ = ["run_explorer"]


def run_explorer(furnish: Callable[[Telling], Iterable[PageRoom]], height: int) -> RunExplorer:
    """Return a widget ``height`` pixels high whose rooms ``furnish`` makes; raises MissingPackageError, InputError."""
    if find_spec("anywidget") is None:
        raise MissingPackageError("the explorer in a notebook needs anywidget, which is not installed", "notebook")
    from pixelflow.view.notebook.widget import RunExplorer

    least, most = RunExplorer.HEIGHTS
    if not isinstance(height, int) or isinstance(height, bool) or not least <= height <= most:
        raise InputError(
            Fault(f"an explorer {height!r} high", hint=f"allowed: {least} to {most} pixels, a whole number")
        )
    return RunExplorer(furnish, height=height)
