"""Output files appear complete or not at all."""

import os
import stat
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.screen import check_writable, output_file, refuse_clashes
from pixelflow.simd.errors import InputError

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    with output_file(tmp_path / "a.txt") as stream:
        stream.write("first\n")
        assert "a.txt" not in names(tmp_path)
    assert (tmp_path / "a.txt").read_bytes() == b"first\n"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_failure_keeps_the_old_file(tmp_path: Path, error) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises((ValueError, KeyboardInterrupt, InputError)), output_file(path, binary=True) as stream:
        stream.write(b"half of the new")
        raise error
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No space left"), output_file(tmp_path / "a") as stream:
        stream.write("half")
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none/a.txt", "the folder .*none does not exist"),
        ("file/a.txt", "the folder .*file does not exist"),
        (".", "is a folder"),
        ("a\0b", "is not a file name"),
        ("x" * 300, "File name too long|cannot be written"),
    ],
)
def test_places_that_do_not_work(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=expected) as caught, output_file(tmp_path / name):
        raise AssertionError("the block must not run")
    assert caught.value.exit_code == 3
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_read_only_places(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(InputError, match="exists and is read-only"):
        check_writable(path)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(InputError, match=r"the folder .* is read-only"):
            check_writable(tmp_path / "b.txt")
    finally:
        tmp_path.chmod(0o755)


def test_read_only_places_as_the_system_reports_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two answers without depending on who runs the tests."""
    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="exists and is read-only"):
        check_writable(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"the folder .* is read-only"):
        check_writable(tmp_path / "b.txt")


@pytest.mark.skipif(os.name == "nt", reason="file modes and links of Unix")
def test_modes_links_and_devices(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with output_file(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with output_file(os.devnull) as stream:
        stream.write("nothing")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with output_file("-") as stream:
        stream.write("text")
    assert capsys.readouterr().out == "text"


def test_two_outputs_or_an_output_and_an_input_may_not_be_one_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "sub" / ".." / "a.json"
    (tmp_path / "sub").mkdir()
    refuse_clashes([("--stats", str(first)), ("--trace", str(tmp_path / "b"))], [("--load", str(tmp_path / "c"))])
    with pytest.raises(InputError, match="--stats and --trace name the same file"):
        refuse_clashes([("--stats", str(first)), ("--trace", str(second))])
    with pytest.raises(InputError, match="two --stats name the same file"):
        refuse_clashes([("--stats", str(first)), ("--stats", str(first))])
    with pytest.raises(InputError, match="--load and --stats name the same file"):
        refuse_clashes([("--stats", str(first))], [("--load", str(second))])
    refuse_clashes([("--stats", "/dev/null"), ("--trace", "/dev/null")])


def test_a_file_that_cannot_be_written_hides_neither_the_error_nor_the_other_files(tmp_path: Path, capsys) -> None:
    source, full, other = tmp_path / "p.mc", tmp_path / "full.json", tmp_path / "other.csv"
    source.write_text("STI [3], #1\nWAIT 2")
    full.symlink_to("/dev/full")
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    assert main(["run", str(source), "-q", "--stats", str(full), "--stats", str(other)]) == 4
    assert "deadlock" in capsys.readouterr().err and other.exists()
    source.write_text("STI [3], #1")
    assert main(["run", str(source), "-q", "--stats", str(full), "--stats", str(other)]) == 3
