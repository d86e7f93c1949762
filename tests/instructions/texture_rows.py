"""Hand-worked rows for the texture instructions: a small machine, what lies where before, what must lie where after.

``block(n)`` are the 32 bytes n, n + 1, ... modulo 256. Texture memory is given by the address inside the SDRAMs: the
block there has 4 bytes in each of the eight. The machine has one EMC of 256 PEs. Cycles are those from the first
access to the last byte: a read is 11 + 1 (15 + 1 for 8 bytes), a write 11 (15), a port takes 32 cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, field


def block(start: int) -> bytes:
    return bytes((start + index) % 256 for index in range(32))


def words(*values: int) -> bytes:
    """Return 4-byte numbers, low byte first, as the first bytes of a port; the rest is 0."""
    return b"".join(value.to_bytes(4, "little") for value in values).ljust(32, b"\0")


@dataclass(frozen=True)
class TextureRow:
    text: str
    """Instructions of the texture stream."""
    read: tuple[int, ...] = ()
    """Lanes marked for reading."""
    write: tuple[int, ...] = ()
    """Lanes marked for writing."""
    modules: int = 1
    """Of the machine; texture memory is that of the first."""
    ports: dict[int, bytes] = field(default_factory=dict)
    """Output ports before, by lane."""
    memory: dict[int, bytes] = field(default_factory=dict)
    """Texture memory before, by address."""
    gp: bytes = b""
    """Memory of GP 0 before, from address 0 on."""
    taken: dict[int, bytes] = field(default_factory=dict)
    """Input ports after; all others stay 0."""
    stored: dict[int, bytes] = field(default_factory=dict)
    """Texture memory after, where it changed."""
    returned: dict[int, bytes] = field(default_factory=dict)
    """Memory of GP 0 after, by address; what is not named stays."""
    cycles: int = 0
    """Of the SDRAMs and ports."""
    gni: dict[str, int] = field(default_factory=dict)
    """Busy cycles of paths out of the GNI."""


LOW_BITS = "TAS_SetCrossbar 2, 0\nTAS_SetCrossbar 3, 1\nTAS_SetCrossbar 4, 2\n"
"""The generator's address is 4 times the counter, modulo 32."""

