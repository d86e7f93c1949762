"""Can anything that happens to the files of native code give a wrong result, or an error?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelflow.simd.lanes.native.code_cache import Cache
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
    return sorted(folder.glob("*.o"))


def test_code_is_kept_and_found_again(make, folder: Path, right: str, monkeypatch) -> None:
    assert run(make) == right
    kept = files(folder)
    assert len(kept) >= 2 and not any(each.stat().st_mode & 0o077 for each in (folder, *kept))
    make.forget()
    monkeypatch.setattr(Cache, "put", lambda self, key, content: pytest.fail("compiled though it was kept"))
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
        assert Cache(folder).get(kept.stem) is None
    make.forget()
    assert run(make) == right
    assert {kept: kept.read_bytes() for kept in files(folder)} == good


def test_a_file_under_a_wrong_name_is_not_believed(make, folder: Path) -> None:
    cache = Cache(folder)
    cache.put("one", b"code of one")
    os.rename(folder / "one.o", folder / "other.o")
    assert cache.get("one") is None and cache.get("other") is None


def test_a_folder_that_others_can_write_to_is_not_used(make, folder: Path, right: str) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert run(make) == right
    assert not files(folder)


def test_what_a_killed_process_left_is_removed_after_a_day(folder: Path) -> None:
    folder.mkdir(0o700)
    for name, hours in ((".new-old", 25), (".new-now", 0), ("other", 25)):
        (folder / name).touch()
        then = time.time() - 3600 * hours
        os.utime(folder / name, (then, then))
    Cache(folder).put("key", b"code")
    assert sorted(os.listdir(folder)) == [".new-now", "key.o", "other"]


# fmt: off
FOREIGN = {
    "others may write": lambda kept: kept.chmod(0o602),
    "its group may write": lambda kept: kept.chmod(0o620),
    "another owner":    lambda kept: os.chown(kept, 65534, -1),
    "a link":           lambda kept: kept.symlink_to(kept.rename(kept.with_suffix(".moved"))),
    "a pipe":           lambda kept: (kept.unlink(), os.mkfifo(kept)),
    "a folder":         lambda kept: (kept.unlink(), kept.mkdir()),
}
# fmt: on


@pytest.mark.parametrize("change", FOREIGN)
def test_a_file_that_somebody_else_may_have_written_is_not_believed(folder: Path, change: str) -> None:
    if change == "another owner" and os.getuid() != 0:
        pytest.skip("only root can give a file to another user")
    cache = Cache(folder)
    cache.put("key", b"code")
    assert cache.get("key") == b"code"
    FOREIGN[change](folder / "key.o")
    assert cache.get("key") is None
    if change != "a folder":
        cache.put("key", b"code")
        assert cache.get("key") == b"code"


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
