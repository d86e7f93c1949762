"""Output files that appear complete or not at all.

A file is written under a temporary name in the same folder and renamed when it is finished, so that an interrupted
or failed command leaves nothing (or the old file) under the final name.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath
from typing import IO

from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, UsageError

__all__ = [
    "LINES",
    "STANDARD_STREAM",
    "check_drawing",
    "check_page",
    "check_writable",
    "clear_lines",
    "output_file",
    "refuse_clashes",
    "refuse_overwrite",
    "write_stdout",
]

STANDARD_STREAM = "-"
"""The file name that means standard output."""

LINES: list[Callable[[], None]] = []
"""What takes lines away that stand on a terminal until something else is shown."""

_PLAIN = str.maketrans({"·": "-", "─": "-", "━": "-", "│": "|", "×": "x", "…": "...", "–": "-", "—": "-"})
"""What stands for signs that an encoding may lack."""


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


@contextlib.contextmanager
def output_file(path: str | Path, *, binary: bool = False) -> Iterator[IO]:
    """Open ``path`` for writing; the file gets its name only when the block ends without an exception.

    ``-`` is standard output. Text is UTF-8 with LF. Raises InputError (exit code 3) for a missing or read-only
    folder and for a full disk.
    """
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
            text.detach()  # flushes; the file itself is closed by whoever opened it
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
        raise UsageError("--html", f"{path[:60]!r} is no .html file", "name a file that ends in .html")
    refuse_clashes([("--html", path)], others)
    check_writable(path)


def check_drawing() -> None:
    """Raise MissingPackageError where matplotlib is not installed; call it before long work."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackageError("--figure needs matplotlib, which is not installed", "plot") from None


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
    """Take away the lines that stand on the terminal; what follows is shown in their place."""
    for clear in tuple(LINES):
        clear()


def write_stdout(text: str) -> None:
    """Write text to standard output; characters that its encoding lacks are replaced."""
    if sys.stdout is None:  # closed by whoever started the command: what was asked for cannot be given
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
    """Raise OSError where no file can be made in a folder, whatever its permissions say, or its disk is full.

    The file has no name where the system knows such files, so that nothing is ever seen of it.
    """
    descriptor = _nameless(folder)
    if descriptor is None:
        named = folder / f".pixelflow-{os.getpid()}"
        descriptor = os.open(named, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        if not hasattr(os, "fstatvfs"):  # nor can a file be removed there that is open
            os.close(descriptor)
            os.unlink(named)
            return
        os.unlink(named)
    try:
        space = os.fstatvfs(descriptor)
        if space.f_blocks and not space.f_bavail:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def _nameless(folder: Path) -> int | None:
    """Return a new file without a name, None where a folder has none."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            return None
        raise


def _refusal(path: Path, message: str, hint: str | None = None) -> InputError:
    return InputError(Fault(message, Place(str(path)), hint))
