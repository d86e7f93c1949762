"""Desks: what the server keeps for each page that is open, so that a page that is loaded again finds its work."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial

from pixelflow.simd.errors import Fault, InputError, SimulatorError, format_error, nearest
from pixelflow.view.server.messages import Answer, PageRoom, Telling, check_fields, identity, read_message
from pixelflow.view.server.worker import Job, Worker

__all__ = ["MOST_PAGES", "Desk", "Desks", "Sending"]

MOST_PAGES = 4
"""Pages at once: each holds a node, and the states of a run."""
_MOST_WAITING = 64
"""Requests of a page that wait in one thread."""
_CLOSING_SECONDS = 5.0
"""So long a thread may take to end what it is at."""

Sending = Callable[[bytes], None]
"""Sends a message to one page; may be called from any thread, and does nothing when the page has gone."""


class Desk:
    """The rooms of one page and the threads that work for it."""

    def __init__(self, furnish: Callable[[Telling], Iterable[PageRoom]]) -> None:
        self.send: Sending | None = None
        """Where what nobody has asked for goes; None while no page is there."""
        self._rooms = tuple(furnish(self._tell))
        self._requests = {name: request for room in self._rooms for name, request in room.requests.items()}
        self._idle = {name: idle for room in self._rooms for name, idle in room.idle.items()}
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, text: str, reply: Sending) -> None:
        """Answer a message by ``reply``, at once or later; whatever is wrong with it is the answer."""
        number: int | None = None
        try:
            message = read_message(text)
            number = identity(message)
            if number is None:
                raise InputError(Fault("a message has an id, a whole number"))
            name = message.get("do")
            if not isinstance(name, str) or name not in self._requests:
                near = nearest(name, self._requests) if isinstance(name, str) and len(name) < 40 else None
                raise InputError(Fault("nobody answers that", hint=f"did you mean {near}?" if near else None))
            request = self._requests[name]
            given = check_fields(message, request.fields)
        except InputError as error:
            reply(_failed(error).encoded(id=number))
            return
        work = partial(_answer, partial(request.answer, given), number, reply)
        if not request.thread:
            work()
            return
        worker = self._worker(request.thread)
        if worker is None or worker.waiting >= _MOST_WAITING:
            reply(_failed(InputError(Fault("too many requests wait for an answer"))).encoded(id=number))
            return
        superseded = partial(_supersede, number, reply)
        worker.put(Job(work, superseded, name if request.latest else None))

    def close(self) -> None:
        """End all threads."""
        with self._lock:
            self._closed = True
            workers = tuple(self._workers.values())
        for room in self._rooms:
            room.close()
        for worker in workers:
            worker.close(_CLOSING_SECONDS)

    def _worker(self, name: str) -> Worker | None:
        with self._lock:
            if self._closed:
                return None
            if name not in self._workers:
                self._workers[name] = Worker(f"page {name}", self._idle.get(name))
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
        """Those that were looked at last are last."""

    def __len__(self) -> int:
        return len(self._desks)

    def take(self, page: str) -> Desk | None:
        """Return the desk of a page, a new one where it has none; None where there are too many pages."""
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
        """Close the desk that nobody has sat at for longest; return whether there was one."""
        left = next((page for page, desk in self._desks.items() if desk.send is None), None)
        if left is not None:
            self._desks.pop(left).close()
        return left is not None


def _answer(work: Callable[[], Answer], number: int, reply: Sending) -> None:
    """Do what was asked, and reply; a defect of the simulator is told in the page and in the log."""
    try:
        message = work().encoded(id=number)
    except SimulatorError as error:
        message = _failed(error).encoded(id=number)
    except Exception as error:  # the page goes on
        logging.getLogger(__name__.partition(".")[0]).exception("a request of the page failed")
        text = f"internal error: {type(error).__name__}: {error}; a defect of the simulator, please report it"
        message = Answer({"error": text[:1000]}).encoded(id=number)
    reply(message)


def _supersede(number: int, reply: Sending) -> None:
    reply(Answer({"superseded": True}).encoded(id=number))


def _failed(error: SimulatorError) -> Answer:
    text = format_error(error)
    return Answer({"error": text if len(text) <= 4000 else text[:4000] + " ..."})
