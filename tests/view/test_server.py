"""Is the page safe and sound: who is let in, what is handed out, and how does it all end?"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.programs import shipped_with
from pixelflow.simd.machine import machine_named
from tests.view.conftest import served

NAME = "a" * 32


def fetched(address: str, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Ask for a path as it is written, with these headers."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


@pytest.fixture
def connect(require_server: None):
    from websockets.sync.client import connect as open_socket

    def opened(address: str, page: str = NAME, origin: str | None = None):
        parts = urlsplit(address)
        return open_socket(
            f"ws://{parts.netloc}{parts.path}socket?page={page}",
            origin=origin or f"http://{parts.netloc}",
            max_size=None,
        )

    return opened


def exchanged(link, what: str, **fields: object) -> dict:
    number = random.randrange(1 << 30)
    link.send(json.dumps({"id": number, "do": what, **fields}))
    return answered(link, number)


def answered(link, number: int) -> dict:
    while True:
        message = link.recv(30)
        head = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
        if head.get("id") == number:
            return head


def test_files_come_with_the_token_alone(page_of_run: str) -> None:
    path = urlsplit(page_of_run).path
    status, headers, content = fetched(page_of_run, path)
    assert status == 200 and b"<title>pixelflow view" in content
    assert "default-src 'none'" in headers["content-security-policy"] and headers["x-content-type-options"] == "nosniff"
    assert fetched(page_of_run, path + "main.js")[1]["content-type"].startswith("text/javascript")
    assert fetched(page_of_run, path + "no-such-file")[0] == 404


def test_without_the_token_every_path_is_refused_alike(page_of_run: str) -> None:
    """What is there and what is not cannot be told apart: status, headers and text are the same."""
    path = urlsplit(page_of_run).path
    wrong = path[:-2] + ("a" if path[-2] != "a" else "b")
    answers = set()
    for start in ("", "/", wrong[:-1], wrong, path[:-2], path[:-1] + "x", path[:-1].upper(), "/%ff", "//", "/" + path):
        for name in ("", "/", "/main.js", "/no-such-file", "/socket", "/socket/", "/a/b/c", "/favicon.ico", "/../x"):
            for method in ("GET", "POST", "OPTIONS"):
                status, headers, content = fetched(page_of_run, start + name or "/", method)
                answers.add((status, headers["content-type"], headers["content-security-policy"], content))
    assert len(answers) == 1
    ((status, _, _, content),) = answers
    assert status == 403 and b"token" in content
    assert {fetched(page_of_run, each, "HEAD")[0] for each in ("/", wrong + "/main.js", "/no-such-file")} == {403}
    for each in (path, path[:-1], path + "main.js", path + "no-such-file", path + "a/b", "/"):
        assert fetched(page_of_run, each, Host="evil.example")[0] == 403, each


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Origin": "http://evil.example"}]
)
def test_other_hosts_and_origins_are_refused(page_of_run: str, headers: dict[str, str]) -> None:
    assert fetched(page_of_run, urlsplit(page_of_run).path, **headers)[0] == 403


def test_only_this_host_is_listened_to(page_of_run: str) -> None:
    port = urlsplit(page_of_run).port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in others:
        with socket.socket() as tried:
            tried.settimeout(2)
            assert tried.connect_ex((address, port)) != 0


def test_a_socket_wants_token_origin_and_name(page_of_run: str, connect) -> None:
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    parts = urlsplit(page_of_run)
    for address, origin in (
        (f"{parts.scheme}://{parts.netloc}/wrong/", None),
        (f"{parts.scheme}://{parts.netloc}/wrong/no/such/path/", None),
        (f"{parts.scheme}://{parts.netloc}/", None),
        (page_of_run, "http://evil.example"),
        (page_of_run, "null"),
    ):
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin=origin)
    with connect(page_of_run, page="short") as link, pytest.raises(ConnectionClosed, match="4400"):
        link.recv(10)


def test_a_message_that_is_too_long_ends_the_conversation_and_no_other(page_of_run: str, connect) -> None:
    from websockets.exceptions import ConnectionClosed

    with connect(page_of_run) as link, connect(page_of_run, page="b" * 32) as other:
        with pytest.raises(ConnectionClosed):
            link.send("x" * ((4 << 20) + 1))
            link.recv(30)
        assert exchanged(other, "draw.offers")["models"] == ["teapot", "enneper", "rosette"]


def test_a_page_that_comes_again_finds_its_run(page_of_run: str, connect) -> None:
    with connect(page_of_run, page="c" * 32) as link:
        exchanged(link, "run.open")
        assert exchanged(link, "run.goto", cycle=1234)["cycle"] == 1234
    with connect(page_of_run, page="c" * 32) as link:
        exchanged(link, "run.open")
        assert exchanged(link, "run.state")["cycle"] == 1234
    with connect(page_of_run, page="d" * 32) as link:
        exchanged(link, "run.open")
        assert exchanged(link, "run.state")["cycle"] == 0


def noise(generator: random.Random) -> str | bytes:
    """Return a message that is wrong in one way or another, or right by chance."""
    names = ["run.open", "run.state", "run.window", "run.map", "run.rows", "run.heat", "run.place", "draw.frame", "x"]
    values = [None, True, -1, 0, 5, 1 << 40, 1 << 70, 1.5, 1e308, "", "R", "x" * 999, [], {}, [[[]]], {"id": {}}]
    fields = ["id", "do", "cycle", "begin", "end", "width", "what", "first", "count", "row", "x", "y", "size", "model"]
    match generator.randrange(4):
        case 0:
            return generator.randbytes(generator.randrange(60))
        case 1:
            return "".join(chr(generator.choice([34, 91, 93, 123, 125, 58, 0, 0x2028, 0x1F600])) for _ in range(40))
        case _:
            message = {generator.choice(fields): generator.choice(values) for _ in range(generator.randrange(7))}
            chosen = {"id": generator.choice([1, 2, "1", None, -1]), "do": generator.choice(names)}
            return json.dumps({**chosen, **message})


def test_noise_does_no_harm(page_of_run: str, connect) -> None:
    generator = random.Random(1)
    with connect(page_of_run, page="e" * 32) as link:
        exchanged(link, "run.open")
        for _ in range(15):
            for _ in range(20):
                link.send(noise(generator))
            assert exchanged(link, "run.place", row=0, cycle=1)["cycle"] == 1
        assert exchanged(link, "run.goto", cycle=77)["cycle"] == 77


def test_connections_that_send_no_header_are_closed_and_the_page_comes_again(page_of_run: str) -> None:
    """64 is the most there can be: silent ones, some with half a header, some that send it one byte after the other."""
    parts = urlsplit(page_of_run)
    begun = time.monotonic()
    held = [socket.create_connection((parts.hostname, parts.port), timeout=20) for _ in range(64)]
    try:
        for each in held[40:]:
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert fetched(page_of_run, parts.path)[0] == 503
        while fetched(page_of_run, parts.path)[0] != 200:
            assert time.monotonic() - begun < 10
            for each in held[56:]:
                with suppress(OSError):  # it has been closed
                    each.sendall(b"x")
            time.sleep(0.1)
        for each in held[:56]:
            assert each.recv(1) == b""
    finally:
        for each in held:
            each.close()


@pytest.mark.parametrize(
    "length, more", [(0, b"GET / HTTP/1.1\r\nHost: xxxxxxxxxxxxxx"), (10_000, b"x" * 40)], ids=["a request", "a body"]
)
def test_a_connection_that_was_answered_is_not_kept_by_what_comes_slowly(
    page_of_run: str, length: int, more: bytes
) -> None:
    parts = urlsplit(page_of_run)
    with socket.create_connection((parts.hostname, parts.port), timeout=0.2) as link:
        link.sendall(f"POST / HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {length}\r\n\r\n".encode())
        answer = b""
        for number in range(len(more)):  # for more than the 5 seconds that a silent one is kept by the library
            with suppress(TimeoutError):
                while part := link.recv(1 << 16):
                    answer += part
                break
            link.sendall(more[number : number + 1])
        else:
            pytest.fail("it is still open")
    assert answer.startswith(b"HTTP/1.1 403 ") and answer.count(b"HTTP/1.1") == 1


def ask_and_vanish(address: str, page: str, count: int) -> None:
    """Ask so often in one go, as a page does, and reset the connection before an answer is read."""
    from websockets.client import ClientProtocol
    from websockets.protocol import State
    from websockets.uri import parse_uri

    parts = urlsplit(address)
    uri = parse_uri(f"ws://{parts.netloc}{parts.path}socket?page={page}")
    protocol = ClientProtocol(uri, origin=f"http://{parts.netloc}")
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        protocol.send_request(protocol.connect())
        link.sendall(b"".join(protocol.data_to_send()))
        while protocol.state is not State.OPEN:
            protocol.receive_data(link.recv(1 << 16))
        for number in range(count):
            protocol.send_text(json.dumps({"id": number, "do": "draw.offers"}).encode())
        link.sendall(b"".join(protocol.data_to_send()))


@pytest.mark.slow
def test_pages_that_vanish_say_nothing_in_the_terminal(tmp_path: Path, connect) -> None:
    """Answers wait for each of them when its connection is reset; none is written to what is not there any more."""
    with served("enneper", folder=tmp_path) as (address, _):
        for number in range(12):
            ask_and_vanish(address, f"{number % 3:032}", 200)
        with connect(address, page="z" * 32) as link:
            assert "enneper" in exchanged(link, "draw.offers")["models"]
    assert (tmp_path / "view.log").read_text(encoding="utf-8").endswith("interrupted\n")


@pytest.mark.parametrize(
    "words, code, complaint",
    [
        (["view", "nix.npz"], 3, "nix.npz"),
        (["view", "kettle"], 3, "models: teapot, enneper, rosette; programs: automata, life, mandelbrot, "),
        (["view", "teepot"], 3, "did you mean teapot? pixelflow view teapot"),
        (["view", "mandelbort"], 3, "did you mean mandelbrot? pixelflow view mandelbrot"),
        (["view", "glas"], 3, "did you mean glass? it is drawn by: pixelflow render glass -o glass.png"),
        (
            ["view", "glass"],
            3,
            "glass: error: is a scene or a mesh; a page turns patches, or looks into a run\n"
            "    it is drawn by: pixelflow render glass -o glass.png; models: teapot, enneper, rosette;",
        ),
        (["view", "rooms/a.obj"], 3, "pixelflow render rooms/a.obj -o a.png"),
        (["view", "glass", "--machine", "attila"], 3, "pixelflow render glass --machine attila -o glass.png"),
        (["view", "teapot", "--machine", "gen6"], 3, "pixelflow view teapot, and choose gen6 there"),
        (["view", "block.mc", "--machine", "larrabee"], 3, "block.mc"),
        (["view", "bloks", "--machine", "larrabee"], 3, "did you mean blocks? pixelflow view blocks --"),
        (["view", "qqq", "--machine", "attila"], 3, "files: scenes in ATTILA's own form"),
        (["view", "nix.bpt"], 3, "nix.bpt"),
        (["view", "--port", "70000"], 2, "expected a port, 0 to 65535, found '70000'"),
        (["view", "teapot", "--max-cycles", "9"], 2, "patches have no max cycles"),
        (["view", "triangle.pftrace", "--jobs", "2"], 2, "the page has the trace of this run alone"),
        (["view", "--jobs", "0"], 2, "--jobs"),
        (["view", "-"], 2, "takes no standard input"),
        (["view", "--format", "json"], 2, "a page is not a JSON object"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    words: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str], require_server: None
) -> None:
    assert main(words) == code
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(shipped_with(machine_named("attila").target)))
def test_scenes_of_another_machine_are_shown_also_where_a_mesh_has_their_name(
    name: str, monkeypatch: pytest.MonkeyPatch, require_server: None
) -> None:
    monkeypatch.setattr("pixelflow.cli.view.serve", lambda desks, port, ready: None)
    assert main(["view", name, "--machine", "attila", "--no-open"]) == 0


def test_a_port_that_others_have_is_refused(page_of_run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "--no-open", "--port", str(urlsplit(page_of_run).port)]) == 2
    assert "port" in capsys.readouterr().err


def test_without_the_libraries_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pixelflow.view.server.find_spec", lambda name: None)
    assert main(["view", "--no-open"]) == 3
    said = capsys.readouterr().err
    assert "pip install " in said and "[view]'" in said


def children_of(process: int) -> list[int]:
    """Return the processes that a process has begun and that are still there."""
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupt_ends_it_while_it_draws_and_runs(
    tmp_path: Path, recorded: Path, connect, number: signal.Signals
) -> None:
    """A picture of 640x480 takes seconds: it is given up, as is the trace of the run; nobody is left."""
    large = {"do": "draw.frame", "model": "teapot", "samples": 16, "size": "640x480", "turning": 1}
    with served(str(recorded), "--jobs", "2", folder=tmp_path) as (address, process):
        with connect(address) as link:
            link.send(json.dumps({"id": 1, **large}))
            workers = begun_by(process.pid)
            link.send(json.dumps({"id": 2, "do": "run.open"}))
            link.recv(30)
            process.send_signal(number)
            assert process.wait(20) == 130
        log = (tmp_path / "view.log").read_text(encoding="utf-8")
        assert log.endswith("interrupted\n")
        limit = time.monotonic() + 20
        while any(Path(f"/proc/{each}").exists() for each in workers):
            assert time.monotonic() < limit, "a process that drew is left"
            time.sleep(0.1)


def begun_by(process: int) -> list[int]:
    """Return the two processes that draw, none without /proc; another child sees to the resources that they share."""
    limit = time.monotonic() + 20
    while Path("/proc/self/task").exists():
        assert time.monotonic() < limit
        found = [each for each in children_of(process) if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]
        if len(found) == 2:
            return found
    return []


def ticks_of(process: int) -> int:
    """Hundredths of a second that a process has worked."""
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_picture_whose_process_is_killed_is_an_error_and_the_next_one_is_drawn(tmp_path: Path, connect) -> None:
    """The first pictures are made by the process that serves the page, and each that follows by one of the others."""
    chosen = {"model": "enneper", "samples": 3, "size": "160x120", "turning": 1}
    large = {**chosen, "model": "teapot", "samples": 16, "size": "640x480"}
    with served("enneper", "--jobs", "2", folder=tmp_path) as (address, process), connect(address) as link:
        first = exchanged(link, "draw.frame", **chosen)
        workers = begun_by(process.pid)
        worked = -1
        while worked != (worked := sum(map(ticks_of, workers))):  # while they warm up
            time.sleep(1)
        turned = exchanged(link, "draw.frame", **chosen)
        assert turned["steps"] == first["steps"]
        link.send(json.dumps({"id": 1, "do": "draw.frame", **large}))
        limit = time.monotonic() + 20
        while sum(map(ticks_of, workers)) < worked + 20:  # until they draw
            assert time.monotonic() < limit
        for child in workers:
            os.kill(child, signal.SIGKILL)
        found = answered(link, 1)
        assert "--jobs" in found["error"]
        again = exchanged(link, "draw.frame", **chosen)
        assert again["steps"][1] == first["steps"][1]
