"""Are files read as promised: includes, encodings, line ends, and what cannot be read?"""

from __future__ import annotations

from pathlib import Path

import pytest

from microcode import Builder, assemble
from pixelflow.simd.errors import InputError, format_error
from pixelflow.simd.files import SOURCE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, so that messages show bare file names."""
    monkeypatch.chdir(tmp_path)

    def write(**files: str | bytes):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.with_suffix(".mc").write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


def message(path: str, **parameters) -> str:
    with pytest.raises(InputError) as caught:
        assemble(path, **parameters)
    return format_error(caught.value)


def texts(path: str) -> list[str]:
    return [instruction.text() for instruction in assemble(path).instructions]


def test_include_next_to_the_including_file(folder) -> None:
    folder(main='include "sub/a.mc"\nm\n', sub__a='include "b.mc"\nmacro m()\nLD R, #K\nend\n', sub__b="const K = 3\n")
    assert texts("main.mc") == ["LD R, #3", "HALT"]


def test_include_from_the_library(folder) -> None:
    folder(main='include "float32/tuned.mc" with SCRATCH = 200\nrange x[4]\nCALL fadd, x, x, x\n')
    assert assemble("main.mc").routine("fadd").scratch[0][0] == 200


def test_a_library_file_is_the_same_again_whatever_followed_it(folder) -> None:
    """A process keeps what such a file adds to the start of a program."""
    again = 'include "float32/tuned.mc" with SCRATCH = 208\nrange x[4]\nCALL fadd, x, x, x\n'
    other = again + 'const K = 1\nproc mine()\nMARK "stage"\nCALL fmul, x, x, x\nend\nrange y[8]\n'
    folder(again=again, other=other, own=again.replace("CALL", "routine fmul(a)\nend\nCALL"))
    first, more, second = assemble("again.mc"), assemble("other.mc"), assemble("again.mc")
    assert first == second and first.lines == second.lines and more.words != first.words
    assert [each.name for each in more.routines if each not in second.routines] == ["mine"]
    assert "own.mc:3:9: error: fmul is defined twice" in message("own.mc")


def test_parameters_of_an_included_file(folder) -> None:
    folder(main='include "a.mc" with N = 2\ninclude "a.mc" with N = 3\n', a="param N = 1\nproc f{N}()\nLD R, #N\nend\n")
    assert [routine.name for routine in assemble("main.mc").routines] == ["f2", "f3"]


def test_the_same_include_twice_counts_once(folder) -> None:
    folder(main='include "a.mc"\ninclude "b.mc"\n', a='include "b.mc"\n', b="proc f()\nend\n")
    assert [routine.name for routine in assemble("main.mc").routines] == ["f"]


def test_an_included_file_sees_only_its_own_names(folder) -> None:
    folder(main='const K = 3\ninclude "a.mc"\n', a="LD R, #K\n")
    assert message("main.mc") == "a.mc:1:8: error: unknown name K\n    1 | LD R, #K\n      |        ^"


def test_unknown_parameter_of_an_include(folder) -> None:
    folder(main='include "a.mc" with SCRACH = 2\n', a="param SCRATCH = 1\n")
    assert message("main.mc").split("\n")[0] == "main.mc:1:21: error: the file has no param SCRACH"
    assert "did you mean SCRATCH?" in message("main.mc")


def test_missing_include(folder) -> None:
    folder(main='include "float32/tuend.mc"\nLD R, #K\n')
    assert message("main.mc") == (
        "main.mc:1:9: error: file float32/tuend.mc is not found\n"
        '    1 | include "float32/tuend.mc"\n'
        f"      |         {'^' * 18}\n"
        "    did you mean float32/tuned.mc?"
    )


def test_sixteen_files_include_each_other_in_a_row(folder) -> None:
    chain = {f"f{at}": f'include "f{at + 1}.mc"\n' for at in range(1, 15)}
    folder(main='include "f1.mc"\n', f15="LD R, S\n", **chain)
    assert len(assemble("main.mc").instructions) == 2, "and HALT"
    folder(main='include "f1.mc"\n', f15='include "f16.mc"\n', f16="LD R, S\n", **chain)
    assert "files are included more than 16 deep" in message("main.mc")


def test_recursive_include(folder) -> None:
    folder(main='include "a.mc"\n', a='include "main.mc"\n')
    assert message("main.mc").startswith("a.mc:1:9: error: main.mc includes itself\n")
    assert "main.mc includes a.mc includes main.mc" in message("main.mc")


def test_crlf_a_byte_order_mark_and_no_final_newline_change_nothing(folder) -> None:
    folder(lf="LD R, S\nMSTEP\n", crlf=b"\xef\xbb\xbfLD R, S\r\nMSTEP")
    assert assemble("lf.mc").words == assemble("crlf.mc").words


UNREADABLE = {
    "empty": (b"", "x.mc: error: the source is empty: there is nothing to assemble"),
    "only comments": (b"; nothing\n\n", "x.mc: error: the source is empty: there is nothing to assemble"),
    "binary": (b"LD R, S\n\x7fELF\0\0", "x.mc:2: error: this is a binary file, not microcode: it holds a zero byte"),
    "zero after an empty line": (
        b"\n\0",
        "x.mc:2: error: this is a binary file, not microcode: it holds a zero byte",
    ),
    "latin-1": (b"LD R, S\n; \xe4rger\n", "x.mc:2:3: error: not UTF-8 text: byte 0xe4\n    save the file as UTF-8"),
    "utf-16": (
        "LD R, S".encode("utf-16"),
        "x.mc: error: this is UTF-16 text\n    microcode is UTF-8: save the file as UTF-8",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_files(folder, name: str) -> None:
    content, expected = UNREADABLE[name]
    folder(x=content)
    assert message("x.mc") == expected


def test_a_file_that_is_not_there(folder) -> None:
    assert message("none.mc") == "none.mc: error: no such file"


def test_faults_of_several_files_come_together(folder) -> None:
    folder(main='include "a.mc"\nLDD R, S\n', a="LD R\n")
    assert message("main.mc").count("error:") == 2


def test_builder_includes_once(folder) -> None:
    folder(a="param N = 3\nproc f()\nLD R, #N\nend\n")
    b = Builder()
    assert b.include("a.mc", N=4)["N"] == 4
    b.include("a.mc", N=4)
    assert len(b.build().routines) == 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_a_source_without_end_is_refused_after_the_stated_limit(folder) -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: error: too large to be microcode: over 16 MiB$"):
        assemble(Path("/dev/zero"))
    folder(long=b"; \n" * (SOURCE.limit // 3 + 1))
    assert message("long.mc") == "long.mc: error: too large to be microcode: over 16 MiB"
