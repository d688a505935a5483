"""Models of previews of load files. Texts of the file are cut at 100 characters."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.codes import WarningCode
from core.contracts.common import ResponseModel
from core.contracts.imports.states import ProfileUse
from core.imports.columns.report import ColumnKind
from core.imports.findings import Certainty
from core.load_file.field_mapping import MappingReason


class PreviewChoice(ResponseModel):
    """A value that an option can have instead."""

    value: str = Field(description="What to send as the option.")
    label: str
    found: str | None = Field(description="The same as `value` of a finding has it; null: the file has none.")


class PreviewFinding(ResponseModel):
    """What an import would use, why, and how sure it is."""

    value: str | bool | None = Field(description="null: the file has no such character, or no dates.")
    why: str
    certainty: Certainty = Field(
        description="given: by an option; certain: the file states it; likely: the file suggests it; guess: nothing in "
        "the file speaks for it."
    )
    may_change: bool = Field(description="Whether the rest of the file, which was not read, can change it.")
    choices: list[PreviewChoice] = Field(
        default=[],
        description="Usual values of the option, for encoding, delimiter, qualifier and newline. Others are accepted: "
        "any character, or its decimal code.",
    )


class PreviewDetection(ResponseModel):
    """How the file is written."""

    encoding: PreviewFinding
    delimiter: PreviewFinding
    qualifier: PreviewFinding
    newline: PreviewFinding = Field(description="The character that represents a line break within a cell.")
    header: PreviewFinding
    date_order: PreviewFinding


class PreviewSample(ResponseModel):
    """A cell as it is read, and its value as it would be stored."""

    text: str
    value: str | list[str] | None = Field(
        description="null if the row is rejected or the cell gives no value; a list for custodians and tags."
    )
    code: str | None = Field(description="The warning or rejection of the cell or the row, if there is one.")


class PreviewColumn(ResponseModel):
    """A column of the file."""

    number: int
    name: str
    field: str | None = Field(description="The field that the column feeds; null: it is kept as a property.")
    why: MappingReason
    looks_like: ColumnKind | None
    samples: list[PreviewSample] = Field(description="The first three distinct values that are not blank.")
    blank: int = Field(description="Blank cells in the counted rows.")
    distinct: int = Field(description="Distinct values that are not blank, in the counted rows.")


class PreviewRow(ResponseModel):
    """A row of the file."""

    line: int = Field(description="The row's first line in the file, from 1.")
    cells: list[str] | None = Field(description="null if the quoting is damaged.")
    codes: list[str] = Field(description="The rejections of the row, else its warnings, but for those of other rows.")


class PreviewWarning(ResponseModel):
    """What an import of the counted rows alone would warn of a column."""

    code: WarningCode
    column: str
    message: str


class PreviewMissingImage(ResponseModel):
    """A path for which the volume has no file."""

    line: int
    path: str


class PreviewImages(ResponseModel):
    """What an image load file is. Its lines are the `rows` of the preview; `columns` names their cells."""

    kind: Literal["opt", "lfp"]
    why: str
    columns: list[str]
    documents: int | None = Field(
        description="The documents that begin in the bytes that were read; null if commands of an LFP decide which "
        "pages begin one."
    )
    pages: int = Field(description="The lines of pages in the bytes that were read.")
    paths_compared: int | None = Field(
        description="The paths that were compared with the listing of the volume, at most the first 1,000; null for a "
        "file that is not imported from a volume."
    )
    missing: list[PreviewMissingImage] | None = Field(
        description="The first 20 of these paths for which the volume has no file; null if none was compared."
    )


class ImportPreview(ResponseModel):
    """How an import would read the file, from its first bytes."""

    provisional: bool = Field(description="Whether the file has more bytes than were read.")
    bytes_read: int
    size: int
    may_change: list[str] = Field(description="The findings that the rest of the file can change.")
    detection: PreviewDetection
    rows_read: int = Field(description="The rows in the bytes that were read.")
    rows_counted: int = Field(
        description="The rows of which the columns were counted, at most 10,000, and 250,000 cells."
    )
    rows: list[PreviewRow] = Field(description="The first 20 rows; fewer of a file with over 2,500 columns.")
    column_count: int
    columns: list[PreviewColumn] = Field(description="The first 300 columns.")
    header_fingerprint: str | None = Field(
        description="A hash of the delimiter and the header, by which profiles are suggested; null without a header."
    )
    warnings: list[PreviewWarning] = Field(
        description="What an import of the counted rows alone would warn of the columns as a whole."
    )
    images: PreviewImages | None = Field(description="Of an image load file (OPT or LFP); null for a file of rows.")
    suggested_profiles: list[ProfileUse] = Field(
        description="The profiles for files with this delimiter and header, newest first."
    )
