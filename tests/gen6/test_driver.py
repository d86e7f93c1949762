"""Do pixel shaders of a public video driver give the colours of the formulas in its comments?

Their words are in `driver_programs.json`, under the driver's licence. The driver joins fragments: coordinates of the
source, its samples, colour balance, conversion to RGB, the write of the pixels.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gen6_bridge.isa.declarations import INSTRUCTIONS, EuInstruction
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from gen6_bridge.unit import ExecutionUnit, Request
from gen6_bridge.unit.messages import RENDER_CACHE, SAMPLER

Floats = NDArray[np.floating]
RECORDS = json.loads((Path(__file__).parent / "driver_programs.json").read_text(encoding="utf-8"))["records"]
WORDS = {each["name"].removeprefix("exa_wm_"): [int(word, 16) for word in each["words"]] for each in RECORDS}
CHANNELS = 16
WITHIN = 16 * 2.0**-23
"""A dozen roundings of numbers up to 2."""
BALANCE = {"contrast": 1.25, "brightness": -0.03125, "cosine": 1.0625, "sine": 0.375}
TO_RGB = np.array([[1.164, 0, 1.596], [1.164, -0.392, -0.813], [1.164, 2.017, 0]])
OFFSETS = np.array([-16, -128, -128]) / 255
"""ITU-R BT.601: of Y, U and V, before the matrix."""


def joined(*names: str) -> list[EuInstruction]:
    return [INSTRUCTIONS.decode_whole(word) for name in names for word in WORDS[name]]


def texel(table: int, component: int, u: Floats, v: Floats) -> Floats:
    """Return a component of the surface of a binding table's entry, which is linear in the coordinates."""
    slope = 0.125 * (component + 1)
    return 0.25 + 0.0625 * table + slope * u - 0.125 * v


class Surfaces:
    """Sampler of linear surfaces, and render target."""

    written: Floats

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        if request.target == SAMPLER:
            u, v = request.payload[32:].view(np.float32).reshape(2, CHANNELS).astype(np.float64)
            table, left_out = request.message.function & 0xFF, int(request.header[2]) >> 12
            wanted = [each for each in range(4) if not left_out >> each & 1]
            found = np.stack([texel(table, component, u, v) for component in wanted])
            return found.astype(np.float32).view(np.uint8).reshape(-1)
        assert request.target == RENDER_CACHE and request.enabled == 0xFFFF
        self.written = request.payload.view(np.float32).reshape(4, CHANNELS).astype(np.float64)
        return None


def shaded(code: list[EuInstruction], constants: dict[int, Floats]) -> tuple[Floats, Floats, Floats]:
    """Run a shader on sixteen pixels; return what it writes, and u and v by the plane equations in binary64."""
    source = np.random.default_rng(6)
    across, down = (source.uniform(0, 1, CHANNELS).astype(np.float32) for _ in range(2))
    planes = source.uniform(-0.5, 0.5, (2, 4)).astype(np.float32)
    surfaces = Surfaces()
    unit = ExecutionUnit(code, functions=surfaces)
    halves = [each[half : half + 8] for half in (0, 8) for each in (across, down)]
    for register, values in {2: np.concatenate(halves), 10: planes.reshape(-1), **constants}.items():
        unit.set_register(register, values)
    unit.run(limit=200)
    assert unit.ended.all()
    u, v = (plane[0] * across.astype(np.float64) + plane[1] * down + plane[3] for plane in planes.astype(np.float64))
    return surfaces.written, u, v


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("interleaved", [False, True])
def test_video_is_balanced_and_converted_to_rgb(interleaved: bool, balanced: bool) -> None:
    """Yout = (Yin - 16 / 255) * contrast + brightness + 16 / 255
    Uout = (Uin - 128 / 255) * cos_c_s + (Vin - 128 / 255) * sin_c_s + 128 / 255
    Vout = (Vin - 128 / 255) * cos_c_s - (Uin - 128 / 255) * sin_c_s + 128 / 255
    """
    flags = np.array([int(interleaved), int(not balanced), 0, 0, 0, 0, 0, 0], np.uint16).view(np.float32)
    matrix = np.concatenate([[*TO_RGB[at], OFFSETS[at]] for at in range(3)]).astype(np.float32)
    code = joined("src_affine", "src_sample_planar", "yuv_color_balance", "yuv_rgb", "write")
    constants = {6: np.concatenate([flags, np.array([*BALANCE.values()], np.float32)]), 7: matrix}
    written, u, v = shaded(code, constants)
    y, cb = texel(1, 0, u, v), texel(3, 0, u, v)
    cr = texel(3, 1, u, v) if interleaved else texel(5, 0, u, v)
    if balanced:
        contrast, brightness, cosine, sine = BALANCE.values()
        y = (y - 16 / 255) * contrast + brightness + 16 / 255
        cb, cr = cb - 128 / 255, cr - 128 / 255
        cb, cr = cb * cosine + cr * sine + 128 / 255, cr * cosine - cb * sine + 128 / 255
    wanted = np.clip(TO_RGB @ (np.stack([y, cb, cr]) + OFFSETS[:, None]), 0, 1)
    assert np.abs(written[:3] - wanted).max() <= WITHIN and (written[3] == 1).all()
    assert len(np.unique(wanted.round(3))) > 2 * CHANNELS, "the colours vary"


def test_a_subpicture_has_its_global_alpha() -> None:
    alpha = np.array([0.625] * 8, np.float32)
    written, u, v = shaded(joined("src_affine", "src_sample_argb", "write"), {6: alpha})
    wanted = np.stack([texel(1, component, u, v) * (0.625 if component == 3 else 1) for component in range(4)])
    assert np.abs(written - wanted).max() <= WITHIN


def test_the_conversion_takes_its_cycles_by_hand() -> None:
    """Sums @0, @4, @8; of each colour a product, two more 8 cycles apart by the accumulator, and 4 for the last one:
    red @16, @24, @32, green @36, @44, @52, blue @56, @64, @72, opacity @76 to 80.
    """
    code = joined("yuv_rgb")
    assert schedule(code, [[CarriedStep(at) for at in range(len(code))]], EuConfig(caches=False)).cycles == 80


def test_its_words_are_encoded_again() -> None:
    assert [each.whole for each in joined(*WORDS)] == [word for words in WORDS.values() for word in words]
