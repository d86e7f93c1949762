"""Is every machine found by its name, and does its record do what commands ask of it?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from microcode.assembly import assemble
from pixelflow.simd.configuration import leaves
from pixelflow.simd.drawing import PictureDifference, draw_frame
from pixelflow.simd.errors import InputError, nearest
from pixelflow.simd.machine import MachineRecord, machine_named, machine_names, machines, register
from tessellation.scenes import SceneSource, load_scene

NAMES = ("attila", "gen6", "larrabee", "pixelflow")
RUN_SCENES = {"attila"}
"""Machines that run scenes, not programs, and whose pictures are close to the reference."""
HALTED = {"gen6": "    nop\n", "larrabee": "    mov r1, 7\n", "pixelflow": "    LD R, #7\n"}


def test_names_are_there_without_an_import() -> None:
    code = "import sys; from pixelflow.simd.machine import machine_names; print(*machine_names())\n"
    code += "assert not {'larrabee_bridge', 'pixelflow.node', 'microcode'} & set(sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert tuple(found.stdout.split()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_record_says_what_commands_need(name: str) -> None:
    machine = machine_named(name)
    assert machine is machine_named(name) and machine.name == name and machine.title.lower() == name
    assert (
        len(machine.instructions) > (20 if name in RUN_SCENES else 40)
        and machine.instructions is machine.target.instructions
    )
    assert all(known.text and known.source for _, known, _, _ in leaves(machine.configuration()))
    assert all(isinstance(each, machine.configuration) for each in machine.presets.values())
    assert machines() == tuple(machine_named(each) for each in NAMES)


@pytest.mark.parametrize("name", sorted(set(NAMES) - RUN_SCENES))
def test_a_program_runs(name: str) -> None:
    machine = machine_named(name)
    run = machine.run(assemble(HALTED[name], machine.target))
    assert run.cycles > 0 and run.report().all_parts


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_is_drawn(name: str) -> None:
    frame = load_scene("enneper", SceneSource(size=(48, 32), patch_samples=3)).frame
    drawn = machine_named(name).draw(frame, parts=2)
    found = PictureDifference.of(drawn, draw_frame(frame))
    assert not found.wrong and bool(found.reason) == (name in RUN_SCENES) and found.colours < found.pixels / 20
    assert drawn.machine == machine_named(name).title
    assert drawn.parts == 2 and drawn.cycles > 0


def test_a_transposition_is_the_likeliest_slip() -> None:
    assert nearest("sdram.trdc_cycles", ["sdram.trc_cycles", "sdram.trcd_cycles"]) == "sdram.trcd_cycles"
    assert nearest("Ocunt", ["amount", "Count"]) == "Count"


def test_an_unknown_name_says_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown machine larabee") as caught:
        machine_named("larabee")
    assert "larrabee?" in caught.value.faults[0].hint
    with pytest.raises(InputError) as caught:
        machine_named("reyes")
    assert all(name in caught.value.faults[0].hint for name in ("attila", "gen6", "larrabee", "pixelflow"))


def test_a_machine_of_this_process(nothing_registered: None) -> None:
    other = replace(machine_named("larrabee"), name="other")
    assert register(other) is machine_named("other") and "other" in machine_names()
    with pytest.raises(InputError, match="there is a machine other already"):
        register(replace(other))


THIRD = "from dataclasses import replace\nfrom pixelflow.simd.machine import machine_named\n"
THIRD += "MACHINE = replace(machine_named('larrabee'), name='third')\n"


def test_a_third_machine_needs_an_entry_point_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_registered: None
) -> None:
    (tmp_path / "third_machine.py").write_text(THIRD)
    known = tmp_path / "third_machine-1.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: third-machine\nVersion: 1\n")
    entries = "[pixelflow.machines]\nthird = third_machine:MACHINE\nbroken = third_machine:THIRD\n"
    (known / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(tmp_path)
    assert machine_names() == ("attila", "broken", "gen6", "larrabee", "pixelflow", "third")
    assert isinstance(machine_named("third"), MachineRecord)
    with pytest.raises(InputError, match="third_machine:THIRD is not a machine of the name broken"):
        machine_named("broken")
