"""What the rows of an overlay do, as docs/load-files.md says it: one cell after the other, in a dictionary.

Nothing of the application is imported here. Names of custodians and tags are in lower case: which of several spellings
is stored depends on what was imported before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.torture.models.fold import CUSTODIAN, FIELD, PROPERTY, TAG, Document, Key, Value
from tests.torture.plans.overlays import BATES_BEGIN, CONTROL_NUMBER, OverlayPlan

Cells = Mapping[str, str]

TEXTS = {"Title": "title", "File Name": "file_name"}
KEYS = {BATES_BEGIN: "bates_begin"}
DATES = {"Document Date": "document_date", "Date Sent": "date_sent"}
NAMES = {"Custodian": CUSTODIAN, "Tags": TAG}
FIELDS = (*TEXTS.values(), *KEYS.values(), *DATES.values(), *(f"{date}_precision" for date in DATES.values()))
BATES: Key = (FIELD, "bates_begin")
SOURCE: Key = (FIELD, "document_date_source")
LONGEST_TEXT, LONGEST_KEY = 1_024, 255
WHITESPACE = " \t\n\r\v\f"
# What a cell with a date means: the date and its precision.
MEANING: Mapping[str, tuple[str, str]] = {
    "2001-01-31": ("2001-01-31 00:00:00.000000", "D"),
    "31 Jan 2001": ("2001-01-31 00:00:00.000000", "D"),
    "2001-01-31 10:00": ("2001-01-31 10:00:00.000000", "T"),
    "2002-02-28T11:00:00Z": ("2002-02-28 11:00:00.000000", "U"),
}
ZERO = "00/00/0000"


def is_blank(cell: str) -> bool:
    """Return whether the cell has nothing but whitespace."""
    return not cell.strip(WHITESPACE)


def create(cells: Cells) -> dict[Key, Value]:
    """Return the document that a row creates."""
    made: dict[Key, Value] = dict.fromkeys([SOURCE, *((FIELD, name) for name in FIELDS)])
    for column, cell in cells.items():
        made |= _read(column, cell)
    dates = [date for column, date in DATES.items() if column in cells]
    if dates == ["date_sent"] and made[FIELD, "date_sent"]:
        _follow(made, "date_sent")
    return made


def _read(column: str, cell: str) -> dict[Key, Value]:
    """Return what one cell says of a new document."""
    own: dict[Key, Value] = {(PROPERTY, column): None if cell == "<nil>" else cell} if cell else {}
    if column in TEXTS:
        return {(FIELD, TEXTS[column]): cell[:LONGEST_TEXT] or None}
    if column in KEYS or column == CONTROL_NUMBER:
        key = cell.strip(WHITESPACE)
        own = own if key != cell else {}
        return own | ({(FIELD, KEYS[column]): key or None} if column in KEYS else {})
    if column in DATES:
        value, precision = MEANING.get(cell, (None, None))
        return own | {(FIELD, DATES[column]): value, (FIELD, f"{DATES[column]}_precision"): precision}
    if column in NAMES:
        return own | {(NAMES[column], name): True for name in _split(cell)}
    return own


def _split(cell: str) -> set[str]:
    return {name.strip(WHITESPACE).lower() for name in cell.split(";")} - {""}


def _follow(document: dict[Key, Value], source: str) -> None:
    """Let the document date be that of another column."""
    for end in ("", "_precision"):
        document[FIELD, f"document_date{end}"] = document[FIELD, f"{source}{end}"]
    document[SOURCE] = source if document[FIELD, source] else None


def overlay(document: Document, cells: Cells, plan: OverlayPlan) -> dict[Key, Value]:
    """Return the document after the overlay by a row."""
    after, new, clears = dict(document), create(cells), plan.blanks == "clear"
    touched = {column: cell for column, cell in cells.items() if clears or not is_blank(cell)}
    for column, cell in touched.items():
        after.pop((PROPERTY, column), None)
        if not is_blank(cell):
            after |= {key: new[key] for key in [(PROPERTY, column)] if key in new}
        for name in (each[column] for each in (TEXTS, KEYS, DATES) if column in each):
            if _is_another_number(document, column, cell, plan):
                continue
            value = new[FIELD, name]
            after[FIELD, name] = None if column in TEXTS and is_blank(cell) else value
        if column in DATES:
            after[FIELD, f"{DATES[column]}_precision"] = new[FIELD, f"{DATES[column]}_precision"]
    _date(after, document[SOURCE], touched)
    _link(after, cells, plan)
    return after


def _is_another_number(document: Document, column: str, cell: str, plan: OverlayPlan) -> bool:
    """Return whether the key names the document by another number than its first one, which stays."""
    return column in KEYS and plan.overlay_key == "bates_begin" and document.get(BATES) != cell.strip(WHITESPACE)


def list_stated(document: Document, cells: Cells, plan: OverlayPlan) -> tuple[set[Key], set[str]]:
    """Return all keys that a row says something of, the same values too, and the kinds of links that it says all of."""
    touched = [column for column, cell in cells.items() if plan.blanks == "clear" or not is_blank(cell)]
    keys: set[Key] = {(PROPERTY, column) for column in touched if column not in TEXTS}
    keys |= {(FIELD, each[column]) for column in touched for each in (TEXTS, KEYS, DATES) if column in each}
    keys |= {(FIELD, f"{DATES[column]}_precision") for column in touched if column in DATES}
    keys -= {BATES for column in touched if _is_another_number(document, column, cells[column], plan)}
    if "Document Date" in touched:
        keys |= {SOURCE}
    elif document[SOURCE] in {DATES.get(column) for column in touched} - {None}:
        keys |= {SOURCE, (FIELD, "document_date"), (FIELD, "document_date_precision")}
    whole: set[str] = set()
    for column, part in NAMES.items():
        names = _split(cells.get(column, ""))
        keys |= {(part, name) for name in names}
        if plan.multi_values == "replace" and (names or (column in cells and plan.blanks == "clear")):
            whole |= {part}
    return keys, whole


def list_companions(document: Document, cells: Cells, plan: OverlayPlan, changed: Collection[Key]) -> set[Key]:
    """Return what a row sets together with something that it changes: all of a date, or an id and its text."""
    touched = [column for column, cell in cells.items() if plan.blanks == "clear" or not is_blank(cell)]
    following = {SOURCE, (FIELD, "document_date"), (FIELD, "document_date_precision")}
    found: set[Key] = set()
    for column in touched:
        members: set[Key] = {(PROPERTY, column)}
        if column in KEYS and not _is_another_number(document, column, cells[column], plan):
            members |= {(FIELD, KEYS[column])}
        elif column in DATES:
            members |= {(FIELD, DATES[column]), (FIELD, f"{DATES[column]}_precision")}
        follows = document[SOURCE] is not None and document[SOURCE] == DATES.get(column)
        if column == "Document Date" or (follows and "Document Date" not in touched):
            members |= following
        found |= members if members & set(changed) and len(members) > 1 else set()
    return found


def _date(after: dict[Key, Value], source: Value, touched: Cells) -> None:
    if "Document Date" in touched:
        after[SOURCE] = None
    elif source == "date_sent" and "Date Sent" in touched:
        _follow(after, "date_sent")


def _link(after: dict[Key, Value], cells: Cells, plan: OverlayPlan) -> None:
    for column, part in NAMES.items():
        names = _split(cells.get(column, ""))
        replaces = plan.multi_values == "replace" and (names or (column in cells and plan.blanks == "clear"))
        for key in [key for key in after if key[0] == part and replaces]:
            del after[key]
        after |= {(part, name): True for name in names}


class Report(NamedTuple):
    """A rejection or warning of one line."""

    line: int
    code: str
    column: str | None = None


@dataclass
class Outcome:
    """What one file does, as far as no editor can change it.

    `created` are the control numbers of the documents that its lines create, `targets` the ids of those they overlay.
    """

    plan: OverlayPlan
    created: dict[int, str] = field(default_factory=dict)
    targets: dict[int, int] = field(default_factory=dict)
    rejected: list[Report] = field(default_factory=list)
    warned: list[Report] = field(default_factory=list)

    @property
    def rejected_lines(self) -> set[int]:
        """The lines that are rejected, whatever the number of reasons."""
        return {each.line for each in self.rejected}


def judge_file(
    plan: OverlayPlan, keys: Mapping[int, tuple[str, Value]], numbers: Mapping[int, Collection[str]] | None = None
) -> Outcome:
    """Import a file into a case with these documents: control and Bates number by id, and their other numbers."""
    outcome, by_bates = Outcome(plan), plan.overlay_key == "bates_begin"
    key_column, seen = plan.columns[0], set[str]()
    others = (numbers or {}) if by_bates else {}
    named = _find_named(plan, keys, others)
    for line, cells in plan.lines().items():
        key = cells[key_column].strip(WHITESPACE)
        documents = named[key]
        is_second = len(documents) == 1 and any(named[each] == documents for each in seen - {key})
        errors = list(_check(cells, key_column, is_repeated=key in seen or is_second))
        seen |= {key} - {""}
        if not errors and len(documents) != 1 and (documents or plan.mode == "overlay"):
            errors = [("AMBIGUOUS_KEY" if documents else "NOT_IN_CASE", key_column)]
        if errors:
            outcome.rejected += [Report(line, *error) for error in errors]
            continue
        warnings = ((code, column) for column, cell in cells.items() for code in _warn(column, cell))
        outcome.warned += [Report(line, *warning) for warning in warnings]
        if documents and plan.mode != "append" and not by_bates and _replaces(keys[documents[0]][1], cells, plan):
            outcome.warned.append(Report(line, "BATES_CHANGED", BATES_BEGIN))
        if documents:
            outcome.targets[line] = documents[0]
        else:
            outcome.created[line] = key
    return outcome


def _find_named(
    plan: OverlayPlan, keys: Mapping[int, tuple[str, Value]], others: Mapping[int, Collection[str]]
) -> dict[str, list[int]]:
    """Return the documents that each key of a file names."""
    place = int(plan.overlay_key == "bates_begin")
    found = {cells[plan.columns[0]].strip(WHITESPACE) for cells in plan.lines().values()}
    return {
        key: [exhibit for exhibit, each in keys.items() if each[place] == key or key in others.get(exhibit, ())]
        for key in found
    }


def _replaces(before: Value, cells: Cells, plan: OverlayPlan) -> bool:
    """Return whether a row gives its document another Bates number, or none, in place of one."""
    cell = cells.get(BATES_BEGIN)
    if before is None or cell is None or (is_blank(cell) and plan.blanks != "clear"):
        return False
    return cell.strip(WHITESPACE) != before


def _check(cells: Cells, key_column: str, *, is_repeated: bool) -> Iterator[tuple[str, str | None]]:
    if is_blank(cells[key_column]):
        yield "MISSING_ID", key_column
    if is_repeated:
        yield "DUPLICATE_ID", None
    if len(cells.get(BATES_BEGIN, "").strip(WHITESPACE)) > LONGEST_KEY:
        yield "KEY_TOO_LONG", BATES_BEGIN


def _warn(column: str, cell: str) -> Iterator[str]:
    if column in TEXTS and len(cell) > LONGEST_TEXT:
        yield "VALUE_TRUNCATED"
    if column in DATES and not is_blank(cell) and cell not in (*MEANING, ZERO):
        yield "INVALID_DATE"
