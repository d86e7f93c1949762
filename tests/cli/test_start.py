"""The frame around all commands: help, imports, usage errors, exit codes, pipes, interrupts."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelflow import __version__
from pixelflow.cli import main as main_file
from pixelflow.cli.registry import COMMANDS, CommandEntry

HEAVY = ("numpy", "rich", "bitarray", "PIL", "microcode", "tessellation", "pixelflow.node", "pixelflow.isa")


ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def command(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT, timeout=600
    )


def imported(*arguments: str) -> set[str]:
    result = command("-X", "importtime", "-m", "pixelflow.cli.main", *arguments)
    assert result.returncode == (0 if arguments else 2), result.stderr
    return {match[1] for match in re.finditer(r"\|\s+(\S+)$", result.stderr, re.MULTILINE)}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    names = imported(*arguments)
    assert "argparse" in names
    assert not [name for name in names for heavy in HEAVY if name == heavy or name.startswith(heavy + ".")]


def test_a_command_imports_only_its_own_needs() -> None:
    names = imported("config", "check", os.devnull)
    assert "pixelflow.config" in names
    assert not {"numpy", "rich", "microcode", "tessellation"} & names


def test_a_tessellation_imports_no_more_than_it_needs() -> None:
    names = imported("tessellate", "enneper", "--samples", "2", "--preset", "tiny")
    assert "tessellation.host.session" in names
    idle = {
        "rich",
        "tomllib",
        "tessellation.host.patch_server",
        "pixelflow.node.replay",
    }
    assert not idle & names


@pytest.mark.parametrize(
    "words",
    [
        "render --help",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("compare --help", "render enneper --samples 2 -o")),
    ],
)
def test_other_machines_are_asked_for_their_options_alone(words: str, tmp_path: Path) -> None:
    given = [*words.split(), *([str(tmp_path / "a.png"), "--size", "32x32"] if words.endswith("-o") else [])]
    code = "import sys\nfrom pixelflow.cli.main import main\nassert main(sys.argv[1:]) == 0\n"
    result = command("-c", code + "print(*sys.modules, file=sys.stderr)", *given)
    names = {name for name in result.stderr.split() if name.startswith("larrabee")}
    assert names == {"larrabee_bridge", "larrabee_bridge.commands"}, result.stderr


def test_version(pixelflow) -> None:
    assert pixelflow("--version").out == f"pixelflow-sim {__version__}\n"


def test_help_names_every_command_and_exit_code(pixelflow) -> None:
    result = pixelflow("--help")
    assert result.code == 0
    for each in COMMANDS.values():
        assert f"  {each.name:<12}{each.summary}" in result.out
    for code in (0, 1, 2, 3, 4, 5, 6, 70, 130):
        assert re.search(rf"\b{code} ", result.out)
    bare = pixelflow()
    assert (bare.code, bare.out) == (2, result.out)
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(pixelflow, name: str) -> None:
    result = pixelflow(name, "--help")
    assert result.code == 0
    assert f"usage: pixelflow {name}" in result.out
    assert ("--json" in result.out) == (name not in ("debug", "completion", "view")), "three have no report"


USAGE_ERRORS = [
    (["rnu"], "unknown command 'rnu'; did you mean run?"),
    (["xyzzy"], "unknown command 'xyzzy'; commands: "),
    (["--jsn", "isa"], "unknown option --jsn; did you mean --json?"),
    (["isa", "--jsn"], "unknown option --jsn; did you mean --json?"),
    (["run", "prog.mc", "--max-cylces", "3"], "unknown option --max-cylces; did you mean --max-cycles?"),
    (["run"], "the following arguments are required: PROG"),
    (["run", "prog.mc", "more"], "unexpected argument 'more'"),
    (["run", "prog.mc", "--engine", "row"], "did you mean rows?"),
    (["run", "prog.mc", "--max-cycles", "0"], "expected a whole number above 0, found '0'"),
    (["run", "prog.mc", "--max-cycles", "1e3"], "expected a whole number above 0, found '1e3'"),
    (["run", "prog.mc", "--expect-cycles", "many"], "expected a whole number, 0 or more, found 'many'"),
    (["run", "prog.mc", "--width", "5"], "expected 20 to 1000 columns"),
    (["run", "prog.mc", "--color", "allways"], "did you mean always?"),
    (["run", "prog.mc", "--dump", "register"], "did you mean registers?"),
    (["run", "prog.mc", "--format", "pdf"], "'pdf' is unknown; allowed: text, json, markdown, html"),
    (["run", "prog.mc", "--max"], "unknown option --max"),
    (["config"], "the following arguments are required: show|check|schema"),
    (["config", "shwo"], "did you mean show?"),
    (["config", "show", "--presett", "tiny"], "unknown option --presett; did you mean --preset?"),
    (["study", "schedules", "--rates", "400"], "option --rates is understood only after: pixelflow study supply"),
]


@pytest.mark.parametrize(("arguments", "expected"), USAGE_ERRORS, ids=[" ".join(each[0]) for each in USAGE_ERRORS])
def test_usage_errors(pixelflow, folder: Path, arguments: list[str], expected: str) -> None:
    result = pixelflow(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert expected in result.err
    assert "see: pixelflow" in result.err
    assert "Traceback" not in result.err


def failing(error: BaseException):
    class Failing:
        EXAMPLES = ()

        @staticmethod
        def add_arguments(parser) -> None:
            pass

        @staticmethod
        def run(args, screen) -> int:
            raise error

    class FailingCommand(CommandEntry):
        def load(self):
            return Failing

    return {"fail": FailingCommand("fail", "fails", "fail")}


def test_a_defect_is_reported_without_a_traceback(pixelflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_file, "COMMANDS", failing(RuntimeError("the lanes are bent")))
    result = pixelflow("fail")
    assert result.code == 70
    assert result.err.startswith("internal error: ")
    assert "Please send" in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in pixelflow("fail", "-v").err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MemoryError(), 70), (BrokenPipeError(), 141)])
def test_what_ends_a_command(pixelflow, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    monkeypatch.setattr(main_file, "COMMANDS", failing(error))
    monkeypatch.setattr(main_file, "_forget_standard_output", lambda: None)
    result = pixelflow("fail")
    assert result.code == code
    assert "Traceback" not in result.err


MANY = """\
import gc, sys
from pixelflow.cli import main as main_file
main_file.main = lambda: 0
main_file.process()
gc.unfreeze(); gc.enable()  # as main does once the command is imported
import microcode
from pixelflow.config import TINY
from pixelflow.node import Node
from pixelflow.node.pe_array import PeArray
program = microcode.assemble("SIGNAL 0\\nWAIT 1\\nstream tigc\\nWAIT 0\\nSIGNAL 1\\n")
for _ in range(200):
    Node(TINY, "rows").run(program)
