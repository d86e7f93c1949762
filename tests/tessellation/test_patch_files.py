"""Does the reader take every good file, and refuse every bad one with a message that says where and why?"""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.simd.errors import InputError
from tessellation import Convention, Patch, format_bpt, load, parse_bpt, read_bpt
from tessellation.surface.bpt import MAX_FAULTS

POINTS = [f"{i} {j} {i * j / 4}" for i in range(3) for j in range(4)]
GOOD = "\n".join(["1", "2 3", *POINTS]) + "\n"


def refusal(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse_bpt(text if isinstance(text, bytes) else text.encode(), "net.bpt")
    return str(caught.value)


def test_good_file():
    file = parse_bpt(GOOD.encode(), "net.bpt")
    assert file.convention is Convention.DEGREES and file.notes == ()
    (patch,) = file.patches
    assert patch.degrees == (2, 3) and patch.counts == (3, 4)
    assert patch.points[2, 3].tolist() == [2.0, 3.0, 1.5]
    assert patch.points[0, 1].tolist() == [0.0, 1.0, 0.0], "the second index runs fastest"


@pytest.mark.parametrize(
    "text",
    [GOOD.replace("\n", "\r\n"), GOOD.rstrip("\n"), "\ufeff" + GOOD, GOOD.replace(" ", "\t"), "\n\n" + GOOD + "\n \n"],
    ids=["CRLF", "no final newline", "byte order mark", "tabs", "blank lines"],
)
def test_harmless_variants_read_the_same(text):
    (patch,) = parse_bpt(text.encode(), "net.bpt").patches
    assert (patch.points == parse_bpt(GOOD.encode(), "net.bpt").patches[0].points).all()


def test_headers_that_give_numbers_of_points():
    file = parse_bpt(GOOD.replace("2 3\n", "3 4\n", 1).encode(), "net.bpt")
    assert file.convention is Convention.COUNTS and file.patches[0].counts == (3, 4)
    assert len(file.notes) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["net.bpt:1", "is empty"]),
        ("\n \n", ["is empty"]),
        (b"\x7fELF\0\0\0", ["not a text file"]),
        (GOOD.encode("utf-16"), ["UTF-16"]),
        (GOOD.encode() + b"\xff\n", ["net.bpt:15: error: byte 0xFF is not UTF-8"]),
        ("teapot\n" + GOOD[2:], ["net.bpt:1", "expected the number of patches"]),
        ("-1\n" + GOOD[2:], ["expected the number of patches"]),
        ("0\n", ["holds no patch"]),
        ("2" + GOOD[1:], ["net.bpt:1:1: error: the file says 2 patches and holds 1"]),
        (GOOD + GOOD[2:], ["patch 2 of 2, but the file says 1 patch"]),
        (GOOD + "1 2 3\n", ["net.bpt:15", "text after the last patch (1 line)"]),
        (GOOD + "end of file\n", ["text after the last patch"]),
        ("\n".join(GOOD.splitlines()[:-1]), ["patch 1 (3x4) has 11 of 12 control points"]),
        (GOOD.replace("2 3", "0 3", 1), ["net.bpt:2:1: error: degree 0 of patch 1", "allowed: 2 to 11"]),
        (GOOD.replace("2 3", "2 99999", 1), ["net.bpt:2:3: error: degree 99999 of patch 1"]),
        (GOOD.replace("2 3", "2 3 4", 1), ["expected the header of patch 1"]),
        (GOOD.replace("1 1 0.25", "1 nan 0.25"), ["net.bpt:8:3: error: not a number: nan"]),
        (GOOD.replace("1 1 0.25", "1 1 -inf"), ["net.bpt:8:5: error: not a number: -inf"]),
        (GOOD.replace("1 1 0.25", "1 1 1e39"), ["1e39 overflows binary32", "3.40282347e+38"]),
        (GOOD.replace("1 1 0.25", "1 1 0x10"), ["not a number: 0x10"]),
        (GOOD.replace("1 1 0.25", "1 1 1_0"), ["not a number: 1_0"]),
        (GOOD.replace("1 1 0.25", "1 1"), ["net.bpt:8", "expected three numbers, found 2"]),
        (GOOD.replace("1 1 0.25", "1 1 0.25 7"), ["expected three numbers, found 4"]),
        (GOOD.replace("1 1 0.25", "1, 1, 0.25"), ["not a number: 1,", "blanks, not commas"]),
        (GOOD.replace("1 1 0.25", "1,1,0.25"), ["expected three numbers, found 1", "blanks, not commas"]),
        ("9" * 5000 + "\n", ["expected the number of patches"]),
    ],
)
def test_bad_files(text, expected):
    message = refusal(text)
    for part in expected:
        assert part in message
    assert "Traceback" not in message and len(message) < 4000


