"""The page's server: access, files, and the conversations with pages."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import PurePath
from time import monotonic
from typing import ClassVar, NamedTuple, Protocol

from pixelflow.simd.errors import (
    Fault,
    InputError,
    MissingPackageError,
    SimulatorError,
    UsageError,
    format_error,
    nearest,
)
from pixelflow.simd.report import Json

# The files of the page, read once from the package: what is not among them is not there.


START = "index.html"
"""File of an address without a name."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """A file as it is handed out."""

    media_type: str
    content: bytes


def page_assets() -> Mapping[str, Asset]:
    """Return the files by name."""
    folder = files("pixelflow.view") / "assets"
    return {
        each.name: Asset(_TYPES[PurePath(each.name).suffix], each.read_bytes())
        for each in folder.iterdir()
        if PurePath(each.name).suffix in _TYPES
    }


# The guard of a page: a token in the address, and only this host's own pages.
#
# Another site that the user has open can send requests to this port, and can let its own name point to this host
# (DNS rebinding). It knows no token, and its browser says where the request comes from.


HOST = "127.0.0.1"
"""The only address that is listened to."""

_NAMES = (HOST, "localhost")
_TOKEN_BYTES = 24


class Guard(NamedTuple):
    """Judges requests to one port."""

    port: int
    token: str

    @classmethod
    def of(cls, port: int) -> Guard:
        """Return a guard with a new token."""
        return cls(port, secrets.token_urlsafe(_TOKEN_BYTES))

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def refusal(self, headers: Mapping[str, str], token: str, *, from_page: bool) -> str | None:
        """Return why a request is refused, None where it is not; ``headers`` have lower-case names.

        With ``from_page`` a page must have sent it: a browser names the origin then.
        """
        hosts = [f"{name}:{self.port}" for name in _NAMES]
        if headers.get("host", "").lower() not in hosts:
            return "this address is served to this host alone"
        origin = headers.get("origin")
        if (from_page or origin is not None) and origin not in [f"http://{host}" for host in hosts]:
            return "pages of other origins are not served"
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return "the token in the address is missing or wrong: take the address that the command has printed"
        return None


# Messages of a page: requests with declared fields, checked before anybody sees them, answers, and who gives them.
#
# A request is a JSON object: ``id`` (a whole number, which the answer has too), ``do`` (what is asked) and its
# fields. An
# answer is bytes: the length of a JSON object in 4 bytes, low byte first, the object, and what else there is: pixels,
# columns of numbers. It holds ``id``, or ``tell`` where it answers no request.


LONGEST = 4 << 20
"""Bytes of a request, at most: a patch file that is dropped on the page is the longest."""

_MOST_ID = 1 << 50


@dataclass(frozen=True, slots=True)
class WholeField:
    """A whole number in a range."""

    least: float = 0
    most: float = 1 << 50
    default: float | None = None
    noun: ClassVar[str] = "a whole number"

    @property
    def wanted(self) -> str:
        """Allowed values, in words."""
        return f"{self.noun} from {self.least} to {self.most}"

    def holds(self, value: object) -> bool:
        """Return whether a value is one of these; NaN is in no range."""
        kinds = (int,) if type(self) is WholeField else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and self.least <= value <= self.most


class RealField(WholeField):
    """A finite number in a range."""

    noun = "a number"


class TextField(NamedTuple):
    """A text of this many characters at most, or one of some words."""

    longest: int = 200
    words: tuple[str, ...] = ()
    default: str | None = None

    @property
    def wanted(self) -> str:
        """Allowed values, in words."""
        return f"one of {', '.join(self.words)}" if self.words else f"a text of {self.longest} characters at most"

    def holds(self, value: object) -> bool:
        """Return whether a value is one of these."""
        return isinstance(value, str) and len(value) <= self.longest and (not self.words or value in self.words)


Field = WholeField | TextField
"""Declaration of a field of a request."""


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of a request, which have been checked."""

    values: Mapping[str, int | float | str]
    overtaken: threading.Event = field(default_factory=threading.Event)
    """Set when a later request has come of a kind of which only the latest counts."""

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return int(self.values[name])

    def real(self, name: str) -> float:
        """Return a number."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a page: an object, and bytes whose meaning the object gives."""

    head: Mapping[str, Json] = field(default_factory=dict)
    body: bytes = b""

    def encoded(self, **about: Json) -> bytes:
        """Return the message, with ``id`` or ``tell`` added to its head."""
        head = json.dumps({**self.head, **about}, allow_nan=False, separators=(",", ":")).encode()
        return len(head).to_bytes(4, "little") + head + self.body


class Overtaken(SimulatorError):
    """Work that was given up as a later request has taken its place."""


