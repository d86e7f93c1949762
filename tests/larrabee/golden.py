"""The recorded answers of a CPU with AVX-512: how cases are made, recorded and read.

`python tests/larrabee/golden.py` records them anew into `golden.npz`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "golden.npz"
CASES = 200
LANES = 16

_WORDS = {"old": LANES, "a": LANES, "b": LANES, "index": LANES, "table": 64, "mask": 1, "start": 1}
_RESULTS = {
    **dict.fromkeys(("masked_add", "multiply_low", "float_add", "fused", "compress", "expand"), LANES),
    "compress_store": 64,
    "gather": LANES,
    "scatter": 64,
    **dict.fromkeys(("dacb", "float16", "uint8", "sint16", "to_int"), LANES),
    "float_compare": 4,
    "int_compare": 4,
    "zero_test": 2,
}
CASE = np.dtype([(name, np.uint32, (words,)) for name, words in _WORDS.items()])
RESULT = np.dtype([(name, np.uint32, (words,)) for name, words in _RESULTS.items()])
"""Field by field what `record.c` reads and writes."""

_EDGES = (
    *(0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF),
    *(0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F800001, 0xFFA00000, 0x3F800000, 0xBF800000),
    *(0x3F000000, 0x3FC00000, 0x40200000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0x7FFFFFFF, 0xFFFFFFFF),
)
_HALF_EDGES = (0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFD55, 0x3C00)


def cases(seed: int = 1) -> np.ndarray:
    """Return the cases: random words, floats of like size, products that nearly cancel, and edge values."""
    rng = np.random.default_rng(seed)
    made = np.zeros(CASES, CASE)
    for name in ("old", "a", "b", "table"):
        made[name] = rng.integers(0, 1 << 32, made[name].shape, np.uint32)
    for name in ("old", "a", "b"):
        near = rng.normal(0, 100, made[name].shape).astype(np.float32)
        made[name][50:150] = near[50:150].view(np.uint32)
        edge = rng.choice(np.array(_EDGES, np.uint32), made[name].shape)
        made[name] = np.where(rng.random(made[name].shape) < 0.15, edge, made[name])
    product = made["a"].view(np.float32)[100:150] * made["b"].view(np.float32)[100:150]
    made["old"][100:150] = (-product).view(np.uint32)
    halves = made["table"].view(np.uint16)
    edge = rng.choice(np.array(_HALF_EDGES, np.uint16), halves.shape)
    halves[:] = np.where(rng.random(halves.shape) < 0.2, edge, halves)
    # Few different indices, so that scatters meet themselves.
    made["index"] = rng.integers(0, 64, made["index"].shape) >> rng.integers(0, 5, (CASES, 1))
    made["mask"] = rng.integers(0, 1 << 16, (CASES, 1))
    made["mask"][:6, 0] = (0, 0xFFFF, 1, 0x8000, 0x5555, 0)
    made["start"] = rng.integers(0, 49, (CASES, 1))
    return made


def record(given: np.ndarray) -> np.ndarray:
    """Return what this CPU answers; raises OSError or CalledProcessError where gcc or the CPU cannot."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "record"
        subprocess.run(
            ["gcc", "-O1", "-mavx512f", str(HERE / "record.c"), "-o", str(program)], check=True, capture_output=True
        )
        done = subprocess.run([str(program)], input=given.tobytes(), check=True, capture_output=True)
    return np.frombuffer(done.stdout, RESULT)


def load() -> tuple[np.ndarray, np.ndarray]:
    """Return the cases and the answers that are kept here."""
    with np.load(RECORDED) as kept:
        return kept["cases"].view(CASE).ravel(), kept["results"].view(RESULT).ravel()


def main() -> None:
    given = cases()
    with np.errstate(all="ignore"):
        np.savez_compressed(RECORDED, cases=given.view(np.uint8), results=record(given).view(np.uint8))


if __name__ == "__main__":
    main()
