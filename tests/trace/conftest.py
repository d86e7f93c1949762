"""The command line in this process, as the tests of the other commands run it."""

from tests.cli.conftest import folder, object_file, pixelflow

__all__ = ["folder", "object_file", "pixelflow"]