Telling = Callable[[str, Answer], None]
"""Sends the page an answer that it did not request, under a name."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A kind of request: its fields, who answers it, and in which thread."""

    answer: Callable[[Given], Answer]
    """Raises SimulatorError for what cannot be done."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    thread: str = ""
    """The name of the thread that answers; empty where the answer takes no time, and is given while others work."""
    latest: bool = False
    """True if one that still waits is dropped when another one comes."""
    threads: int = 1
    """How many of that thread there are, for as many answers at once."""


class PageRoom(Protocol):
    """A part of the page with a separate state, for one page."""

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """The requests of this room by name."""

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """Work of threads between requests, by their names; each returns whether there is more to do."""

    def close(self) -> None:
        """End long work soon; called from another thread."""


def read_message(text: str) -> dict[str, object]:
    """Return the object of a message; raises InputError for anything else."""
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InputError(Fault("a message is one JSON object")) from None
    if not isinstance(found, dict):
        raise InputError(Fault(f"a message is one JSON object, not {type(found).__name__}"))
    return found


def identity(message: Mapping[str, object]) -> int | None:
    """Return the number of a message, None where it has no valid one."""
    number = message.get("id")
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _MOST_ID else None


def check_fields(message: Mapping[str, object], fields: Mapping[str, Field]) -> Given:
    """Return the fields of a request; raises InputError with all that is wrong with them."""
    faults: list[Fault] = []
    values: dict[str, int | float | str] = {}
    for name in message:
        if name not in (*fields, "id", "do"):
            near = nearest(name, fields)
            allowed = f"did you mean {near}?" if near else f"fields: {', '.join(fields) or 'none'}"
            faults.append(Fault(f"unknown field {name[:40]!r}", hint=allowed))
    for name, kind in fields.items():
        value = message.get(name, kind.default)
        if isinstance(value, int | float | str) and kind.holds(value):
            values[name] = value
        else:
            shown = "nothing" if name not in message else repr(message[name])[:40]
            faults.append(Fault(f"{name}: expected {kind.wanted}, found {shown}"))
    if faults:
        raise InputError(faults[:10])
    return Given(values)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


# A thread that does jobs one after the other, and something idle between them.
#
# A job that has a key replaces one of that key that still waits: of many places that a mouse was at only the last one
# counts.


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do, and what to do instead where another job has taken its place."""

    work: Callable[[], None]
    superseded: Callable[[], None]
    key: str | None = None
    overtaken: threading.Event = field(default_factory=threading.Event)
    """Set where one of that key comes while this one is being done."""


class Worker:
    """One thread or several. Jobs and ``idle`` see to their own errors."""

    def __init__(self, name: str, idle: Callable[[], bool] | None = None, threads: int = 1) -> None:
        """``idle`` is called between jobs, until it returns that there is no more to do."""
        self._idle = idle
        self._jobs: list[Job] = []
        self._present: list[Job] = []
        self._closed = False
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=self._go_on, name=name, daemon=True) for _ in range(threads)]
        for each in self._threads:
            each.start()

    def put(self, job: Job) -> None:
        """Queue a job; a closed worker ignores it."""
        with self._changed:
            if self._closed:
                return
            replaced = [each for each in self._jobs if job.key is not None and each.key == job.key]
            for each in self._present:
                if job.key is not None and each.key == job.key:
                    each.overtaken.set()
            self._jobs = [each for each in self._jobs if each not in replaced] + [job]
            self._changed.notify()
        for each in replaced:
            each.superseded()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        with self._changed:
            return len(self._jobs)

    def close(self, seconds: float) -> None:
        """Begin no further job, and wait up to ``seconds`` for the present one."""
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._changed.notify_all()
        end = monotonic() + seconds
        for each in self._threads:
            if each is not threading.current_thread():
                each.join(max(0.0, end - monotonic()))

    def _go_on(self) -> None:
        busy = self._idle is not None
        while True:
            with self._changed:
                while not (self._jobs or self._closed or busy):
                    self._changed.wait()
                if self._closed:
                    return
                job = self._jobs.pop(0) if self._jobs else None
                self._present += [job] if job is not None else []
            if job is not None:
                job.work()
                busy = self._idle is not None
                with self._changed:
                    self._present.remove(job)
            elif self._idle is not None:
                busy = self._idle()


# Desks: what the server keeps for each page that is open, so that a page that is loaded again finds its work.


MOST_PAGES = 4
"""Pages at once: each holds a node, and the states of a run."""
_MOST_WAITING = 64
"""Requests of a page that wait in one thread."""
_CLOSING_SECONDS = 5.0
"""Time for a thread to finish its job."""

Sending = Callable[[bytes], None]
"""Sends a message to one page; may be called from any thread, and does nothing when the page has gone."""


