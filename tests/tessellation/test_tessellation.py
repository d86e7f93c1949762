"""Are the points and normals that microcode computes within the limits, at the cycles that follow from the program?"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY, ArrayConfig, NodeConfig
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available
from tessellation import LIMIT, Method, Patch, Tessellation, check, evaluate, load, tessellate
from tessellation.host.session import Session
from tessellation.microprogram.method import library_named
from tessellation.plan.memory_map import memory_map
from tessellation.plan.schedule import Stage
from tessellation.reproduction.cost_model import address_cycles, bernstein_cycles, total_operations
from tessellation.surface.patch import bernstein_bits
from tests.tessellation.models import shared_model

LEE = Method(control_points="lee")
TWO_EMCS = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=2))


@cache
def on_full_array(model: str, samples: int) -> Tessellation:
    """Return a model's tessellation on the thesis machine, computed once for all tests."""
    return tessellate(load(model).patches, samples, method=LEE)


def show(result: Tessellation) -> str:
    return (
        f"point {result.worst_point_error:.3f}, normal {result.worst_normal_error:.3f} of {LIMIT:g}, "
        f"{result.degenerate} degenerate, {result.cycles} cycles"
    )


def one_pass(patches, samples, config, library="tuned", method=LEE):
    """Return a session's node and the program of the only pass of these patches."""
    session = Session(config, "rows", library_named(library), method)
    for patch in patches:
        session.add(patch)
    (plan,) = session.plan(dict(enumerate(samples)))
    return session, session.program(plan)


def raised(patch: Patch, degree: int) -> Patch:
    """Return the same surface with a net of higher degree in both directions."""

    def matrix(low: int) -> np.ndarray:
        gain = degree - low
        rows = [[comb(low, j) * comb(gain, i - j) if 0 <= i - j <= gain else 0 for j in range(low + 1)]
                for i in range(degree + 1)]  # fmt: skip
        return np.array(rows) / np.array([comb(degree, i) for i in range(degree + 1)])[:, None]

    left, right = (matrix(low) for low in patch.degrees)
    return Patch(np.einsum("ia,abc,jb->ijc", left, patch.points, right))


@pytest.mark.parametrize(("samples", "degenerate"), [(4, 32), (8, 64), (16, 128)])
def test_teapot_is_within_the_limits(samples, degenerate):
    result = on_full_array("teapot", samples)
    print(show(result))
    assert result.within_limits, show(result)
    assert result.degenerate == degenerate and result.lost_normals == 0
    assert len(result.plans) == 1 and result.samples == 32 * samples**2


@pytest.mark.parametrize(
    ("model", "samples", "passes"),
    [
        ("enneper_d5.bpt", 8, 1),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("gumbo.bpt", 8, 1),
                ("teapot_deg7.bpt", 4, 1),
                ("teaspoon.bpt", 4, 1),
                ("teaspoon.bpt", 8, 1),
                ("gumbo.bpt", 4, 1),
                ("gumbo.bpt", 16, 4),
                ("enneper_d3.bpt", 8, 1),
                ("enneper_d7.bpt", 8, 1),
            )
        ),
    ],
)
def test_other_models_are_within_the_limits(model, samples, passes):
    result = tessellate(load(shared_model(model)).patches, samples)
    print(show(result))
    assert result.within_limits and result.lost_normals == 0, show(result)
    assert len(result.plans) == passes
    if result.samples == passes * THESIS.lanes:
        assert all(one.work.occupancy == 1.0 for one in result.plans)
    compare_with_data(result, model, samples)
    mesh = result.mesh(weld=True)
    assert check(mesh).clean and np.isfinite(mesh.normals).all()


@pytest.mark.parametrize("samples", [4, 8, 16])
def test_teapot_against_data_in_extended_precision(samples):
    shared_model("teapot_ref.npz")
    compare_with_data(on_full_array("teapot", samples), "teapot.bpt", samples)


