"""Native code in the store: nothing that happens to its files gives a wrong result or an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pixelflow.simd.store import CODE, Store
from tests.compiled.test_fused import expected, fused, shape, start

SEED, LENGTH = 61, 12


def run(make) -> str:
    engine = start(make(shape(64)), SEED, full=False)
    engine.run([fused(engine, SEED, LENGTH)])
    return engine.digest()


@pytest.fixture
def right() -> str:
    return expected(64, SEED, LENGTH, 1, full=False)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.code"))


def test_code_is_kept_and_found_again(make, folder: Path, right: str, monkeypatch) -> None:
    assert run(make) == right
    kept = files(folder)
    assert len(kept) >= 2 and not any(each.stat().st_mode & 0o077 for each in (folder, *kept))
    make.forget()
    monkeypatch.setattr(Store, "put", lambda self, kind, key, content: pytest.fail("compiled though it was kept"))
    assert run(make) == right


# fmt: off
DAMAGES = {
    "cut off":       lambda data: data[: len(data) // 2],
    "empty":         lambda data: b"",
    "one bit":       lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "longer":        lambda data: data + b"\0",
    "something else": lambda data: b"not code at all",
    "all zero":      lambda data: bytes(len(data)),
}
# fmt: on


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_compiled_again(make, folder: Path, right: str, damage) -> None:
    assert run(make) == right
    good = {kept: kept.read_bytes() for kept in files(folder)}
    for kept, content in good.items():
        kept.write_bytes(damage(content))
        assert Store(folder).get(CODE, kept.stem) is None
    make.forget()
    assert run(make) == right
    assert {kept: kept.read_bytes() for kept in files(folder)} == good


def test_a_folder_that_others_can_write_to_is_not_used(make, folder: Path, right: str) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert run(make) == right
    assert not files(folder)


def test_a_folder_that_cannot_be_made_is_done_without(make, folder: Path, right: str) -> None:
    folder.write_text("a file where the folder should be")
    assert run(make) == right


_PROCESS = """
import sys
sys.path.insert(0, {root!r})
from pixelflow.simd.lanes.native.compiled_engine import CompiledEngine
from tests.compiled.test_fused import fused, shape, start
engine = start(CompiledEngine(shape(64), threads=1), {seed}, full=False)
engine.run([fused(engine, {seed}, {length})])
print(engine.digest())
"""


def _process(folder: Path) -> subprocess.Popen:
    root = str(Path(__file__).resolve().parents[2])
    text = _PROCESS.format(root=root, seed=SEED, length=LENGTH)
    environment = {**os.environ, "PIXELFLOW_CACHE": str(folder)}
    return subprocess.Popen([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_four_processes_share_a_folder(folder: Path, right: str) -> None:
    found = [process.communicate()[0].strip() for process in [_process(folder) for _ in range(4)]]
    assert found == [right] * 4
    assert files(folder) and not list(folder.glob(".new-*"))


def test_killed_while_it_compiles_or_writes(folder: Path, right: str) -> None:
    """Killed at six moments; whatever it leaves behind, the next process gives the right bits."""
    for moment in range(6):
        process = _process(folder)
        try:
            process.wait(0.1 * moment)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
    assert _process(folder).communicate()[0].strip() == right
