"""Does a writer remove what killed writers have left, and nothing else?"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixelflow.cli.screen import output_file

_WRITING = """
import sys
from pixelflow.simd.files import replacing
with replacing("out.json") as stream:
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process in the middle of writing a file, and the name that the file has until it is whole."""
    before = set(folder.iterdir())
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", _WRITING], cwd=folder, env=environment, **pipes) as process:
        assert process.stdout.readline() == "writing\n"
        (beside,) = set(folder.iterdir()) - before
        yield process, beside


def test_what_a_killed_process_leaves_the_next_writer_removes(tmp_path: Path) -> None:
    with writing(tmp_path) as (process, left):
        process.kill()
    assert left.read_bytes() == b"half"
    with output_file(tmp_path / "other.json") as stream:
        stream.write("{}")
    assert left.exists()
    with output_file(tmp_path / "out.json") as stream:
        stream.write("{}")
    assert sorted(os.listdir(tmp_path)) == ["other.json", "out.json"]


def test_what_a_process_is_writing_stays(tmp_path: Path) -> None:
    with writing(tmp_path) as (process, beside):
        with output_file(tmp_path / "out.json") as stream:
            stream.write("{}")
        assert beside.exists() and (tmp_path / "out.json").read_text() == "{}"
        process.communicate()
    assert os.listdir(tmp_path) == ["out.json"]
    assert (tmp_path / "out.json").read_bytes() == b"half"


@pytest.mark.parametrize(
    "name", [".out.json.0123456789abcdef.tmp", ".out.json.tmp", ".out.json.0123.tmp", "out.json.tmp"]
)
@pytest.mark.parametrize("made", ["file", "link", "folder", "pipe", "another owner"])
def test_only_what_a_writer_of_this_user_left_is_removed(tmp_path: Path, name: str, made: str) -> None:
    if made == "another owner" and os.getuid() != 0:
        pytest.skip("only root can give a file to another user")
    left, mine = tmp_path / name, tmp_path / "mine"
    mine.touch()
    match made:
        case "link":
            left.symlink_to(mine)
        case "folder":
            left.mkdir()
        case "pipe":
            os.mkfifo(left)
        case _:
            left.touch()
    if made == "another owner":
        os.chown(left, 65534, -1)
    with output_file(tmp_path / "out.json") as stream:
        stream.write("{}")
    assert os.path.lexists(left) == (made != "file" or "0123456789abcdef" not in name) and mine.exists()
