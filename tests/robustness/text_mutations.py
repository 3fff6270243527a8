"""Damage to text files: lines lost, moved and repeated, other ends, fields and tokens replaced by nasty ones."""

import gzip
from random import Random

from phrasebeam.process.compression import ZSTD_MAGIC
from tests.robustness.byte_mutations import BYTES, Mutation
from tests.robustness.nasty_text import BROKEN_UTF8, LONG, NUMBERS, PIECES


def drop_line(rng: Random, data: bytes) -> bytes:
    return _with_lines(rng, data, lambda lines, i: lines[:i] + lines[i + 1 :])


def repeat_line(rng: Random, data: bytes) -> bytes:
    return _with_lines(rng, data, lambda lines, i: lines[: i + 1] + lines[i:])


def swap_lines(rng: Random, data: bytes) -> bytes:
    def swapped(lines, i):
        j = rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        return lines

    return _with_lines(rng, data, swapped)


def empty_line(rng: Random, data: bytes) -> bytes:
    return _with_lines(rng, data, lambda lines, i: lines[:i] + [rng.choice([b"", b" ", b"\t"])] + lines[i:])


def nasty_line(rng: Random, data: bytes) -> bytes:
    line = rng.choice(["", " ", "|||", " ||| "]).join(rng.choices(PIECES, k=rng.randint(1, 6)))
    return _with_lines(rng, data, lambda lines, i: lines[:i] + [line.encode()] + lines[i:])


def long_line(rng: Random, data: bytes) -> bytes:
    return _with_lines(rng, data, lambda lines, i: lines[:i] + [rng.choice(LONG).encode()] + lines[i:])


def dos_lines(rng: Random, data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def dos_line(rng: Random, data: bytes) -> bytes:
    return _with_lines(rng, data, lambda lines, i: lines[:i] + [lines[i] + b"\r"] + lines[i + 1 :])


def old_mac_lines(rng: Random, data: bytes) -> bytes:
    return data.replace(b"\n", b"\r")


def no_last_end(rng: Random, data: bytes) -> bytes:
    return data.rstrip(b"\n")


def byte_order_mark(rng: Random, data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data


def utf16(rng: Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode("utf-16")


def latin1(rng: Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode("latin-1", "replace")


def broken_utf8(rng: Random, data: bytes) -> bytes:
    begin = rng.randint(0, len(data))
    return data[:begin] + rng.choice(BROKEN_UTF8) + data[begin:]


def nasty_token(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: rng.choice(PIECES).encode())


def nasty_number(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: rng.choice(NUMBERS).encode(), numbers=True)


def long_token(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: rng.choice(LONG).encode())


def drop_token(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: b"")


def repeat_token(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: token + b" " + token)


def join_token(rng: Random, data: bytes) -> bytes:
    return _with_token(rng, data, lambda token: token + rng.choice(PIECES).encode())


def other_spaces(rng: Random, data: bytes) -> bytes:
    return data.replace(b" ", rng.choice([b"\t", b"  ", "\u00a0".encode(), "\u3000".encode(), b"|"]))


def compressed(rng: Random, data: bytes) -> bytes:
    """Gzip, whole or damaged, or what begins as Zstandard."""
    whole = gzip.compress(data, mtime=0)
    return rng.choice([whole, rng.choice(BYTES)(rng, whole), whole + whole, whole + b"x", ZSTD_MAGIC + data])


def _with_lines(rng, data, change):
    lines = data.split(b"\n")
    return b"\n".join(change(lines, rng.randrange(max(len(lines) - 1, 1))))


def _with_token(rng, data, change, numbers=False):
    """One token of one line changed; with `numbers` one that has digits, if there are any on the line."""

    def changed(lines, i):
        tokens = lines[i].split(b" ")
        places = [j for j, token in enumerate(tokens) if not numbers or any(48 <= byte < 58 for byte in token)]
        if places:
            j = rng.choice(places)
            tokens[j] = change(tokens[j])
        return [*lines[:i], b" ".join(tokens), *lines[i + 1 :]]

    return _with_lines(rng, data, changed)


TEXT: list[Mutation] = [
    *(drop_line, repeat_line, swap_lines, empty_line, nasty_line, nasty_line, long_line, dos_lines, dos_line),
    *(old_mac_lines, no_last_end, byte_order_mark, utf16, latin1, broken_utf8, nasty_token, nasty_token, nasty_number),
    *(nasty_number, long_token, drop_token, repeat_token, join_token, other_spaces, compressed),
]


def recompressed(rng: Random, data: bytes) -> bytes:
    """Damaged text in sound gzip data."""
    return gzip.compress(rng.choice(TEXT)(rng, gzip.decompress(data)), mtime=0)
