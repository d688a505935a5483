"""How the paths of a load file were found in its volume, and which are only stored, in the API."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.contracts.common import ResponseModel


class FoundByRule(ResponseModel):
    """The paths that a rule found, with the first of them."""

    rule: int = Field(description="The number of the rule in docs/load-files.md.")
    files: int = Field(description="The paths that it found, each as often as rows or pages name it.")
    line: int = Field(description="The first line with such a path.")
    path: str = Field(description="The path as that line has it, at most 200 characters.")
    file: str = Field(description="The path of the file within the volume.")


class PathOptions(ResponseModel):
    """The options with which at least half of what is missing is found, when the volume is imported again."""

    strip_prefix: str | None = Field(description="The value for `stripPrefix`; null if it is not needed.")
    add_prefix: str | None = Field(description="The value for `addPrefix`; null if it is not needed.")
    files: int = Field(description="The missing files that are found with them, or more.")


class PathFigures(ResponseModel):
    """How the paths of one kind of files were found, of the rows and pages that are in the case, or would be."""

    kind: Literal["native", "text", "image"]
    found: int
    found_by_rule: list[FoundByRule] = Field(description="The rules that found files, those with most files first.")
    missing: int = Field(description="Paths without a file: missing, refused or ambiguous.")
    elsewhere: int = Field(description="Of these, paths whose name a file of the volume has at another path.")
    first_missing: str | None = Field(description="The first path without a file; null if there is none.")
    advice: PathOptions | None


class StoredPaths(ResponseModel):
    """The new and changed rows, of a load file without a volume, that name files: only the paths are stored."""

    natives: int = Field(description="Rows with the path of a native.")
    texts: int = Field(description="Rows with the path of a text.")
