"""The store: damage, other users, its bound and many processes never lead to wrong content or an error."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelflow.simd import store as place
from pixelflow.simd.store import CODE, PROGRAM, Store, folder, key_of

KEY = key_of("one")


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.put(CODE, KEY, b"content of one")
    return store


def the_file(store: Store) -> Path:
    (found,) = store.path.glob("*.code")
    return found


def test_content_is_found_under_its_kind_and_key_alone(kept: Store) -> None:
    assert kept.get(CODE, KEY) == b"content of one"
    assert kept.get(PROGRAM, KEY) is None and kept.get(CODE, key_of("other")) is None
    assert not any(each.stat().st_mode & 0o077 for each in (kept.path, the_file(kept)))


@pytest.mark.parametrize("name", [f"{key_of('other')}.code", f"{KEY}.program"])
def test_a_renamed_file_is_not_believed(kept: Store, name: str) -> None:
    the_file(kept).rename(kept.path / name)
    assert kept.get(*reversed(name.split("."))) is None


# fmt: off
DAMAGES = {
    "cut off":        lambda data: data[: len(data) // 2],
    "head alone":     lambda data: data[:50],
    "empty":          lambda data: b"",
    "one bit":        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
    "longer":         lambda data: data + b"\0",
    "something else": lambda data: b"not of this tool at all, but long enough to have a head, and more than that",
    "all zero":       lambda data: bytes(len(data)),
}
FOREIGN = {
    "others may write":    lambda kept: kept.chmod(0o602),
    "its group may write": lambda kept: kept.chmod(0o620),
    "another owner":       lambda kept: os.chown(kept, 65534, -1),
    "a link":              lambda kept: kept.symlink_to(kept.rename(kept.with_suffix(".moved"))),
    "a pipe":              lambda kept: (kept.unlink(), os.mkfifo(kept)),
    "a folder":            lambda kept: (kept.unlink(), kept.mkdir()),
}
# fmt: on


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_counts_as_absent(kept: Store, damage: str) -> None:
    good = the_file(kept).read_bytes()
    the_file(kept).write_bytes(DAMAGES[damage](good))
    assert kept.get(CODE, KEY) is None
    kept.put(CODE, KEY, b"content of one")
    assert the_file(kept).read_bytes() == good


@pytest.mark.parametrize("change", FOREIGN)
def test_a_file_that_somebody_else_may_have_written_is_not_believed(kept: Store, change: str) -> None:
    if change == "another owner" and os.getuid() != 0:
        pytest.skip("only root can give a file to another user")
    FOREIGN[change](the_file(kept))
    assert kept.get(CODE, KEY) is None
    if change != "a folder":
        kept.put(CODE, KEY, b"content of one")
        assert kept.get(CODE, KEY) == b"content of one"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_not_used(kept: Store, mode: int) -> None:
    kept.path.chmod(mode)
    assert kept.get(CODE, KEY) is None and not list(kept.files())
    kept.put(CODE, key_of("two"), b"content of two")
    assert kept.clear() == (0, 0) and len(os.listdir(kept.path)) == 1


def test_a_folder_of_another_user_is_not_used(kept: Store) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder to another user")
    os.chown(kept.path, 65534, -1)
    assert kept.get(CODE, KEY) is None
    kept.put(CODE, key_of("two"), b"content of two")
    assert len(os.listdir(kept.path)) == 1


def _touched(log: str) -> None:
    Path(log).touch()


class _Poison:
    """Pickled, an order to touch a file."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _touched, (str(self.log),)


def test_a_poisoned_pickle_is_not_loaded(kept: Store, tmp_path: Path) -> None:
    """Written with a right seal by somebody who may write to the file: it is refused before anything is unpickled."""
    log = tmp_path / "touched"
    kept.put_object(PROGRAM, KEY, _Poison(log))
    (file,) = kept.path.glob("*.program")
    file.chmod(0o666)
    assert kept.get_object(PROGRAM, KEY, object) is None and not log.exists()
    file.chmod(0o600)
    kept.path.chmod(0o777)
    assert kept.get_object(PROGRAM, KEY, object) is None and not log.exists()


