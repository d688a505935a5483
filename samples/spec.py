"""The specification of a sample file: every choice in one frozen value, checked before generation.

Guarantees: a spec that passes `check` can be generated, and its truth is unambiguous under the rules for records.
Does not guarantee: that a fault without a fixed row finds one; a fault with a fixed row is placed or rejected.
"""

import enum
from dataclasses import dataclass

from samples.columns import ALL_ROLES, IdStyle, Role
from samples.dates import DateFormat
from samples.dialects import BOMS, CONCORDANCE, Dialect, Quoting
from samples.words import Alphabet

KEY_LIMIT = 255
TITLE_LIMIT = 1024
PROPERTIES_LIMIT = 65_535


class SpecError(ValueError):
    """The spec describes a file that cannot be generated, or whose truth would be ambiguous."""


class FaultKind(enum.Enum):
    """The faults that a row can have."""

    MISSING_ID = "missing id"
    BLANK_ID = "blank id"
    DUPLICATE_ID = "duplicate id"
    MORE_CELLS = "more cells than columns"
    FEWER_CELLS = "fewer cells than columns"
    UNCLOSED_QUOTE = "unclosed quote"
    BAD_BYTE = "byte that cannot be decoded"
    LONG_ID = "id of more than 255 characters"
    WIDE_ID = "4-byte character in the id"
    WIDE_CUSTODIAN = "4-byte character in a custodian's name"
    INVALID_DATE = "invalid date"
    EMOJI_TITLE = "emoji in the title"
    EMOJI_PROPERTY = "emoji in a property"
    HUGE_PROPERTY = "property of more than 65,535 bytes"
    LONG_TITLE = "title of more than 1,024 characters"
    NAME_CASE = "custodian's name in another case than before"


STRUCTURAL = frozenset({FaultKind.MORE_CELLS, FaultKind.FEWER_CELLS, FaultKind.UNCLOSED_QUOTE})
WARNED = frozenset(
    {
        FaultKind.INVALID_DATE,
        FaultKind.EMOJI_TITLE,
        FaultKind.EMOJI_PROPERTY,
        FaultKind.HUGE_PROPERTY,
        FaultKind.LONG_TITLE,
        FaultKind.NAME_CASE,
    }
)
# Wide keys are included although a utf8mb4 database imports them: fault placement must not depend on the database.
REJECTED = frozenset(FaultKind) - WARNED
WIDE = frozenset({FaultKind.WIDE_ID, FaultKind.WIDE_CUSTODIAN, FaultKind.EMOJI_TITLE, FaultKind.EMOJI_PROPERTY})

_NEEDED_ROLE = {
    FaultKind.WIDE_CUSTODIAN: Role.CUSTODIAN,
    FaultKind.NAME_CASE: Role.CUSTODIAN,
    FaultKind.INVALID_DATE: Role.DOCUMENT_DATE,
    FaultKind.EMOJI_TITLE: Role.TITLE,
    FaultKind.LONG_TITLE: Role.TITLE,
    FaultKind.BAD_BYTE: Role.TITLE,
}


