"""The volumes of one seed: their files, and what their senders do with them. Drawn from the seed and nothing else.

One case gets a folder and one a zip, each with a load file and an image load file; in some seeds two volumes of images
alone then replace pages of the first case at once. No editor works on these documents, so that what belongs to which of
them follows from the files.
"""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

VOLUME_CASES = ("Volumes 0", "Volumes 1")
ROWS, IMAGES = "rows", "images"
LOAD_FILE, OPT, LFP = "DATA/load.dat", "DATA/load.opt", "DATA/load.lfp"
# A system's own files, which are not files of the volume.
IGNORED = "NATIVES/.DS_Store"
# So long that a worker of the test build writes it in parts.
LARGE = b"large " * 400
HEADER = ("Control Number", "Title", "Native Path", "Text Path")
# By the rule that finds a path: how it is written.
RULES = (3, 3, 4, 6)


@dataclass(frozen=True)
class FilePath:
    """A path in a load file: as it is written, the file that it names, and the rule by which that is found."""

    text: str = ""
    path: str = ""
    rule: int = 3


@dataclass(frozen=True)
class Row:
    """A row of the load file."""

    number: str
    native: FilePath = FilePath()
    text: FilePath = FilePath()


@dataclass(frozen=True)
class Page:
    """A page: its image key, its file, and its number in that file, 0 for the whole file."""

    key: str
    path: str
    number: int


@dataclass(frozen=True)
class Document:
    """A document of the image load file; one of an OPT that is a single file has one line for all of its pages."""

    key: str
    pages: tuple[Page, ...]
    declared: int | None

    @property
    def is_one_file(self) -> bool:
        """Whether all pages are of one file."""
        return self.pages[0].number > 0


@dataclass(frozen=True)
class VolumePlan:
    """A volume: its load files as they are meant, its other files, and how they are sent and imported.

    `has_rows` is false for a volume of images alone.
    """

    name: str
    is_zip: bool
    is_lfp: bool
    rows: tuple[Row, ...]
    documents: tuple[Document, ...]
    contents: Mapping[str, bytes]
    rejects_missing: bool = False
    mode: str = "append"

    @property
    def has_rows(self) -> bool:
        """Whether there is a load file of rows."""
        return bool(self.rows)

    @property
    def image_file(self) -> str:
        """The path of the image load file."""
        return LFP if self.is_lfp else OPT

    @property
    def sent(self) -> dict[str, bytes]:
        """Every file that is sent, by path."""
        load_file = {LOAD_FILE: self._render_rows()} if self.has_rows else {}
        return {**load_file, self.image_file: "".join(self.list_lines()).encode(), **self.contents}

    @property
    def files(self) -> dict[str, bytes]:
        """The files that the volume has then."""
        return {path: data for path, data in self.sent.items() if path != IGNORED}

    @property
    def archive(self) -> bytes:
        """The zip; the same bytes every time."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
            for path, data in self.sent.items():
                made.writestr(zipfile.ZipInfo(path), data)
        return buffer.getvalue()

    def _render_rows(self) -> bytes:
        titles = (f"Title of {row.number}" for row in self.rows)
        cells = (
            (row.number, title, row.native.text, row.text.text) for row, title in zip(self.rows, titles, strict=True)
        )
        return "".join("\x14".join(f"þ{cell}þ" for cell in line) + "\r\n" for line in (HEADER, *cells)).encode()

    def list_lines(self) -> Iterator[str]:
        """Yield the lines of the image load file."""
        for document in self.documents:
            yield from self._list_lfp(document) if self.is_lfp else self._list_opt(document)

    def count_lines(self, document: Document) -> int:
        """Return how many lines the document has in the image load file."""
        return 1 if document.is_one_file and not self.is_lfp else len(document.pages)

    def _list_opt(self, document: Document) -> Iterator[str]:
        for number, page in enumerate(document.pages[: self.count_lines(document)]):
            declared = "" if number or document.declared is None else document.declared
            yield f"{page.key},{self.name},{self.write_path(page)},{'' if number else 'Y'},,,{declared}\r\n"

    def _list_lfp(self, document: Document) -> Iterator[str]:
        for number, page in enumerate(document.pages):
            folder, _, name = page.path.rpartition("/")
            yield f"IM,{page.key},{'' if number else 'D'},{page.number},@{self.name};{folder};{name};2\r\n"

    @staticmethod
    def write_path(page: Page) -> str:
        """Return the page's path as an import reads it from the image load file."""
        return page.path.replace("/", "\\")


@dataclass(frozen=True)
class VolumeCasePlan:
    """What happens to one case, in this order.

    Its volume `is_early` if its import is requested before all files are there, `is_checked` if it is checked first,
    `is_held` if its first import is held with other options, which are changed before it is run, `is_twice` if two
    request its import at once, and `is_repeated` if it is imported again, which changes nothing. The `overlays` are
    checked, and then replace pages at once. Then imports are undone, by their place in `undone`: -1 is the volume's own
    images, -2 its rows, from 0 on an overlay's. In the end the volume may be imported again or deleted, and the others
    with it; a deletion is refused while documents need the files.
    """

    case: str
    volume: VolumePlan
    is_early: bool = False
    is_checked: bool = False
    is_held: bool = False
    is_twice: bool = False
    is_repeated: bool = False
    overlays: tuple[VolumePlan, ...] = ()
    undone: tuple[int, ...] = ()
    end: str = "stay"


