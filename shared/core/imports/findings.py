"""Say how a file is written, why, and how sure that is, and what can be chosen instead of what was detected.

The findings are those of the import's own detection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple

from core.dates.written_dates import DateOrder
from core.load_file.delimiters import THORN, Sign, Signs
from core.load_file.dialect import Opening
from core.load_file.encoding import CP1252, SUPPORTED, Utf8Evidence
from core.load_file.field_mapping import MappingReason
from core.load_file.layout import DateColumn, Layout
from core.load_file.options import NO_CHARACTER, ImportOptions, list_characters
from core.load_file.splitter import Splitter


class Certainty(StrEnum):
    """How sure a finding is: an option gives it, the file states it, the file suggests it, or nothing speaks for it."""

    GIVEN = "given"
    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


@dataclass(frozen=True)
class Detected:
    """What is used, why, and how sure it is; `may_change`: the bytes that were not read can change it.

    `value` is None if the file has no such character, or no dates.
    """

    value: str | bool | None
    why: str
    certainty: Certainty
    may_change: bool = False


@dataclass(frozen=True)
class Detection:
    """How a file is written."""

    encoding: Detected
    delimiter: Detected
    qualifier: Detected
    newline: Detected
    header: Detected
    date_order: Detected

    def list_changeable(self) -> list[str]:
        """Return the names of the findings that the rest of the file can change."""
        return list(self._find_changeable())

    def _find_changeable(self) -> Iterator[str]:
        for each in fields(self):
            if getattr(self, each.name).may_change:
                yield each.name


_GIVEN = "It was chosen."


def detect(opening: Opening, options: ImportOptions, layout: Layout, splitter: Splitter, *, whole: bool) -> Detection:
    """Return what the import would use, from its opening, its layout and the evidence of its splitter.

    `whole`: the splitter has read the whole file.
    """
    signs = opening.dialect.signs or Signs(Sign.CHARACTERS, Sign.FIRST_LINES, Sign.FIRST_LINES)
    return Detection(
        encoding=_explain_encoding(opening, layout.encoding, signs.encoding, splitter.evidence, whole=whole),
        delimiter=_explain_delimiter(layout, signs.delimiter),
        qualifier=_explain_qualifier(layout, signs.qualifier),
        newline=_explain_newline(layout, options),
        header=_explain_header(layout, options),
        date_order=_explain_date_orders(layout, options, splitter.date_orders, whole=whole),
    )


def _explain_encoding(opening: Opening, encoding: str, sign: Sign, found: Utf8Evidence, *, whole: bool) -> Detected:
    match sign:
        case Sign.GIVEN:
            return Detected(encoding, _GIVEN, Certainty.GIVEN)
        case Sign.BYTE_ORDER_MARK:
            return Detected(encoding, "The file begins with a byte order mark.", Certainty.CERTAIN)
        case Sign.THORNS:
            return Detected(encoding, "The thorns (þ) are written in it.", Certainty.CERTAIN)
    if opening.dialect.encoding is not None:
        return Detected(encoding, "Most characters of the first bytes fit it.", Certainty.LIKELY)
    return explain_evidence(encoding, found, whole=whole)


def explain_evidence(encoding: str, found: Utf8Evidence, *, whole: bool) -> Detected:
    """Return the encoding that the bytes show, where neither an option nor a mark states it."""
    may_change = not whole
    if not found.valid and not found.invalid:
        certainty = Certainty.CERTAIN if whole else Certainty.GUESS
        return Detected(encoding, "All characters are ASCII, the same in UTF-8.", certainty, may_change)
    if found.is_utf8:
        certainty = Certainty.CERTAIN if whole else Certainty.LIKELY
        return Detected(encoding, "All characters beyond ASCII are valid UTF-8.", certainty, may_change)
    counts = f"{found.invalid:,} bytes are not UTF-8, {found.valid:,} characters are"
    certainty = Certainty.GUESS if found.valid else Certainty.LIKELY
    why = f"{counts}." if encoding != CP1252 else f"{counts}: Western European (Windows) is assumed."
    return Detected(encoding, why, certainty, may_change)


def _explain_delimiter(layout: Layout, sign: Sign) -> Detected:
    delimiter = layout.grammar.delimiter
    match sign:
        case Sign.GIVEN:
            return Detected(delimiter, _GIVEN, Certainty.GIVEN)
        case Sign.SEPARATOR_LINE:
            return Detected(delimiter, "The line sep= names it.", Certainty.CERTAIN)
        case Sign.THORNS:
            return Detected(delimiter, "Cells are enclosed in þ, or 0x14 is between them.", Certainty.CERTAIN)
    if len(layout.names) == 1:
        return Detected(delimiter, "No delimiter splits the first line: the file has one column.", Certainty.GUESS)
    return Detected(delimiter, "It splits most of the first lines into as many cells as the first.", Certainty.LIKELY)


def _explain_qualifier(layout: Layout, sign: Sign) -> Detected:
    qualifier = layout.grammar.qualifier
    match sign:
        case Sign.GIVEN:
            return Detected(qualifier, _GIVEN, Certainty.GIVEN)
        case Sign.THORNS:
            return Detected(qualifier, "The cells of the first lines are enclosed in it.", Certainty.CERTAIN)
    if qualifier is None:
        return Detected(None, "The first lines show none.", Certainty.LIKELY)
    if layout.grammar.quoted_start:
        return Detected(qualifier, "Cells of the first lines are enclosed in it.", Certainty.LIKELY)
    return Detected(qualifier, "It is the usual one; a cell that begins with it is enclosed in it.", Certainty.LIKELY)


def _explain_newline(layout: Layout, options: ImportOptions) -> Detected:
    if options.newline is not None:
        return Detected(layout.newline, _GIVEN, Certainty.GIVEN)
    if layout.newline is not None:
        return Detected(layout.newline, "It is the usual one in a file whose qualifier is þ.", Certainty.LIKELY)
    why = "® is the delimiter." if layout.grammar.qualifier == THORN else "The qualifier is not þ."
    return Detected(None, why, Certainty.LIKELY)


def _explain_header(layout: Layout, options: ImportOptions) -> Detected:
    if not layout.has_header:
        return Detected(False, _GIVEN, Certainty.GIVEN)
    if options.header_line is not None:
        return Detected(True, _GIVEN, Certainty.GIVEN)
    known = sum(why in (MappingReason.SYNONYM, MappingReason.PATTERN) for why in layout.reasons)
    why = f"The first line is taken for the names of the columns; {known} of them are known."
    return Detected(True, why, Certainty.LIKELY if known else Certainty.GUESS)


def _explain_date_orders(
    layout: Layout, options: ImportOptions, found: Mapping[str, DateOrder | None], *, whole: bool
) -> Detected:
    """Return the finding of the main order, as sure as the least sure column; `why` names orders that differ."""
    if isinstance(options.date_order, str):
        return Detected(layout.date_order, _GIVEN, Certainty.GIVEN)
    if not layout.date_columns:
        return Detected(None, "No column is a date.", Certainty.CERTAIN)
    columns = layout.date_columns
    findings = [_explain_date_order(each, options, found.get(each.field), whole=whole) for each in columns]
    main = max((each for each in findings if each.value == layout.date_order), key=_rank, default=findings[0])
    others = [
        f"{layout.names[column.index]} is {each.value}. {each.why}"
        for column, each in zip(columns, findings, strict=True)
        if each.value != main.value
    ]
    certainty = max(findings, key=_rank).certainty
    return Detected(main.value, " ".join([main.why, *others]), certainty, any(each.may_change for each in findings))


def _rank(finding: Detected) -> int:
    return list(Certainty).index(finding.certainty)


def _explain_date_order(
    column: DateColumn, options: ImportOptions, found: DateOrder | None, *, whole: bool
) -> Detected:
    if column.format is not None:
        return Detected(column.format, _GIVEN, Certainty.GIVEN)
    if options.get_date_order(column.field):
        return Detected(column.order, _GIVEN, Certainty.GIVEN)
    certain = Certainty.CERTAIN if whole else Certainty.LIKELY
    match found:
        case None:
            return Detected(column.order, "No date needs an order.", certain, not whole)
        case DateOrder.MONTH_FIRST:
            # A date that contradicts the others does not change it.
            return Detected("MDY", "A date has a second number over 12.", Certainty.CERTAIN)
        case DateOrder.DAY_FIRST:
            return Detected("DMY", "A date has a first number over 12, and none a second one.", certain, not whole)
        case DateOrder.MIXED:
            return Detected("MDY", "Dates contradict each other; month first is assumed.", Certainty.GUESS)
    return Detected("MDY", "No date shows the order; month first is assumed.", Certainty.GUESS, not whole)


# What a character is called in load files; of other words for the same character, the first one counts.
_LABELS = {
    ",": "comma",
    "\t": "tab",
    "|": "pipe |",
    ";": "semicolon ;",
    "^": "caret ^",
    '"': 'quotation mark "',
    "\u00fe": "thorn þ (Concordance)",
    "\x14": "ASCII 020 (DC4, Concordance)",
    "\u00ae": "® (Concordance)",
}
_DELIMITERS = (",", "\t", "|", ";", "^", "\x14")
_QUALIFIERS = ('"', "\u00fe", "^", "|")
_NEWLINES = ("\u00ae", "|", "^", "\t")
_ENCODINGS = {"utf-8": "UTF-8", "utf-16-le": "UTF-16, little endian", "utf-16-be": "UTF-16, big endian"}


class Choice(NamedTuple):
    """A value of an option, what to call it, and the same as a finding has it; None: the file has no such character."""

    value: str
    label: str
    found: str | None


def list_choices() -> Mapping[str, Sequence[Choice]]:
    """Return what can be chosen, by option."""
    encodings = [Choice(each, _ENCODINGS.get(each, "Western European (Windows-1252)"), each) for each in SUPPORTED]
    return {
        "encoding": encodings,
        "delimiter": _list_characters(_DELIMITERS),
        "qualifier": [*_list_characters(_QUALIFIERS), _NONE],
        "newline": [*_list_characters(_NEWLINES), _NONE],
    }


_NONE = Choice("none", "none", NO_CHARACTER or None)


def _list_characters(characters: Sequence[str]) -> list[Choice]:
    words = {character: word for word, character in reversed(list_characters())}
    return [Choice(words.get(each, each), _LABELS[each], each) for each in characters]
