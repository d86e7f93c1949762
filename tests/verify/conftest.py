"""Runs ``pixelflow verify`` in this process."""

from collections.abc import Callable

import pytest

from tests.cli.conftest import Result, pixelflow

__all__ = ["pixelflow"]


@pytest.fixture
def verify(pixelflow: Callable[..., Result]) -> Callable[..., Result]:
    """Run the command with some arguments; no exception may leave it."""
    return lambda *arguments: pixelflow("verify", *arguments)
