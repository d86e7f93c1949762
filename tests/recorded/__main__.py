"""Judge a folder of recorded runs of a machine against the one that is built here; 1 where something differs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pixelflow.cli.arguments import Parser, add_common_options, count
from pixelflow.cli.screen import Progress, Screen
from pixelflow.simd.attendance import unseen
from pixelflow.simd.errors import ExpectationError, SimulatorError, format_error
from pixelflow.simd.workers import WorkerPool
from tests.recorded import attila, gen6

_REPORTS = {"attila": attila.report, "gen6": gen6.report}


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge, report and return the exit code."""
    parser = Parser(prog="python -m tests.recorded", description=__doc__)
    parser.set_defaults(format="text", quiet=False, verbose=False, color="auto", width=None, progress=True, html=None)
    parser.add_argument("machine", choices=_REPORTS, help="whose records")
    parser.add_argument("--data", metavar="FOLDER", type=Path, required=True, help="where they lie")
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help="processes for runs of ATTILA (default: 1)")
    add_common_options(parser)
    args = parser.parse_args(arguments)
    screen = Screen.of(args, parser.prog)
    try:
        with Progress(screen) as progress:
            tell = progress.part if progress.shown else unseen
            found = _REPORTS[args.machine](args.data, WorkerPool(args.jobs), tell)
        screen.show(found)
        if found.failure:
            raise ExpectationError(found.failure)
    except SimulatorError as error:
        sys.stderr.write(format_error(error) + "\n")
        return error.exit_code
    return int(found.failure is not None)


if __name__ == "__main__":
    sys.exit(main())
