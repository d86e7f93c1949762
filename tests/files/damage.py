"""Damage of files: bytes, lines and numbers at random, and values that somebody forged and sealed anew."""

from __future__ import annotations

import io
import json
import random

import numpy as np

from pixelflow.node.saved import archive

LONG_NUMBER = b"9" * 5_000
ESCAPE = b"\x1b]0;owned\x07\x1b[2J\xc2\x9b31m"
"""A title for the terminal, a cleared screen, and a colour by a control character of one byte."""
PIECES = (
    *(LONG_NUMBER, ESCAPE, b"\0", b"\xff\xfe", b"\r", b"\n", b"\t", b"-1", b"1e999", b"nan", b"[" * 2_000, b'"', b"{"),
    *(b"4294967296", b"99999999999999999999", b"0x", b"\xe2\x80\xae", b"a" * 10_000),
)
FORGED = (
    *(None, True, -1, 0, 1, 7, 255, 10**6, 10**12, 10**30, 0.5, "", "x", "eigc", [], {}, [0], [[0, 0]]),
    *({"list": []}, {"tuple": [1]}, {"dict": []}, {"array": 0}, {"array": 99}, {"class": "wire.Sent", "fields": {}}),
)
DTYPES = (np.uint8, np.int64, np.bool_, np.float64, "U4")


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Change, drop, repeat or insert something; or cut the end."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, size = rng.randrange(len(found) + 1), rng.randint(1, 40)
        match rng.randrange(6):
            case 0 if found:
                found[min(at, len(found) - 1)] ^= 1 << rng.randrange(8)
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = found[at : at + size]
            case 3:
                found[at:at] = rng.choice(PIECES)
            case 4:
                found[at : at + size] = rng.choice(PIECES)
            case 5:
                del found[at if rng.random() < 0.3 else len(found) :]
    return bytes(found)


def arrays_changed(data: bytes, rng: random.Random) -> bytes:
    """Change an array of an archive: its bytes, kind, shape, name; or leave it out."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive_of:
        arrays = {name: archive_of[name] for name in archive_of.files}
    name = rng.choice(list(arrays))
    arrays |= _changed(name, arrays.pop(name), rng)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def forged(data: bytes, rng: random.Random) -> bytes:
    """Change a value in the header of a saved state, or one of its arrays, and seal the file anew."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        header = json.loads(held["header"].tobytes())
        arrays = [held[f"array{at}"] for at in range(len(held.files) - 1)]
    if arrays and rng.random() < 0.3:
        at = rng.randrange(len(arrays))
        changed = _changed("", arrays[at], rng)
        arrays[at] = next(iter(changed.values()), np.zeros(0, np.uint8))
    else:
        replace_value(header, rng)
    return sealed(header, arrays)


def sealed(header: object, arrays: list[np.ndarray]) -> bytes:
    """Return a file of saved state with this header, whatever it is, and the right checksum."""
    kept = archive.pack
    try:
        archive.pack = lambda state, held: (held.extend(arrays), state)[1]
        about = {key: value for key, value in header.items() if key not in ("schema", "state")}
        return archive.write_archive(header.get("schema", ""), about, header.get("state"))
    finally:
        archive.pack = kept


def _changed(name: str, values: np.ndarray, rng: random.Random) -> dict[str, np.ndarray]:
    match rng.randrange(5):
        case 0:
            return {}
        case 1:
            return {name + "x": values}
        case 2:
            return {name: values.astype("U4" if values.dtype.kind == "U" else rng.choice(DTYPES))}
        case 3:
            return {name: values[..., : max(0, values.shape[-1] - 1)] if values.ndim else np.zeros(3)}
    flat = values.copy().reshape(-1)
    if flat.size and flat.dtype.kind in "iub":
        low, high = (0, 2) if flat.dtype.kind == "b" else (np.iinfo(flat.dtype).min, np.iinfo(flat.dtype).max)
        flat[rng.randrange(flat.size)] = rng.choice((low, high - 1))
    return {name: flat.reshape(values.shape)}


def replace_value(header: dict, rng: random.Random) -> None:
    """Replace one value at a place that is drawn: by another kind, another number, or nothing."""
    places: list[tuple[dict | list, object]] = []
    waiting: list[dict | list] = [header]
    while waiting:
        inside = waiting.pop()
        keys = inside.keys() if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            places.append((inside, key))
            if isinstance(inside[key], dict | list):
                waiting.append(inside[key])
    inside, key = rng.choice(places)
    if rng.random() < 0.1:
        del inside[key]
    else:
        inside[key] = rng.choice(FORGED)
