"""The screen of a command: options, remarks and progress on standard error, reports, and output files."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, ClassVar, Literal, NamedTuple, overload

from pixelflow.simd.errors import Fault, InputError, Place, UsageError

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

    from pixelflow.simd.report import Part, Report

# Output files that appear complete or not at all.
#
# A file is written under a temporary name in the same folder and renamed when it is finished, so that an interrupted
# or failed command leaves nothing (or the old file) under the final name.


STANDARD_STREAM = "-"
"""The file name that means standard output."""

_PLAIN = str.maketrans(
    dict(zip("·─━│×…–—▶█▒▀▄▁▂▃▅▆▇→µ", ".--|x.-->#:##..:+++>u", strict=True))
    | {chr(code): ":" for code in range(0x2801, 0x2900)}
    | {"⠀": " ", "…": "..."}
)
"""Replacements for characters that an encoding may lack."""


def check_writable(path: str | Path) -> None:
    """Raise InputError where ``path`` could not be written; call it before long work. Changes nothing."""
    if str(path) == STANDARD_STREAM:
        return
    target = Path(path)
    try:
        _refuse_unwritable(target)
    except OSError as error:  # a name that is too long, a link that leads in circles
        raise _refusal(target, error.strerror or str(error)) from None


def refuse_clashes(outputs: Iterable[tuple[str, str]], inputs: Iterable[tuple[str, str]] = ()) -> None:
    """Raise InputError where two outputs of a command, or an output and an input, are one file.

    Both are pairs of an option and a path; devices may be shared.
    """
    seen = {os.path.realpath(path): option for option, path in inputs if path != STANDARD_STREAM}
    for option, path in outputs:
        real = os.path.realpath(path)
        if path == STANDARD_STREAM or (os.path.exists(real) and not os.path.isfile(real)):
            continue
        if real in seen:
            both = f"two {option}" if seen[real] == option else f"{seen[real]} and {option}"
            raise _refusal(Path(path), f"{both} name the same file")
        seen[real] = option


@overload
def output_file(path: str | Path, *, binary: Literal[True]) -> AbstractContextManager[IO[bytes]]: ...
@overload
def output_file(path: str | Path) -> AbstractContextManager[IO[str]]: ...
def output_file(path: str | Path, *, binary: bool = False) -> AbstractContextManager[IO[str] | IO[bytes]]:
    """Open ``path`` for writing; the file gets its name only when the block ends without an exception.

    ``-`` is standard output. Text is UTF-8 with LF. Raises InputError (exit code 3) for a missing or read-only
    folder and for a full disk.
    """
    return _opened(path, binary=binary)


@contextlib.contextmanager
def _opened(path: str | Path, *, binary: bool) -> Iterator[IO[str] | IO[bytes]]:
    if str(path) == STANDARD_STREAM:
        clear_lines()
        yield sys.stdout.buffer if binary else sys.stdout
        return
    check_writable(path)
    from pixelflow.simd.files import replacing

    try:
        with replacing(path) as stream:
            if binary:
                yield stream
                return
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
            yield text
            text.detach()  # flushes; `replacing` closes the file itself
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refusal(Path(path), f"cannot be written: {error.strerror or error}") from error


def check_page(path: str, others: Iterable[tuple[str, str]]) -> None:
    """Raise UsageError or InputError where the page of ``--html`` could not be written; call it before long work.

    ``others`` are the files that the command reads and writes, by option.
    """
    if path == STANDARD_STREAM:
        raise UsageError("--html -", "standard output has the report", "--format html prints the page")
    if PurePath(path).suffix.lower() not in (".html", ".htm"):
        raise UsageError("--html", f"{path[:60]!r} is not an .html file", "name a file that ends in .html")
    refuse_clashes([("--html", path)], others)
    check_writable(path)


def refuse_overwrite(source: str, target: str | None) -> None:
    """Raise InputError where an output would replace the program it is made from, or look like a source."""
    if target in (None, STANDARD_STREAM):
        return
    if target.endswith(".mc"):
        hint = f"an option may have taken the program as its value; write: --listing=FILE {target}"
        raise InputError(Fault("is a source file; it will not be overwritten", Place(target), hint))
    if os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise InputError(Fault("is the program itself; it will not be overwritten", Place(target)))


def clear_lines() -> None:
    """Clear the transient line on the terminal, before other output."""
    if SignOfLife.current is not None and _terminal():
        SignOfLife.current.end()


def write_stdout(text: str) -> None:
    """Write text to standard output; characters that its encoding lacks are replaced."""
    if sys.stdout is None:  # the caller closed it: there is nowhere to write the result
        raise InputError(Fault("is closed", Place("standard output")))
    clear_lines()
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.translate(_PLAIN).encode(encoding, "replace").decode(encoding))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(Fault(f"cannot be written: {error.strerror}", Place("standard output"))) from None


def _refuse_unwritable(target: Path) -> None:
    folder = target.parent
    if "\0" in str(target):
        raise _refusal(target, "is not a file name")
    if target.is_dir():
        raise _refusal(target, "is a folder")
    if not folder.is_dir():
        raise _refusal(target, f"the folder {folder} does not exist", "make it first, or name another file")
    if target.exists():
        if not os.access(target, os.W_OK):
            raise _refusal(target, "exists and is read-only")
        if not target.is_file():
            return
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _refusal(target, f"the folder {folder} is read-only", "choose a folder that you may write to")
    try:
        _try(folder)
    except OSError as error:
        raise _refusal(target, f"cannot be written: {error.strerror or error}") from None


def _try(folder: Path) -> None:
    """Raise OSError where no file can be made in a folder, whatever its permissions say, or its disk is full."""
    from tempfile import TemporaryFile

    with TemporaryFile(dir=folder, prefix=".pixelflow-") as file:  # without a name where the system has such files
        if hasattr(os, "fstatvfs"):
            space = os.fstatvfs(file.fileno())
            if space.f_blocks and not space.f_bavail:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _refusal(path: Path, message: str, hint: str | None = None) -> InputError:
    return InputError(Fault(message, Place(str(path)), hint))


# Progress of long work on standard error: what is being done, how far it has come, how long it may still take.
#
# A terminal has a line that changes; pipes and log files get one every ten seconds.


QUIET_SECONDS = 2.0
"""Before the first line of a command that does not say at its beginning that it takes long."""
LINE_SECONDS = 10.0
"""Between two lines without a terminal."""
_OTHER_COLUMNS = 31
"""Columns of the bar and the times."""
_COUNT_COLUMNS = 8
_LEFT_COLUMNS = 14


class Progress:
    """A line that counts the steps of some work; a context manager, after which the line is gone.

    ``total`` is the number of steps, None where it is not known: then there is no end estimate. Without ``counts``
    there are no steps: it says what is being done and for how long.
    """

    def __init__(self, screen: Screen, total: int | None = None, *, counts: bool = True) -> None:
        self._screen = screen
        self._total = total
        self._counts = counts
        self._text, self._done = "", 0
        self._resources = contextlib.ExitStack()
        self._display: Display | None = None
        self._task: TaskID

    def __enter__(self) -> Progress:
        clear_lines()
        if self._screen.tells and _terminal():
            self._display = self._resources.enter_context(_display(self._screen, counts=self._counts))
            self._task = self._display.add_task("", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()
        self._display = None

    @property
    def shown(self) -> bool:
        """True if it is a line on a terminal."""
        return self._display is not None

    def doing(self, text: str) -> None:
        """Show the current activity."""
        if self._display is None:
            self._text = text
            self._say("" if self._total is None else f", {self._done} of {self._total}")
            return
        from pixelflow.simd.dashboard import cut

        estimated = self._display.tasks[0].total is not None
        others = _OTHER_COLUMNS + _COUNT_COLUMNS * self._counts + _LEFT_COLUMNS * estimated
        room = max(1, self._display.console.width - others)
        self._display.update(self._task, description=cut(text, room))

    def part(self, number: int, total: int, text: object) -> None:
        """Say that one of ``total`` steps begins; without a visible line, its text is a note."""
        if self._display is not None:
            self._display.update(self._task, completed=number - 1, total=total)
        self.tell(text)

    def tell(self, text: object, share: float | None = None) -> None:
        """Say what begins now, or how much of it is done; without a visible line, only a beginning is a note."""
        if self._display is None:
            if share is None:
                self._screen.note(text)
            self._text = str(text)
            self._say(f", {round(100 * share)} %" if share else "")
            return
        if not share:
            self._display.reset(self._task, total=None if share is None else 1.0)
        else:
            self._display.update(self._task, completed=share, total=1.0)
        self.doing(str(text))

    def step(self, count: int = 1) -> None:
        """Note that steps are done."""
        self._done += count
        if self._display is None:
            self.doing(self._text)
        else:
            self._display.advance(self._task, count)

    def _say(self, how_far: str) -> None:
        if SignOfLife.current is not None:
            SignOfLife.current.now = f": {self._text}{how_far}"


class SignOfLife:
    """A context around a whole command: after two seconds a line says for how long it has been at work.

    It goes where the command shows something itself: a line that knows more, a picture, a result. Without a terminal
    a line comes every ten seconds until the command has ended, with what the command says that it is doing.
    """

    current: ClassVar[SignOfLife | None] = None

    def __init__(self, screen: Screen, text: str) -> None:
        self._screen, self._text = screen, text
        self.now = ""
        """Text to append: the current activity, and how far it has come."""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> SignOfLife:
        if self._screen.tells:
            SignOfLife.current = self
            work = self._show if _terminal() else self._write
            self._thread = threading.Thread(target=work, name="sign of life", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Stop, and clear the line."""
        if SignOfLife.current is self:
            SignOfLife.current = None
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _show(self) -> None:
        if self._over.wait(QUIET_SECONDS):
            return
        display = _display(self._screen, counts=False)
        with display:
            display.add_task(self._text, total=None)
            self._over.wait()

    def _write(self) -> None:
        began = time.monotonic()
        while not self._over.wait(LINE_SECONDS):
            self._screen.note(f"{self._text}{self.now}, elapsed {_duration(time.monotonic() - began)}")


