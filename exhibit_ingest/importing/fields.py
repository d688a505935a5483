"""The fields that columns of a load file can feed; a test compares them with those of the importer."""

from __future__ import annotations

KEYS = ("control_number", "bates_begin", "bates_end", "parent_control_number")
TEXTS = ("title", "file_name", "native_path", "text_path", "confidentiality")
DATES = ("document_date", "date_sent", "date_received", "date_created", "date_modified")
TIMES = ("document_time", "time_sent", "time_received", "time_created", "time_modified")
_OTHERS = ("custodians", "tags", "extracted_text", "family_range", "family_group", "family_members", "property")
FIELDS = frozenset({*KEYS, *TEXTS, *DATES, *TIMES, *_OTHERS})
# The field of the last column of an error file.
ORIGINAL_LINE = "original_line"
MODES = ("append", "overlay", "append_overlay")
OVERLAY_KEYS = ("control_number", "bates_begin")
BLANKS = ("keep", "clear")
MULTI_VALUES = ("merge", "replace")
