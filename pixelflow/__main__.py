"""The command ``pixelflow`` as ``python -m pixelflow``: an entry point, like the script that an installation makes."""

import sys
from pkgutil import resolve_name

if __name__ == "__main__":
    sys.exit(resolve_name("pixelflow.cli:process")())