def compare_with_data(result: Tessellation, model: str, samples: int) -> None:
    """Check points and normals against the reference data where these have that number of samples."""
    data = np.load(shared_model(model.replace(".bpt", "_ref.npz")))
    if f"P{samples}" not in data:
        return
    points, normals = (np.stack([getattr(p, name) for p in result.patches]) for name in ("points", "normals"))
    allowed = LIMIT * 2.0**-24 * data[f"mag{samples}"]
    assert (np.abs(points - data[f"P{samples}"]) <= allowed).all()
    known = np.isfinite(data[f"N{samples}"][..., 0])
    error = np.linalg.norm(normals[known] - data[f"N{samples}"][known], axis=-1)
    assert (error <= LIMIT * 2.0**-24 * data[f"cond{samples}"][known]).all()
    assert result.degenerate == (~known).sum()


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (3, 8),
        (5, 4),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((3, 3), (8, 3), (4, 6), (7, 7), (11, 3))),
    ],
)
def test_nets_of_any_size(rows, columns):
    generator = np.random.default_rng(rows * 100 + columns)
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1)
    nets = [np.concatenate([grid, generator.normal(size=(rows, columns, 1))], axis=-1) for _ in range(4)]
    result = tessellate([Patch(net) for net in nets], [4, 8, 3, 7], config=TWO_EMCS)
    assert result.within_limits and not result.degenerate, show(result)


def test_an_8x8_net_of_a_bicubic_surface_gives_the_same_surface(teapot):
    patches = [raised(patch, 7) for patch in teapot[:8]]
    result = tessellate(patches, 4, config=TWO_EMCS)
    assert result.within_limits, show(result)
    expected = evaluate(np.stack([patch.points for patch in teapot[:8]]), 4).points
    assert np.abs(np.stack([patch.points for patch in result.patches]) - expected).max() < 3e-6


def test_mixed_samples_and_nets_in_one_call(teapot, enneper):
    patches = [*teapot[:5], raised(teapot[5], 5), *enneper, raised(teapot[6], 5)]
    samples = [16, 4, 8, 5, 2, 4, 8, 4, 4, 3, 16]
    result = tessellate(patches, samples, config=TWO_EMCS)
    assert [patch.samples for patch in result.patches] == samples
    assert all(a.patch is b for a, b in zip(result.patches, patches, strict=True))
    assert result.within_limits
    alone = tessellate([patches[1]], 4, config=TINY)
    assert (alone.patches[0].points == result.patches[1].points).all(), "the place on the array changes no bit"
    assert (alone.patches[0].normals == result.patches[1].normals).all()