@dataclass(frozen=True)
class Fault:
    """A fault in `row` (from 0), or in any row that can have it; a duplicate repeats the id of row `of`."""

    kind: FaultKind
    row: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class Spec:
    """The specification of a sample file; lengths are in characters, shares between 0 and 1.

    `newline_marks` puts ® into cells, `convert_marks` overrides the meaning of ® by the options, `embedded_lf` writes
    newlines inside cells as LF in CRLF files, `spice` is the share of texts with delimiters, qualifiers or newlines.
    `bates_families` are first rows of families that are stated by Bates numbers only: their attachments name no parent.
    `db_charset` changes the truth, never the file.
    """

    rows: int = 20
    seed: int = 0
    dialect: Dialect = CONCORDANCE
    quoting: Quoting = Quoting.ALL
    encoding: str = "utf-8-sig"
    newline: str = "\r\n"
    final_newline: bool = True
    trailing_delimiter: bool = False
    blank_lines: bool = False
    header: bool = True
    roles: frozenset[Role] = ALL_ROLES
    id_style: IdStyle = IdStyle.CONTROL
    id_position: int = 0
    id_prefix: str = "EXH"
    padded_ids: bool = False
    properties: int = 3
    property_length: tuple[int, int] = (0, 60)
    title_length: tuple[int, int] = (8, 80)
    alphabets: frozenset[Alphabet] = frozenset({Alphabet.ACCENTS})
    custodians: int = 5
    hot_custodian: str | None = None
    tags: int = 8
    spaced_values: bool = False
    family_share: float = 0.3
    bates_families: frozenset[int] = frozenset()
    date_format: DateFormat = DateFormat.MDY
    ambiguous_dates: bool = False
    date_order_given: bool = False
    newline_marks: bool = True
    convert_marks: bool | None = None
    embedded_newlines: bool = False
    embedded_lf: bool = False
    spice: float = 0.2
    explicit_dialect: bool = False
    faults: tuple[Fault, ...] = ()
    db_charset: str = "utf8mb3"

    @property
    def marks_converted(self) -> bool:
        """Whether ® is a newline when the file is imported with its options."""
        return self.dialect.converts_marks if self.convert_marks is None else self.convert_marks

    @property
    def starts_quoted(self) -> bool:
        """Whether every record begins with a qualifier."""
        return bool(self.dialect.qualifier) and self.quoting is not Quoting.MINIMAL


def supports(spec: Spec, kind: FaultKind) -> bool:
    """Return whether a file of this spec can have a fault of `kind`."""
    if kind is FaultKind.UNCLOSED_QUOTE and not spec.dialect.qualifier:
        return False
    if kind in WIDE and spec.encoding == "cp1252":
        return False
    if kind in (FaultKind.EMOJI_PROPERTY, FaultKind.HUGE_PROPERTY):
        return spec.properties > 0
    return _NEEDED_ROLE.get(kind, Role.ID) in spec.roles


def check(spec: Spec) -> None:
    """Raise SpecError with the first violated rule."""
    for is_violated, reason in _list_rules(spec):
        if is_violated:
            raise SpecError(reason)


def _list_rules(spec: Spec) -> list[tuple[bool, str]]:
    family = spec.roles & {Role.FAMILY_BEGIN, Role.FAMILY_END}
    unquoted = not spec.dialect.qualifier or spec.quoting is Quoting.FIRST_TWO
    columns = len(spec.roles) + spec.properties
    return [
        (spec.encoding not in BOMS, f"unknown encoding: {spec.encoding}"),
        (spec.newline not in ("\n", "\r\n", "\r"), "newline must be LF, CRLF or CR"),
        (spec.db_charset not in ("utf8mb3", "utf8mb4"), "db_charset must be utf8mb3 or utf8mb4"),
        (
            Role.ID not in spec.roles or Role.PROPERTY in spec.roles,
            "roles must include the id; set the number of properties by `properties`",
        ),
        (
            columns - (spec.id_style is IdStyle.BEGDOC and Role.BATES_BEGIN in spec.roles) < 4,
            "a file needs at least four columns",
        ),
        (not 0 <= spec.id_position <= 2, "id_position must be 0, 1 or 2"),
        (len(family) == 1, "use family begin and family end together"),
        (unquoted and spec.dialect.delimiter in ",;", "a comma or semicolon must be quotable in every cell"),
        (not spec.header and spec.trailing_delimiter, "a trailing delimiter needs a header"),
        (spec.title_length[1] > TITLE_LIMIT - 24, "ordinary titles must fit their column"),
        (_property_bytes(spec) > PROPERTIES_LIMIT - 5_000, "ordinary properties must fit 65,535 bytes together"),
        (any(not supports(spec, fault.kind) for fault in spec.faults), "the file cannot have one of the faults"),
    ]


def _property_bytes(spec: Spec) -> int:
    widths = {Alphabet.ACCENTS: 2, Alphabet.SEPARATORS: 3, Alphabet.CJK: 3, Alphabet.EMOJI: 4}
    width = max([1, *(widths[alphabet] for alphabet in spec.alphabets if alphabet in widths)])
    return spec.properties * (spec.property_length[1] * width * 5 // 4 + 80)
