"""Load files with damaged bytes: the same seed and number give the same file on every machine.

Guaranteed: nothing here imports the application.
Not guaranteed: that a file is worse than before; some of what is done to one leaves it sound, or as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from samples.dialects import BOMS, encode
from samples.generator import Generated
from samples.words import build_random
from tests.torture.mutations.base_files import base_files
from tests.torture.mutations.options import damaged_options

MOST_BYTES = 100_000
# What readers stumble over: marks, controls, halves of characters, line ends of others, what looks like code.
FRAGMENTS = (
    *(b"\0", b"\0\0\0\0", b"\r", b"\n", b"\r\n", b"\n\r", b"\r\r\n", b"\n" * 40),
    *(b"\x1a", b"\x14", b"\x1e", b"\t", b" ", b"\xfe", b"\xc3\xbe", b"\xae", b"\xc2\xae"),
    *(b'"', b'""', b"^", b"^^", b"|", b";", b",", b"'", b"\\"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\x80", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80"),
    *(b"\xed\xb2\x80", b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\x00\xd8", b"\xd8\x00", b"\xe2\x80\xa8"),
    *(b"\xc2\x85", b"\xe2\x80\xae", b"\xef\xbf\xbf", b"\xcc\x81" * 50, b"a;" * 1_100, b"x" * 300),
    *(b"=1+1", b"<nil>", b"<?xml ", b"PK\x03\x04", b"{", b"%s", b"99/99/9999"),
    *(b"'; DROP TABLE exhibits; -- ", b": &a *a !!python/name:x"),
)

Damage = Callable[["Mutation", bytes], bytes]


@dataclass(frozen=True)
class Mutation:
    """What damages one file: its random numbers, the file's own marks, and the files that pieces may come from."""

    rng: random.Random
    base: Generated
    others: Sequence[Generated]

    def place(self, data: bytes) -> int:
        """A place in the data; one in three beside a mark of the file's."""
        if data and self.rng.random() < 0.34:
            found = data.find(self.rng.choice(self.marks()), self.rng.randrange(len(data)))
            if found >= 0:
                return min(len(data), found + self.rng.choice((0, 0, 1, 2)))
        return self.rng.randint(0, len(data))

    def span(self, data: bytes, most: int = 400) -> tuple[int, int]:
        """A slice of the data, mostly a short one."""
        start = self.place(data)
        length = self.rng.choice((1, 1, 2, 3, 8, 40, most))
        return start, min(len(data), start + self.rng.randint(0, length))

    def marks(self) -> list[bytes]:
        """Delimiter, qualifier and line end as the file has them."""
        spec = self.base.spec
        texts = (spec.dialect.delimiter, spec.dialect.qualifier, spec.newline)
        return [encode(text, spec.encoding) for text in texts if text]


@dataclass(frozen=True)
class Mutated:
    """A damaged file: its number, what it was, its bytes and options now, and the names of what was done to it."""

    number: int
    base: Generated
    data: bytes
    options: dict[str, Any]
    done: tuple[str, ...]


def _flip_bit(mutation: Mutation, data: bytes) -> bytes:
    if not data:
        return data
    at = min(mutation.place(data), len(data) - 1)
    return data[:at] + bytes([data[at] ^ 1 << mutation.rng.randrange(8)]) + data[at + 1 :]


def _replace_byte(mutation: Mutation, data: bytes) -> bytes:
    at = mutation.place(data)
    return data[:at] + bytes([mutation.rng.randrange(256)]) + data[at + 1 :]


def _cut(mutation: Mutation, data: bytes) -> bytes:
    start, end = mutation.span(data)
    return data[:start] + data[end:]


def _insert(mutation: Mutation, data: bytes) -> bytes:
    at, rng = mutation.place(data), mutation.rng
    piece = rng.choice(FRAGMENTS) if rng.random() < 0.8 else rng.randbytes(rng.choice((1, 2, 5, 60)))
    return data[:at] + piece + data[at:]


