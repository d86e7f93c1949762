"""``pixelflow``: parse the command line, import the one command that is used, turn errors into exit codes."""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress

from pixelflow import __version__
from pixelflow.cli.arguments import Parser, add_common_options, named_files
from pixelflow.cli.interrupts import INTERRUPTED, end_at_once, interrupts_raise
from pixelflow.cli.registry import COMMANDS, CommandEntry
from pixelflow.cli.screen import Screen, SignOfLife, check_page
from pixelflow.simd.errors import ExpectationError, SimulatorError, UsageError, format_error, nearest

_EXIT_CODES = """\
exit codes:
  0 done   1 an expectation failed   2 usage   3 bad input file   4 deadlock
  5 cycle limit   6 machine fault in the program   70 internal error
  130 interrupted   141 the reader of a pipe went away
"""

_YOUNG_OBJECTS = 2_000
"""Containers that may be made before Python looks for cycles among them. A tessellation makes some 110,000 that live
as long as it does, and looking at 700 at a time takes longer. Not more: what a run leaves is a cycle with all bytes of
its PEs, and a sweep leaves one for each point."""

_KEPT_BYTES = 16 << 20
"""Of an array, or at the end of the heap, that the C library keeps. With 32 MiB a large picture takes 50 MB more."""

_DEFAULTS = {"format": "text", "quiet": False, "verbose": False, "color": "auto", "width": None, "progress": True,
             "html": None}  # fmt: skip


def process() -> int:
    """Run the command of this process, which ends with it, and return its exit code."""
    end_at_once()
    gc.set_threshold(_YOUNG_OBJECTS)
    gc.disable()  # until the command is imported: what stays is not looked at
    # The threads of numpy's linear algebra, of which there is little here, would turn idly while numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main()
    gc.freeze()  # what is left goes with the process; nothing needs to be searched for cycles
    return code


def _keep_pages() -> None:
    """Let the C library keep what arrays leave: pages that go back to the host return as zeros, one fault each."""
    import ctypes  # commands that have arrays have imported it

    with suppress(AttributeError, OSError, TypeError):  # another C library than glibc
        for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
            ctypes.CDLL(None).mallopt(option, _KEPT_BYTES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every error becomes one message on stderr."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: help, version and usage errors
        return stop.code if isinstance(stop.code, int) else 2
    except SimulatorError as error:
        _complain(format_error(error))
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        _complain(" ".join(["interrupted", *map(str, interrupt.args)]))
        return INTERRUPTED
    except BrokenPipeError:
        _forget_standard_output()
        return 141
    except MemoryError:
        _complain("error: not enough memory for this machine; see: pixelflow config show")
        return 70
    except Exception as error:  # the one place where a defect of the simulator meets its user
        from pixelflow.simd.errors import printable

        _complain(printable(_internal_error_text(error, arguments)))
        return 70


def _run(arguments: Sequence[str]) -> int:
    before, name, rest = _split(arguments)
    top = _top_parser()
    options = top.parse_args(before, argparse.Namespace(**_DEFAULTS))
    if name is None:
        top.print_help()
        return UsageError.exit_code  # nothing was asked for, so nothing is done
    command = COMMANDS.get(name)
    if command is None:
        found = nearest(name, COMMANDS)
        hint = f"did you mean {found}?" if found else f"commands: {', '.join(COMMANDS)}"
        top.error(f"unknown command {name[:60]!r}; {hint}")
    implementation = command.load()
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
        _keep_pages()
    examples = "examples:\n" + "\n".join(f"  {line}" for line in implementation.EXAMPLES)
    parser = Parser(prog=f"pixelflow {command.name}", description=implementation.__doc__, epilog=examples)
    implementation.add_arguments(parser)
    add_common_options(parser, report=command.report)
    parsed = parser.parse_args(rest, options)
    parsed.command_line = shlex.join(["pixelflow", *arguments])
    screen = Screen.of(parsed, f"pixelflow {name}")
    if screen.html is not None:
        if not command.report:
            raise UsageError("--html", "the command makes no report", f"see: pixelflow {name} --help")
        check_page(screen.html, named_files(parser, parsed))
    with interrupts_raise():
        with SignOfLife(screen, f"pixelflow {name}") if command.report else nullcontext():
            result = implementation.run(parsed, screen)
        if isinstance(result, int):
            return result
        screen.show(result)
    if result.failure:
        raise ExpectationError(result.failure)
    return int(result.failure is not None)


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], str | None, Sequence[str]]:
    """Return the options before the command, the command or None, and the words after it."""
    for at, word in enumerate(arguments):
        takes_value = at > 0 and arguments[at - 1] in ("--color", "--width", "--format", "--html")
        if not word.startswith("-") and not takes_value:
            return arguments[:at], word, arguments[at + 1 :]
    return arguments, None, []


def _top_parser() -> Parser:
    parser = Parser(
        prog="pixelflow",
        usage="pixelflow [options] COMMAND ...",
        description="PixelFlow, the 8192-PE SIMD graphics machine, run from its microcode.\n\n" + _command_table(),
        epilog=_EXIT_CODES + "\nhelp of one command: pixelflow COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"pixelflow-sim {__version__}")
    add_common_options(parser)
    return parser


def _command_table() -> str:
    def line(command: CommandEntry) -> str:
        return f"  {command.name:<12}{command.summary}"

    return "commands:\n" + "\n".join(line(command) for command in COMMANDS.values())


def _complain(text: str) -> None:
    """Write to stderr; a terminal that cannot show a character gets an escape instead of an exception."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except UnicodeEncodeError:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode() + "\n")
    except OSError:
        pass  # stderr is closed; the exit code remains


def _forget_standard_output() -> None:
    """Let the interpreter close a broken stdout without a second complaint."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass


def _internal_error_text(error: Exception, arguments: Sequence[str]) -> str:
    import platform
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "unknown place"
    lines = [
        f"internal error: {type(error).__name__}: {str(error)[:500]}",
        f"    at {place}; pixelflow-sim {__version__}, Python {platform.python_version()}, {platform.system()}",
        "    This is a defect of the simulator, not of your input. Please send this text, the command line",
        f"    (pixelflow {' '.join(arguments)[:500]}) and the files that it names.",
    ]
    if "-v" in arguments or "--verbose" in arguments:
        lines.append("".join(traceback.format_exception(error)).rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(process())
