"""Serving: a port of this host, and the application on it, whose libraries are an extra: imported when they serve."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from pixelflow.simd.errors import MissingPackageError, UsageError
from pixelflow.view.server.desks import Desks
from pixelflow.view.server.guard import HOST, Guard

__all__ = ["require_server", "serve"]

_PACKAGES = ("starlette", "uvicorn", "websockets")


def require_server() -> None:
    """Raise MissingPackageError where a library of the server is not installed."""
    for name in _PACKAGES:
        if find_spec(name) is None:
            raise MissingPackageError(f"a page needs {name}, which is not installed", "view")


def serve(desks: Desks, port: int, ready: Callable[[str], None]) -> None:
    """Serve a page on this host until an interrupt or SIGTERM comes; ``ready`` is called with its address.

    Port 0 is any that is free. Raises UsageError for a port that cannot be had, MissingPackageError, and
    KeyboardInterrupt at the end.
    """
    require_server()
    from pixelflow.view.server.app import run_application

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"--port {port}", f"the port cannot be had: {reason}", "0 is any that is free") from None
        guard = Guard.of(listener.getsockname()[1])
        with _termination_interrupts():
            run_application(guard, desks, listener, lambda: ready(guard.address))


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt: processes that draw are ended, and what they share is given back."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
