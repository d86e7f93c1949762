"""Does each rule see what breaks it, and nothing else? Each on a tree of a few small files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture.rules import RULES, Rule, english, folders

A_DOCSTRING = '"""A file."""\n'

BROKEN: dict[str, tuple[Mapping[str, str], *tuple[str, ...]]] = {
    "a_class_name_means_one_thing": (
        {
            "pixelflow/a.py": "class Kind: ...\nclass _Kind: ...\n",
            "microcode/b.py": "class Kind: ...\nclass _Kind: ...\n",
        },
        "microcode/b.py:1: class Kind is also at pixelflow/a.py:1",
    ),
    "a_command_imports_in_one_place": (
        {
            "pixelflow/cli/go.py": "def a():\n    import microcode\n\n\ndef b():\n    import tessellation\n",
            "microcode/__init__.py": "",
            "tessellation/__init__.py": "",
        },
        "pixelflow/cli/go.py: imports other packages in 2 places: a (2), b (6)",
    ),
    "a_face_has_no_name_of_its_files": (
        {
            "microcode/__init__.py": "from microcode.check import check\n"
            "if TYPE_CHECKING:\n    from microcode.listing import listing, symbols\n",
            "microcode/check.py": "",
            "microcode/listing.py": "",
        },
        "microcode/__init__.py:3: listing is also a file of this folder",
    ),
    "a_file_name_is_said_once": (
        dict.fromkeys(("microcode/odd.py", "toy_bridge/odd.py", "toy_bridge/machine.py", "microcode/machine.py"), ""),
        "odd.py: said 2 times, and no word of the scheme",
    ),
    "a_file_that_is_named_exists": (
        {
            "microcode/a.py": "x = 'microcode/a.py', 'a.py', 'icrocode/a.py', 'about a.py'\n"
            "y = 'x\\nfrom microcode.a import x\\nfrom microcode.b import x\\nfrom numpy.c import x'\n",
        },
        "microcode/a.py:1: there is no icrocode/a.py",
        "microcode/a.py:2: there is no microcode.b",
    ),
    "a_folder_is_worth_opening": (
        {
            **{f"pixelflow/{room}/{n}.py": "" for room in ("large", "small", "course") for n in range(4)},
            "pixelflow/large/table.toml": "",
        },
        "pixelflow/small: 4 files, the fewest are 5",
    ),
    "a_folder_lies_near": (
        {f"pixelflow/simd/{room}/a.py": "" for room in ("lanes/native", "lanes", "lanes/far")},
        "pixelflow/simd/lanes/far: 3 folders below its package, the most are 2",
    ),
    "commands_format_no_figure": (
        {"pixelflow/cli/go.py": 'a = f"{b:>8} {b!r} {b:04X}"\na = f"{b:,.2f}"\n'},
        "pixelflow/cli/go.py:2: formats",
    ),
    "commands_know_no_machine": (
        {
            "toy_bridge/__init__.py": A_DOCSTRING,
            "pixelflow/cli/view.py": "# The toy's old spelling.\n",
            "pixelflow/cli/go.py": "from toy_bridge import a\ncores = nodes = a\n",
            "pixelflow/cli/render.py": "f'{a} toys of a pixelflow node, --toy'\ncores = a\n",
        },
        "pixelflow/cli/render.py:1: 'toy'",
        "pixelflow/cli/render.py:2: 'cores'",
    ),
    "english_is_plain": (
        {"pixelflow/a.py": '"""A file, told beside."""\nx = "besides"\n' + "# It lies beside.\n" * english.MOST},
        f"{2 * english.MOST + 2} turns, the most are ",
    ),
    "every_file_says_what_it_is": ({"pixelflow/a.py": "x = 1\n"}, "pixelflow/a.py: no docstring"),
    "few_lines_use_any": ({"pixelflow/a.py": "x: Any\n" * 400}, "400 lines with Any, the ceiling is "),
    "file_names_are_the_fields": ({"pixelflow/node_utils.py": ""}, "pixelflow/node_utils.py: a name to avoid"),
    "folders_of_machines_have_a_kind": (
        {
            "toy_bridge/alone.py": "",
            "toy_bridge/caches/lines.py": "",
            "pixelflow/node/run/stream.py": "",
            "gen6_bridge/time/run.py": "",
        },
        "toy_bridge.caches: which is it",
        "pixelflow.node.run.marks: a kind of nothing",
        "gen6_bridge.debugger: a kind of nothing",
    ),
    "imports_follow_the_table": (
        {
            "pixelflow/simd/lanes/bad.py": "import numpy\ndef f():\n    from pixelflow.node import Node\n",
            "pixelflow/simd/report/text.py": "from pixelflow.simd import errors, report\nimport pixelflow.simd.boxes\n",
            "pixelflow/simd/report/__init__.py": "",
            "pixelflow/simd/errors.py": "",
            "toy_bridge/a.py": "import pixelflow.simd.lanes, toy_bridge\nimport rich\n",
        },
        "pixelflow/simd/lanes/bad.py:3: pixelflow.simd.lanes may not import pixelflow.node",
        "pixelflow/simd/report/text.py:2: pixelflow.simd.report may not import pixelflow.simd.boxes",
        "toy_bridge/a.py:2: a room without a row may not import rich",
    ),
    "kinds_decide_imports": (
        {
            "pixelflow/simd/boxes.py": "",
            "pixelflow/simd/observe.py": "class Bus: ...\n",
            "pixelflow/simd/lanes/a.py": "def f(now): ...\n",
            "pixelflow/simd/lanes/b.py": "from pixelflow.simd.boxes import Clock\nfrom pixelflow.observe import Bus\n",
            "pixelflow/simd/lanes/c.py": "from pixelflow.observe import Stats\n",
            "pixelflow/observe/__init__.py": "from pixelflow.simd.observe import Bus\n"
            "from pixelflow.observe.node_statistics import Stats\n",
            "pixelflow/observe/node_statistics.py": "class Stats: ...\n",
            "pixelflow/node/account.py": "import numpy\n",
            "pixelflow/node/run/stream.py": "def f(now):\n    import numpy.linalg\n",
            "pixelflow/node/run/score.py": "import numpy, pixelflow.node.run.stream, pixelflow.node.account\n",
            "gen6_bridge/time/run.py": "import numpy\nimport pixelflow.simd.lanes.a\n",
        },
        "pixelflow/simd/lanes/a.py:1: f takes the time",
        "pixelflow/simd/lanes/b.py:1: meaning imports pixelflow.simd.boxes, which is time",
        "pixelflow/simd/lanes/c.py:1: meaning imports pixelflow.observe.node_statistics, which watches",
        "pixelflow/node/run/stream.py:2: time imports numpy.linalg",
        "pixelflow/node/run/score.py:1: meaning imports pixelflow.node.account, which watches",
        "gen6_bridge/time/run.py:2: time imports pixelflow.simd.lanes.a, which has values",
    ),
    "lanes_do_not_ask_for_the_machine": (
        {"pixelflow/simd/lanes/a.py": "def f(machine):\n    if machine.name: ...\n"},
        "pixelflow/simd/lanes/a.py:2: asks",
    ),
    "lanes_know_no_machine": ({"pixelflow/simd/lanes/a.py": "x = emc_count"}, "pixelflow/simd/lanes/a.py:1: 'emc'"),
    "lanes_name_no_mnemonic": ({"pixelflow/simd/lanes/a.py": "x = 'ADC'"}, "pixelflow/simd/lanes/a.py:1: mnemonic ADC"),
    "library_code_does_not_print": ({"microcode/a.py": "print(1)"}, "microcode/a.py:1: print"),
    "machines_do_not_import_each_other": (
        {
            "pixelflow/isa/__init__.py": "",
            "toy_bridge/core.py": "import pixelflow.isa\n",
            "toy_bridge/compare.py": "import pixelflow.isa\n",
        },
        "toy_bridge/core.py:1: toy_bridge imports pixelflow.isa",
    ),
    "no_imports_in_a_circle": (
        {
            "pixelflow/node/a/x.py": "from pixelflow.node.b.y import s\n",
            "pixelflow/node/b/y.py": "",
            "pixelflow/node/b/z.py": "def f():\n    from pixelflow.node.a.w import t\n",
            "pixelflow/node/a/w.py": "",
            "pixelflow/isa/__init__.py": "from pixelflow.isa.low import x\nfrom pixelflow.isa.high import High\n",
            "pixelflow/isa/high.py": "from pixelflow.isa import x\nclass High: ...\n",
            "pixelflow/isa/low.py": "if TYPE_CHECKING:\n    from pixelflow import isa\nx: isa.High\n",
            "pixelflow/view/app.py": "import pixelflow.view.server\n",
            "pixelflow/view/server.py": "import pixelflow.view.app\n",
        },
        "pixelflow/node/a: imports in a circle: a -> b -> a",
        "pixelflow/node/b: imports in a circle: b -> a -> b",
        "pixelflow/isa/high.py: imports in a circle: high.py -> low.py -> high.py",
        "pixelflow/isa/low.py: imports in a circle: low.py -> high.py -> low.py",
    ),
    "no_second_list_of_mnemonics": (
        {"microcode/a.py": 'x = ["ADD", "alpha", "beta", "gamma"]\ny = ["ADD", "ADC", "SUB", "SBC"]\n'},
        "microcode/a.py:2: a list of mnemonics",
    ),
    "only_faces_list_their_names": (
        {"microcode/__init__.py": "__all__ = []\n", "microcode/a.py": "x = 1\n__all__ = ['x']\n"},
        "microcode/a.py:2: __all__ outside of a face",
    ),
    "packages_are_found": ({"loose/a.py": "", "loose_bridge/__init__.py": ""}, "loose: a folder"),
    "rooms_are_used_through_their_face": (
        {
            "pixelflow/node/__init__.py": "",
            "pixelflow/node/run/stream.py": "",
            "tessellation/a.py": "from pixelflow import node\nfrom pixelflow.node.run import stream\n",
        },
        "tessellation/a.py:2: pixelflow.node.run.stream is a private room",
    ),
    "the_core_names_no_machine": (
        {"pixelflow/simd/a.py": "# An EMC, said in a comment.\nx = 1\nclass PeArray: ...\n"},
        "pixelflow/simd/a.py:3: 'pe'",
    ),
    "the_front_loads_nothing": (
        {
            "pixelflow/__init__.py": "if TYPE_CHECKING:\n    from microcode import x\n__version__ = '1'\n",
            "microcode/__init__.py": "",
            "microcode/a.py": "from pixelflow import __version__\n\n\ndef f():\n    from pixelflow import Node\n",
        },
        "microcode/a.py:5: asks pixelflow for Node",
    ),
    "the_table_is_about_rooms_that_exist": (
        {"microcode/draft.py": ""},
        "microcode.lexer: a row of the table without a room",
    ),
}


def grown(root: Path, files: Mapping[str, str]) -> Path:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    for path in root.iterdir():
        if path.name not in ("tests", "loose") and not (path / "__init__.py").exists():
            (path / "__init__.py").write_text(A_DOCSTRING)
    return root


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_sees_what_breaks_it_and_nothing_else(tmp_path: Path, rule: Rule) -> None:
    """Each tree also holds what comes near to breaking the rule and does not."""
    files, *expected = BROKEN[rule.__name__]
    found = rule(grown(tmp_path, files))
    assert all(any(each.startswith(wanted) for each in found) for wanted in expected), found
    assert len(found) == len(expected) or rule.__name__ == "folders_of_machines_have_a_kind", found


def test_the_scheme_has_few_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "SCHEME", {str(number): "a meaning" for number in range(30)})
    assert len(folders.a_file_name_is_said_once(tmp_path)) == 1


def test_every_rule_has_a_broken_tree() -> None:
    assert {rule.__name__ for rule in RULES} == {*BROKEN}
