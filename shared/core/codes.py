"""The codes of failed files, rejected rows, warnings and findings of a check.

Guaranteed: a code is never renamed or removed; users' scripts depend on it. docs/load-files.md explains each code and
what to do about it, and a test keeps that page complete.
"""

from __future__ import annotations

from enum import StrEnum


class FileFailure(StrEnum):
    """The reason why a file was not imported. None of its rows were written, except under `NOT_COMPLETED`: all were."""

    EMPTY_FILE = "EMPTY_FILE"
    BINARY_FILE = "BINARY_FILE"
    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    UNSUPPORTED_ENCODING = "UNSUPPORTED_ENCODING"
    UNSUPPORTED_LINE_ENDS = "UNSUPPORTED_LINE_ENDS"
    NOT_DELIMITED = "NOT_DELIMITED"
    NO_ID_COLUMN = "NO_ID_COLUMN"
    PROFILE_MISMATCH = "PROFILE_MISMATCH"
    NO_ROWS = "NO_ROWS"
    TOO_MANY_COLUMNS = "TOO_MANY_COLUMNS"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    SOURCE_GONE = "SOURCE_GONE"
    NOT_READ = "NOT_READ"
    BAD_OPTIONS = "BAD_OPTIONS"
    NOT_UPLOADED = "NOT_UPLOADED"
    NOT_COMPLETED = "NOT_COMPLETED"


class Rejection(StrEnum):
    """The reason why a row was not imported. The rejected-rows file has its text."""

    MISSING_ID = "MISSING_ID"
    DUPLICATE_ID = "DUPLICATE_ID"
    EXISTS_WITH_OTHER_VALUES = "EXISTS_WITH_OTHER_VALUES"
    NOT_IN_CASE = "NOT_IN_CASE"
    AMBIGUOUS_KEY = "AMBIGUOUS_KEY"
    WRONG_CELL_COUNT = "WRONG_CELL_COUNT"
    MALFORMED_QUOTING = "MALFORMED_QUOTING"
    UNDECODABLE_BYTES = "UNDECODABLE_BYTES"
    KEY_TOO_LONG = "KEY_TOO_LONG"
    KEY_NOT_STORABLE = "KEY_NOT_STORABLE"
    TOO_MANY_VALUES = "TOO_MANY_VALUES"
    RECORD_TOO_LARGE = "RECORD_TOO_LARGE"
    VALUE_REFUSED = "VALUE_REFUSED"
    CHUNK_FAILED = "CHUNK_FAILED"


class WarningCode(StrEnum):
    """A change to a value of an imported row, or a decision about the whole file (line 0)."""

    INVALID_DATE = "INVALID_DATE"
    INVALID_TIME = "INVALID_TIME"
    AMBIGUOUS_TIME = "AMBIGUOUS_TIME"
    NONEXISTENT_TIME = "NONEXISTENT_TIME"
    VALUE_TRUNCATED = "VALUE_TRUNCATED"
    CHARACTERS_REMOVED = "CHARACTERS_REMOVED"
    PROPERTY_DROPPED = "PROPERTY_DROPPED"
    NAME_MERGED = "NAME_MERGED"
    MIXED_NEWLINES = "MIXED_NEWLINES"
    NEWLINE_MARK_KEPT = "NEWLINE_MARK_KEPT"
    AMBIGUOUS_DATE_ORDER = "AMBIGUOUS_DATE_ORDER"
    MIXED_DATE_ORDER = "MIXED_DATE_ORDER"
    MIXED_ENCODING = "MIXED_ENCODING"
    REPLACEMENT_CHARACTER = "REPLACEMENT_CHARACTER"
    NO_ROWS = "NO_ROWS"
    REPEATED_HEADER = "REPEATED_HEADER"
    BYTE_ORDER_MARK = "BYTE_ORDER_MARK"
    DIFFERS_FROM_CHECK = "DIFFERS_FROM_CHECK"


class KeptCode(StrEnum):
    """Why the undo of an import keeps a document, or a value or link of one."""

    CHANGED_SINCE = "CHANGED_SINCE"
    TAGGED_SINCE = "TAGGED_SINCE"
    HAS_CHILDREN = "HAS_CHILDREN"
    IN_PRODUCTION = "IN_PRODUCTION"
    DOES_NOT_FIT = "DOES_NOT_FIT"


class CheckCode(StrEnum):
    """What the check of a whole file finds. Each is a warning: the rows can be imported as they are."""

    BATES_UNPARSED = "BATES_UNPARSED"
    BATES_PREFIX = "BATES_PREFIX"
    BATES_REVERSED = "BATES_REVERSED"
    BATES_WIDTH = "BATES_WIDTH"
    BATES_GAP = "BATES_GAP"
    BATES_OVERLAP = "BATES_OVERLAP"
    BATES_OVERLAP_CASE = "BATES_OVERLAP_CASE"
    BATES_PAGES = "BATES_PAGES"
    PARENT_MISSING = "PARENT_MISSING"
    PARENT_CYCLE = "PARENT_CYCLE"
    FAMILY_GAP = "FAMILY_GAP"
    FAMILY_RANGE = "FAMILY_RANGE"
    NATIVE_DUPLICATE = "NATIVE_DUPLICATE"
    NAME_SIMILAR = "NAME_SIMILAR"
    ID_SIMILAR = "ID_SIMILAR"
    DATE_FUTURE = "DATE_FUTURE"
    DATE_BEFORE_1970 = "DATE_BEFORE_1970"
