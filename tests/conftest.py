"""What every test may use: the reference data beside a working copy, where it is there."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("pixelflow", deadline=None, print_blob=True)
settings.load_profile("pixelflow")

# Native code that tests make stays out of the user's own; set before anything asks for an engine. Workers inherit the
# folder of the process that started them.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["PIXELFLOW_CACHE"] = tempfile.mkdtemp(prefix="pixelflow-tests-")
    atexit.register(shutil.rmtree, os.environ["PIXELFLOW_CACHE"], ignore_errors=True)

# A hundred tests start a Python, which would compile all that it imports where nobody may keep bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts a suite in the background has it ignore interrupts, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file on one worker, so that what they share is drawn, assembled and run once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


def pytest_collection_finish() -> None:
    """Leave what has been imported and collected, which stays to the end, out of every later search for garbage."""
    gc.collect()
    gc.freeze()


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root folder of the working copy."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data next to the working copy; a test that needs it is skipped in a plain clone."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the reference data (../shared/data) is not here")
    return folder
