"""Do damaged scenes, tables and pictures end in a message with their place? A fuzz of both, always the same one."""

from __future__ import annotations

import copy
import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from attila_bridge.function import draw
from attila_bridge.records.files import read_records
from attila_bridge.scene import read_scene
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from tests.attila.recorded import TEXTURED, drawn, quad, scene_body

STATE = {
    "depth": {"func": "less", "write": True}, "blend": {"src": "one", "dst": "zero"}, "scissor": [0, 0, 16, 16],
    "stencil": {"func": "always", "ref": 1, "fail": "keep", "zfail": "keep", "zpass": "incr"},
    "cull": "back", "color_mask": [True] * 4,
}  # fmt: skip
TEXTURE = {
    "size": [16, 16], "format": "rgba8", "pattern": "noise", "seed": 1, "levels": 5, "min": "linear_mipmap_linear",
    "mag": "linear", "wrap": "repeat", "anisotropy": 1,
}  # fmt: skip
BODY = scene_body(
    drawn(quad(0, 0, 8, 8), state=STATE, fragment=TEXTURED),
    clear={"color": [0, 0, 0, 1], "depth": 1.0, "stencil": 0},
    textures={"t": TEXTURE},
)
VALUES: list[object] = [
    None, True, -1, 0, 1, 3, 1e30, float("nan"), float("inf"), 2**31, 2**63, 10**400, "", "x", "\x00", "é" * 50, [], {},
    [1], {"a": 1}, [[]], "../../etc/passwd", "nearest", 1.5, -0.0, [0] * 5000, "!!ARBfp1.0\nEND",
]  # fmt: skip
PIECES = ("", ";", "\n", "9" * 20, "{", "[", "-", "}", '"', "result", "fragment.texcoord[9]")