print(sum(isinstance(each, PeArray) for each in gc.get_objects()))
"""


def test_arrays_that_nobody_needs_do_not_pile_up() -> None:
    """As in a sweep: each run of two streams is a cycle of objects, which hold all bytes of the PEs."""
    result = command("-c", MANY)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 100


def test_a_reader_that_goes_away() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelflow.cli.main", "isa", "--md"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    process.stdout.close()
    assert process.wait(timeout=600) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output() -> None:
    with open("/dev/full", "w") as full:
        arguments = [sys.executable, "-m", "pixelflow.cli.main", "about"]
        result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=600)
    assert result.returncode == 3
    assert result.stderr.startswith(b"standard output: ")
    assert b"Traceback" not in result.stderr


def wait_for_cpu(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has used so much CPU time: its run has begun, however busy the machine is."""
    place = Path(f"/proc/{process.pid}/stat")
    if not place.exists():
        time.sleep(4 * seconds)
        return
    while process.poll() is None and _cpu_ticks(place) < seconds * os.sysconf("SC_CLK_TCK"):
        time.sleep(0.05)


def _cpu_ticks(place: Path) -> int:
    return sum(map(int, place.read_text().rpartition(")")[2].split()[11:13]))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_run_with_130(folder: Path) -> None:
    (folder / "endless.mc").write_text("again: LD R, #1\nJMP again\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelflow", "run", "endless.mc", "--json", "--output", "state.json", "--no-progress"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    wait_for_cpu(process, 1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert re.fullmatch(rb"interrupted.* ([0-9,]+), endless.mc:[12]\n", err)
    result = json.loads(out)["result"]
    assert result["reason"] == "interrupted" and f"{result['cycles']:,}" in err.decode()
    assert json.loads((folder / "state.json").read_text())["registers"]["R"] == [1] * 8192


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("machine", "source"),
    [
        pytest.param("gen6", "TOP:\nadd (1) g1<1>D g1<0,1,0>D 1D\njmpi (1) TOP\n", marks=pytest.mark.slow),
        ("larrabee", "again: add r1, 1\njmp again\n"),
    ],
)
def test_ctrl_c_ends_an_endless_run_of_another_machine_with_130(folder: Path, machine: str, source: str) -> None:
    """Also one without a limit, whose native code hears no signal."""
    (folder / "endless.s").write_text(source)
    words = ["run", "--machine", machine, "endless.s", "--max-cycles", "none"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelflow", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    wait_for_cpu(process, 1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, b"")
    assert re.search(rb"interrupted.* [0-9,]+, endless.s:[123]\n$", err)


def test_ascii_terminals_get_replacements_not_a_crash(folder: Path) -> None:
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    arguments = [sys.executable, "-m", "pixelflow.cli.main", "config", "show"]
    result = subprocess.run(arguments, capture_output=True, env=environment, timeout=600)
    assert result.returncode == 0, result.stderr
    assert b"preset thesis" in result.stdout


def test_the_study_of_the_supply_takes_no_other_rate(pixelflow) -> None:
    result = pixelflow("study", "supply", "-D", "igc.supply=300")
    assert result.code == 2 and "--rates 300" in result.err


def test_the_package_is_the_command() -> None:
    result = command("-m", "pixelflow", "--version")
    assert (result.returncode, result.stdout) == (0, f"pixelflow-sim {__version__}\n")


@pytest.mark.slow
def test_a_python_without_docstrings_assembles_and_runs(folder: Path) -> None:
    for words in (["run", "prog.mc", "--json"], ["isa", "LD"], ["config", "schema"], ["stats", "list"]):
        result = command("-OO", "-m", "pixelflow", *words)
        assert (result.returncode, result.stderr) == (0, ""), words
    assert '"cycles": 9' in command("-OO", "-m", "pixelflow", "run", "prog.mc", "--json", "--preset", "tiny").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes a stream")
def test_a_closed_standard_output_is_said() -> None:
    words = [sys.executable, "-m", "pixelflow", "config", "show"]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *words]
    result = subprocess.run(closed, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=600)
    assert result.returncode == 3 and result.stderr.startswith("standard output: ")


def test_standard_input_without_end_is_refused() -> None:
    with open("/dev/zero", "rb") as endless:
        result = subprocess.run(
            [sys.executable, "-m", "pixelflow.cli.main", "run", "-"],
            stdin=endless, capture_output=True, text=True, env=ENVIRONMENT, timeout=600,
        )  # fmt: skip
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("standard input: ") and "16 MiB" in result.stderr
