"""What the load files of a volume do, as docs/load-files.md says it: row by row, and document by document.

Nothing of the application is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.torture.models.overlay_rows import Report
from tests.torture.plans.volumes import IMAGES, LOAD_FILE, ROWS, Document, FilePath, Page, Row, VolumePlan

NATIVE, TEXT = "native", "text"


class Link(NamedTuple):
    """A file of a row, and the rule by which it was found."""

    kind: str
    path: str | None
    rule: int


class StoredPage(NamedTuple):
    """A page as it is stored: its file, or else the path that the volume lacks."""

    key: str
    file: str | None
    path: str | None
    number: int


@dataclass
class RowsOutcome:
    """What the load file does to a case: the documents that its lines create, those that it has, and their files.

    `named` are the files that any row names, whatever becomes of it.
    """

    created: dict[int, str] = field(default_factory=dict)
    unchanged: dict[int, str] = field(default_factory=dict)
    rejected: list[Report] = field(default_factory=list)
    warned: list[Report] = field(default_factory=list)
    links: dict[int, list[Link]] = field(default_factory=dict)
    missing: dict[int, list[Link]] = field(default_factory=dict)
    figures: Counter[str] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)


@dataclass
class ImagesOutcome:
    """What the image load file does to a case: the documents that it gives pages to, by line."""

    targets: dict[int, Document] = field(default_factory=dict)
    rejected: list[Report] = field(default_factory=list)
    warned: dict[int, list[Report]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    lines: int = 0
    lines_rejected: int = 0

    def reject(self, plan: VolumePlan, line: int, code: str) -> None:
        """Reject the document that begins with a line."""
        document = self.targets.pop(line)
        self.rejected.append(Report(line, code))
        self.lines_rejected += plan.count_lines(document)


def judge_rows(plan: VolumePlan, known: Collection[str]) -> RowsOutcome:
    """Import the rows into a case that has documents with these control numbers, all of them by the same rows."""
    outcome, seen = RowsOutcome(), set[str]()
    for line, row in enumerate(plan.rows, start=2):
        errors, warnings = list(_check_number(row, seen)), list(_check_files(plan, row))
        seen |= {row.number} - {""}
        links = list(_list_links(plan, row))
        outcome.named |= {each.path for each in links if each.path}
        if plan.rejects_missing:
            errors += [each for each in warnings if each.endswith("_MISSING")]
        if errors:
            outcome.rejected += [Report(line, code) for code in errors]
            continue
        outcome.warned += [Report(line, code) for code in warnings]
        (outcome.unchanged if row.number in known else outcome.created)[line] = row.number
        outcome.links[line] = links
        codes = [code for code in warnings if code.endswith("_MISSING")]
        outcome.missing[line] = [Link(code.split("_")[0].lower(), None, 0) for code in codes]
        outcome.figures.update(f"{each.kind}s_linked" for each in links)
        outcome.figures.update(f"{code.split('_')[0].lower()}s_missing" for code in warnings if "MISSING" in code)
    return outcome


def _check_number(row: Row, seen: set[str]) -> Iterator[str]:
    if not row.number:
        yield "MISSING_ID"
    if row.number in seen:
        yield "DUPLICATE_ID"


def _list_paths(row: Row) -> Iterator[tuple[str, FilePath]]:
    yield from ((kind, path) for kind, path in ((NATIVE, row.native), (TEXT, row.text)) if path.text)


def _check_files(plan: VolumePlan, row: Row) -> Iterator[str]:
    for kind, path in _list_paths(row):
        if path.path not in plan.contents:
            yield f"{kind.upper()}_MISSING"
        elif not plan.contents[path.path]:
            yield "FILE_EMPTY"


def _list_links(plan: VolumePlan, row: Row) -> Iterator[Link]:
    for kind, path in _list_paths(row):
        if path.path in plan.contents:
            yield Link(kind, path.path, path.rule)


def judge_images(plan: VolumePlan, known: Collection[str] | None) -> ImagesOutcome:
    """Import the pages into a case with these control numbers; None: with any that a key names."""
    outcome, seen, line = ImagesOutcome(), set[str](), 1
    for document in plan.documents:
        outcome.targets[line] = document
        outcome.lines += plan.count_lines(document)
        warned = list(_warn(plan, document, line))
        if document.key in seen:
            outcome.reject(plan, line, "OPT_DUPLICATE_KEY")
        else:
            outcome.named |= {page.path for page in document.pages if page.path in plan.contents}
            if plan.rejects_missing and "IMAGE_MISSING" in {each.code for each in warned}:
                outcome.reject(plan, line, "IMAGE_MISSING")
            elif known is not None and document.key not in known:
                # A row of the load file that did not come into the case was rejected.
                has_row = document.key in {row.number for row in plan.rows}
                outcome.reject(plan, line, "PAGES_OF_REJECTED_ROW" if has_row else "OPT_DOC_NOT_FOUND")
            else:
                outcome.warned[line] = warned
        seen.add(document.key)
        line += plan.count_lines(document)
    return outcome


def _warn(plan: VolumePlan, document: Document, line: int) -> Iterator[Report]:
    """Yield what is warned of: the count of pages, and one image a line."""
    if not plan.is_lfp and document.declared not in (None, len(document.pages)):
        yield Report(line, "OPT_PAGE_COUNT")
    for number, page in enumerate(document.pages[: plan.count_lines(document)]):
        if page.path not in plan.contents:
            yield Report(line + number, "IMAGE_MISSING")
        elif not plan.contents[page.path]:
            yield Report(line + number, "FILE_EMPTY")


def list_pages(plan: VolumePlan, document: Document, *, is_deleted: bool) -> list[StoredPage]:
    """Return the pages of a document in their order; a deleted volume has no files."""
    return [_store(plan, page, is_deleted=is_deleted) for page in document.pages]


def _store(plan: VolumePlan, page: Page, *, is_deleted: bool) -> StoredPage:
    if page.path not in plan.contents:
        return StoredPage(page.key, None, plan.write_path(page), page.number)
    return StoredPage(page.key, None if is_deleted else page.path, None, page.number)


def count_missing_pages(plan: VolumePlan, outcome: ImagesOutcome) -> int:
    """Return how many pages of accepted documents have no image."""
    pages = [page for document in outcome.targets.values() for page in document.pages]
    return sum(page.path not in plan.contents for page in pages)


def count_unreferenced(plan: VolumePlan, kinds: Collection[str], rows: RowsOutcome, images: ImagesOutcome) -> int:
    """Return how many files of the volume are named by nothing; `kinds` are those of the imports."""
    load_files = {LOAD_FILE if kind == ROWS else plan.image_file for kind in kinds if kind in (ROWS, IMAGES)}
    return len(plan.files.keys() - rows.named - images.named - load_files)
