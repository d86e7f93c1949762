"""Are requests taken only as they were declared, and is the guard of the page awake?"""

from __future__ import annotations

import json
import math
import threading

import pytest

from pixelflow.simd.errors import InputError
from pixelflow.view.server import (
    MOST_PAGES,
    Answer,
    Desk,
    Desks,
    Given,
    Guard,
    PageRequest,
    RealField,
    TextField,
    WholeField,
    check_fields,
    read_message,
)

FIELDS = {"cycle": WholeField(0, 9), "zoom": RealField(0.5, 2, 1.0), "way": TextField(words=("a", "b"), default="a")}


def decoded(message: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]), message[4 + length :]


class Room:
    """Answers with what it was asked, at once or in a thread."""

    def __init__(self) -> None:
        self.idle: dict = {}
        self.closed = False
        self.entered, self.leave = threading.Event(), threading.Event()
        self.requests = {
            "now": PageRequest(self.answer, FIELDS),
            "slow": PageRequest(self.hold, {"cycle": WholeField(0, 9)}, "one", latest=True),
            "broken": PageRequest(lambda given: Answer({"value": math.nan})),
        }

    def answer(self, given: Given) -> Answer:
        return Answer({"cycle": given.whole("cycle"), "zoom": given.real("zoom"), "way": given.text("way")}, b"\0\1")

    def hold(self, given: Given) -> Answer:
        self.entered.set()
        self.leave.wait(10)
        return Answer({"cycle": given.whole("cycle")})

    def close(self) -> None:
        self.closed = True
        self.leave.set()


def asked(desk: Desk, **message: object) -> tuple[dict, bytes]:
    found: list[bytes] = []
    desk.ask(json.dumps(message), found.append)
    (message_back,) = found
    return decoded(message_back)


def test_an_answer_holds_the_id_the_object_and_the_bytes() -> None:
    head, body = asked(Desk(lambda tell: [Room()]), id=7, do="now", cycle=3)
    assert head == {"cycle": 3, "zoom": 1.0, "way": "a", "id": 7}
    assert body == b"\0\1"


@pytest.mark.parametrize(
    "fields, complaint",
    [
        ({}, "cycle: expected a whole number from 0 to 9, found nothing"),
        ({"cycle": 10}, "cycle: expected a whole number from 0 to 9, found 10"),
        ({"cycle": True}, "cycle: expected a whole number from 0 to 9, found True"),
        ({"cycle": 1.0}, "cycle: expected a whole number from 0 to 9, found 1.0"),
        ({"cycle": 1, "zoom": 3}, "zoom: expected a number from 0.5 to 2, found 3"),
        ({"cycle": 1, "way": "c"}, "way: expected one of a, b, found 'c'"),
        ({"cycle": 1, "way": ["a"]}, "way: expected one of a, b, found ['a']"),
        ({"cycle": 1, "zom": 1}, "unknown field 'zom'\n    did you mean zoom?"),
    ],
)
def test_a_field_that_is_not_as_declared_is_refused(fields: dict, complaint: str) -> None:
    head, _ = asked(Desk(lambda tell: [Room()]), id=1, do="now", **fields)
    assert head == {"error": f"error: {complaint}", "id": 1}


@pytest.mark.parametrize("text", ["", "[]", "1", "{", '{"id": NaN}', "[" * 100_000, '"\\ud800"', "\0"])
def test_what_is_no_object_is_no_message(text: str) -> None:
    with pytest.raises(InputError, match="one JSON object"):
        read_message(text)


def test_no_number_is_in_no_range() -> None:
    with pytest.raises(InputError):
        check_fields({"cycle": 1, "zoom": math.nan}, FIELDS)


def test_a_defect_is_an_answer_and_the_page_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(lambda tell: [Room()])
    head, _ = asked(desk, id=4, do="broken")
    assert head["id"] == 4 and "defect" in head["error"]
    assert asked(desk, id=5, do="now", cycle=0)[0]["cycle"] == 0


def test_of_requests_that_wait_the_last_one_counts() -> None:
    room = Room()
    desk = Desk(lambda tell: [room])
    replies: dict[int, dict] = {}
    done = threading.Event()

    def take(message: bytes) -> None:
        head, _ = decoded(message)
        replies[head["id"]] = head
        if len(replies) == 3:
            done.set()

    desk.ask('{"id": 1, "do": "slow", "cycle": 1}', take)
    assert room.entered.wait(10)
    desk.ask('{"id": 2, "do": "slow", "cycle": 2}', take)
    desk.ask('{"id": 3, "do": "slow", "cycle": 3}', take)
    room.leave.set()
    assert done.wait(10)
    desk.close()
    assert replies == {1: {"cycle": 1, "id": 1}, 2: {"superseded": True, "id": 2}, 3: {"cycle": 3, "id": 3}}


def test_a_page_has_its_own_desk_and_too_many_have_none() -> None:
    desks = Desks(lambda tell: [Room()])
    first = desks.take("a")
    assert first is not None and desks.take("a") is first and desks.take("b") is not first
    for number in range(MOST_PAGES - 2):
        found = desks.take(f"more {number}")
        assert found is not None
        found.send = lambda message: None
    for desk in (first, desks.take("b")):
        assert desk is not None
        desk.send = lambda message: None
    assert desks.take("one too many") is None
    first.send = None  # its page has gone
    assert desks.take("one too many") is not None and len(desks) == MOST_PAGES
    desks.close()


GUARD = Guard(8000, "secret-token")


@pytest.mark.parametrize(
    "headers, token, from_page, served",
    [
        ({"host": "127.0.0.1:8000"}, "secret-token", False, True),
        ({"host": "localhost:8000"}, "secret-token", False, True),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, "secret-token", True, True),
        ({"host": "127.0.0.1:8000"}, "secret-token", True, False),
        ({"host": "127.0.0.1:8000", "origin": "null"}, "secret-token", True, False),
        ({"host": "127.0.0.1:8000", "origin": "http://evil.example"}, "secret-token", False, False),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8001"}, "secret-token", True, False),
        ({"host": "127.0.0.1:8000", "origin": "https://127.0.0.1:8000"}, "secret-token", True, False),
        ({"host": "evil.example:8000"}, "secret-token", False, False),
        ({"host": "127.0.0.1"}, "secret-token", False, False),
        ({}, "secret-token", False, False),
        ({"host": "127.0.0.1:8000"}, "secret-toke", False, False),
        ({"host": "127.0.0.1:8000"}, "", False, False),
        ({"host": "127.0.0.1:8000"}, "tökén", False, False),
    ],
)
def test_the_guard_lets_only_its_own_page_in(headers: dict, token: str, from_page: bool, served: bool) -> None:
    assert (GUARD.refusal(headers, token, from_page=from_page) is None) == served


def test_tokens_are_long_and_new() -> None:
    tokens = {Guard.of(1).token for _ in range(50)}
    assert len(tokens) == 50 and all(len(token) >= 32 for token in tokens)