def test_several_faults_at_once():
    bad = GOOD.replace("1 1 0.25", "1 nan 0.25").replace("2 2 1.0", "2 2").replace("2 3 1.5", "2 3 1e40")
    assert [fault.place.line for fault in _faults(bad)] == [8, 13, 14]


def test_very_many_faults_are_counted():
    faults = _faults("1\n11 11\n" + "x y z\n" * 144)
    assert len(faults) == MAX_FAULTS + 1 and "412" in str(faults[-1])


def _faults(text: str):
    with pytest.raises(InputError) as caught:
        parse_bpt(text.encode(), "net.bpt")
    return caught.value.faults


def test_a_short_patch_does_not_hide_the_next_one():
    lines = GOOD.splitlines()
    text = "\n".join(["2", *lines[1:-1], *lines[1:5], "7 7 seven", *lines[6:]])
    assert [fault.place.line for fault in _faults(text)] == [2, 18]


def test_subnormal_coordinates_are_noted():
    file = parse_bpt(GOOD.replace("1 1 0.25", "1 1 1e-40").replace("1 2 0.5", "1e-300 2 0.5").encode(), "net.bpt")
    assert len(file.notes) == 1 and file.notes[0].startswith("2 ")


def test_written_files_read_back_bit_for_bit(teapot):
    generator = np.random.default_rng(7)
    patches = (*teapot, Patch(generator.normal(size=(5, 8, 3)) * 1e-9))
    again = parse_bpt(format_bpt(patches).encode(), "again.bpt").patches
    assert all((a.points == b.points).all() for a, b in zip(patches, again, strict=True))


def test_built_in_models(teapot, enneper):
    assert len(teapot) == 32 and len(enneper) == 4
    assert {patch.counts for patch in (*teapot, *enneper)} == {(4, 4)}
    points = np.concatenate([patch.points.reshape(-1, 3) for patch in teapot])
    assert points.min(axis=0).tolist() == [-3.0, -2.0, 0.0] and points.max(axis=0).tolist() == [3.525, 2.0, 3.15]


def test_missing_file_names_the_nearest_built_in(tmp_path):
    with pytest.raises(InputError, match="did you mean the built-in teapot"):
        load("teapto")
    with pytest.raises(InputError, match="is a folder"):
        read_bpt(tmp_path)


def test_patch_refuses_what_is_no_net():
    with pytest.raises(InputError, match="shape"):
        Patch(np.zeros((4, 4)))
    with pytest.raises(InputError, match="two points"):
        Patch(np.zeros((1, 4, 3)))
    with pytest.raises(InputError, match=r"control point \(1, 2\) has z"):
        bad = np.zeros((4, 4, 3))
        bad[1, 2, 2] = 1e39
        Patch(bad)
    with pytest.raises(ValueError, match="read-only"):
        Patch(np.zeros((4, 4, 3))).points[0, 0, 0] = 1.0


ALMOST = (
    "1\n2 2\n" + "0 0 0\n" * 9,
    "1\n2 2\n" + "0 0 0\n" * 8,
    "1\n2 2\n" + "0 0 0\n" * 10,
    "1\n2 2\n" + "0 0 0\n" * 8 + "0 0\n",
    "1\n2 2\n" + "0 0 0\n" * 8 + "0 0 1e39\n",
    "1\n2 2\n" + "0 0 0\n" * 8 + "0 0 .\n",
    "1\n2 2\n" + "0 0 0\n" * 8 + "0 0 1-2\n",
    "1\n2 2\n" + "0 0 0\n" * 8 + "+1. -.5e-3 1E+2\n",
    "2\n2 2\n" + "0 0 0\n" * 9 + "2 2\n" + "1 2 3\n" * 9,
    "2\n2 2\n" + "0 0 0\n" * 8 + "2 2\n" + "1 2 3\n" * 9,
    "1\n3 3\n" + "0 0 0\n" * 9,
    "1\n2 2\r\n" + "0\t0  0\r" * 9,
    "1\n2 2\n" + "0 0 1e-45\n" * 9,
)


@pytest.mark.parametrize("text", ALMOST)
def test_points_taken_at_once_are_those_taken_one_by_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> object:
        try:
            file = parse_bpt(text.encode(), "x")
        except InputError as error:
            return str(error)
        return file.convention, file.notes, [patch.points.tolist() for patch in file.patches]

    at_once = outcome()
    monkeypatch.setattr("tessellation.surface.bpt._Reader.flawless", lambda self, needed: None)
    assert outcome() == at_once
