"""The command ``pixelflow`` as ``python -m pixelflow``."""

import sys

from pixelflow.cli.main import process

if __name__ == "__main__":
    sys.exit(process())
