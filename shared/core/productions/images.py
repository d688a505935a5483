"""Decide how the images of a document's pages are produced: a file for each page, or one file that has all pages.

Guaranteed: a file that was counted is produced only if each of its pages is a page of the document, in the same order.
Not guaranteed: that a file of which the image load file makes a single page, among other files, has only that page: it
is not opened. Rotations are not applied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.productions.findings import FindingCode


class PageImage(NamedTuple):
    """The image of a page: its file, and its page within the file, from 1; 0 if the file is this page."""

    file: str
    page_in_file: int


class ImageLayout(NamedTuple):
    """How many pages the images of a document have, and whether one file has all of them."""

    pages: int
    is_one_file: bool


def list_files_to_count(images: Sequence[PageImage]) -> list[str]:
    """Return the files whose pages must be counted before the document's layout is known, each once, in order."""
    uses = Counter(image.file for image in images)
    if len(uses) == 1:
        return list(uses)
    return list(dict.fromkeys(image.file for image in images if image.page_in_file or uses[image.file] > 1))


def decide_layout(images: Sequence[PageImage], counts: Mapping[str, int]) -> ImageLayout | FindingCode:
    """Return the layout, or the reason why the images cannot be produced.

    `images` are those of all pages, at least one, in order; `counts` are the pages of `list_files_to_count`, by file.
    """
    uses = Counter(image.file for image in images)
    if len(uses) == 1:
        return _decide_one_file([image.page_in_file for image in images], counts[images[0].file])
    if any(counts.get(file, used) != used for file, used in uses.items()):
        return FindingCode.IMAGE_NOT_WHOLE
    if max(uses.values()) > 1:
        return FindingCode.IMAGE_MIXED
    if any(image.page_in_file > 1 for image in images):
        return FindingCode.IMAGE_NOT_WHOLE
    return ImageLayout(len(images), is_one_file=False)


def _decide_one_file(pages: Sequence[int], count: int) -> ImageLayout | FindingCode:
    """Decide for pages that are all in one file; fewer pages in the file than stated are all the pages there are."""
    stated = list(range(1, len(pages) + 1))
    is_whole = list(pages) == [0] or (count <= len(pages) and (not any(pages) or list(pages) == stated))
    return ImageLayout(count, is_one_file=True) if is_whole else FindingCode.IMAGE_NOT_WHOLE
