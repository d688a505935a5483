"""Boundary commands of an LFP: in every order they give the documents of the second reader, or a refusal with lines."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, permutations

import pytest

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.image_load_file.boundaries import Action, Conflict, Effect, resolve_levels
from core.image_load_file.chunk_boundaries import unpack_boundaries, write_flags
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument
from core.image_load_file.limits import Limits
from core.image_load_file.page_lines import ImageFileKind
from core.image_load_file.splitter import ImageSplitter, RejectedRange
from core.load_file.encoding import BYTEWISE, detect_byte_order_mark
from core.load_file.split_state import Chunk
from shell.imports.splitting.boundaries import find_boundaries
from tests.support.imports.boundary_reference import RefusedError
from tests.support.imports.image_file_reference import Bounds, read_whole

# Each file is read with its commands in three places.
ORDERS = 3
FILES = 120
MANY_FILES = int(os.environ.get("BOUNDARY_FILES", "20000")) // ORDERS
ENCODINGS = ("ascii", "utf-8-sig", "cp1252", "utf-16")
# Key, code and keys of the pages of a document.
Described = tuple[str, str | None, list[str]]


def page(key: str, flag: str = "") -> str:
    return f"IM,{key},{flag},0,@V;I;{key}.tif;2,0"


def image_file(rng: random.Random) -> tuple[list[str], list[str]]:
    """Lines of pages, and boundary commands that may fit them or not."""
    keys = [f"{rng.choice('AAAAAAé')}-{number:02}" for number in range(1, rng.choice((2, 5, 9, 14)))]
    if rng.random() < 0.05:
        rng.shuffle(keys)
    flags = [rng.choice(("", "", "", *"DDDCFS")) for _ in keys]
    lines = [page(key, flag) for key, flag in zip(keys, flags, strict=True)]
    if rng.random() < 0.05:
        lines.append(rng.choice((page(keys[0]), "IM,A-77,D", page("", "D"), "broken", page("A-78", "X"))))
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines)), rng.choice(("FT,A-01,1,1", "## a comment", "", "IO,A-01,1,D")))
    return lines, [command(rng, keys) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))]


def command(rng: random.Random, keys: list[str]) -> str:
    name, flag = rng.choice(("BF", "BM", "BR", "br")), rng.choice("DDDDCFBSd")
    if rng.random() < 0.01:
        return rng.choice((f"{name},Z-01,D", f"BF,{keys[0]}", f"BF,{keys[0]},X", f"BR,{keys[0]},,D", "BM,,D", "BR,1,2"))
    if name.upper() == "BR":
        first, last = sorted(rng.randrange(len(keys)) for _ in range(2))
        return f"{name},{keys[first]},{keys[last]},{flag}"
    blank = rng.random() < 0.3
    return f"{name}, {rng.choice(keys)} ,{'' if blank else flag}{rng.choice(('', '', ','))}"


def place_commands(rng: random.Random, lines: list[str], commands: list[str]) -> list[str]:
    placed = list(lines)
    for each in rng.sample(commands, len(commands)):
        placed.insert(rng.randint(0, len(placed)), each)
    return placed


def read(data: bytes, limits: Limits, step: int = 10**9) -> Iterator[tuple[ImageDocument, bytes | None]]:
    """The documents of all chunks, each read from its own bytes, with the boundaries of the chunk."""
    encoding, mark = detect_byte_order_mark(data)
    splitter = ImageSplitter(ImageFileKind.LFP, encoding, mark, limits)
    blocks = [data[start : start + step] for start in range(0, len(data), step)]
    with find_boundaries(blocks, encoding or BYTEWISE, mark, limits.line_bytes) as levels:
        splitter.apply_boundaries(levels)
        for item in [*chain.from_iterable(map(splitter.feed, blocks)), *splitter.finish()]:
            raw = data[item.byte_start : item.byte_end]
            place = (item.first_line, item.byte_start, item.boundaries)
            documents = list(read_image_chunk(raw, ImageFileKind.LFP, splitter.encoding, *place))
            assert isinstance(item, RejectedRange) or item.row_count == len(documents)
            yield from ((document, item.boundaries) for document in documents)


def describe(document: ImageDocument) -> Described:
    return document.key, document.error and document.error.code, [each.image_key for each in document.pages]


def read_or_refuse(data: bytes, limits: Limits, step: int = 10**9) -> list[Described] | str:
    try:
        return [describe(document) for document, _ in read(data, limits, step)]
    except FileRefusedError as refused:
        is_described = refused.code == FileFailure.LFP_BOUNDARIES and re.search("Line [0-9]+", str(refused))
        return "refused" if is_described else "refused without lines"


def expect(data: bytes) -> list[Described] | str:
    try:
        whole = read_whole(data, "lfp", Bounds(), has_boundaries=True)
    except RefusedError:
        return "refused"
    return [(each.key, each.code, [found.key for found in each.pages]) for each in whole.documents]


def write_file(rng: random.Random, lines: list[str]) -> bytes:
    newline = rng.choice(("\r\n", "\n", "\r"))
    return (newline.join(lines) + rng.choice(("", newline))).encode(rng.choice(ENCODINGS), "replace")


def reload(data: bytes, limits: Limits) -> bytes:
    """What an error file has of all documents, after the byte order mark."""
    encoding, mark = detect_byte_order_mark(data)
    written = [data[:mark]]
    for document, boundaries in read(data, limits):
        raw = data[document.byte_start : document.byte_start + document.byte_len]
        step = len(raw) // 2 * 2 if encoding else 7
        parts = [raw[start : start + step] for start in range(0, len(raw), max(2, step))]
        starts = unpack_boundaries(boundaries or b"", find_first_line(data, document, limits))
        written += write_flags(parts, encoding or "cp1252", document.line_no, starts)
        written.append("\n".encode(encoding or "ascii"))
    return b"".join(written)


def find_first_line(data: bytes, document: ImageDocument, limits: Limits) -> int:
    """The first line of the chunk that a document is in; every document is one, with these limits."""
    assert limits.chunk_documents == 1
    return document.line_no


@pytest.mark.parametrize("files", [range(FILES), pytest.param(range(FILES, MANY_FILES), marks=pytest.mark.slow)])
def test_commands_in_any_order_give_the_documents_of_the_second_reader_or_a_refusal(files: range) -> None:
    counts: Counter[str] = Counter()
    for number in files:
        rng = random.Random(f"boundaries {number}")
        lines, commands = image_file(rng)
        limits = Limits(chunk_documents=rng.choice((1, 2, 1_000)), chunk_lines=rng.choice((1, 3, 5_000)))
        found = []
        for _ in range(ORDERS):
            data = write_file(random.Random(number), place_commands(rng, lines, commands))
            found.append(read_or_refuse(data, limits, rng.choice((5, 90, 10**9))))
            assert found[-1] == expect(data), (number, data)
        assert found[0] == found[1] == found[2], number
        plain = expect(write_file(random.Random(number), lines))
        result = "refused" if found[0] == "refused" else "same" if found[0] == plain else "changed"
        counts[result if commands else "without commands"] += 1
        # A line that cannot be read cannot have a flag either.
        if isinstance(found[0], list) and "OPT_COLUMNS" not in [code for _, code, _ in found[0]]:
            counts["reloaded"] += 1
            assert expect(reload(data, Limits(chunk_documents=1))) == found[0], (number, data)
    results = ("refused", "same", "changed", "without commands", "reloaded")
    assert min(counts[each] for each in results) > len(files) / 15


def as_lines(text: str) -> bytes:
    return "\n".join(text.split()).encode()


@pytest.mark.parametrize(
    ("flags", "commands", "documents"),
    [
        ("D,,,,", ["BF,P3,D"], [2, 3]),
        ("D,,,,", ["BM,P3,C"], [2, 3]),
        ("D,D,D,,", ["BF,P2,"], [2, 3]),
        ("D,D,D,,", ["BM,P2,"], [2, 3]),
        ("D,F,,,", ["BM,P2,D"], [1, 4]),
        (",,,,", ["BR,P1,P2,D", "BR,P3,P5,D"], [2, 3]),
        (",,,,", ["BR,P1,P2,D", "BF,P5,D"], [2, 2, 1]),
        ("D,,,,", ["BR,P1,P2,D"], [2, 3]),
        # Documents and children within a folder stay, and a folder within a document does not.
        ("D,C,D,,", ["BR,P1,P5,F"], [1, 1, 3]),
        ("D,,F,,", ["BR,P1,P5,D"], [5]),
        ("D,D,,,", ["BR,P1,P2,D"], [1, 1, 3]),
        # A folder of documents: two ranges that begin at one page.
        (",,,,", ["BR,P1,P5,F", "BR,P1,P2,D", "BR,P3,P5,D"], [2, 3]),
        ("D,,,,", ["BF,P3,D", "BF,P3,D", "bm,P3,d"], [2, 3]),
    ],
)
def test_commands_do_what_the_manual_of_the_format_says(flags: str, commands: list[str], documents: list[int]) -> None:
    pages = [page(f"P{number}", flag) for number, flag in enumerate(flags.split(","), start=1)]
    for order in permutations(commands):
        for lines in ([*order, *pages], [*pages, *order], [pages[0], *order, *pages[1:]]):
            found = [len(document.pages) for document, _ in read("\n".join(lines).encode(), Limits())]
            assert found == documents


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (["BF,P2,D", "BF,P2,"], "Line 1 and line 2 change the flag of the page in line 4"),
        (["BF,P2,D", "BF,P2,F"], "Line 1 and line 2"),
        (["BM,P2,D", "BF,P2,"], "Line 1 and line 2"),
        (["BR,P1,P3,D", "BR,P2,P3,F"], "Line 1 and line 2 change the flag of the page in line 4"),
        (["BR,P1,P3,D", "BF,P2,F"], "Line 1 and line 2"),
        (["BF,P9,D", "BF,P1,"], "Line 1: BF names the page P9, which the file does not have."),
        (["BR,P1,P9,D", "FT,P1"], "Line 1: BR names the page P9, which the file does not have."),
        (["BR,P3,P1,D", "FT,P1"], "Line 1: the range begins in line 5, after its end in line 3."),
        (["BF,P1", "FT,P1"], "Line 1: The line is not written as BF,key,flag"),
        (["BR,P1,P2,", "FT,P1"], "Line 1: The range has no boundary flag."),
        (["BM,,D", "FT,P1"], "Line 1: The image key is blank."),
        (["BF,P1,X", "BF,P2,Y"], "Line 2: The line is not written as"),
        (["BF,P2,D", page("P2")], "Line 1: BF names the page P2, which line 2 and line 4 have."),
        (["BR,P5,P6,D", f"{page('P6')}\n{page('P5')}"], "Line 1: the range begins in line 3, after its end in line 2."),
        (["BR,P1,P3,D", page("P4", "D")], "Line 3: its page is numbered below that of line 2"),
    ],
)
def test_a_file_whose_commands_cannot_be_applied_is_refused_with_their_lines(commands: list[str], message: str) -> None:
    data = "\n".join([*commands, page("P1", "D"), page("P2"), page("P3")]).encode()
    with pytest.raises(FileRefusedError, match=re.escape(message)):
        list(read(data, Limits()))
    assert expect(data) == "refused"


def test_a_conflict_is_what_another_order_of_the_commands_changes() -> None:
    changes = [(action, level) for action in ("set", "raise", "cut") for level in range(1, 6)] + [("set", 0)]
    rng = random.Random(5)
    conflicts = 0
    for _ in range(3_000):
        level, chosen = rng.randrange(6), rng.choices(changes, k=rng.choice((1, 2, 2, 3, 4)))
        found = resolve_changes(level, chosen)
        expected = {apply(level, order) for order in permutations(chosen)}
        assert found == (expected.pop() if len(expected) == 1 else "conflict"), (level, chosen)
        conflicts += found == "conflict"
    assert 500 < conflicts < 2_500


def resolve_changes(level: int, changes: list[tuple[str, int]]) -> int | str:
    """The level of the second page of a file; a range that it is inside of begins at the first."""
    effects = [
        Effect(0, Action.GROUP, stated, line, 1) if action == "cut" else Effect(1, Action(action), stated, line)
        for line, (action, stated) in enumerate(changes, start=1)
    ]
    effects.sort(key=lambda effect: effect.page)
    _, found = resolve_levels([(0, 10), (level, 11)], effects)
    return "conflict" if isinstance(found, Conflict) else found


def apply(level: int, changes: tuple[tuple[str, int], ...]) -> int:
    for action, stated in changes:
        if action == "cut":
            level = level if level <= stated else 0
        else:
            level = stated if action == "set" else max(level, stated)
    return level


def test_the_hash_of_a_chunk_covers_its_boundaries() -> None:
    data = "\n".join([page("P1", "D"), page("P2"), page("P3")]).encode()
    hashes = set()
    for commands in ("", "\nBF,P2,D", "\nBF,P3,D"):
        splitter = ImageSplitter(ImageFileKind.LFP, "utf-8")
        with find_boundaries([data + commands.encode()], "utf-8", 0, 65_536) as levels:
            splitter.apply_boundaries(levels)
            items = [*splitter.feed(data + commands.encode()), *splitter.finish()]
        hashes |= {each.sha256 for each in items if isinstance(each, Chunk)}
    assert len(hashes) == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("step", [2, 10, 100_000])
def test_the_flags_of_a_record_are_written_and_a_long_line_is_copied(encoding: str, step: int) -> None:
    long = "IM,P3,D,0," + "x" * 300_000 + ";2"
    lines = [
        "IM,P1,,0,@V;é;a.tif;2",
        "BF,P1,D",
        "FT,P1",
        "im , P2 ,D,0,@V;I;b.tif;2",
        long,
        "BR,P1,P2,D",
        "IM,P4,F,0,x;2",
    ]
    lines += ["IM,P5,X,0,x;2", "IM,P6,D"]
    raw = "\r\n".join(lines).encode(encoding)
    parts = (raw[start : start + step * 1_000] for start in range(0, len(raw), step * 1_000))
    written = b"".join(write_flags(parts, encoding, 7, {7: 3})).decode(encoding)
    expected = ["IM,P1,F,0,@V;é;a.tif;2", "FT,P1", "im , P2 ,,0,@V;I;b.tif;2", long, "IM,P4,,0,x;2"]
    expected += ["IM,P5,X,0,x;2", "IM,P6,D"]
    assert written.split("\r\n") == expected
