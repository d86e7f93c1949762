"""Does ``pixelflow tessellate`` write the files, print the figures, and refuse bad input without leaving traces?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from pixelflow.cli.main import main

ON_TINY = ["--preset", "tiny", "--samples", "4"]


def run(capsys, *arguments) -> tuple[int, str, str]:
    code = main(["tessellate", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_teapot_to_obj(capsys, tmp_path):
    target = tmp_path / "teapot.obj"
    code, out, err = run(capsys, "teapot", *ON_TINY, "-o", target, "--weld", "--width", "80", "-v")
    assert code == 0
    assert "in 2 passes, 100.0 % of 256" in out and "0 cracks" in out and str(target) in out
    assert "pass 2 of 2" in err and "pass" not in out.split("wall time")[1]
    lines = target.read_text().splitlines()
    assert sum(line.startswith("f ") for line in lines) == 552
    assert list(tmp_path.iterdir()) == [target]


def test_json_is_one_object_and_nothing_else(capsys, tmp_path):
    code, out, _ = run(capsys, "enneper", *ON_TINY, "--json", "-o", tmp_path / "e.npz", "-q")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "pixelflow.tessellate/1"
    result = found["result"]
    assert result["within_limits"] is True and 0 < result["worst_point_error"] < 8
    assert result["cycles"] == sum(result["by_stage"].values()) == found["passes"][0]["cycles"]
    assert result["by_stage"]["base addresses"] == 48 and result["by_stage"]["Bernstein values"] == 328
    amounts = {"patches": 4, "blocks": 4, "samples": 64}
    assert found["ledger"] == {"registered": 4, "marked": amounts, "placed": amounts, "returned": amounts}
    assert found["passes"][0]["placed"] == found["passes"][0]["returned"] == amounts
    assert found["mesh"]["triangles"] == len(np.load(tmp_path / "e.npz")["triangles"]) == 72
    assert "wall" not in out


@pytest.mark.slow
def test_ways_of_the_control_points_give_one_mesh(capsys, tmp_path):
    meshes, cycles = [], {}
    for name, options in (
        ("texture", ["--sends", "2"]),
        ("lee", ["--control-points", "lee"]),
        ("shared-columns", ["--schedule", "shared-columns", "--library", "tuned"]),
    ):
        target = tmp_path / f"{name}.npz"
        code, out, _ = run(capsys, "enneper", *ON_TINY, *options, "--json", "-o", target)
        found = json.loads(out)
        assert code == 0 and found["control_points"] == ("lee" if name == "lee" else "texture")
        meshes.append({key: array.tobytes() for key, array in np.load(target).items()})
        cycles[name] = found["result"]["by_stage"]
    assert meshes[0] == meshes[1] == meshes[2]
    assert cycles["texture"]["distribution"] == 15 * 326 and "distribution" not in cycles["lee"]
    assert meshes and len(cycles["shared-columns"]) > len(cycles["lee"])


def test_longer_mantissas(capsys):
    code, out, _ = run(capsys, "enneper", *ON_TINY, "--mantissa-bytes", "4", "--hybrid", "--json")
    result = json.loads(out)
    assert code == 0 and (result["mantissa_bytes"], result["hybrid"]) == (4, True)
    assert result["result"]["by_stage"]["rounding to binary32"] > 0


def test_preview(capsys, tmp_path):
    pytest.importorskip("PIL", reason="pillow (extra: image) is not installed")
    target = tmp_path / "enneper.png"
    assert run(capsys, "enneper", *ON_TINY, "--preview", target, "-q")[0] == 0
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_file_with_mixed_samples(capsys, tmp_path):
    source = tmp_path / "net.bpt"
    code, out, _ = run(capsys, "teapot", "--preset", "tiny", "--samples", "4,8,3", "-o", tmp_path / "a.ply", "-v")
    out = " ".join(out.split())
    assert code == 0 and all(part in out for part in ("11 at 4x4", "11 at 8x8", "10 at 3x3"))
    points = "".join(f"{i} {j} {i * j}e-41\n" for i in range(3) for j in range(3))
    source.write_text("1\n3 3\n" + points)
    code, _, err = run(capsys, source, *ON_TINY)
    assert code == 0 and err.count("net.bpt") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["teapto"], 3, "did you mean the built-in teapot"),
        (["missing.bpt"], 3, "no such patch file"),
        (["teapot", "--samples", "1"], 2, "expected 2 to 64"),
        (["teapot", "--samples", "4,,8"], 2, "expected 2 to 64"),
        (["teapot", "--samples", "4.5"], 2, "expected 2 to 64"),
        (["teapot", "--library", "tuned-finit"], 2, "did you mean tuned-finite"),
        (["teapot", "--engine", "row"], 2, "did you mean rows"),
        (["teapot", "--schedule", "shared-colums"], 2, "did you mean shared-columns"),
        (["teapot", "--sends", "3"], 2, "--sends"),
        (["teapot", "--replication", "4", "--preset", "tiny"], 3, "patches stored in 4 modules"),
        (["teapot", "--control-points", "lee", "--schedule", "shared-columns"], 2, "from texture memory"),
        (["teapot", "--control-points", "lee", "--replication", "2"], 2, "no module holds patches"),
        (["teapot", "--control-points", "lee", "--load", "gp"], 2, "which the LEE does not use"),
        (["teapot", "--control-points", "lee", "--load", "direct"], 2, "which the LEE does not use"),
        (["teapot", "--control-points", "lee", "--transfers", "beside"], 2, "the LEE makes no transfers"),
        (["teapot", "--kept", "after"], 2, "choose a way: --cache split"),
        (["teapot", "--kept", "beside"], 2, "choose a way: --cache split"),
        (["teapot", "--control-points", "lee", "--results", "gp-fine"], 2, "leave out --results"),
        (["teapot", "--schedule", "shared-columns", "--sends", "4"], 2, "leave out --sends"),
        (["teapot", "--gps", "2"], 2, "go to no GP"),
        (["teapot", "--gps", "2", "--results", "gp", "-D", "gni.gp_count=1"], 3, "results to 2 GPs"),
        (["teapot", "--results", "gp-corase"], 2, "did you mean gp-coarse"),
        (["teapot", "--hybrid"], 2, "mantissas of 4 to 6 bytes"),
        (["teapot", "--wled"], 2, "did you mean --weld"),
        (["teapot", "-o", "teapot.ojb"], 3, "did you mean .obj"),
        (["teapot", "-o", "missing/teapot.obj"], 3, "does not exist"),
        (["teapot", "-o", "-"], 2, "standard output"),
        (["teapot", "--preview", "teapot.jpg"], 2, "PNG"),
        (["teapot", "-D", "array.moduls=1"], 3, "modules"),
        (["bad.bpt"], 3, "bad.bpt:3:1: error: not a number: x"),
        (["teapot", "--samples", "16", "-D", "array.panels_per_emc=4"], 3, "allowed: 2 to 8"),
    ],
)
def test_bad_input(arguments, code, part, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.bpt").write_text("1\n2 2\n" + "x 0 0\n" * 9)
    output = [] if "-o" in arguments else ["-o", "out.obj"]
    found, out, err = run(capsys, *arguments, *output)
    assert found == code, err
    assert part in err and "Traceback" not in err and out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["bad.bpt"]


def test_a_read_only_folder(capsys, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        (folder / "probe").touch()
    except PermissionError:
        code, _, err = run(capsys, "enneper", *ON_TINY, "-o", folder / "a.obj")
        assert code == 3 and "read-only" in err
    else:
        pytest.skip("this user may write everywhere")
    finally:
        folder.chmod(0o700)


def test_the_patch_file_is_not_overwritten(capsys, tmp_path):
    source = tmp_path / "net.obj"
    source.write_text("1\n2 2\n" + "0 0 0\n" * 9)
    code, _, _ = run(capsys, source, *ON_TINY, "-o", source)
    assert code == 3 and source.read_text().startswith("1\n")


def test_normals_that_overflow_are_reported_and_never_written(capsys, tmp_path):
    source = tmp_path / "huge.bpt"
    # First differences overflow binary32, so that no normal comes out; the points are right.
    rows = [f"{s}3e38 {j} 0\n" for s in ("-", "", "-") for j in range(3)]
    source.write_text("1\n2 2\n" + "".join(rows))
    code, out, err = run(capsys, source, *ON_TINY, "-o", tmp_path / "huge.obj", "-v")
    assert code == 0, err
    assert "of binary32" in " ".join(out.split())
    assert (tmp_path / "huge.obj").exists() and "nan" not in (tmp_path / "huge.obj").read_text()


def test_a_result_beyond_the_limits_is_an_expectation_that_failed(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tessellation.host.tessellator.LIMIT", 0.25)
    code, out, err = run(capsys, "enneper", *ON_TINY, "-o", tmp_path / "e.obj")
    assert code == 1 and "from the reference" in err
    assert "worst error" in out and (tmp_path / "e.obj").exists()


@pytest.mark.slow
def test_sampling_by_view(capsys):
    code, out, _ = run(capsys, "teapot", "--preset", "tiny", "--tolerance", "9", "--camera", "zoom=4", "--json", "-q")
    found = json.loads(out)
    sampling = found["sampling"]
    assert code == 0 and sum(sampling[key] for key in ("sampled", "limited", "outside", "away")) == 32
    assert sampling["outside"] > 10 and sampling["away"] == 0 and sampling["total"] == found["samples"]["total"]
    assert [k for k in sampling["samples"] if k] == found["samples"]["per_patch"]
    assert sampling["bound_pixels"] <= 9 and sampling["limited"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--camera", "zoom=2"], "without a tolerance nothing depends on the view"),
        (["--size", "64x48"], "without a tolerance nothing depends on the view"),
        (["--counts", "powers"], "add --tolerance"),
        (["--one-sided"], "add --tolerance"),
        (["--tolerance", "4", "--samples", "4"], "leave out --tolerance or --samples"),
        (["--tolerance", "0"], "expected 0.00390625 to 1000 pixels; found '0'"),
        (["--tolerance", "x"], "expected 0.00390625 to 1000 pixels; found 'x'"),
        (["--tolerance", "1", "--camera", "azimut=3"], "did you mean azimuth?"),
        (["--tolerance", "1", "--camera", "zoom=3,zoom=4"], "zoom: expected one of each"),
        (["--tolerance", "1", "--camera", "zoom=300"], "zoom: expected a number from 0.1 to 20; found '300'"),
    ],
)
def test_options_of_the_view_that_cannot_be(capsys, options, message):
    code, out, err = run(capsys, "teapot", *options)
    assert code == 2 and out == "" and message in " ".join(err.split())
