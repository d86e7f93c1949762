"""The command ``pixelflow`` as ``python -m pixelflow``: an entry point, like the script that an installation makes."""

import runpy

if __name__ == "__main__":
    runpy.run_module("pixelflow.cli.main", run_name="__main__", alter_sys=True)
