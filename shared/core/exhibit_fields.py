"""The keys and texts of an exhibit: what each is called in files, requests and productions, and how it is found.

Mapping, row, model, API, overlay, history, undo, filters and production take the texts from TEXT_FIELDS. A new text
needs an entry there and a migration that adds its column and replaces the view `exhibit_list`. The dates are in
`core.exhibit_dates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

# Stored without the spaces around them, and otherwise unchanged, or their row is rejected.
KEYS = ("control_number", "bates_begin", "bates_end", "parent_control_number")
# A longer text is cut, with a warning that has the original.
MAX_TEXT = 1024


class Filter(Enum):
    """How a list of exhibits is filtered by a text: it has all of these words, or is this text."""

    WORDS = auto()
    WHOLE = auto()


@dataclass(frozen=True)
class TextField:
    """A text of an exhibit.

    `description` is the comment of its column. `names` and `patterns` are the header names that mean it, in order of
    preference (`core.load_file.header_names`); those in `doubtful` come last, because they can mean something else. A
    path keeps the character that stands for a line break. A listed text is in the lists of exhibits. `filter` says how
    they are filtered by it, if at all. `heading` is its column in a production, if that is not in every one. Versions
    before a field that `was_property` kept its column as a property.
    """

    name: str
    description: str
    names: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    is_path: bool = False
    is_listed: bool = True
    filter: Filter | None = None
    heading: str | None = None
    was_property: bool = False


TEXT_FIELDS = (
    TextField("title", "The title or subject", ("title", "documenttitle", "doctitle"), filter=Filter.WORDS),
    TextField(
        "file_name",
        "The original file name",
        ("filename", "originalfilename", "origfilename", "documentname"),
        (r"(?:orig(?:inal)?|native|source)filename|docname|originalname",),
        is_path=True,
    ),
    TextField(
        "native_path",
        "The path of the native file, as in the load file",
        ("nativepath", "nativelink", "nativefile", "nativefilepath", "filepath", "doclink", "itempath"),
        (r"{prod}natives?(?:file)?(?:path|link|location)", r"(?:{doc}|file|item)link"),
        is_path=True,
        is_listed=False,
    ),
    TextField(
        "text_path",
        "The path of the text file, as in the load file",
        ("textpath", "textlink", "textfile", "textfilepath", "extractedtextpath", "ocrpath"),
        (
            r"{prod}(?:extracted|full|ocr|{doc})?text(?:file)?(?:path|link|location)|ocr(?:file)?(?:path|link)|textprecedence",
        ),
        is_path=True,
        is_listed=False,
    ),
    TextField(
        "confidentiality",
        "The designation under a protective order, such as Confidential",
        ("confidentiality", "confidentialitydesignation", "confidentialdesignation", "confdesignation"),
        (
            r"{prod}(?:{doc})?conf(?:idential(?:ity)?)?(?:designations?|desig|level|status|code|stamp|treatment)",
            r"{prod}(?:{doc})?confidentiality|protectiveorderdesignation",
        ),
        # It can be that of a privilege.
        doubtful=("designation",),
        filter=Filter.WHOLE,
        heading="Confidentiality",
        was_property=True,
    ),
)
TEXTS = tuple(field.name for field in TEXT_FIELDS)
LISTED_TEXTS = tuple(field.name for field in TEXT_FIELDS if field.is_listed)
FILTERED_TEXTS = tuple(field for field in TEXT_FIELDS if field.filter)
# In the order in which they became fields.
LATER_TEXTS = tuple(field.name for field in TEXT_FIELDS if field.was_property)


def get_text_field(name: str) -> TextField:
    """Return the text of this name. Raises KeyError."""
    return _BY_NAME[name]


_BY_NAME = {field.name: field for field in TEXT_FIELDS}
