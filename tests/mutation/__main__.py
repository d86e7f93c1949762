"""Command line of the sample of changes: `python -m tests.mutation --help`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.mutation.learned import Learned
from tests.mutation.sites import drawn
from tests.mutation.trial import Trials

ROOT = Path(__file__).resolve().parents[2]
ROOMS = [
    *("pixelflow/node", "pixelflow/isa", "pixelflow/simd/lanes", "microcode", "tessellation"),
    *("larrabee_bridge", "gen6_bridge", "attila_bridge"),
]
COPIED = "MUTATION_IN_COPY"
"""The variable that is set for the process that works in the copy of the tree."""
PARTS = (
    *("pixelflow", "microcode", "tessellation", "larrabee_bridge", "gen6_bridge", "attila_bridge", "pim_kernels"),
    *("benchmarks", "docs", "tests"),
)


def learn(folder: Path, tests: list[str], rooms: list[str]) -> int:
    """Run the tests once and note which carry out which line."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "times").unlink(missing_ok=True)
    (folder / "rc").write_text("[run]\nrelative_files = true\nsource =\n" + "".join(f"    {each}\n" for each in rooms))
    about = {"MUTATION_TIMES": str(folder / "times"), "COVERAGE_FILE": str(folder / "coverage")}
    options = ["--cov", f"--cov-config={folder / 'rc'}", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutation.learned", *options, *tests]
    return subprocess.run(command, cwd=ROOT, env=os.environ | about, check=False).returncode


def copied(target: Path) -> None:
    """Copy the tree without what was made in it."""
    for part in PARTS:
        shutil.copytree(ROOT / part, target / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, target)


def main() -> int:
    """Learn what the tests carry out, try changes in a copy of the tree, or print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("what", choices=["learn", "try", "control", "tell"])
    parser.add_argument("folder", type=Path, help="where lessons and verdicts are kept")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="folders of tests")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, help="folders to change (default: all of the sample)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=60, help="changes of each room")
    parser.add_argument("--longest", type=float, default=60.0, help="seconds of tests for each change")
    args = parser.parse_args()
    folder = args.folder.absolute()
    verdicts = folder / f"verdicts-{args.seed}"
    if args.what == "learn":
        return learn(folder, args.tests, args.rooms)
    if args.what == "tell":
        return tell(verdicts)
    if COPIED in os.environ:
        trials = Trials(ROOT, Learned(folder), args.tests, args.longest, verdicts)
        if args.what == "control":
            trials.control()
        else:
            trials.run(drawn(ROOT, args.rooms, args.each, args.seed))
        return 0
    with tempfile.TemporaryDirectory() as place:
        copied(Path(place))
        environment = os.environ | {"PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1", COPIED: "1"}
        command = [sys.executable, "-m", "tests.mutation", *sys.argv[1:]]
        return subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, check=False).returncode


def tell(verdicts: Path) -> int:
    """Print how many were found, by room, and what was not."""
    seen = [json.loads(line) for line in verdicts.read_text(encoding="utf-8").splitlines()]
    for room in ROOMS:
        print(room, dict(Counter(each["verdict"] for each in seen if each["file"].startswith(f"{room}/"))))
    for each in seen:
        if each["verdict"] != "killed":
            place = f"{each['file']}:{each['line']}"
            print(each["verdict"], place, each["kind"], each["old"], "->", each["new"], each["by"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