def in_binary32(left: np.ndarray, net: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return a surface as the program evaluates it, operation by operation in numpy's float32."""
    total = None
    for j in range(net.shape[1]):
        column = None
        for i in range(net.shape[0]):
            term = left[:, None, None, i] * net[i, j]
            column = term if column is None else column + term
        term = right[None, :, None, j] * column
        total = term if total is None else total + term
    return total


def test_results_are_the_bits_of_binary32_arithmetic_in_the_written_order(teapot):
    point, difference = (np.array(bernstein_bits(d, 8), dtype=np.uint32).view(np.float32) for d in (3, 2))
    for patch in on_full_array("teapot", 8).patches:
        net = patch.patch.points32
        assert (in_binary32(point, net, point) == patch.points).all()
        du = in_binary32(difference, np.diff(net, axis=0), point)
        dv = in_binary32(point, np.diff(net, axis=1), difference)
        cross = [du[..., a] * dv[..., b] - du[..., b] * dv[..., a] for a, b in ((1, 2), (2, 0), (0, 1))]
        length = np.sqrt((cross[0] * cross[0] + cross[1] * cross[1]) + cross[2] * cross[2])
        with np.errstate(invalid="ignore"):
            expected = np.stack(cross, axis=-1) / length[..., None]
        assert expected.dtype == np.float32
        assert (expected == patch.normals)[~patch.degenerate].all()


# --- cycles ----------------------------------------------------------------------------------------------------------


def test_cycles_are_what_the_program_says():
    result = on_full_array("teapot", 16)
    (run,) = result.runs
    uses = {name: use for name, use in run.by_routine.items() if use.calls}
    operations = total_operations(4, 4)
    assert uses["fmul"].calls == operations.multiplies == 162
    assert uses["fadd"].calls + uses["fsub"].calls == operations.adds == 116
    assert (uses["fsqrt"].calls, uses["fdiv"].calls) == (operations.roots, operations.divides)
    stages = result.cycles_by_stage
    assert stages[Stage.ADDRESSES.value] == address_cycles(32) == 384
    assert stages[Stage.BERNSTEIN.value] == bernstein_cycles(4, 4, (16,)) == 1312
    arithmetic = sum(uses[name].total_cycles for name in ("fmul", "fadd", "fsub", "fsqrt", "fdiv"))
    assert sum(stages[s.value] for s in (Stage.POINTS, Stage.DERIVATIVES, Stage.NORMALS)) == arithmetic
    # 15 batches: 5 cycles to enable a patch and 5 a value, and one to enable all PEs again.
    assert stages[Stage.CONTROL_POINTS.value] == 32 * (15 * 5 + 120 * 5) + 15
    assert sum(stages.values()) == result.cycles == run.cycles
    assert result.cycles_in_thesis == result.cycles - stages[Stage.CONTROL_POINTS.value] - stages[Stage.LEE.value]


@pytest.mark.parametrize(
    ("schedule", "samples", "patches", "replication", "passes"),
    [("thesis", 61, 2, 4, 1), ("thesis", 31, 9, 2, 2), ("shared-columns", 31, 8, 2, 1)],
)
def test_patches_across_modules(schedule, samples, patches, replication, passes, teapot):
    """Every fourth of 61 samples and every second of 31 are at a parameter of 16: they have its bits."""
    wide = tessellate(teapot[:patches], samples, method=Method(schedule=schedule, replication=replication))
    assert len(wide.runs) == passes and wide.within_limits, show(wide)
    step = (samples - 1) // 15
    for one, other in zip(wide.patches, on_full_array("teapot", 16).patches[:patches], strict=True):
        assert one.points[::step, ::step].tobytes() == other.points.tobytes()
        assert one.normals[::step, ::step].tobytes() == other.normals.tobytes()
    if schedule == "thesis":
        # 3.2: the loads iterate over patches, so that two of 64x64 samples take "about 20 cycles" instead of 2000.
        stages = wide.cycles_by_stage
        assert stages[Stage.ADDRESSES.value] == 12 * patches
        assert stages[Stage.BERNSTEIN.value] == passes * 2 * samples * (5 * (4 + 3) + 6)


def test_patches_across_modules_share_no_pass_with_others(teapot):
    counts = [4, 64, 16, 17]
    mixed = tessellate(teapot[:4], counts, method=Method(replication=4, results="gp", gps=2))
    assert [work.sizes for plan in mixed.plans if (work := plan.work)] == [(4, 16), (17,), (64,)]
    assert [one.points.shape[0] for one in mixed.patches] == counts and mixed.within_limits
    through_lee = tessellate(teapot[:4], counts, method=LEE)
    for one, other in zip(mixed.patches, through_lee.patches, strict=True):
        assert one.points.tobytes() == other.points.tobytes() and one.normals.tobytes() == other.normals.tobytes()


def test_cycles_do_not_depend_on_the_data(teapot):
    a = tessellate(teapot[:4], 4, config=TINY)
    b = tessellate([Patch(np.full((4, 4, 3), 7.0)) for _ in range(4)], 4, config=TINY)
    assert a.cycles_by_stage == b.cycles_by_stage


def test_a_timing_only_run_takes_the_same_cycles(teapot):
    _, program = one_pass(teapot, [4] * 32, THESIS)
    assert Node(THESIS).run(program, function=False).cycles == on_full_array("teapot", 4).cycles


@pytest.mark.parametrize(
    ("library", "control_points"),
    [("tuned", "lee"), ("plain", "texture"), pytest.param("generic", "lee", marks=pytest.mark.slow)],
)
def test_the_program_of_a_pass_is_ordinary_microcode(library, control_points, teapot):
    _, program = one_pass(teapot[:2], [4, 8], TINY, library, Method(control_points))
    assert microcode.check(program) == []
    assert microcode.assemble(microcode.disassemble(program)).words == program.words


def test_scratch_memory_stays_inside_the_layout(teapot):
    for name in ("tuned", "plain", "generic"):
        _, program = one_pass(teapot[:1], [4], TINY, name)
        scratch = memory_map(4, 4)["scratch"]
        for routine in program.routines:
            assert all(start >= scratch.start and start + size <= scratch.end for start, size in routine.scratch)


# --- libraries and engines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["thesis", "shared-columns"])
@pytest.mark.parametrize(
    "library",
    ["plain", "tuned-finite", *(pytest.param(each, marks=pytest.mark.slow) for each in ("generic", "generic-finite"))],
)
def test_all_libraries_give_the_same_bits(library, schedule, teapot):
    """Where the cross product vanishes, entries for finite operands have no normal to agree on."""
    method = Method(schedule=schedule)
    ours = tessellate(teapot[:16], 4, library=library, config=TINY, method=method)
    tuned = tessellate(teapot[:16], 4, library="tuned", config=TINY, method=method)
    for a, b in zip(ours.patches, tuned.patches, strict=True):
        assert a.points.tobytes() == b.points.tobytes() and (a.degenerate == b.degenerate).all()
        assert a.normals[~a.degenerate].tobytes() == b.normals[~a.degenerate].tobytes()
    assert (ours.cycles > tuned.cycles) == (library != "tuned-finite")


@pytest.mark.parametrize(
    "method",
    [pytest.param(Method(mantissa_bytes=4), marks=pytest.mark.slow), Method(control_points="lee")],
    ids=["long", "lee"],
)
def test_generic_routines_serve_every_method(method, teapot):
    ours, tuned = (tessellate(teapot[:1], 4, library=name, config=TINY, method=method) for name in ("generic", "tuned"))
    assert ours.patches[0].points.tobytes() == tuned.patches[0].points.tobytes()
    assert ours.patches[0].normals.tobytes() == tuned.patches[0].normals.tobytes()


def test_every_engine_gives_the_same_bits(teapot):
    found = {engine: tessellate(teapot[:16], 4, config=TINY, engine=engine) for engine in available()}
    rows = found["rows"]
    for engine, other in found.items():
        assert other.engine == engine and other.cycles == rows.cycles
        for a, b in zip(rows.patches, other.patches, strict=True):
            assert a.points.tobytes() == b.points.tobytes() and a.normals.tobytes() == b.normals.tobytes()


# --- limits of the machine -------------------------------------------------------------------------------------------


def test_a_tiny_model_loses_normals_and_says_so(teapot):
    patches = [Patch(patch.points * 2.0**-80) for patch in teapot[:4]]
    result = tessellate(patches, 4, config=TINY)
    assert result.worst_point_error <= LIMIT
    assert result.lost_normals == result.degenerate == 64, "squares of 2^-160 are below binary32"
    mesh = result.mesh(weld=True)
    assert np.isfinite(mesh.normals).all() and mesh.built.repaired_normals == len(mesh.points)
    assert check(mesh).clean


def test_what_cannot_be_done_is_refused(teapot):
    cases = [
        (lambda: tessellate([], 4), "no patches"),
        (lambda: tessellate(teapot, [4, 8]), "2 sample counts for 32 patches"),
        (lambda: tessellate(teapot, 65), "65 samples for patch 1"),
        (lambda: tessellate(teapot, 17), "17 samples for patch 1 take PEs of 2 modules"),
        (lambda: tessellate(teapot, 33, method=Method(replication=2)), "33 samples for patch 1 take PEs of 4 modules"),
        (lambda: tessellate(teapot, 17, method=Method(schedule="fixed-sums")), "17 samples for patch 1: sums in fixed"),
        (lambda: tessellate(load("rosette"), 17, method=LEE), "17 samples for patch 1: it is trimmed"),
        (lambda: tessellate(teapot, 4, library="tunde"), "did you mean tuned"),
        (lambda: tessellate([Patch(np.zeros((13, 4, 3)))], 4), "13x4 control points"),
        (lambda: tessellate([Patch(np.zeros((2, 4, 3)))], 4), "2x4 control points"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
