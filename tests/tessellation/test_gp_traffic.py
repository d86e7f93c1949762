"""Do the executed ways from and to the GPs move the bytes that the direct ways do, in the cycles of section 4.1.4?"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY, ArrayConfig, NodeConfig
from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, PatchManager, load, tessellate
from tessellation.host.session import Session
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned
from tessellation.microprogram.method import library_named
from tessellation.plan.schedule import Stage
from tests.tessellation.test_texture_path import SMALL, bicubic_pass, same_bits


def session(method: Method, config: NodeConfig, patches: list[Patch]) -> Session:
    found = Session(config, "rows", library_named("tuned"), method)
    for patch in patches:
        found.add(patch)
    return found


def digests(one: Session) -> list[str]:
    return [memory.digest() for memory in one.node.texture_memory]


@pytest.mark.parametrize("schedule", ["thesis", pytest.param("shared-columns", marks=pytest.mark.slow)])
@pytest.mark.parametrize("replication", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_loaded_database_is_the_one_that_is_written_at_once(schedule, replication, teapot):
    odd = [Patch(np.random.default_rng(n).normal(size=(n, 4, 3))) for n in (3, 5, 8)]
    found = []
    for way in ("direct", "gp"):
        one = session(
            Method(schedule=schedule, replication=replication, load=way), SMALL, [*teapot[:3], *odd, *teapot[3:9]]
        )
        first = one.tessellate({0: 4})[0].load
        # Patches that come later are loaded before the next pass, and only they.
        one.add(teapot[9])
        second, third = (one.tessellate({number: 4})[0].load for number in (12, 0))
        assert (first is None) == (second is None) == (way == "direct") and third is None
        assert first is None or (first.cycles > second.cycles and list(first.by_stage) == [Stage.LOAD.value])
        found.append(digests(one))
    assert found[0] == found[1] and len(set(found[0])) == (1 if replication == 2 else 2)


@pytest.mark.parametrize(
    "method",
    [
        Method(),
        pytest.param(Method(schedule="shared-columns"), marks=pytest.mark.slow),
        Method(control_points="lee"),
        Method(mantissa_bytes=5, hybrid=True),
        Method(sends=1),
    ],
    ids=lambda method: f"{method.control_points}-{method.schedule}-{method.mantissa_bytes}-{method.sends}",
)
def test_results_from_gp_memory_have_the_bits_of_the_direct_way(method, teapot):
    patches, samples = teapot[:9], [4, 8, 5, 2, 4, 4, 3, 16, 4]
    ways = [replace(method, load="gp" if method.from_texture else "direct", results=way) for way in ("direct", "gp")]
    direct, returned = (tessellate(patches, samples, library="tuned", config=SMALL, method=way) for way in ways)
    assert same_bits(direct, returned) and returned.within_limits
    stages = returned.cycles_by_stage
    assert returned.cycles - direct.cycles == stages.pop(Stage.RETURN.value) and stages == direct.cycles_by_stage
    assert len(returned.loads) == method.from_texture and not returned.not_counted


def test_a_full_array_takes_98304_cycles_back_and_its_database_131072(teapot):
    result = tessellate([*load("teapot").patches] * 16, 4, library="tuned", method=Method(load="gp", results="gp"))
    (run,), (loaded,) = result.runs, result.loads
    assert run.gni_cycles["store0"] == 98_304 == THESIS.lanes * RESULT_BYTES // 2
    assert result.cycles_by_stage[Stage.RETURN.value] == 98_414, "the README says so"
    assert loaded.cycles == result.load_cycles == 131_930, "512 patches of 512 bytes over 2 bytes a cycle, in 4 loads"
    print(f"results to the GPs: 98,304 cycles on the path, {result.cycles} for the pass; load {result.load_cycles}")


def test_fine_grain_overlap_hides_the_points(teapot):
    """Table 11: X, Y and Z of a module leave beside a read each; only the normals are left at the end."""
    direct, fine = (
        bicubic_pass(),
        tessellate([*load("teapot").patches] * 16, 4, library="plain", method=Method(results="gp-fine")),
    )
    assert same_bits(direct, fine)
    (run,) = fine.runs
    stages, before = fine.cycles_by_stage, direct.cycles_by_stage
    assert fine.return_cycles == run.gni_cycles["store0"] == 98_304
    assert stages.pop(Stage.RETURN.value) == 49_236, "49,152 for the normals, 24 + 24 cycles of copies, and the way"
    assert stages.pop(Stage.MARKS.value) == before.pop(Stage.MARKS.value) + 3, "marks for writing"
    assert stages == before, "all of the points' 49,152 cycles are hidden: no transfer but the first is waited for"
    reads = [one for one in run.program.instructions if one.declaration.mnemonic == "TAS_MemRdGp4"]
    assert len(reads) == 3 * 4, "a coordinate of one module each"
    assert fine.cycles - stages[Stage.LEE.value] == 151_895, "the README says so"


@pytest.mark.parametrize(
    ("sends", "modules", "most"),
    [pytest.param(16, 2, 12, marks=pytest.mark.slow), pytest.param(1, 8, 12, marks=pytest.mark.slow), (4, 2, 5)],
)
def test_fine_grain_results_have_the_bits_of_the_direct_way(sends, modules, most, teapot):
    """With 8 modules there are more coordinates than reads; the rest leaves before the normals."""
    config = NodeConfig(array=ArrayConfig(modules=modules, emcs_per_module=2))
    odd = [Patch(np.random.default_rng(n).normal(size=(n, m, 3))) for n, m in ((3, 3), (most, most))]
    patches, samples = [*teapot[:6], *odd], [4, 8, 5, 2, 3, 16, 4, 3]
    ways = [Method(sends=sends, results=way) for way in ("direct", "gp-fine")]
    direct, fine = (tessellate(patches, samples, library="tuned", config=config, method=method) for method in ways)
    assert same_bits(direct, fine) and len(fine.plans) == 3


def test_only_columns_and_modules_with_patches_return_results(teapot):
    result = tessellate(teapot[:3], 4, method=Method(results="gp"))
    (plan,) = result.plans
    sent = Returned.of(plan.work)
    assert (sent.modules, sent.columns) == (0b111, 4)
    assert [len(sent.lanes(module, THESIS.array)) for module in range(3)] == [64 // 4 * 4] * 3
    assert result.runs[0].gni_cycles["store0"] == 3 * 64 * RESULT_BYTES // 2


def test_several_passes_return_their_results_one_after_the_other(teapot):
    direct, returned = (tessellate(teapot[:20], 4, config=TINY, method=Method(results=way)) for way in ("direct", "gp"))
    assert len(returned.runs) == 2 and same_bits(direct, returned)


def test_the_manager_loads_once(teapot):
    manager = PatchManager({3: 4}, config=TINY, method=Method(load="gp", results="gp"))
    handles = [manager.add(patch) for patch in teapot[:4]]
    handles[2].mark(5)
    manager.tessellate()
    expected = tessellate([teapot[2]], 5, config=TINY, library="tuned").patches[0]
    assert handles[2].result.points.tobytes() == expected.points.tobytes()
    assert handles[2].result.normals.tobytes() == expected.normals.tobytes()


def test_the_command_says_what_is_not_counted(capsys):
    load, reading = "load of the database (PF201)", "reading of the results (PF202)"
    for options, left_out in (
        ((), [load, reading]),
        (("--load", "gp"), [reading]),
        (("--load", "gp", "--results", "gp"), []),
    ):
        assert main(["tessellate", "enneper", "--preset", "tiny", "--samples", "4", "--json", *options]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["not_counted"] == left_out and (report["result"]["load_cycles"] > 0) == (load not in left_out)


def test_what_cannot_be_done_is_refused():
    for call, message in (
        (lambda: Method(load="pg"), "unknown way of the database 'pg'"),
        (lambda: Method(results="gpp"), "did you mean gp"),
        (lambda: Method("lee", results="gp-fine"), "during reads of texture memory"),
        (lambda: Method(gps=2), "go to no GP"),
        (lambda: Method("lee", load="gp"), "needs control points from texture memory"),
    ):
        with pytest.raises(InputError, match=message):
            call()
