"""Image load files with damaged bytes: the same seed and number give the same file on every machine.

Guaranteed: nothing here imports the application.
Not guaranteed: that a file is worse than before; some of what is done to one leaves it sound, or as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from samples.words import build_random

MOST_BYTES = 40_000
ENCODINGS = ("ascii", "utf-8", "utf-8-sig", "cp1252", "utf-16-le", "utf-16-be")
BOMS = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
NAMES = ("IMAGES", "0001", "Müller", "Smith, J", "a;b", "crème brûlée", "N", "")
FRAGMENTS = (
    *(b"\r", b"\n", b"\r\n", b"\n\r", b"\r\r\n", b"\n" * 40, b"\0", b"\x1a", b"\t", b" ", b"\xa0", b"\x85"),
    *(b",", b",,,,", b",Y", b",y,,,", b",N,", b",Y,,,3", b",,,,,,,,", b";", b";;", b"@", b'"', b"##", b"\\", b"/"),
    *(b"IM,", b"FT,x", b"im,A,d,1,@V;D;a.tif;2,1\n", b"BF,A,D\n", b"\nA,V,a.tif,Y,,,2\n", b",4294967296", b",-1"),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x80",
        b"\x81",
        b"\xc3",
        b"\xe2\x80\xa8",
        b"\xed\xb2\x80",
        b"\x00\xd8",
    ),
    *(b"x" * 300, b"0" * 5_000, b"9" * 5_000, b"," * 300, b"\xe2\x84\xaa", b"\xc2\xb2"),
)

Damage = Callable[[random.Random, "ImageFile"], bytes]


@dataclass(frozen=True)
class ImageFile:
    """A file: its number, kind (`opt` or `lfp`), encoding and line end before the damage, bytes, and what was done."""

    number: int
    kind: str
    encoding: str
    newline: str
    data: bytes
    done: tuple[str, ...] = ()

    def encode(self, text: str) -> bytes:
        """Text as this file would have it."""
        return text.encode(self.encoding.removesuffix("-sig"), "replace")


def sound_file(rng: random.Random, number: int = 0) -> ImageFile:
    """A file of a few documents of any shape."""
    kind, encoding = rng.choice(("opt", "lfp")), rng.choice(ENCODINGS)
    file = ImageFile(number, kind, encoding, rng.choice(("\r\n", "\r\n", "\n", "\r")), b"")
    lines = [line for document in range(rng.choice((1, 3, 8, 20))) for line in _document(rng, kind, document)]
    text = file.newline.join(lines) + rng.choice((file.newline, ""))
    return ImageFile(number, kind, encoding, file.newline, BOMS.get(encoding, b"") + file.encode(text))


def _document(rng: random.Random, kind: str, number: int) -> list[str]:
    pages, columns = rng.choice((1, 1, 2, 3, 9)), rng.choice((4, 5, 6, 7, 7, 7, 8))
    # A line of fewer columns than seven cannot have commas in its path.
    folder = "\\".join(rng.sample([name for name in NAMES if kind == "lfp" or columns > 6 or "," not in name], 2))
    suffix, one_key, one_file = rng.choice((".tif", ".TIF", ".jpg", ".pdf")), rng.random() < 0.2, rng.random() < 0.2
    count = rng.choice((pages, pages, pages, "", 7))
    lines: list[str] = []
    for page in range(1, pages + 1):
        key = f"A{number:04d}" if one_key else f"A{number:04d}_{page}"
        file = f"A{number}{suffix}" if one_file else f"{key}{suffix}"
        if kind == "opt":
            mark = rng.choice(("Y", "Y", "y", " Y ")) if page == 1 else rng.choice(("", "", "", "N", "n"))
            lines.append(_opticon_line(key, f"{folder}\\{file}", mark, str(count) if page == 1 else "", columns))
        else:
            flag = rng.choice("DDDDCFBSd") if page == 1 else rng.choice(("", " "))
            rotation = rng.choice(("", ",0", ",1", ",90", ", 3"))
            offset = page if one_file and rng.random() < 0.7 else 0
            lines.append(f"IM,{key},{flag},{offset},@VOL001;{folder};{file};{rng.choice('2457')}{rotation}")
            lines += rng.choice(
                ([], [], [], [f"FT,{key},1,1"], ["## a comment"], [""], [f"OF,{key},@VOL001;TEXT;a.txt"])
            )
    return lines


def _opticon_line(key: str, path: str, mark: str, count: str, columns: int) -> str:
    ends = {4: "", 5: f",{count}", 6: f",{count},", 7: f",,,{count}", 8: f",,,{count},"}
    return f"{key},VOL001,{path},{mark}{ends[columns]}"


def _place(rng: random.Random, file: ImageFile) -> int:
    """A place in the file; one in three beside a comma or a line end."""
    if file.data and rng.random() < 0.34:
        found = file.data.find(file.encode(rng.choice((",", file.newline, ";"))), rng.randrange(len(file.data)))
        if found >= 0:
            return min(len(file.data), found + rng.choice((0, 0, 1, 2)))
    return rng.randint(0, len(file.data))


def _span(rng: random.Random, file: ImageFile) -> tuple[int, int]:
    start = _place(rng, file)
    return start, min(len(file.data), start + rng.randint(0, rng.choice((1, 2, 3, 8, 40, 400))))


def _flip_bit(rng: random.Random, file: ImageFile) -> bytes:
    at = min(_place(rng, file), len(file.data) - 1)
    return file.data[:at] + bytes([file.data[at] ^ 1 << rng.randrange(8)]) + file.data[at + 1 :] if file.data else b""


def _replace_byte(rng: random.Random, file: ImageFile) -> bytes:
    at = _place(rng, file)
    return file.data[:at] + bytes([rng.randrange(256)]) + file.data[at + 1 :]


def _cut(rng: random.Random, file: ImageFile) -> bytes:
    start, end = _span(rng, file)
    return file.data[:start] + file.data[end:]


def _insert(rng: random.Random, file: ImageFile) -> bytes:
    at = _place(rng, file)
    piece = rng.choice(FRAGMENTS) if rng.random() < 0.9 else rng.randbytes(rng.choice((1, 2, 5, 60)))
    if rng.random() < 0.5:
        piece = file.encode(piece.decode("latin-1"))
    return file.data[:at] + piece + file.data[at:]


def _repeat(rng: random.Random, file: ImageFile) -> bytes:
    start, end = _span(rng, file)
    return file.data[:start] + file.data[start:end] * rng.choice((2, 3, 20, 500)) + file.data[end:]


def _swap_lines(rng: random.Random, file: ImageFile) -> bytes:
    end = file.encode(file.newline)
    lines = file.data.split(end)
    one, other = (rng.randrange(len(lines)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return end.join(lines)


def _drop_line_end(rng: random.Random, file: ImageFile) -> bytes:
    end = file.encode(file.newline)
    at = file.data.find(end, _place(rng, file))
    return (
        file.data if at < 0 else file.data[:at] + rng.choice((b"", end[: len(end) // 2])) + file.data[at + len(end) :]
    )


def _mix_line_ends(rng: random.Random, file: ImageFile) -> bytes:
    pieces = file.data.split(file.encode(file.newline))
    ends = [file.encode(rng.choice(("\r", "\n", "\r\n", "\n\n"))) for _ in pieces[1:]] + [b""]
    return b"".join(piece + end for piece, end in zip(pieces, ends, strict=True))


def _mark_inside(rng: random.Random, file: ImageFile) -> bytes:
    end = file.encode(file.newline)
    found = file.data.find(end, _place(rng, file))
    at = rng.choice((0, found + len(end) if found >= 0 else 0, _place(rng, file)))
    return file.data[:at] + rng.choice((*BOMS.values(), BOMS.get(file.encoding, b""))) + file.data[at:]


def _recode(rng: random.Random, file: ImageFile) -> bytes:
    start, end = _span(rng, file)
    source, target = rng.sample(("latin-1", "utf-8", "utf-16-le", "cp1252"), 2)
    return file.data[:start] + file.data[start:end].decode(source, "ignore").encode(target, "ignore") + file.data[end:]


def _other_break(rng: random.Random, file: ImageFile) -> bytes:
    old, new = (file.encode(text) for text in rng.sample((",Y,", ",,", ",N,", ",X,", ",D,", ",C,"), 2))
    return file.data.replace(old, new, rng.choice((1, 2, 5)))


def _other_columns(rng: random.Random, file: ImageFile) -> bytes:
    end = file.encode(file.newline)
    lines = file.data.split(end)
    for at in rng.sample(range(len(lines)), min(len(lines), rng.choice((1, 3)))):
        columns = lines[at].split(file.encode(","))
        columns.insert(rng.randint(0, len(columns)), file.encode(rng.choice(("", "", "Y", "3", "x", " 2 ", "Y,,"))))
        del columns[rng.choice((len(columns), rng.randrange(len(columns)))) :]
        lines[at] = file.encode(",").join(columns)
    return end.join(lines)


def _truncate(rng: random.Random, file: ImageFile) -> bytes:
    return file.data[: _place(rng, file)]


DAMAGES: tuple[Damage, ...] = (
    *(_flip_bit, _replace_byte, _cut, _insert, _insert, _repeat, _swap_lines, _drop_line_end, _mix_line_ends),
    *(_mark_inside, _recode, _other_break, _other_columns, _other_columns, _truncate),
)


def image_file(seed: int, number: int) -> ImageFile:
    """The file of that number, with up to five things done to it."""
    rng = build_random(seed, f"image file {number}")
    file = sound_file(rng, number)
    for damage in rng.choices(DAMAGES, k=rng.choice((0, 1, 1, 2, 3, 5))):
        data = damage(rng, file)[:MOST_BYTES]
        done = (*file.done, damage.__name__.strip("_"))
        file = ImageFile(number, file.kind, file.encoding, file.newline, data, done)
    return file
