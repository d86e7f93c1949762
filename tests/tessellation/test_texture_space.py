"""Do patches, kept results and pictures lie side by side in texture memory, where hand-worked addresses say (4.3)?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pixelflow.config import SdramConfig, load_config
from pixelflow.node import Node
from pixelflow.simd.errors import InputError, InternalError
from tessellation import Method, Patch, PatchManager, load, tessellate
from tessellation.host.session import KeptResults, Session
from tessellation.microprogram.method import library_named
from tessellation.plan.texture_layout import Owner, Rectangle, TextureDatabase, TextureSpace, write

SMALL = load_config(None, ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=4"])
TINY_MEMORY = replace(SMALL, sdram=replace(SMALL.sdram, rows=16))
"""128 KB a module: 256 x 128 texels."""


def words_by_hand(row: int, column: int) -> tuple[int, int, int, int]:
    """Return SDRAM, bank, row and first column of a texel: bits of column and row in turn, c0 r0 c1 are the SDRAM."""
    number = 0
    for bit in range(11):
        number |= (column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1
    cell = 4 * (number >> 3)
    return number & 7, cell >> 20, cell >> 9 & 2047, cell & 511


def test_the_largest_free_block_of_the_example() -> None:
    """4.3: four words at these addresses leave one of 512 x 512; neighbours in linear space leave 1024 x 1024."""
    for places, side in (
        (((512, 512), (1536, 512), (512, 1536), (1536, 1536)), 512),
        (((0, 0), (0, 1), (1, 0), (1, 1)), 1024),
    ):
        space = TextureSpace(SdramConfig(), 1)
        assert space.largest_square(0) == 2048
        for row, column in places:
            space.give(Owner.PATCHES, Rectangle(row, column, 1, 1))
        assert space.largest_square(0) == side


@pytest.mark.parametrize(
    ("texels", "side"),
    [
        ([(2, 4)], 2),
        ([(0, 4), (2, 4)], 4),
        ([(2, 0), (2, 4)], 2),
        ([(2, 4), (4, 0)], 2),
        ([(0, 0), (2, 0), (4, 0), (6, 0)], 4),
        ([], 0),
    ],
)
def test_the_largest_free_square_of_few_units(texels: list[tuple[int, int]], side: int) -> None:
    """A unit has 2 rows of 4 texels, so two squares of 2x2; two units below each other on a boundary of 4 have 4x4."""
    space = TextureSpace(SdramConfig(), 1)
    space.give(Owner.PATCHES, Rectangle(0, 0, 2048, 2048))
    for row, column in texels:
        space.give(Owner.FREE, Rectangle(row, column, 2, 4))
    assert space.largest_square(0) == side


def test_each_part_of_a_map_shows_its_largest_owner() -> None:
    """Parts of 512 x 512 texels; of one 100 x 512 are results, of three more a few are textures."""
    space = TextureSpace(SdramConfig(), 1)
    space.give(Owner.PATCHES, Rectangle(0, 0, 512, 1024))
    space.give(Owner.RESULTS, Rectangle(512, 512, 100, 512))
    space.give(Owner.TEXTURES, Rectangle(1024, 1024, 600, 600))
    assert space.drawn(0, 4, 4) == ["pp..", ".r..", "..tt", "..tt"]


def test_the_texels_of_a_picture_lie_where_bits_by_hand_say() -> None:
    node = Node(SMALL)
    picture = np.random.default_rng(4).integers(0, 256, (37, 51, 4), np.uint8)
    database = TextureDatabase(SMALL.sdram, 2)
    place = database.hold("odd", picture).place
    assert (place.row, place.column) == (1984, 1984), "the last square of 64 x 64"
    write(database, node)
    for row, column in ((0, 0), (0, 50), (36, 0), (17, 23), (36, 50)):
        device, bank, line, first = words_by_hand(1984 + row, 1984 + column)
        for memory in node.texture_memory:
            where = tuple(np.array([each]) for each in (device, bank, line, first))
            assert memory.read(type(database.space.map.to_physical(0))(*where)).tolist() == [
                picture[row, column].tolist()
            ]
    assert database.space.bytes_of(Owner.TEXTURES, 0) == 19 * 13 * 32, "tiles of 2 x 4 texels, no more"


def test_what_is_given_back_is_taken_again_and_squares_stay_whole() -> None:
    space = TextureDatabase(replace(SMALL.sdram, rows=32), 2)
    black = np.zeros((128, 128, 4), np.uint8)
    held = [space.hold(str(number), black) for number in range(4)]
    assert {(one.place.row, one.place.column) for one in held} == {(0, 0), (0, 128), (128, 0), (128, 128)}
    with pytest.raises(InputError, match=r"no 1x1 texels are free for texture dot \(textures 262,144 bytes\)"):
        space.hold("dot", black[:1, :1])
    space.release(held[2])
    assert space.space.largest_square(1) == 128
    assert space.hold("again", black[:, :90]).place[:2] == held[2].place[:2]
    row, column = held[2].place[:2]
    assert space.hold("beside", black[:, :36]).place == Rectangle(row, column + 92, 128, 36)


def test_a_long_picture_finds_room_off_its_boundary() -> None:
    """A square of the side 2048 is not free; the picture is laid on the next smaller boundary."""
    space = TextureDatabase(SMALL.sdram, 1)
    space.store(np.arange(8, dtype=np.uint32), (0,))
    assert space.hold("wide", np.zeros((100, 2048, 4), np.uint8)).place == Rectangle(1024, 0, 100, 2048)
    with pytest.raises(InputError, match="no 2048x2048 texels") as caught:
        space.hold("all", np.zeros((2048, 2048, 4), np.uint8))
    assert "1024" in caught.value.faults[0].hint


@pytest.mark.parametrize(
    "method", [Method(cache="split", kept="beside"), Method("texture", "shared-columns", load="gp")]
)
def test_patches_results_and_pictures_leave_each_other_alone(method: Method) -> None:
    """Each byte of the picture, and points and normals bit by bit, in a memory that they fill nearly."""
    patches = load("teapot").patches
    picture = np.random.default_rng(5).integers(0, 256, (60, 120, 4), np.uint8)
    plain = tessellate(patches, 4, config=TINY_MEMORY, method=Method(schedule=method.schedule))
    found = tessellate(patches, 4, config=TINY_MEMORY, method=method, textures={"noise": picture})
    for one, other in zip(plain.patches, found.patches, strict=True):
        assert one.points.tobytes() == other.points.tobytes() and one.normals.tobytes() == other.normals.tobytes()
    space, each = found.space, 32 // 2
    assert space.bytes_of(Owner.PATCHES, 0) == each * (2 * 1024 if method.shares_columns else 512)
    assert space.bytes_of(Owner.TEXTURES, 0) == 60 * 120 * 4
    assert space.bytes_of(Owner.FREE, 0) == 131_072 - sum(
        space.bytes_of(owner, 0) for owner in Owner if owner is not Owner.FREE
    )


def test_a_texel_that_is_lost_is_told() -> None:
    session = Session(SMALL, "rows", library_named("tuned"), Method())
    picture = np.full((4, 4, 4), 7, np.uint8)
    held = session.hold("seven", picture)
    with pytest.raises(InternalError, match=r"texture seven: 16 texels of module 0 .* the first in row 0, column 0"):
        session.check_held(held, picture)
    write(session.database, session.node)
    session.check_held(held, picture)


def test_a_full_memory_says_who_has_it() -> None:
    manager = PatchManager({3: 999}, config=TINY_MEMORY, method=Method(cache="alternate"))
    for patch in [*load("teapot").patches] * 2:
        manager.add(patch).mark(4)
    rest = manager.hold("rest", np.zeros((128, 60, 4), np.uint8))
    more = manager.hold("more", np.zeros((128, 60, 4), np.uint8))
    with pytest.raises(InputError) as caught:
        manager.tessellate()
    (fault,) = caught.value.faults
    assert "16,384, textures 61,440 bytes" in fault.message
    assert all(handle.result is None for handle in manager.handles)
    manager.release(rest)
    manager.release(more)
    assert len(manager.tessellate()) == 64
    with pytest.raises(InputError, match=r"texture memory of module [01] is full: no 512 bytes are left of 131,072"):
        for _ in range(999):
            manager.add(Patch(np.zeros((4, 4, 3), np.float32)))


def test_a_place_that_results_give_back_takes_a_picture() -> None:
    manager = PatchManager({3: 1}, config=SMALL, method=Method(cache="base"))
    manager.add(load("teapot").patches[0]).mark(4)
    manager.tessellate()
    space = manager.session.database.space
    taken = space.bytes_of(Owner.RESULTS, 0)
    assert taken == 64 * 32 * 8, "64 cells of 8 SDRAMs for each of 32 columns of PEs"
    manager.session.forget()
    assert space.bytes_of(Owner.RESULTS, 0) == 0 and not manager.recall()
    assert manager.session.kept == KeptResults((), (), 0, 0), "nothing is left of the programs that kept them either"


def test_loading_one_patch_anew_leaves_its_neighbour_alone() -> None:
    """Small patches lie 256 bytes apart; those on both sides are loaded from a GP, the one between stays."""
    nets = np.random.default_rng(8).random((6, 3, 3, 3), np.float32)
    manager = PatchManager(
        {2: 6}, config=replace(SMALL, array=replace(SMALL.array, modules=1)), method=Method(load="gp")
    )
    handles = [manager.add(Patch(net)) for net in nets]
    manager.mark_all([4] * 6)
    manager.tessellate()
    before = handles[1].result.points.tobytes()
    handles[0].modify(Patch(nets[0] + 1))
    handles[2].modify(Patch(nets[2] + 1))
    manager.mark_all([4] * 6)
    manager.tessellate()
    assert handles[1].result.points.tobytes() == before
    assert handles[0].result.points.min() >= 1