def _repeat(mutation: Mutation, data: bytes) -> bytes:
    start, end = mutation.span(data)
    times = mutation.rng.choice((2, 3, 20, 1_500))
    return data[:start] + data[start:end] * min(times, 1 + MOST_BYTES // (end - start + 1)) + data[end:]


def _splice(mutation: Mutation, data: bytes) -> bytes:
    other = mutation.rng.choice(mutation.others).data
    start, end = mutation.span(other, 2_000)
    at, behind = mutation.span(data)
    return data[:at] + other[start:end] + data[behind:]


def _recode(mutation: Mutation, data: bytes) -> bytes:
    start, end = mutation.span(data)
    source, target = mutation.rng.sample(("latin-1", "utf-8", "utf-16-le", "utf-16-be", "cp1252"), 2)
    text = data[start:end].decode(source, "ignore")
    return data[:start] + text.encode(target, "ignore") + data[end:]


def _drop_line_end(mutation: Mutation, data: bytes) -> bytes:
    end = encode(mutation.base.spec.newline, mutation.base.spec.encoding)
    at = data.find(end, mutation.place(data))
    return data if at < 0 else data[:at] + mutation.rng.choice((b"", end[: len(end) // 2])) + data[at + len(end) :]


def _double_line_end(mutation: Mutation, data: bytes) -> bytes:
    end = encode(mutation.base.spec.newline, mutation.base.spec.encoding)
    at = data.find(end, mutation.place(data))
    return data if at < 0 else data[:at] + end * mutation.rng.choice((1, 2, 50)) + data[at:]


def _stray_qualifier(mutation: Mutation, data: bytes) -> bytes:
    at, spec = mutation.place(data), mutation.base.spec
    mark = encode(spec.dialect.qualifier or '"', spec.encoding)
    return data[:at] + mark * mutation.rng.choice((1, 1, 1, 2, 3)) + data[at:]


def _nuls(mutation: Mutation, data: bytes) -> bytes:
    at = mutation.place(data)
    return data[:at] + bytes(mutation.rng.choice((1, 2, 7, 300))) + data[at:]


def _mark_inside(mutation: Mutation, data: bytes) -> bytes:
    at = mutation.rng.choice((0, mutation.place(data)))
    return data[:at] + mutation.rng.choice([mark for mark in BOMS.values() if mark]) + data[at:]


def _newline_marks(mutation: Mutation, data: bytes) -> bytes:
    """U+00AE in many cells of every field."""
    spec = mutation.base.spec
    ends = [
        encode(text, spec.encoding)
        for text in (spec.dialect.qualifier + spec.dialect.delimiter, spec.dialect.delimiter)
    ]
    end = ends[0] if ends[0] in data else ends[1]
    mark = encode("\u00ae", spec.encoding)
    return end.join(cell + mark * (mutation.rng.random() < 0.2) for cell in data.split(end))


def _truncate(mutation: Mutation, data: bytes) -> bytes:
    return data[: mutation.place(data)]


def _swap_lines(mutation: Mutation, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = (mutation.rng.randrange(len(lines)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _cr_ends(mutation: Mutation, data: bytes) -> bytes:
    end, cr = (encode(text, mutation.base.spec.encoding) for text in (mutation.base.spec.newline, "\r"))
    return data.replace(end, cr, mutation.rng.choice((-1, -1, 1, 5)))


def _repeat_header(mutation: Mutation, data: bytes) -> bytes:
    spec, truth = mutation.base.spec, mutation.base.truth
    end, bom = encode(spec.newline, spec.encoding), BOMS[spec.encoding]
    header = mutation.base.data[len(bom) : truth.header_len]
    at = data.find(end, mutation.place(data)) + len(end)
    return data[:at] + mutation.rng.choice((b"", bom, BOMS["utf-8-sig"])) + header + data[at:]


def _utf_32(mutation: Mutation, data: bytes) -> bytes:
    """Mostly not done: such a file is refused, and nothing else of it is seen."""
    if mutation.rng.random() < 0.9:
        return data
    text = data.decode(
        encoding="utf-8" if "utf-8" in mutation.base.spec.encoding else mutation.base.spec.encoding, errors="ignore"
    )
    return text.removeprefix("\ufeff").encode("utf-32", "ignore")


DAMAGES: tuple[Damage, ...] = (
    *(_flip_bit, _replace_byte, _cut, _insert, _repeat, _splice, _recode, _drop_line_end, _double_line_end),
    *(_stray_qualifier, _nuls, _mark_inside, _newline_marks, _truncate, _swap_lines),
    *(_cr_ends, _repeat_header, _utf_32),
)


def damaged(mutation: Mutation, number: int = 0) -> Mutated:
    """The base with one to five things done to it."""
    data, done, rng = mutation.base.data, [], mutation.rng
    for damage in rng.choices(DAMAGES, k=rng.choice((1, 1, 2, 3, 5))):
        data = damage(mutation, data)[:MOST_BYTES]
        done.append(damage.__name__.strip("_"))
    options = dict(mutation.base.options or {})
    if rng.random() < 0.08:
        options = damaged_options(rng, options)
        done.append("options")
    return Mutated(number, mutation.base, data, options, tuple(done))


class Mutator:
    """Damaged files of one seed, each made from its number alone."""

    def __init__(self, seed: int, *, most_bases: int = 400) -> None:
        self._seed = seed
        self._bases = base_files(seed, most_bases)

    def file(self, number: int) -> Mutated:
        """The file of that number."""
        rng = build_random(self._seed, f"file {number}")
        return damaged(Mutation(rng, rng.choice(self._bases), self._bases), number)
