"""The command line in this process, as the tests of the other commands use it."""

from tests.cli.conftest import pixelflow

__all__ = ["pixelflow"]