def paths(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Yield the places of everything in a scene, of lists the first six."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, below in value.items():
            yield from paths(below, (*at, key))
    elif isinstance(value, list):
        for place, below in enumerate(value[:6]):
            yield from paths(below, (*at, place))


PLACES = list(paths(BODY))


def changed(chance: random.Random) -> str:
    """Return a scene with a value lost, put in its place by another, or cut into."""
    body = copy.deepcopy(BODY)
    where = chance.choice(PLACES)
    holder: object = body
    for key in where[:-1]:
        holder = holder[key]  # type: ignore[index]
    old, way = holder[where[-1]], chance.randrange(3)  # type: ignore[index]
    if way == 0:
        del holder[where[-1]]  # type: ignore[attr-defined]
    elif way == 1 and isinstance(old, str) and old:
        place = chance.randrange(len(old))
        holder[where[-1]] = old[:place] + chance.choice(PIECES) + old[place + chance.randrange(3) :]  # type: ignore[index]
    else:
        holder[where[-1]] = chance.choice(VALUES)  # type: ignore[index]
    return json.dumps(body)


def cut(text: bytes, chance: random.Random) -> bytes:
    """Return bytes with some lost, put in, or other ones."""
    found = bytearray(text)
    for _ in range(chance.choice((1, 2, 5))):
        if not found:
            break
        place, way = chance.randrange(len(found)), chance.randrange(5)
        if way == 0:
            found[place] = chance.randrange(256)
        elif way == 1:
            del found[place : place + chance.randrange(1, 200)]
        elif way == 2:
            del found[place:]
        else:
            found[place:place] = chance.choice(
                (b'"', b",", b"\r", b"\n\n", b"\x00", b"[" * 8, b"nan", b"9" * 400, b"\xff")
            )
    return bytes(found)


@pytest.mark.parametrize("seed", range(150))
def test_a_changed_scene_is_drawn_or_refused(seed: int) -> None:
    """Nothing but InputError, with the name of the file and, of a program, the program's."""
    try:
        draw(read_scene(changed(random.Random(seed)), "changed.json"))
    except InputError as error:
        assert all(fault.message for fault in error.faults)
        text = str(error)
        assert "changed.json" in text or any(name in text for name in ("vertex", "fragment0")), text


@pytest.mark.parametrize("seed", range(50))
def test_a_cut_scene_file_is_run_or_refused(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(cut(json.dumps(BODY).encode(), random.Random(seed)))
    code = main(["run", str(path), "--machine", "attila", "--quiet"])
    errors = capsys.readouterr().err
    assert code == 0 or (code == 3 and str(path) in errors and "Traceback" not in errors), errors


ROW = {"run": "own@paper", "scene": "own", "group": "own", "machine": "paper", "overrides": "{}", "frame": "own.png",
    "cycles": "1391", "cycles_drawing": "283", "Triangles_PA": "3"}  # fmt: skip


@pytest.fixture
def records(tmp_path: Path) -> Path:
    (tmp_path / "scenes").mkdir()
    (tmp_path / "frames").mkdir()
    (tmp_path / "scenes" / "own.json").write_text(json.dumps(BODY))
    table(tmp_path / "runs.csv", ROW)
    table(tmp_path / "statistics_paper.csv", {"run": "own@paper", "Vertices_PA": "6"})
    return tmp_path


def table(path: Path, *rows: dict[str, str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("seed", range(100))
def test_a_cut_table_is_read_or_refused(seed: int, records: Path) -> None:
    chance = random.Random(seed)
    path = records / chance.choice(("runs.csv", "statistics_paper.csv"))
    path.write_bytes(cut(path.read_bytes(), chance))
    try:
        read_records(records)
    except InputError as error:
        assert str(path) in str(error) or "no folder of records" in str(error)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("cycles", "nan", "cycles is nan, a finite number is wanted here"),
        ("cycles", "1e999", "cycles is 1e999, a finite number is wanted here"),
        ("cycles", "many", "cycles is 'many', a number is wanted here"),
        ("cycles_drawing", "0", "cycles_drawing is 0, a run takes cycles"),
        ("cycles_drawing", "-3", "cycles_drawing is -3, a run takes cycles"),
        ("scene", "../scenes/own", "a name in the folder scenes"),
        ("scene", "own_" + "9" * 5000, "a name in the folder scenes"),
        ("frame", "/etc/passwd", "a name in the folder frames"),
        ("overrides", "[]", "overrides are no JSON object"),
        ("overrides", '{"a":', "cannot be read"),
        ("machine", "", "has no machine"),
    ],
)
def test_a_damaged_cell_says_its_line(records: Path, key: str, value: str, said: str) -> None:
    table(records / "runs.csv", ROW | {"run": "first@paper"}, ROW | {key: value})
    with pytest.raises(InputError) as caught:
        read_records(records)
    assert f"{records / 'runs.csv'}:3" in str(caught.value) and said in str(caught.value)


def test_a_line_is_counted_where_others_are_empty(records: Path) -> None:
    path = records / "runs.csv"
    first, second = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{first}\n\n\n{second.replace('1391', 'x')}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"runs\.csv:4"):
        read_records(records)


def test_a_run_is_named_once(records: Path) -> None:
    table(records / "runs.csv", ROW, ROW)
    with pytest.raises(InputError, match="own@paper is there twice"):
        read_records(records)


@pytest.mark.parametrize("content", [b"", b"x", b"\x89PNG\r\n\x1a\n" + b"\0" * 30, b"GIF89a" + b"\0" * 20])
def test_a_damaged_picture_refuses_its_run(records: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (records / "frames" / "own.png").write_bytes(content)
    assert main(["verify", "attila", "--data", str(records)]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "refused: own@paper" in text and "own.png" in text and "not a picture that can be read" in text


def test_a_value_of_a_parameter_has_a_bound(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(records / "runs.csv", ROW | {"overrides": json.dumps({"MEMORYCONTROLLER.ReadLatency": "9" * 5000})})
    assert main(["verify", "attila", "--data", str(records)]) == 1
    assert "expected a whole number, found 999999999999999999)" in " ".join(capsys.readouterr().out.split())


def test_the_scene_of_the_fuzz_is_whole() -> None:
    """It runs as it is, so what is refused is refused for its damage."""
    assert draw(read_scene(json.dumps(BODY))).draws