def _terminal() -> bool:
    """Return whether standard error can show a line that changes."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _display(screen: Screen, *, counts: bool) -> Display:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn
    from rich.progress import Progress as Display
    from rich.text import Text

    class Times(ProgressColumn):
        """For how long it has been at work, and for how long it may still be where that is known."""

        def render(self, task: Task) -> Text:
            left = "" if task.time_remaining is None else f", left {_duration(task.time_remaining)}"
            return Text(f"elapsed {_duration(task.elapsed or 0)}{left}")

    console = Console(stderr=True, no_color=not screen.color, markup=False, highlight=False, emoji=False)
    return Display(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        *([MofNCompleteColumn()] if counts else []),
        Times(),
        console=console,
        transient=True,
        redirect_stdout=False,
    )


# The screen of a command: its options, remarks on standard error, and reports on standard output.


FORMATS = ("text", "json", "markdown", "html")
"""Forms of a report on standard output."""


class Screen(NamedTuple):
    """Standard output as one command uses it; made from the common options."""

    width: int
    color: bool = False
    quiet: bool = False
    verbose: bool = False
    format: str = "text"
    progress: bool = True
    html: str | None = None
    """The file of the page, None without one."""
    command: str = "pixelflow"
    """Title of a page whose report has no title."""
    sink: Callable[[str], object] = write_stdout
    """Takes everything that is shown."""

    @classmethod
    def of(cls, args: argparse.Namespace, command: str) -> Screen:
        """Return the screen that the common options of ``args`` describe."""
        width = args.width or shutil.get_terminal_size((80, 24)).columns
        color = args.color == "always" or (args.color == "auto" and _terminal_takes_color())
        return cls(max(20, width), color, args.quiet, args.verbose, args.format, args.progress,
                   args.html, command)  # fmt: skip

    @property
    def json(self) -> bool:
        """True if standard output holds one object."""
        return self.format == "json"

    @property
    def tells(self) -> bool:
        """True if progress is shown on standard error."""
        return sys.stderr is not None and self.progress and not self.quiet

    @property
    def reports(self) -> bool:
        """True if more is shown than results."""
        return not self.quiet or self.format != "text" or self.html is not None

    def note(self, text: object) -> None:
        """Print progress or a remark on stderr, unless ``--quiet``."""
        if not self.quiet and sys.stderr is not None:
            from pixelflow.simd.errors import printable

            sys.stderr.write(printable(f"{text}\n"))

    def print(self, *parts: Part) -> None:
        """Print parts of a report as text, for commands that say more than one thing."""
        from pixelflow.simd.report import as_text

        self.sink(as_text(parts, self.width, color=self.color))

    def show(self, report: Report) -> None:
        """Print a report in the chosen format, then its notes; with ``--quiet`` only the results.

        Text is its brief, with ``--verbose`` the whole. Its page is written if requested.
        """
        if self.format == "text":
            whole = report.all_parts if self.verbose else report.brief_parts
            shown: Sequence[Part] = report.results if self.quiet else whole
            if shown:
                self.print(*shown)
        elif self.format == "json":
            from pixelflow.simd.report import json_text

            self.sink(json_text(report))
        elif self.format == "html":
            self.sink(self._page(report))
        else:
            from pixelflow.simd.report.html import markdown

            self.sink(markdown(report) + "\n")
        self.write_page(report)
        for note in report.notes:
            self.note(note)

    def write_page(self, report: Report) -> None:
        """Write the page of a report if requested; for commands whose output is a separate text."""
        if self.html is not None:
            with output_file(self.html) as stream:
                stream.write(self._page(report))
            self.note(f"wrote {self.html}")

    def _page(self, report: Report) -> str:
        from pixelflow.simd.report.html import page

        return page(report, self.command)


def _terminal_takes_color() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