def test_an_object_of_a_class_that_is_gone_counts_as_absent(kept: Store) -> None:
    kept.put(PROGRAM, KEY, pickle.dumps(KEY).replace(b"\x8c", b"\xff"))
    assert kept.get_object(PROGRAM, KEY, object) is None
    kept.put_object(PROGRAM, KEY, [1, 2])
    assert kept.get_object(PROGRAM, KEY, list) == [1, 2] and kept.get_object(PROGRAM, KEY, tuple) is None


def test_trouble_with_the_disk_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    for store in (Store(tmp_path / "file"), Store(tmp_path / "file" / "below")):
        store.put(CODE, KEY, b"content")
        assert store.get(CODE, KEY) is None and not list(store.files()) and store.clear() == (0, 0)


def test_files_make_room_in_the_order_of_their_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for five of ten: those used last stay, an old one that was read among them."""
    monkeypatch.setattr(place, "_LOOK", 1)
    size = len(place._MAGIC) + 32 + 1000
    for store in (Store(tmp_path / "files", most_files=5), Store(tmp_path / "bytes", most_bytes=5 * size + 10)):
        keys = [key_of(number) for number in range(10)]
        for number, key in enumerate(keys[:9]):
            store.put(CODE, key, bytes(1000))
            days = time.time() - (20 - number) * 24 * 3600
            os.utime(store.path / f"{key}.code", (days, days))
            if number == 4:
                assert store.get(CODE, keys[0]) is not None
        store.put(CODE, keys[9], bytes(1000))
        left = [number for number, key in enumerate(keys) if store.get(CODE, key) is not None]
        assert left == [0, 6, 7, 8, 9]


def test_what_a_killed_process_left_is_removed_after_a_day(kept: Store) -> None:
    for name, hours in ((".new-old", 25), (".new-now", 0), ("other", 25)):
        (kept.path / name).touch()
        then = time.time() - 3600 * hours
        os.utime(kept.path / name, (then, then))
    Store(kept.path).put(CODE, KEY, b"code")
    assert sorted(os.listdir(kept.path)) == sorted([".new-now", f"{KEY}.code", "other"])


def test_clearing_leaves_files_of_others(kept: Store) -> None:
    (kept.path / "notes.txt").touch()
    (kept.path / f"{key_of('x')}.o").touch()  # as versions before wrote them
    kept.put(PROGRAM, KEY, b"program")
    assert kept.clear()[0] == 3
    assert os.listdir(kept.path) == ["notes.txt"]


def _use(path: Path, number: int) -> int:
    """Put, get and clear a few keys that others use too; return how much wrong content was found."""
    store = Store(path, most_files=20)
    wrong = 0
    for turn in range(300):
        which = (turn * 7 + number) % 40
        content = bytes([which]) * (1000 + which)
        found = store.get(CODE, key_of(which))
        wrong += found not in (None, content)
        store.put(CODE, key_of(which), content)
        if turn % 97 == number:
            store.clear()
    return wrong


def test_four_processes_share_a_folder(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.starmap(_use, [(tmp_path / "store", number) for number in range(4)]) == [0] * 4
    assert not list((tmp_path / "store").glob(".new-*"))


def test_a_killed_process_leaves_whole_files_alone(tmp_path: Path) -> None:
    """Killed at ten moments while it writes one key again and again."""
    path, content = tmp_path / "store", b"content" * 100_000
    text = (
        "import sys; from pathlib import Path; from pixelflow.simd.store import CODE, Store, key_of\n"
        "store = Store(Path(sys.argv[1]))\nprint(flush=True)\n"
        "while True: store.put(CODE, key_of('one'), b'content' * 100_000)"
    )
    for moment in range(10):
        process = subprocess.Popen([sys.executable, "-c", text, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert Store(path).get(CODE, KEY) in (None, content)
    Store(path).put(CODE, KEY, content)
    assert Store(path).get(CODE, KEY) == content


def test_the_folder_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELFLOW_CACHE", "/a")
    assert folder() == Path("/a")
    monkeypatch.delenv("PIXELFLOW_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert folder() == Path("/b/pixelflow")
