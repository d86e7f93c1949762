"""Do the files that once broke a command, or gave orders to a terminal, end in a message within bounds?"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from pixelflow.cli import diff as diff_files
from pixelflow.cli.main import main
from pixelflow.cli.screen import output_file
from pixelflow.config import load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint
from pixelflow.node.saved_state import write_archive
from pixelflow.simd import files
from pixelflow.simd.errors import InputError, format_error
from pixelflow.simd.files import ARRAYS, CONFIGURATION, FileKind, locked, read_bytes
from tests.files.damage import sealed
from tests.files.kinds_of_files import SMALL, furnish, good
from tests.streams import exchanges

TITLE = "\x1b]0;owned\x07"
ORDERS = ("\x1b", "\x07", "\x9b", "\r")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command in an empty folder on a file of it; return the message with which it is refused, by code 3."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, content: bytes, *words: str) -> str:
        Path(name).write_bytes(content)
        code = main([*words, name])
        text = capsys.readouterr().err
        assert code == 3, text
        assert not any(order in text for order in ORDERS), ascii(text)
        return text

    return run


def peak_of(work) -> int:
    """Return how many bytes something takes at most, its InputError included."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- F1: damage inside of an archive ---


def test_every_byte_of_an_archive(tmp_path: Path) -> None:
    whole = good("memory.npz")
    path = tmp_path / "bad.npz"
    for at in range(0, len(whole), 6):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(InputError):
            diff_files.read(str(path))


@pytest.mark.parametrize("at", [28, 66, 208, 1124, 1556])
def test_a_byte_of_an_archive_that_a_command_reads(at: int, refused) -> None:
    whole = good("memory.npz")
    Path("good.npz").write_bytes(whole)
    Path("p.mc").write_text("range x[4]\nLD R, #1\n")
    bad = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
    refused("bad.npz", bad, "diff", "good.npz")
    refused("bad.npz", bad, "run", "p.mc", "--memory")


# --- F2 to F4: lengths that nobody keeps, and small files that are large ---


def test_a_packet_that_says_it_is_a_terabyte(refused) -> None:
    assert "16 MiB" in refused("v.pftrace", b"\n\x80\x80\x80\x80\x80\x20x", "trace", "check")