OWN_IMAGES, OWN_ROWS = -1, -2


@dataclass
class _Draw:
    """The files of a volume while its documents are drawn."""

    chance: random.Random
    name: str
    contents: dict[str, bytes] = field(default_factory=dict)

    def add(self, path: str, likely: float) -> None:
        """Give the volume a file, unless it is to lack it."""
        if self.chance.random() < likely:
            self.contents[path] = b"" if self.chance.random() < 0.05 else f"{self.name} {path}".encode()

    def name_file(self, path: str) -> FilePath:
        """Write a path in one of the ways that find it."""
        self.add(path, 0.85)
        rule = self.chance.choice(RULES)
        written = f"{self.name}/{path}" if rule == 4 else path.upper() if rule == 6 else path
        # Upper case is another path only where a letter is lower case.
        return FilePath(written.replace("/", "\\"), path, rule)

    def make_pages(self, key: str) -> Document:
        """Draw a file for each page, or one for all of them."""
        count = self.chance.randint(1, 3)
        if self.chance.random() < 0.3:
            count, path = count + 1, f"IMAGES/{key}.tif"
            self.add(path, 0.9)
            pages = [Page(key, path, number) for number in range(1, count + 1)]
            return Document(key, tuple(pages), count)
        pages = [Page(key if not page else f"{key}.{page}", f"IMAGES/{key}.{page}.tif", 0) for page in range(count)]
        for page in pages:
            self.add(page.path, 0.9)
        # A single line would stand for as many pages as it declares.
        declared = count + (count > 1 and self.chance.random() < 0.2)
        return Document(key, tuple(pages), self.chance.choice((None, declared)))


def draw_volume_cases(draw: random.Random, held: random.Random) -> Iterator[VolumeCasePlan]:
    """Draw what happens to both cases; one has a folder and the other a zip."""
    is_zip = draw.random() < 0.5
    for place, case in enumerate(VOLUME_CASES):
        volume = _draw_volume(draw, is_zip=is_zip != bool(place))
        plan = VolumeCasePlan(
            case,
            volume,
            is_early=not volume.is_zip and draw.random() < 0.4,
            is_checked=draw.random() < 0.3,
            is_twice=draw.random() < 0.4,
            is_repeated=draw.random() < 0.2,
            overlays=tuple(_draw_overlays(draw, volume)) if not place and draw.random() < 0.7 else (),
        )
        plan = _draw_undos(draw, plan)
        yield replace(plan, is_held=not plan.is_twice and held.random() < 0.5)


def _draw_volume(draw: random.Random, *, is_zip: bool) -> VolumePlan:
    """Draw a volume; some of its rows and documents are rejected: without a number, twice, of no document."""
    made = _Draw(draw, "VOL001")
    numbers = [f"V-{number:02}" for number in range(draw.randint(7, 9))]
    rows = [Row(each, made.name_file(f"NATIVES/{each}.txt"), made.name_file(f"TEXT/{each}.txt")) for each in numbers]
    for bad in draw.sample(("", numbers[0]), draw.randint(0, 2)):
        rows.insert(draw.randint(1, len(rows)), Row(bad))
    keys = [each for each in numbers if draw.random() < 0.9]
    documents = [made.make_pages(each) for each in (*keys, *draw.choice(((), ("V-99",))))]
    if draw.random() < 0.3:
        documents.append(documents[0])
    made.contents["NATIVES/large.bin"] = LARGE
    if draw.random() < 0.5:
        made.contents[IGNORED] = b"a system's own"
    return VolumePlan(
        made.name,
        is_zip,
        draw.random() < 0.35,
        tuple(rows),
        tuple(documents),
        made.contents,
        rejects_missing=draw.random() < 0.25,
    )


def _draw_overlays(draw: random.Random, volume: VolumePlan) -> Iterator[VolumePlan]:
    """Draw two volumes of images alone, of the same documents but for a few."""
    numbers = sorted({row.number for row in volume.rows if row.number})
    for place in range(2):
        made = _Draw(draw, f"VOL10{place}")
        documents = [made.make_pages(each) for each in numbers if draw.random() < 0.9]
        documents = documents or [made.make_pages(numbers[0])]
        is_zip, is_lfp = draw.random() < 0.5, draw.random() < 0.35
        yield VolumePlan(made.name, is_zip, is_lfp, (), tuple(documents), made.contents, mode="overlay")


def _draw_undos(draw: random.Random, plan: VolumeCasePlan) -> VolumeCasePlan:
    """Draw which imports are undone: images in any order, and then the rows or not; what is left may keep documents."""
    images = [OWN_IMAGES, *range(len(plan.overlays))]
    if draw.random() < 0.25:
        return plan
    undone = draw.sample(images, len(images) if draw.random() < 0.6 else 1)
    if OWN_IMAGES in undone and draw.random() < 0.8:
        undone.append(OWN_ROWS)
    is_whole = len(undone) == len(images) + 1
    # What a deletion leaves says little of how it came.
    end = draw.choice(("again", "stay", "delete")) if is_whole else draw.choice(("stay", "stay", "delete"))
    return replace(plan, undone=tuple(undone), end=end)