class Desk:
    """The rooms of one page and the threads that work for it."""

    def __init__(self, furnish: Callable[[Telling], Iterable[PageRoom]]) -> None:
        self.send: Sending | None = None
        """Destination of unrequested answers; None while no page is connected."""
        self._rooms = tuple(furnish(self._tell))
        self._requests = {name: request for room in self._rooms for name, request in room.requests.items()}
        self._idle = {name: idle for room in self._rooms for name, idle in room.idle.items()}
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, text: str, reply: Sending) -> None:
        """Answer a message by ``reply``, at once or later; for a bad message the answer is its faults."""
        number: int | None = None
        try:
            message = read_message(text)
            number = identity(message)
            if number is None:
                raise InputError(Fault("a message has an id, a whole number"))
            name = message.get("do")
            if not isinstance(name, str) or name not in self._requests:
                near = nearest(name, self._requests) if isinstance(name, str) and len(name) < 40 else None
                raise InputError(Fault("unknown request", hint=f"did you mean {near}?" if near else None))
            request = self._requests[name]
            given = check_fields(message, request.fields)
        except InputError as error:
            reply(_failed(error).encoded(id=number))
            return
        work = partial(_answer, partial(request.answer, given), number, reply)
        if not request.thread:
            work()
            return
        worker = self._worker(request)
        if worker is None or worker.waiting >= _MOST_WAITING:
            reply(_failed(InputError(Fault("too many requests wait for an answer"))).encoded(id=number))
            return
        superseded = partial(reply, Answer({"superseded": True}).encoded(id=number))
        worker.put(Job(work, superseded, name if request.latest else None, given.overtaken))

    def close(self) -> None:
        """End all threads."""
        with self._lock:
            self._closed = True
            workers = tuple(self._workers.values())
        for room in self._rooms:
            room.close()
        for worker in workers:
            worker.close(_CLOSING_SECONDS)

    def _worker(self, request: PageRequest) -> Worker | None:
        name = request.thread
        with self._lock:
            if self._closed:
                return None
            if name not in self._workers:
                self._workers[name] = Worker(f"page {name}", self._idle.get(name), request.threads)
            return self._workers[name]

    def _tell(self, name: str, answer: Answer) -> None:
        send = self.send
        if send is not None:
            send(answer.encoded(tell=name))


class Desks:
    """The desks of all pages, by the names that pages have given themselves."""

    def __init__(self, furnish: Callable[[Telling], Iterable[PageRoom]]) -> None:
        self._furnish = furnish
        self._desks: dict[str, Desk] = {}
        """Least recently used first."""

    def __len__(self) -> int:
        return len(self._desks)

    def take(self, page: str) -> Desk | None:
        """Return the desk of a page, a new one for a new page; None where there are too many pages."""
        found = self._desks.pop(page, None)
        if found is None:
            if len(self._desks) >= MOST_PAGES and not self._drop_one():
                return None
            found = Desk(self._furnish)
        self._desks[page] = found
        return found

    def close(self) -> None:
        """End the work of all desks."""
        for desk in self._desks.values():
            desk.close()
        self._desks.clear()

    def _drop_one(self) -> bool:
        """Close the desk that has been without a page for longest; return whether there was one."""
        left = next((page for page, desk in self._desks.items() if desk.send is None), None)
        if left is not None:
            self._desks.pop(left).close()
        return left is not None


def _answer(work: Callable[[], Answer], number: int, reply: Sending) -> None:
    """Do what was asked, and reply; a defect of the simulator is reported in the page and in the log."""
    try:
        message = work().encoded(id=number)
    except Overtaken:
        message = Answer({"superseded": True}).encoded(id=number)
    except SimulatorError as error:
        message = _failed(error).encoded(id=number)
    except Exception as error:  # the page continues
        logging.getLogger(__name__.partition(".")[0]).exception("a request of the page failed")
        text = f"internal error: {type(error).__name__}: {error}; a defect of the simulator, please report it"
        message = Answer({"error": text[:1000]}).encoded(id=number)
    reply(message)


def _failed(error: SimulatorError) -> Answer:
    text = format_error(error)
    return Answer({"error": text if len(text) <= 4000 else text[:4000] + " ..."})


# Serving: a port of this host, and the application on it, whose libraries are an extra: imported when they serve.


_PACKAGES = ("starlette", "uvicorn", "websockets")


def require_server() -> None:
    """Raise MissingPackageError where a library of the server is not installed."""
    for name in _PACKAGES:
        if find_spec(name) is None:
            raise MissingPackageError(f"a page needs {name}, which is not installed", "view")


def serve(desks: Desks, port: int, ready: Callable[[str], None]) -> None:
    """Serve a page on this host until an interrupt or SIGTERM comes; ``ready`` is called with its address.

    Port 0 is any that is free. Raises UsageError for a port that cannot be had, MissingPackageError, and
    KeyboardInterrupt at the end.
    """
    require_server()
    from pixelflow.view.app import run_application

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"--port {port}", f"the port cannot be had: {reason}", "0 is any that is free") from None
        guard = Guard.of(listener.getsockname()[1])
        with _termination_interrupts():
            run_application(guard, desks, listener, lambda: ready(guard.address))


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt: processes that draw are ended, and what they share is given back."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
