"""Combine the options of a mapping profile with those that are given, and make the options of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.imports.report_files import map_explicitly
from core.load_file.layout import Layout

Document = Mapping[str, Any]
# The columns are those of the layout; the others say who imports a file, and how, and not how it is read.
_NOT_OF_PROFILES = frozenset({"columns", "dry_run", "profile", "user_id", "volume"})


def merge_profile(name: str, version: int, profile: Document, given: Document) -> dict[str, Any]:
    """Return the options document of an import that uses the profile: given members win, columns are kept apart.

    `parse_options` and `explain_columns` combine the columns when the file is read, because only then it is known which
    columns a name and a number mean.
    """
    own = {key: value for key, value in profile.items() if key != "columns"}
    copy = {"name": name, "version": version, "columns": dict(profile.get("columns", {}))}
    return {**own, **given, "columns": dict(given.get("columns", {})), "profile": copy}


def build_profile_options(layout: Layout, given: Document) -> dict[str, Any]:
    """Return the options with which the next file is read as a file of this layout was.

    They are the given ones and the column map as it was decided. What was detected stays to be detected: the next file
    can have another encoding.
    """
    own = {key: value for key, value in given.items() if key not in _NOT_OF_PROFILES and value is not None}
    header = {} if layout.has_header else {"header": False}
    return {**own, **header, "columns": map_explicitly(layout)}
