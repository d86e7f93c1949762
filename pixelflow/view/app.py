"""The page as an ASGI application: the guard at the door, the files, one web socket a page, and the process."""

from __future__ import annotations

import asyncio
import re
import socket as sockets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketClose, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from pixelflow.view.server import LONGEST, START, Asset, Desk, Desks, Guard, page_assets

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "connection": "close",  # a request has its own: what comes slowly behind an answer keeps no place
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_MOST_CONNECTIONS = 64
_FIRST_SECONDS = 3
"""A connection may take this long to send the header of its request."""
_LAST_SECONDS = 3
"""So long a connection may take to end."""
_HEADER_BYTES = 16 << 10
_PAGE_NAME = re.compile(r"[A-Za-z0-9_-]{16,64}")
_MOST_UNSENT = 256
"""Messages that wait for a page to take them; one that takes none is let go."""

_BAD_PAGE, _ELSEWHERE, _TOO_MANY, _TOO_SLOW = 4400, 4409, 4429, 4408
"""Why the server closes a socket."""


def page_application(guard: Guard, desks: Desks) -> Starlette:
    """Return the application; it closes the desks when it ends."""

    assets = page_assets()

    async def file(request: Request) -> Response:
        return _file(request, assets)

    async def socket(socket: WebSocket) -> None:
        await _converse(socket, desks)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desks.close)

    routes = [
        WebSocketRoute("/{token}/socket", socket),
        Route("/{token}/{name}", file, methods=["GET"]),
        Route("/{token}/", file, methods=["GET"]),
    ]
    door = Middleware(_Door, guard=guard)
    return Starlette(routes=routes, lifespan=lifespan, middleware=[door])


def run_application(guard: Guard, desks: Desks, listener: sockets.socket, ready: Callable[[], None]) -> None:
    """Serve until an interrupt comes, which is raised again at the end; ``ready`` is called when pages are served."""
    config = uvicorn.Config(
        page_application(guard, desks),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=_Connection,
        loop="asyncio",
        ws="websockets-sansio",
        ws_max_size=LONGEST,
        ws_per_message_deflate=False,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    _PageServer(config, ready).run(sockets=[listener])


class _Connection(H11Protocol):
    """A connection that is closed unless the header of its request arrives in time: connections are limited."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_FIRST_SECONDS, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:  # a web socket has another protocol
            self.transport.close()


class _PageServer(uvicorn.Server):
    """A server that reports when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[sockets.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


class _Door:
    """Asks the guard before the path is read: a refused request gets 403 whether or not the path exists."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        token = scope["path"].removeprefix("/").partition("/")[0]
        refused = self._guard.refusal(Headers(scope=scope), token, from_page=scope["type"] == "websocket")
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)  # before it is accepted: the answer is 403
        else:
            await PlainTextResponse(f"{refused}\n", 403, _HEADERS)(scope, receive, send)


def _file(request: Request, assets: Mapping[str, Asset]) -> Response:
    found = assets.get(request.path_params.get("name", START))
    if found is None:
        return PlainTextResponse("there is no such file\n", 404, _HEADERS)
    return Response(found.content, 200, _HEADERS, found.media_type)


async def _converse(socket: WebSocket, desks: Desks) -> None:
    """Take the messages of a page to its desk, and answers back, until one of both ends."""
    page = socket.query_params.get("page", "")
    await socket.accept()
    if not _PAGE_NAME.fullmatch(page):
        await socket.close(_BAD_PAGE, "a page has a name of 16 letters and digits or more")
        return
    desk = desks.take(page)
    if desk is None:
        await socket.close(_TOO_MANY, "too many pages are open")
        return
    outgoing = _Outgoing(socket)
    former, desk.send = desk.send, outgoing.put
    if former is not None:
        former(b"")  # the same page, opened twice: the later one wins
    sending = asyncio.create_task(outgoing.send())
    receiving = asyncio.create_task(_receive(socket, desk, outgoing))
    try:
        await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        outgoing.close()
        if desk.send == outgoing.put:
            desk.send = None
        for task in (sending, receiving):
            task.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task


async def _receive(socket: WebSocket, desk: Desk, outgoing: _Outgoing) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        desk.ask(message.get("text") or "", outgoing.put)


class _Outgoing:
    """Messages on their way to a page, which may come from any thread."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._closed = False

    def put(self, message: bytes) -> None:
        """Queue a message; an empty one ends the conversation."""
        if not self._closed:
            with suppress(RuntimeError):  # the loop has been closed
                self._loop.call_soon_threadsafe(self._queue.put_nowait, message)

    def close(self) -> None:
        """Take no more messages."""
        self._closed = True

    async def send(self) -> None:
        while True:
            message = await self._queue.get()
            if not message:
                await self._socket.close(_ELSEWHERE, "the page was opened elsewhere")
                return
            if self._queue.qsize() > _MOST_UNSENT:
                await self._socket.close(_TOO_SLOW, "the page takes no messages")
                return
            await self._socket.send_bytes(message)
            await asyncio.sleep(0)  # the loop learns here of a connection that is lost, before the next message