def bomb() -> bytes:
    """Return an archive of less than 2 MB that holds more than any may."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as held:
        for at in range(2):
            member = io.BytesIO()
            np.save(member, np.zeros(ARRAYS.limit // 2, np.uint8))
            held.writestr(f"{('memory', 'header')[at]}.npy", member.getvalue())
    return buffer.getvalue()


def test_an_archive_that_would_hold_too_much_is_not_written() -> None:
    """Each array has a header of its own, so that two leave no room for the last 1,500 bytes."""
    with pytest.raises(InputError, match="256 MiB"):
        write_archive("a state", {}, np.zeros(ARRAYS.limit - 1500, np.uint8))


def test_an_archive_is_not_unpacked_beyond_the_limit(tmp_path: Path, refused) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(bomb())
    assert path.stat().st_size < 4 << 20
    assert peak_of(lambda: diff_files.read(str(path))) < 32 << 20
    seal = _sealed_bomb(path.read_bytes())
    assert peak_of(lambda: Checkpoint.from_bytes(seal)) < 32 << 20
    assert "256 MiB" in refused("bomb.npz", path.read_bytes(), "diff", "bomb.npz")


def _sealed_bomb(data: bytes) -> bytes:
    """Return the archive with the comment that says that nothing was changed."""
    import hashlib

    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"pixelflow sha256 " + bytes(64)
    before = buffer.getvalue()[:-64]
    return before + hashlib.sha256(before).hexdigest().encode()


def test_an_array_that_says_it_is_larger_than_its_bytes(refused) -> None:
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (10**14,)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as held:
        held.writestr("memory.npy", member.getvalue())
    refused("huge.npz", buffer.getvalue(), "diff", "huge.npz")


def test_a_file_that_does_not_end() -> None:
    with pytest.raises(InputError, match="too large to be a configuration file: over 1 MiB"):
        read_bytes("/dev/zero", CONFIGURATION)


# --- F5: numbers of thousands of digits ---

LONG = "9" * 5_000


def test_a_long_number_in_a_scene(refused) -> None:
    assert "not TOML" in refused("a.toml", f"[camera]\nzoom = {LONG}\n".encode(), "render", "-o", "a.png")
    assert "nested" in refused("a.toml", b"a = " + b"[" * 100_000, "render", "-o", "a.png")


# --- F6: fields of object files ---

WRONG = {
    "ranges[0].name must be text": lambda body: body["ranges"][0].update(name=5),
    "ranges[0].start must be a whole number": lambda body: body["ranges"][0].update(start="0"),
    "ranges[0].size must be a whole number": lambda body: body["ranges"][0].update(size=-1),
    "lines[0].text must be text": lambda body: body["lines"][0].update(text=None),
    "data[0].start must be a whole number": lambda body: body["data"][0].update(start=[1]),
    "data[0].lanes must be a whole number": lambda body: body["data"][0].update(lanes=10**9),
    "routines[0].end must be a whole number": lambda body: body["routines"][0].update(end=True),
    "routines[0].parameters must be a list": lambda body: body["routines"][0].update(parameters="abc"),
    "has a field 'more'": lambda body: body.update(more=1),
    "lacks 'size'": lambda body: body["ranges"][0].pop("size"),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_field_of_an_object_file(message: str, refused) -> None:
    body = json.loads(good("ranges.mco"))
    WRONG[message](body)
    assert message in refused("a.mco", json.dumps(body).encode(), "dis")


# --- F7: orders to a terminal ---


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.bpt", f"1\n3 3\n{TITLE} 0 0\n", ["tessellate"]),
        ("a.toml", 'preset = "tiny"\n"\\u001b]0;x\\u0007" = 1\n', ["config", "check"]),
        ("a.toml", f"x = {TITLE}\n", ["config", "check"]),
        ("b.toml", '[["\\u001b]0;x\\u0007"]]\nx = 1\n', ["render", "-o", "a.png"]),
        ("a.mco", '{"schema": "\\u001b]0;x\\u0007\\u009b2J"}', ["dis"]),
        ("a.mc", f"LD R, {TITLE}\n", ["asm", "--check"]),
        (f"{TITLE}.bpt", "x", ["tessellate"]),
    ],
)  # fmt: skip
def test_no_order_of_a_file_reaches_the_terminal(name: str, text: str, words: list[str], refused) -> None:
    refused(name, text.encode(), *words)


def test_no_order_of_a_header_is_in_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace whose header gives orders is in order otherwise: they are shown as escapes."""
    path = tmp_path / "a.pftrace"
    path.write_bytes(good("trace.pftrace").replace(b"pixelflow-sim", TITLE.encode().ljust(13), 1))
    assert main(["trace", "check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "owned" in shown and not any(order in shown for order in ORDERS)


# --- F8: checkpoints with the right checksum and wrong values ---


def _broken(header: dict, way: tuple[str, ...], value: object) -> dict:
    inside = header
    for key in way[:-1]:
        inside = inside[key] if isinstance(inside, list) or "dict" not in inside else _entry(inside, key)
    if "dict" in inside:
        next(pair for pair in inside["dict"] if pair[0] == way[-1])[1] = value
    else:
        inside[way[-1]] = value
    return header


def _entry(packed: dict, key: str) -> dict:
    return next(each for name, each in packed["dict"] if name == key)


FORGED = {
    "executed": ("run", "streams", "eigc", "executed", {"list": []}),
    "executed more": ("run", "streams", "eigc", "executed", {"list": [0] * 1_000}),
    "executed in words": ("run", "streams", "eigc", "executed", {"list": ["x"] * 114}),
    "frames": ("run", "streams", "eigc", "frames", {"list": []}),
    "index": ("run", "streams", "eigc", "index", 10**9),
    "cycle": ("run", "streams", "eigc", "cycle", "x"),
    "stages": ("run", "streams", "eigc", "stages", {"list": [{"list": [5, "x"]}]}),
    "waits": ("run", "streams", "eigc", "waits", {"dict": [["sem 0", "x"]]}),
    "long waits": ("run", "streams", "eigc", "waits", {"dict": [["sem 0", 10**400]]}),
    "stage_waits": ("run", "streams", "eigc", "stage_waits", {"list": [{"list": [0, "sem 0", "x"]}]}),
    "routine_cycles": ("run", "streams", "eigc", "routine_cycles", {"dict": [["noise", 3]]}),
    "routine_cycles in words": ("run", "streams", "eigc", "routine_cycles", {"dict": [["f", {"list": ["x", "y"]}]]}),
    "semaphores": ("run", "streams", "eigc", "semaphores", None),
    "clock": ("run", "clock", "cycle", "x"),
}


def forged(name: str, *way: str, value: object) -> bytes:
    """Return a file of a kind with another value at a place of its state, sealed anew."""
    with np.load(io.BytesIO(good(name)), allow_pickle=False) as held:
        header = json.loads(held["header"].tobytes())
        arrays = [held[f"array{at}"] for at in range(len(held.files) - 1)]
    return sealed(_broken(header, ("state", *way), value), arrays)


COUNTED = ("executed more", "executed in words", "stages", "waits", "stage_waits", "routine_cycles in words")
"""What the account of a run has that comes to no end, too."""


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_checkpoint(name: str, refused) -> None:
    *way, value = FORGED[name]
    furnish()
    data = forged("checkpoint.npz", *way, value=value)
    for limit in ("20000", "720") if name in COUNTED else ("20000",):
        said = refused("c.npz", data, "run", "exchange.mc", *SMALL.split(), "--max-cycles", limit, "--load")
        assert "damaged" in said or "no run" in said


@pytest.mark.parametrize("source", [-1, 16, 10**12])
def test_a_forged_saved_run(source: int, refused) -> None:
    """Address bits of a texture ASIC from a bit that the counter has not."""
    way = ("texture", "fields", "generator", "fields", "crossbar")
    data = forged("run.npz", *way, value={"list": [source] * 21})
    assert "is damaged" in refused("r.npz", data, "dash")


# --- F9: files that are named by others ---


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a program, with a secret outside of it."""
    (tmp_path / "secret").write_text("root:hash\n")
    (tmp_path / "own" / "below").mkdir(parents=True)
    (tmp_path / "own" / "part.mc").write_text("const K = 3\n")
    (tmp_path / "own" / "below" / "b.mc").write_text('include "../part.mc"\nconst L = K\n')
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path


@pytest.mark.parametrize("named", ["../secret", "{}/secret", "below/../../secret", "link.mc", "/etc/passwd"])
def test_an_include_stays_in_the_folder_of_the_program(named: str, folders: Path) -> None:
    (folders / "own" / "link.mc").symlink_to(folders / "secret")
    Path("main.mc").write_text(f'include "{named.format(folders)}"\nLD R, #1\n')
    with pytest.raises(InputError) as caught:
        assemble("main.mc")
    text = format_error(caught.value)
    assert "program's folder" in text and "root:" not in text


def test_an_include_below_and_back_again(folders: Path) -> None:
    Path("main.mc").write_text('include "below/b.mc"\nLD R, #L\n')
    assert assemble("main.mc").instructions[0].text() == "LD R, #3"


def _writes(folder: Path, write) -> None:
    victim = folder / "victim"
    victim.write_text("mine")
    for name in ("out.npz", "out.json"):
        for suffix in ("part", "tmp"):
            (folder / f".{name}.{os.getpid()}.{suffix}").symlink_to(victim)
    write(folder)
    assert victim.read_text() == "mine"


def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        Checkpoint.from_bytes(good("checkpoint.npz")).save(folder / "out.npz")
        with output_file(folder / "out.json") as stream:
            stream.write("{}")

    _writes(tmp_path, write)
    assert (tmp_path / "out.json").read_text() == "{}"
    assert Checkpoint.load(tmp_path / "out.npz").cycle == 700


def test_a_guessed_temporary_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", bytes)
    (tmp_path / f".out.json.{bytes(8).hex()}.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match="cannot be written"), output_file(tmp_path / "out.json") as stream:
        stream.write("{}")
    assert not (tmp_path / "victim").exists() and not (tmp_path / "out.json").exists()


def test_a_lock_is_not_made_through_a_link(tmp_path: Path) -> None:
    (tmp_path / ".table.csv.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match="cannot be locked"), locked(str(tmp_path / "table.csv"), "sweep"):
        pass
    assert not (tmp_path / "victim").exists()


# --- limits ---


def test_the_limits_of_the_documents_are_those_of_the_files() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "pages" / "files.md").read_text("utf-8")
    for kind in (each for each in vars(files).values() if isinstance(each, FileKind)):
        assert f"| {kind.what} | {kind.shown_limit} |" in text
    assert Program.from_json(good("program.mco").decode()).words == assemble(exchanges.program(7)).words
    assert load_config(None, [], "tiny")
