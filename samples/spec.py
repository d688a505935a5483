"""What a sample file shall be: every choice in one frozen value, checked before anything is generated.

Guarantees: a spec that passes `check` can be generated, and its truth is unambiguous under the rules for records.
Does not guarantee: that a random fault finds a row; a fault with a row of its own is planted or refused.
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
    """The spec asks for a file that cannot be written, or whose truth would be ambiguous."""


class FaultKind(enum.Enum):
    """What can be planted in a row."""

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
    INVALID_DATE = "date that is no date"
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
# Wide keys are among them although a utf8mb4 database imports them: where they stand must not depend on the database.
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
    """A fault at `row` (records count from 0), or where it fits; a duplicate repeats the id of row `of`."""

    kind: FaultKind
    row: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class Spec:
    """A sample file; lengths are in characters, shares between 0 and 1.

    `newline_marks` puts ® into cells, `convert_marks` overrides (by the options) what ® means, `embedded_lf` writes
    newlines inside cells as LF in CRLF files. `db_charset` changes what is expected, never what is written.
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
        """Whether ® is a newline to whoever imports the file with the options that come with it."""
        return self.dialect.converts_marks if self.convert_marks is None else self.convert_marks

    @property
    def starts_quoted(self) -> bool:
        """Whether every record begins with a qualifier."""
        return bool(self.dialect.qualifier) and self.quoting is not Quoting.MINIMAL


def supports(spec: Spec, kind: FaultKind) -> bool:
    """Whether a fault of `kind` can be planted in a file of this spec."""
    if kind is FaultKind.UNCLOSED_QUOTE and not spec.dialect.qualifier:
        return False
    if kind in WIDE and spec.encoding == "cp1252":
        return False
    if kind in (FaultKind.EMOJI_PROPERTY, FaultKind.HUGE_PROPERTY):
        return spec.properties > 0
    return _NEEDED_ROLE.get(kind, Role.ID) in spec.roles


def check(spec: Spec) -> None:
    """Raise SpecError, naming the first thing that cannot be."""
    for wrong, reason in _objections(spec):
        if wrong:
            raise SpecError(reason)


def _objections(spec: Spec) -> list[tuple[bool, str]]:
    family = spec.roles & {Role.FAMILY_BEGIN, Role.FAMILY_END}
    unquoted = not spec.dialect.qualifier or spec.quoting is Quoting.FIRST_TWO
    columns = len(spec.roles) + spec.properties
    return [
        (spec.encoding not in BOMS, f"no such encoding: {spec.encoding}"),
        (spec.newline not in ("\n", "\r\n"), "the newline is LF or CRLF"),
        (spec.db_charset not in ("utf8mb3", "utf8mb4"), "the database is utf8mb3 or utf8mb4"),
        (Role.ID not in spec.roles or Role.PROPERTY in spec.roles, "roles hold the id, and properties are counted"),
        (columns - (spec.id_style is IdStyle.BEGDOC and Role.BATES_BEGIN in spec.roles) < 4, "at least four columns"),
        (not 0 <= spec.id_position <= 2, "the id is among the first three columns"),
        (len(family) == 1, "family begin and end come together"),
        (unquoted and spec.dialect.delimiter in ",;", "a comma or semicolon must be quotable in every cell"),
        (not spec.header and spec.trailing_delimiter, "without a header nobody could tell a trailing delimiter"),
        (spec.title_length[1] > TITLE_LIMIT - 24, "ordinary titles must fit their column"),
        (_property_bytes(spec) > PROPERTIES_LIMIT - 5_000, "ordinary properties must fit 65,535 bytes together"),
        (any(not supports(spec, fault.kind) for fault in spec.faults), "a fault that this file cannot have"),
    ]


def _property_bytes(spec: Spec) -> int:
    widths = {Alphabet.ACCENTS: 2, Alphabet.SEPARATORS: 3, Alphabet.CJK: 3, Alphabet.EMOJI: 4}
    width = max([1, *(widths[alphabet] for alphabet in spec.alphabets if alphabet in widths)])
    return spec.properties * (spec.property_length[1] * width * 5 // 4 + 80)