ROWS = [
    # --- reads
    TextureRow(
        "TAS_MemRdBlock4 0",
        read=(7,),
        ports={7: words(0, 4, 8, 12, 16, 20, 24, 28)},
        memory={address: block(100 + address) for address in range(0, 32, 4)},
        # SDRAM d gives bytes 4d to 4d + 3 of the block at 4d: 100 + 4d + 4d + k.
        taken={7: bytes(100 + 8 * device + byte for device in range(8) for byte in range(4))},
        cycles=12 + 32,
    ),
    TextureRow(
        "TAS_MemRdBlock4 1",
        read=(3, 200),
        ports={3: words(512), 200: words(0xFF000000 + 40)},  # 24 bits of a base are used
        memory={512: block(1), 40: block(2)},
        taken={3: block(1), 200: block(2)},
        cycles=2 * 44,
    ),
    TextureRow(
        LOW_BITS + "TAS_SetCounter 3\nTAS_MemRdBlock4 1",
        read=(9,),
        ports={9: words(1 << 20)},  # bank 1
        memory={(1 << 20) + 12: block(5)},
        taken={9: block(5)},
        cycles=44,
    ),
    TextureRow(
        LOW_BITS + "TAS_SetStep 1\nTAS_SetCounter 5\nTAS_AddCounter -4\nTAS_MemRdBlock4 2",
        read=(0, 1, 32, 33),  # PE minor
        memory={4: block(10), 8: block(20), 12: block(30), 16: block(40)},
        taken={0: block(10), 1: block(20), 32: block(30), 33: block(40)},
        cycles=4 * 44,
    ),
    TextureRow(
        LOW_BITS + "TAS_SetOrder 1\nTAS_SetStep 1\nTAS_SetCounter 1\nTAS_MemRdBlock4 2",
        read=(0, 1, 2, 32, 65),  # panel minor: 0, 32, 65, then 1, then 2
        memory={4: block(10), 8: block(20), 12: block(30), 16: block(40), 20: block(50)},
        taken={0: block(10), 32: block(20), 65: block(30), 1: block(40), 2: block(50)},
        cycles=5 * 44,
    ),
    TextureRow(
        # The counter is 1 and grows by 1 for the one round; input 16 switches a bit of the address off.
        LOW_BITS + "TAS_SetStep 1\nTAS_SetCounter 1\nTAS_MemRdBlock4 2\nTAS_SetCrossbar 3, 16\nTAS_MemRdBlock4 2",
        read=(0,),
        memory={4: block(10), 8: block(20), 0: block(30)},
        taken={0: block(30)},
        cycles=88,
    ),
    TextureRow(
        "TAS_MemRdBlock4 1\nTAS_MemRdBlock4 3",  # the corner turner holds the address of PE 6, served last
        read=(5, 6),
        ports={5: words(8), 6: words(16)},
        memory={8: block(1), 16: block(2)},
        taken={5: block(2), 6: block(2)},
        cycles=4 * 44,
    ),
    TextureRow(
        "TAS_MemRdBlock8 1",
        read=(1, 2, 100),  # pairs 1 and 2, then 100 alone
        ports={1: words(64), 2: words(9), 100: words(128)},
        memory={64: block(1), 68: block(2), 128: block(3), 132: block(4)},
        taken={1: block(1), 2: block(2), 100: block(3)},
        cycles=2 * (16 + 64),
    ),
    TextureRow(
        "TAS_MemRdRepeat4 4, 1",
        read=(0, 4, 8, 12, 16, 20),
        ports={0: words(4), 4: words(999), 16: words(8)},
        memory={4: block(50), 8: block(60)},
        taken={0: block(50), 4: block(50), 8: block(50), 12: block(50), 16: block(60), 20: block(60)},
        cycles=2 * (12 + 4 * 32),
    ),
    TextureRow(
        "TAS_SetOrder 1\nTAS_MemRdRepeat4 2, 1",  # PE minor, whatever is set
        read=(0, 1, 32, 33),
        ports={0: words(4), 32: words(8)},
        memory={4: block(50), 8: block(60)},
        taken={0: block(50), 1: block(50), 32: block(60), 33: block(60)},
        cycles=2 * (12 + 2 * 32),
    ),
    TextureRow(
        "TAS_SetBanks 1\nTAS_MemRdBlock4 1",  # an alternate slot has 6 cycles, and one more for a read
        read=(0, 1),
        ports={0: words(0), 1: words(1 << 20)},
        memory={0: block(1), 1 << 20: block(2)},
        taken={0: block(1), 1: block(2)},
        cycles=2 * (7 + 32),
    ),
    # --- writes: the first round comes in before, each later one takes as long as the port does
    TextureRow(
        LOW_BITS + "TAS_SetStep 2\nTAS_MemWrBlock4 2",
        write=(0, 255),
        ports={0: block(7), 255: block(9)},
        stored={0: block(7), 8: block(9)},
        cycles=32 + 11,
    ),
    TextureRow(
        "TAS_MemRdBlock4 1\nTAS_MemWrBlock4 3",  # to the address that the read before has left
        read=(0,),
        write=(1,),
        ports={0: words(256), 1: block(9)},
        stored={256: block(9)},
        cycles=44 + 11,
    ),
    TextureRow(
        LOW_BITS + "TAS_SetStep 2\nTAS_MemWrBlock8 2",
        write=(0, 1, 2, 3),
        ports={0: block(10), 1: block(20), 2: block(30), 3: block(40)},
        stored={0: block(10), 4: block(20), 8: block(30), 12: block(40)},
        cycles=64 + 15,
    ),
    TextureRow(
        "TAS_MemRdBlock4 1\nTAS_MemWrHeld4 0",  # what was read, to one address for each SDRAM
        read=(0,),
        write=(1,),
        ports={0: words(256), 1: words(0, 4, 8, 12, 0, 4, 8, 12)},
        memory={256: block(100)},
        taken={0: block(100)},
        stored={
            0: bytes(range(100, 104)) + bytes(12) + bytes(range(116, 120)) + bytes(12),
            4: bytes(4) + bytes(range(104, 108)) + bytes(12) + bytes(range(120, 124)) + bytes(8),
            8: bytes(8) + bytes(range(108, 112)) + bytes(12) + bytes(range(124, 128)) + bytes(4),
            12: bytes(12) + bytes(range(112, 116)) + bytes(12) + bytes(range(128, 132)),
        },
        cycles=44 + 11,
    ),
    TextureRow(
        "TAS_MemRdBlock4 1\nTAS_MemWrHeld4 1",
        read=(0,),
        write=(1, 2, 3),
        ports={0: words(256), 1: words(4), 2: words(8), 3: words(512)},
        memory={256: block(100)},
        taken={0: block(100)},
        stored={4: block(100), 8: block(100), 512: block(100)},
        cycles=44 + 3 * 11,  # 4 bytes of address come in faster than they are used
    ),
    TextureRow(
        "TAS_MemWrHalf4 0\nTAS_MemWrHalf4 1",
        write=(10,),
        ports={10: words(0, 4, 8, 12, 0x11, 0x22, 0x33, 0x44)},
        stored={
            0: words(0x11, 0, 0, 0, 0x11),
            4: words(0, 0x22, 0, 0, 0, 0x22),
            8: words(0, 0, 0x33, 0, 0, 0, 0x33),
            12: words(0, 0, 0, 0x44, 0, 0, 0, 0x44),
        },
        cycles=11 + 11,
    ),
    TextureRow(
        # To the module after the last, which is the first. The second round crosses while the first is written.
        "TAS_MemWrOver4 1, 0\nTAS_MemWrOver4 1, 1",
        modules=2,
        write=(256, 300),
        ports={256: words(0, 0, 8, 8, 0x11, 0x22, 0x33, 0x44), 300: words(512, 0, 0, 0, 0x55, 0x66, 0x77, 0x88)},
        # The last write to an address stays: SDRAMs 1 to 3 at 0 are those of the second PE.
        stored={
            0: words(0x11, 0x66, 0x77, 0x88, 0x11, 0x66, 0x77, 0x88),
            8: words(0, 0, 0x33, 0x44, 0, 0, 0x33, 0x44),
            512: words(0x55, 0, 0, 0, 0x55),
        },
        cycles=2 * (32 + 11),
    ),
    TextureRow(
        LOW_BITS + "TAS_SetStep 1\nTAS_MemWrBase4 3",  # PEs 0 and 8 give bases; the counter starts anew for each
        write=(0, 1, 2, 3, 8, 9, 10),
        ports={0: words(64), 8: words(1 << 20)} | {lane: block(10 * lane) for lane in (1, 2, 3, 9, 10)},
        stored={64: block(10), 68: block(20), 72: block(30), 1 << 20: block(90), (1 << 20) + 4: block(100)},
        cycles=32 + 32 + 36 + 32 + 11,
    ),
    TextureRow(
        LOW_BITS + "TAS_SetStep 2\nTAS_MemWrBase8 2",
        write=(0, 1, 2, 3, 4),
        ports={0: words(64)} | {lane: block(10 * lane) for lane in (1, 2, 3, 4)},
        stored={64: block(10), 68: block(20), 72: block(30), 76: block(40)},
        cycles=64 + 15,
    ),
    TextureRow(
        "TAS_SetBanks 1\nTAS_MemRdBlock4 1\nTAS_SetBanks 1\nTAS_MemWrHeld4 1",
        read=(0,),
        write=(1, 2, 3),
        ports={0: words(256), 1: words(4), 2: words((1 << 20) + 4), 3: words(512)},
        memory={256: block(100)},
        taken={0: block(100)},
        stored={4: block(100), (1 << 20) + 4: block(100), 512: block(100)},
        cycles=39 + 3 * 6,
    ),
    # --- between PEs, and to and from a GP
    TextureRow(
        "TAS_LoopBack",
        read=(4, 200),
        write=(0, 1),
        ports={0: block(3), 1: block(5)},
        taken={4: block(3), 200: block(5)},
        cycles=32 + 32,
    ),
    TextureRow(
        "TAS_SetOrder 1\nTAS_LoopBack",  # writers 0, 32, 1 to readers 64, 96, 65
        read=(64, 65, 96),
        write=(0, 1, 32),
        ports={0: block(3), 1: block(5), 32: block(7)},
        taken={64: block(3), 96: block(7), 65: block(5)},
        cycles=3 * 32,
    ),
    TextureRow(
        "TAS_SetGpAddress 1, 100\nTAS_GpWrite 1, 4, 12\nTAS_GpWrite 1, 0, 2",
        write=(3, 90),
        ports={3: block(10), 90: block(50)},
        returned={100: block(14)[:12] + block(54)[:12] + bytes((10, 11, 50, 51))},
        gni={"store0": 6 + 6 + 1 + 1},
    ),
    TextureRow(
        "TAS_SetGp 1, 0, 1\nTAS_GpWrite 1, 0, 32\nTAS_SetGp 1, 0, 0\nTAS_GpWrite 1, 0, 1",
        write=(3,),
        ports={3: block(10)},
        returned={0: bytes((10,))},
        gni={"store1": 16, "store0": 1},
    ),
    TextureRow(
        "TAS_MemRdGp4 2, 1, 4, 4",
        read=(0, 1),
        write=(0, 1, 2),
        ports={0: words(64, 0x01020304), 1: words(0, 5), 2: words(0, 6)},
        memory={64: block(100)},
        taken={0: block(100), 1: block(100)},
        returned={0: words(0x01020304, 5, 6)[:12]},
        cycles=12 + 2 * 32,
        gni={"store0": 2 + 2 + 2},
    ),
    TextureRow(
        "TAS_MemRdGp8 1, 4, 3",  # pair 0 and 2, then 9 alone; 3 bytes of PEs 0, 1 and 9 leave
        read=(0, 2, 9),
        write=(0, 1, 9),
        ports={0: words(64, 0x01020304), 1: words(0, 5), 2: words(999), 9: words(128, 0x0A0B0C0D)},
        memory={64: block(1), 68: block(2), 128: block(3), 132: block(4)},
        taken={0: block(1), 2: block(2), 9: block(3)},
        returned={0: bytes((4, 3, 2, 5, 0, 0, 13, 12, 11))},
        cycles=2 * (16 + 64),
        gni={"store0": 2 + 2 + 2},
    ),
    TextureRow(
        "TAS_MemLoad 1, 3, 508\nTAS_MemLoad 1, 1, 0",  # the second goes on where the first has ended
        gp=block(10) + block(20) + block(30) + block(40),
        stored={508: block(10), 512: block(20), 516: block(30), 0: block(40)},
        cycles=3 * 11 + 11,
        gni={"from_gni0": 12 + 4},
    ),
]
