"""Damage of files and messages: bytes, words and values at random, and values that somebody forged and sealed anew."""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import random
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pixelflow.node import saved_state as archive

LONG_NUMBER = b"9" * 5_000
ESCAPE = b"\x1b]0;owned\x07\x1b[2J\xc2\x9b31m"
"""A title for the terminal, a cleared screen, and a colour by a control character of one byte."""
PIECES = (
    *(LONG_NUMBER, ESCAPE, b"\0", b"\xff\xfe", b"\r", b"\n", b"\t", b"-1", b"1e999", b"nan", b"[" * 2_000, b'"', b"{"),
    *(b"4294967296", b"99999999999999999999", b"0x", b"\xe2\x80\xae", b"a" * 10_000, b"0x" + b"f" * 40, b"0", b"1/0"),
)
FORGED = (
    *(None, True, -1, 0, 1, 7, 255, 10**6, 10**12, 10**30, 10**400, 0.5, 1e30, float("nan"), float("inf"), "", "x"),
    *("eigc", "\x00", "../../etc/passwd", "nearest", "9" * 40, [], {}, [0], [[0, 0]], [0] * 5_000),
    *({"list": []}, {"tuple": [1]}, {"dict": []}, {"array": 0}, {"array": 99}, {"class": "wire.Sent", "fields": {}}),
)
DTYPES = (np.uint8, np.int64, np.bool_, np.float64, "U4")
WORDS = re.compile(rb"[A-Za-z_]\w*|[\d.]+|[ \t]+|.", re.DOTALL)
CHANGES = (1, 1, 1, 2, 3)
_CHUNK = 12
"""Bytes of the length, name and checksum of a chunk of PNG."""

Damage = Callable[[bytes, random.Random], bytes]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Damage a file by its form: what is packed or sealed also inside of that, what is text also by its words."""
    inside = next((way for mark, way in _FORMS.items() if data.startswith(mark)), _words_changed)
    return (inside if rng.random() < 0.6 else _bytes_changed)(data, rng)


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Change, drop, repeat or insert something; or cut the end."""
    found = bytearray(data)
    for _ in range(rng.choice(CHANGES)):
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


def _words_changed(data: bytes, rng: random.Random) -> bytes:
    """Drop or repeat words, or put others of the file, or odd ones, in their place."""
    words = WORDS.findall(data)
    if not words:
        return _bytes_changed(data, rng)
    for _ in range(rng.choice(CHANGES)):
        at, other = rng.randrange(len(words)), rng.choice(words)
        words[at] = rng.choice((b"", words[at] * 2, other, other, other, words[at] + b" " + other, rng.choice(PIECES)))
    return b"".join(words)


def _json_changed(data: bytes, rng: random.Random) -> bytes:
    """Change a value of JSON, and the checksum with it where it is an object file."""
    try:
        body = json.loads(data)
    except ValueError:
        return _words_changed(data, rng)
    for _ in range(rng.choice(CHANGES)):
        replace_value(body, rng)
    if isinstance(body, dict) and "sha256" in body and rng.random() < 0.7:
        _reseal(body)
    return json.dumps(body).encode()


def _reseal(program: dict[str, Any]) -> None:
    """Give an object file the checksum of what it holds, where that can be had."""
    try:
        words = [int(word, 16) for word in program["words"]]
        seen = {"words": words, "entries": program["entries"], "data": program["data"]}
        program["sha256"] = hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
    except (KeyError, TypeError, ValueError):
        return


def _archive_changed(data: bytes, rng: random.Random) -> bytes:
    """Change an array of an archive, or a value in the header of a saved state, and seal that anew."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    if "header" in arrays and arrays["header"].dtype == np.uint8:
        return _forged(arrays, rng)
    name = rng.choice(list(arrays))
    arrays |= _array_changed(name, arrays.pop(name), rng)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _forged(held: dict[str, np.ndarray], rng: random.Random) -> bytes:
    header = json.loads(held["header"].tobytes())
    arrays = [held[f"array{at}"] for at in range(len(held) - 1)]
    if arrays and rng.random() < 0.3:
        at = rng.randrange(len(arrays))
        changed = _array_changed("", arrays[at], rng)
        arrays[at] = next(iter(changed.values()), np.zeros(0, np.uint8))
    else:
        replace_value(header["state"] if rng.random() < 0.8 else header, rng)
    return sealed(header, arrays)


def sealed(header: Any, arrays: list[np.ndarray]) -> bytes:
    """Return a file of saved state with this header, whatever it is, and the right checksum."""
    kept = archive.pack
    try:
        archive.pack = lambda state, held: (held.extend(arrays), state)[1]
        about = {key: value for key, value in header.items() if key not in ("schema", "state")}
        return archive.write_archive(header.get("schema", ""), about, header.get("state"))
    finally:
        archive.pack = kept


def _array_changed(name: str, values: np.ndarray, rng: random.Random) -> dict[str, np.ndarray]:
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


def _unpacked_changed(data: bytes, rng: random.Random) -> bytes:
    """Damage what is zipped."""
    return gzip.compress(damaged(gzip.decompress(data), rng))


def _glb_changed(data: bytes, rng: random.Random) -> bytes:
    """Change a value in the JSON of a binary glTF file, whose lengths are then those of the new one."""
    (size,) = struct.unpack_from("<I", data, 12)
    scene, rest = _json_changed(data[20 : 20 + size], rng), data[20 + size :]
    scene += b" " * (-len(scene) % 4)
    head = struct.pack("<III4s", 2, 20 + len(scene) + len(rest), len(scene), b"JSON")
    return data[:4] + head + scene + rest


def _png_changed(data: bytes, rng: random.Random) -> bytes:
    """Damage what a chunk of a PNG file holds, and give it the checksum and the length of that."""
    places, at = [], 8
    while at < len(data):
        places.append(at)
        at += _CHUNK + int.from_bytes(data[at : at + 4])
    at = rng.choice(places[:-1])
    end = at + _CHUNK + int.from_bytes(data[at : at + 4])
    name, inside = data[at + 4 : at + 8], _bytes_changed(data[at + 8 : end - 4], rng)
    checksum = zlib.crc32(name + inside).to_bytes(4)
    return data[:at] + len(inside).to_bytes(4) + name + inside + checksum + data[end:]


_FORMS: dict[bytes, Damage] = {
    b"PK": _archive_changed, b"{": _json_changed, b"\x1f\x8b": _unpacked_changed, b"glTF": _glb_changed,
    b"\x89PNG": _png_changed,
}  # fmt: skip
"""How forms are damaged from inside, by how they begin."""


def replace_value(body: Any, rng: random.Random) -> None:
    """Replace a value somewhere inside, or drop it; what is small is hit as often as what is large."""
    places = list(_places(body))
    if rng.random() < 0.5:
        holder, key = rng.choice(places) if places else (body, None)
    else:
        holder, key = body, None
        inside = body
        while isinstance(inside, dict | list) and inside and (key is None or rng.random() < 0.95):
            holder, key = inside, rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
            inside = holder[key]
    if key is None:
        return
    old = holder[key]
    if rng.random() < 0.1:
        del holder[key]
    elif isinstance(old, str) and rng.random() < 0.5:
        holder[key] = _words_changed(old.encode(), rng).decode("utf-8", "replace")
    else:
        holder[key] = copy.deepcopy(rng.choice(FORGED))


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a value of JSON."""
    if isinstance(inside, dict | list):
        for key in list(inside) if isinstance(inside, dict) else range(len(inside)):
            yield inside, key
            yield from _places(inside[key])
