"""Does each rule see what breaks it, and nothing else? Each on a tree of a few small files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture.rules import RULES, Rule

A_DOCSTRING = '"""A file."""\n'
ROUTINE = "x = 1\n"
FIVE_STEPS = {
    f"pixelflow/node/{low}.py": f"from pixelflow.node import {high}\n"
    for low, high in zip("abcde", "bcdef", strict=True)
}

BROKEN: dict[str, tuple[Mapping[str, str], str]] = {
    "a_class_name_means_one_thing": (
        {
            "pixelflow/a.py": "class Kind: ...\nclass _Kind: ...\n",
            "microcode/b.py": "class Kind: ...\nclass _Kind: ...\n",
        },
        "microcode/b.py:1: class Kind is also in pixelflow/a.py",
    ),
    "a_command_imports_in_one_place": (
        {
            "pixelflow/cli/go.py": "def a():\n    import microcode\n\n\ndef b():\n    import tessellation\n",
            "microcode/__init__.py": "",
            "tessellation/__init__.py": "",
        },
        "pixelflow/cli/go.py: imports other packages in 2 places: a (2), b (6)",
    ),
    "a_file_fits_in_one_reading": ({"tests/long.py": ROUTINE * 401}, "tests/long.py: 401 lines, the limit is 400"),
    "a_folder_has_few_floors": (
        {
            **FIVE_STEPS,
            "pixelflow/node/f/__init__.py": "",
            "pixelflow/node/__init__.py": "from pixelflow.node.a import x",
        },
        "pixelflow/node: 6 floors, the limit is 5: a.py -> b.py -> c.py -> d.py -> e.py -> f",
    ),
    "a_folder_holds_few_files": (
        {**{f"microcode/library/{n}.mc": "" for n in range(13)}, **{f"tests/{n}.py": "" for n in range(13)}},
        "microcode/library: 13 files, the limit is 12",
    ),
    "commands_format_no_figure": (
        {"pixelflow/cli/go.py": 'a = f"{b:>8} {b!r} {b:04X}"\na = f"{b:,.2f}"\n'},
        "go.py:2: formats",
    ),
    "commands_know_no_machine": (
        {
            "toy_bridge/__init__.py": A_DOCSTRING,
            "pixelflow/cli/larrabee.py": "# The toy's old spelling.\n",
            "pixelflow/cli/go.py": "from toy_bridge import a\ncores = nodes = a\n",
            "pixelflow/cli/draw/go.py": "f'{a} toys of a pixelflow node, --toy'\n",
        },
        "pixelflow/cli/draw/go.py:1: 'toy'",
    ),
    "every_file_says_what_it_is": ({"pixelflow/a.py": ROUTINE}, "pixelflow/a.py: no docstring"),
    "few_lines_use_any": ({"pixelflow/a.py": "x: Any\n" * 400}, "pixelflow/a.py:1: Any"),
    "file_names_are_the_fields": ({"pixelflow/node_utils.py": ""}, "pixelflow/node_utils.py: a name to avoid"),
    "folders_say_their_kind": (
        {
            "toy_bridge/isa/__init__.py": '"""Meaning: the instructions."""\n',
            "toy_bridge/README.md": "| `caches/` | time | the caches |\n",
            "toy_bridge/caches/lines.py": "",
            "toy_bridge/compare/sides.py": "",
            "toy_bridge/rest/odd.py": "",
        },
        "toy_bridge/rest: its docstring",
    ),
    "imports_follow_the_table": (
        {"pixelflow/simd/lanes/bad.py": "def f():\n    from pixelflow.node import Node\n"},
        "pixelflow/simd/lanes/bad.py:2: pixelflow.simd.lanes may not import pixelflow.node",
    ),
    "kinds_decide_imports": (
        {
            "pixelflow/node/README.md": "| `parts/array/` | meaning |\n| `run/order/` | time |\n"
            "| `account/` | watching |\n",
            "pixelflow/node/parts/array/__init__.py": "",
            "pixelflow/node/run/order/__init__.py": "",
            "pixelflow/node/run/__init__.py": "",
            "pixelflow/node/parts/__init__.py": "",
            "pixelflow/node/account.py": "import numpy\n",
            "pixelflow/node/lee.py": "import numpy\n",
            "pixelflow/node/run/order/igc.py": "def f():\n    import numpy.linalg\n",
        },
        "pixelflow/node/run/order/igc.py:2: time imports numpy",
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
            "toy_bridge/compare/sides.py": "import pixelflow.isa\n",
        },
        "toy_bridge/core.py:1: toy_bridge imports pixelflow.isa",
    ),
    "no_arrow_goes_upwards": (
        {
            "pixelflow/node/a/x.py": "from pixelflow.node.b.y import s\n",
            "pixelflow/node/b/y.py": "",
            "pixelflow/node/b/z.py": "from pixelflow.node.a.w import t\n",
            "pixelflow/node/a/w.py": "",
        },
        "pixelflow/node/a: imports in a circle: a -> b -> a",
    ),
    "no_files_in_a_circle": (
        {
            "pixelflow/node/__init__.py": "from pixelflow.node.low import x\nfrom pixelflow.node.high import High\n",
            "pixelflow/node/high.py": "from pixelflow.node import x\nclass High: ...\n",
            "pixelflow/node/low.py": "if TYPE_CHECKING:\n    from pixelflow import node\nx: node.High\n",
        },
        "high.py: imports in a circle: pixelflow/node/high.py -> pixelflow/node/low.py -> pixelflow/node/high.py",
    ),
    "no_second_list_of_mnemonics": (
        {"microcode/a.py": 'x = ["ADD", "alpha", "beta", "gamma"]\ny = ["ADD", "ADC", "SUB", "SBC"]\n'},
        "microcode/a.py:2: a list of mnemonics",
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
    "the_core_imports_no_machine": (
        {"pixelflow/simd/a.py": "import numpy\nfrom pixelflow.simd import b\nimport pixelflow.node\n"},
        "pixelflow/simd/a.py:3: the core imports pixelflow.node",
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
    "the_table_is_about_rooms_that_exist": ({"microcode/a.py": ""}, "microcode.lexer: a row of the table without"),
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
def test_the_rule_sees_what_breaks_it(tmp_path: Path, rule: Rule) -> None:
    files, expected = BROKEN[rule.__name__]
    found = rule(grown(tmp_path, files))
    assert any(expected in each for each in found), found


ALONE = (
    "commands_format_no_figure",
    "commands_know_no_machine",
    "folders_say_their_kind",
    "kinds_decide_imports",
    "machines_do_not_import_each_other",
)
ALONE += ("a_folder_has_few_floors", "a_folder_holds_few_files", "no_second_list_of_mnemonics", "packages_are_found")
ALONE += ("rooms_are_used_through_their_face", "the_core_imports_no_machine", "the_core_names_no_machine")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.__name__ in ALONE], ids=lambda rule: rule.__name__)
def test_the_rule_sees_nothing_else(tmp_path: Path, rule: Rule) -> None:
    """These broken trees also hold what comes near to breaking the rule and does not."""
    assert len(rule(grown(tmp_path, BROKEN[rule.__name__][0]))) == 1


def test_meaning_takes_no_time(tmp_path: Path) -> None:
    face = "from pixelflow.simd.observe import Bus\nfrom pixelflow.observe.stats import Stats\n"
    files = {
        "pixelflow/simd/lanes/a.py": "def f(now): ...\n",
        "pixelflow/simd/lanes/b.py": "from pixelflow.simd.boxes import Clock\nfrom pixelflow.observe import Bus\n",
        "pixelflow/simd/lanes/c.py": "from pixelflow.observe import Stats\n",
        "pixelflow/observe/__init__.py": face,
        "pixelflow/simd/observe.py": "class Bus: ...\n",
        "pixelflow/observe/stats.py": "class Stats: ...\n",
    }
    rule = next(rule for rule in RULES if rule.__name__ == "kinds_decide_imports")
    assert rule(grown(tmp_path, files)) == [
        "pixelflow/simd/lanes/a.py:1: f takes the time",
        "pixelflow/simd/lanes/b.py:1: meaning imports pixelflow.simd.boxes",
        "pixelflow/simd/lanes/c.py:1: meaning imports pixelflow.observe.stats, which watches",
    ]
