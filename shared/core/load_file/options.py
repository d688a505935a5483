"""The options that the uploader may set for a load file.

Every option is optional and overrides detection from the file. An invalid option fails the import before a row is
written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.codes import FileFailure
from core.dates.formats import DATE_RULES, parse_date_formats
from core.errors import FileRefusedError
from core.exhibit_dates import DATE_FIELDS
from core.file_options import FILE_OPTIONS, FileOptions, parse_file_options
from core.load_file import encoding
from core.load_file.encoding import has_surrogates
from core.load_file.field_mapping import FIELDS
from core.load_file.given_columns import ProfileUse, check_columns
from core.load_file.list_values import LIST_OPTIONS, MULTI_VALUE_SEPARATOR, ListSigns
from core.load_mode import OVERLAY_OPTIONS, LoadMode, parse_load_mode
from core.time_zones import get_database_version, list_zones, suggest_zones

NO_CHARACTER = ""
MAX_COLUMNS = 10_000
# Lines of titles are few.
MAX_HEADER_LINE = 1_000
DATE_ORDERS = ("DMY", "MDY")
CR, LF = "cr", "lf"
LINE_ENDS = (CR, LF)
_CHARACTERS = {
    "comma": ",",
    "tab": "\t",
    "\\t": "\t",
    "pipe": "|",
    "semicolon": ";",
    "caret": "^",
    "quote": '"',
    "thorn": "\u00fe",
    "dc4": "\x14",
    "concordance": "\x14",
}


@dataclass(frozen=True)
class ImportOptions:
    """The options of an upload; None means that the value is detected.

    `qualifier` and `newline` are NO_CHARACTER if the uploader states that the file does not use one. `header_line` is
    the physical line of the header, if others come before it. `cells` is the number of cells of a row in a file without
    a header. `line_ends` is CR if CR ends lines, as LF and CRLF do, and LF if only these do. `date_order` is an order
    for all dates, or the orders by field. `time_zone` is an IANA name. With `dry_run` the file is checked and not
    imported. `load_mode` are the options `mode` and those of an overlay, `files` those of a volume's files.
    `date_format` are the stated formats of dates by field, `lists` the options `multi_value_separator` and
    `nested_separator`.
    """

    user_id: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    qualifier: str | None = None
    newline: str | None = None
    header: bool = True
    header_line: int | None = None
    cells: int | None = None
    line_ends: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    date_order: str | Mapping[str, str] | None = None
    # Not in the repr, with which checkpoints of earlier versions compare: a split does not depend on it.
    time_zone: str | None = field(default=None, repr=False)
    dry_run: bool = False
    profile: ProfileUse | None = None
    # Not in the repr either.
    load_mode: LoadMode = field(default_factory=LoadMode, repr=False)
    files: FileOptions = field(default_factory=FileOptions, repr=False)
    date_format: Mapping[str, str] = field(default_factory=dict, repr=False)
    lists: ListSigns = field(default_factory=ListSigns, repr=False)

    def as_layout(self) -> dict[str, Any]:
        """Return what the layout of a file has of its options, whatever the file shows."""
        return {
            "time_zone": self.time_zone,
            "time_zone_version": get_database_version() if self.time_zone else None,
            "load_mode": self.load_mode,
            "files": self.files,
            "date_formats": dict(self.date_format),
            "date_rules": DATE_RULES,
            "lists": self.lists,
        }

    def get_date_order(self, date: str) -> str | None:
        """Return the order of the dates of a field; None if it is not given."""
        return self.date_order.get(date) if isinstance(self.date_order, Mapping) else self.date_order


def parse_options(document: object) -> ImportOptions:
    """Return the options in a JSON document.

    Raises FileRefusedError (BAD_OPTIONS) for an invalid option, and for options that contradict each other; the message
    names the option and the values it accepts.
    """
    if not isinstance(document, Mapping):
        raise _refuse('The options are not a JSON object. Write them as in {"delimiter": "comma"}.')
    known = {*ImportOptions.__dataclass_fields__, "mode", *OVERLAY_OPTIONS, *FILE_OPTIONS, *LIST_OPTIONS}
    known -= {"load_mode", "files", "lists"}
    unknown = sorted(set(map(str, document)) - known)
    if unknown:
        raise _refuse(f"Unknown option {unknown[0]!r}. The options are {', '.join(sorted(known))}.")
    header = _parse_flag(document, "header", default=True)
    options = ImportOptions(
        user_id=_parse_text(document, "user_id"),
        encoding=_parse_encoding(_parse_text(document, "encoding")),
        delimiter=_parse_character("delimiter", _parse_text(document, "delimiter")),
        qualifier=_parse_character("qualifier", _parse_text(document, "qualifier"), allow_none=True),
        newline=_parse_character("newline", _parse_text(document, "newline"), allow_none=True),
        header=header,
        header_line=_parse_header_line(document.get("header_line"), header),
        cells=_parse_cells(document.get("cells"), header),
        line_ends=_parse_line_ends(_parse_text(document, "line_ends")),
        columns=_parse_columns(document.get("columns", {})),
        date_order=_parse_date_orders(document),
        time_zone=_parse_time_zone(_parse_text(document, "time_zone")),
        dry_run=_parse_flag(document, "dry_run", default=False),
        profile=_parse_profile(document.get("profile")),
        load_mode=parse_load_mode(document),
        files=parse_file_options(document),
        date_format=parse_date_formats(document.get("date_format")),
        lists=_parse_lists(document),
    )
    _check_characters(options)
    check_columns(options.columns, options.load_mode, has_header=header)
    return options


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, message)


def _parse_flag(document: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = document.get(name, default)
    if not isinstance(value, bool):
        raise _refuse(f"Option {name!r} must be true or false.")
    return value


def _parse_text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and (not isinstance(value, str) or not 0 < len(value) <= 255 or has_surrogates(value)):
        raise _refuse(f"Option {name!r} must be a string of 1 to 255 valid Unicode characters.")
    return value


def _parse_encoding(name: str | None) -> str | None:
    if name is None:
        return None
    found = encoding.find_encoding(name)
    if found is None:
        raise _refuse(f"Unknown encoding {name!r} in option 'encoding'. Use {', '.join(encoding.SUPPORTED)}.")
    return found


def _parse_character(option: str, text: str | None, *, allow_none: bool = False) -> str | None:
    """Return the character for a single character, a name of one, or its decimal code (20 for DC4, Concordance)."""
    if text is None:
        return None
    if allow_none and text.lower() == "none":
        return NO_CHARACTER
    found = _CHARACTERS.get(text.lower(), text)
    if found.isascii() and found.isdigit() and int(found) < 256:
        found = chr(int(found))
    if len(found) != 1 or found in "\r\n\0 0123456789" or has_surrogates(found):
        names = ", ".join([*_CHARACTERS, *(["none"] if allow_none else [])])
        message = f"Option {option!r} is {text!r}. It must be one character, its decimal code, or one of {names}"
        raise _refuse(f"{message}; space, digits, CR, LF and NUL are not allowed.")
    return found


def list_characters() -> list[tuple[str, str]]:
    """Return the words that options accept for characters, each with its character."""
    return list(_CHARACTERS.items())


def _check_characters(options: ImportOptions) -> None:
    """Raise FileRefusedError (BAD_OPTIONS) if one character would have two meanings."""
    for first, second in (("delimiter", "qualifier"), ("delimiter", "newline"), ("qualifier", "newline")):
        character = getattr(options, first)
        if character and character == getattr(options, second):
            advice = f"Change {second!r}, or remove it to have it detected."
            raise _refuse(f"Options {first!r} and {second!r} are both {character!r}. {advice}")


def _parse_lists(document: Mapping[str, Any]) -> ListSigns:
    separator, nested = (_parse_character(name, _parse_text(document, name)) for name in LIST_OPTIONS)
    if nested is not None and nested == (separator or MULTI_VALUE_SEPARATOR):
        raise _refuse(f"Options {LIST_OPTIONS[0]!r} and {LIST_OPTIONS[1]!r} are both {nested!r}. Change one of them.")
    return ListSigns(separator or MULTI_VALUE_SEPARATOR, nested, has_quotes=separator is not None)


def _parse_columns(mapping: object) -> Mapping[str, str]:
    if not isinstance(mapping, Mapping):
        raise _refuse("Option 'columns' must be an object that maps column names (or numbers from 1) to fields.")
    for column, field_name in mapping.items():
        if not isinstance(field_name, str) or field_name not in FIELDS:
            message = f"Option 'columns' maps column {str(column)[:100]!r} to {str(field_name)[:100]!r}"
            raise _refuse(f"{message}, which is not a field. The fields are {', '.join(sorted(FIELDS))}.")
    return {str(column): str(field_name) for column, field_name in mapping.items()}


def _parse_header_line(line: object, header: bool) -> int | None:
    if line is None:
        return None
    if not isinstance(line, int) or isinstance(line, bool) or not 0 < line <= MAX_HEADER_LINE:
        raise _refuse(f"Option 'header_line' must be a number from 1 to {MAX_HEADER_LINE}: the line of the header.")
    if not header:
        raise _refuse(
            "Option 'header_line' names the header, and \"header\": false says that there is none. Remove one."
        )
    return line


def _parse_cells(cells: object, header: bool) -> int | None:
    if cells is None:
        return None
    if not isinstance(cells, int) or isinstance(cells, bool) or not 0 < cells <= MAX_COLUMNS:
        raise _refuse(f"Option 'cells' must be a number from 1 to {MAX_COLUMNS}: the cells of a row.")
    if header:
        message = "Option 'cells' is allowed only with \"header\": false, because a header gives the number of cells."
        raise _refuse(f"{message} Remove 'cells', or set \"header\": false.")
    return cells


def _parse_line_ends(line_ends: str | None) -> str | None:
    if line_ends is not None and line_ends not in LINE_ENDS:
        raise _refuse(f"Option 'line_ends' is {line_ends!r}. It must be cr if rows end in CR alone, else lf.")
    return line_ends


def _parse_date_orders(document: Mapping[str, Any]) -> str | Mapping[str, str] | None:
    given = document.get("date_order")
    if not isinstance(given, Mapping):
        return _parse_date_order(_parse_text(document, "date_order"))
    unknown = next((str(date)[:100] for date in given if date not in DATE_FIELDS), None)
    if unknown is not None:
        raise _refuse(f"Option 'date_order' names {unknown!r}. The fields of dates are {', '.join(DATE_FIELDS)}.")
    orders = {str(date): _parse_date_order(_parse_text(given, date)) for date in given}
    return {date: order for date, order in orders.items() if order}


def _parse_date_order(order: str | None) -> str | None:
    if order is not None and order not in DATE_ORDERS:
        orders = " or ".join(DATE_ORDERS)
        raise _refuse(
            f"Option 'date_order' is {order!r}. It must be {orders}; dates with the year first need no order."
        )
    return order


def _parse_profile(profile: object) -> ProfileUse | None:
    """Return the profile whose options are part of this document already, except for its columns."""
    if profile is None:
        return None
    if not isinstance(profile, Mapping) or set(profile) != {"name", "version", "columns"}:
        raise _refuse("Option 'profile' must be an object of name, version and columns, as the command writes it.")
    version = profile["version"]
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**31:
        raise _refuse("Option 'profile' must have a version that is a number from 1.")
    name = _parse_text(profile, "name")
    if name is None:
        raise _refuse("Option 'profile' must have a name.")
    return ProfileUse(name, version, _parse_columns(profile["columns"]))


def _parse_time_zone(name: str | None) -> str | None:
    if name is not None and name not in list_zones():
        similar = suggest_zones(name)
        advice = f"Similar zones are {', '.join(similar)}." if similar else "Use a name such as America/New_York."
        raise _refuse(f"Option 'time_zone' is {name!r}, which is not an IANA time zone. {advice}")
    return name
