"""Trace files: which ones ``--trace`` asks for, collecting them, and writing them."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, NamedTuple

from pixelflow import __version__
from pixelflow.cli.screen import STANDARD_STREAM, check_writable, output_file, refuse_overwrite
from pixelflow.config import NodeConfig
from pixelflow.isa.control import SEMAPHORES
from pixelflow.observe import Bus
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.configuration import Effective
from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, UsageError, suggestion
from pixelflow.simd.trace import Selection, Trace, TraceClock, Tracer, Track, known_tracks, unknown_track
from pixelflow.simd.trace.formats import FORMATS, PERFETTO, Format, format_of
from pixelflow.simd.trace.trace_model import STREAMS

if TYPE_CHECKING:
    from pixelflow.simd.observe import AccountView, RunView

_ZIPPED = ".gz"


class TraceSubject(NamedTuple):
    """Subject of a trace, as far as it is known before anything runs."""

    clock_mhz: int
    header: dict[str, str]
    """Entries on the configuration for the head of a file."""
    known: Sequence[Track]
    """The tracks that a run may have, wires left out."""
    hint: str
    """Examples of tracks."""
    tracer: Callable[[Trace, Selection], Tracer[RunView, AccountView] | NodeTracer] = Tracer


class TraceFiles(NamedTuple):
    """Subscribes to nodes and writes the trace, as far as the runs came, in every requested format."""

    targets: Sequence[tuple[Format, str]]
    tracer: Tracer[RunView, AccountView] | NodeTracer
    known: Sequence[Track]
    note: Callable[[str], None]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that will be written."""
        return tuple(path for _, path in self.targets)

    def attach(self, bus: Bus) -> None:
        """Listen to the runs of a node; runs follow each other in the trace."""
        self.tracer.attach(bus, self.known)

    def close(self) -> None:
        """Write the files, unless no run has begun; say on stderr which, and which of ``--only`` met nothing."""
        if not self.tracer.runs:
            return
        trace = self.tracer.trace
        for pattern in self.tracer.selection.unmet(trace.tracks):
            self.note(f"note: --only {pattern}: nothing happened there")
        for format, path in self.targets:
            write_trace(trace, format, path)
            self.note(f"wrote {path}")


def open_traces(
    specs: Iterable[str],
    source: str,
    subject: TraceSubject,
    *,
    window: str | None = None,
    only: Iterable[str] = (),
    note: Callable[[str], None],
) -> TraceFiles:
    """Return what collects for ``--trace FMT[:F]``; ``source`` is the program or patch file, which names the files.

    ``subject`` is what is listened to.

    Raises UsageError for an unknown format or track, a window that is none or a package that is not installed, and
    InputError where a file could not be written.
    """
    targets = [_target(spec, source) for spec in specs]
    try:
        selection = Selection.of(window, only)
    except ValueError as error:
        raise UsageError(f"--window {window}", str(error), "example: --window 1000:2000") from None
    for pattern in selection.only:
        wrong = unknown_track(pattern, subject.known)
        if wrong is not None:
            raise UsageError(f"--only {pattern}", wrong, subject.hint)
    header = {"tool": f"pixelflow-sim {__version__}", **subject.header}
    if window is not None:
        header["window"] = window
    if selection.only:
        header["only"] = ", ".join(selection.only)
    tracer = subject.tracer(Trace(TraceClock(subject.clock_mhz), header), selection)
    return TraceFiles(targets, tracer, subject.known, note)


def write_trace(trace: Trace, format: Format, path: str) -> None:
    """Write a trace; a name that ends in ``.gz`` is compressed, without a time stamp."""
    with output_file(path, binary=True) as stream, ExitStack() as stack:
        raw: IO[bytes] | gzip.GzipFile = stream
        if path.endswith(_ZIPPED):
            raw = stack.enter_context(gzip.GzipFile("", "wb", fileobj=stream, mtime=0, compresslevel=6))
        buffered = io.BufferedWriter(raw, 1 << 16)
        format.write(trace, buffered)
        buffered.detach()


@contextmanager
def reading(path: str) -> Iterator[tuple[Format, IO[bytes]]]:
    """Open a trace file, compressed or not, with the format that its first bytes say; raises InputError."""
    try:
        with Path(path).open("rb") as stream:
            zipped = stream.read(2) == b"\x1f\x8b"
            stream.seek(0)
            with io.BufferedReader(gzip.GzipFile(fileobj=stream)) if zipped else stream as content:
                format = format_of(content.peek(16)[:16])
                if format is None:
                    hint = f"known formats: {', '.join(FORMATS)}"
                    raise InputError(Fault("not a trace of a known format", Place(path), hint))
                if format.name == PERFETTO:
                    require_package(format, path)
                yield format, content
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Fault(f"cannot be read: {reason}", Place(path))) from None


def require_package(format: Format, option: str) -> None:
    """Raise MissingPackageError where the package of a format is not installed."""
    if format.missing:
        what = f"the format {format.name} needs a package that is not installed"
        raise MissingPackageError(what, "trace", Place(option))


def _target(spec: str, source: str) -> tuple[Format, str]:
    """Return the format and file of ``FMT``, ``FMT:FILE``, or a file name that says the format by its suffix."""
    name, _, path = spec.partition(":")
    format = FORMATS.get(name)
    if format is None:
        format, path = _format_of_name(spec), spec
    elif not path:
        path = ("program" if source == STANDARD_STREAM else PurePath(source).stem) + format.suffix
    if path == STANDARD_STREAM:
        raise UsageError(f"--trace {spec}", "standard output has the report", "name a file: --trace FMT:FILE")
    require_package(format, f"--trace {spec}")
    refuse_overwrite(source, path)
    check_writable(path)
    return format, path


def _format_of_name(spec: str) -> Format:
    for format in FORMATS.values():
        if PurePath(spec.removesuffix(_ZIPPED)).suffix == format.suffix:
            return format
    hint = suggestion(spec.partition(":")[0], FORMATS, f"formats: {', '.join(FORMATS)}; to a file: FMT:FILE")
    raise UsageError(f"--trace {spec}", "is neither a format nor a file name with the suffix of one", hint)


def node_subject(effective: Effective[NodeConfig]) -> TraceSubject:
    """Return what a trace of nodes is of."""
    config = effective.config
    header = {"config": effective.preset, "config_sha256": config.sha256}
    hint = "examples: eigc, 'tigc*', 'tasic[0]', 'sem *', 'wire *'"
    return TraceSubject(config.clock_mhz, header, known_of(config), hint, NodeTracer)


def known_of(config: NodeConfig) -> list[Track]:
    """Return every track that a run on such a machine may have, wires left out."""
    paths = [f"store{gp}" for gp in range(config.gni.gp_count)]
    paths += [f"from_gni{module}" for module in range(config.array.modules)]
    return known_tracks(STREAMS, config.array.modules, [*paths, "network_out"], SEMAPHORES)
