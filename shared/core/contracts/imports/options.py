"""The options of an import: how its file is read, and what its rows do with existing exhibits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from core.contracts.common import Name, RequestModel
from core.dates.formats import MAX_FORMAT_CHARACTERS
from core.file_options import MAX_PREFIX_CHARACTERS, MAX_PREFIXES
from core.load_file.options import MAX_COLUMNS, MAX_HEADER_LINE

MAX_OPTION_COLUMNS = 1_000
DateOrderName = Literal["DMY", "MDY"]
DateField = Literal["document_date", "date_sent", "date_received", "date_created", "date_modified"]
DateFormat = Annotated[str, Field(min_length=1, max_length=MAX_FORMAT_CHARACTERS)]
ColumnName = Annotated[str, Field(min_length=1, max_length=1_000)]
VolumePath = Annotated[str, Field(min_length=1, max_length=1_024)]
Prefix = Annotated[str, Field(min_length=1, max_length=MAX_PREFIX_CHARACTERS)]


def _character(purpose: str) -> Any:
    notation = "a character, its decimal code, or a name such as comma, tab, pipe, quote, thorn or concordance"
    return Field(default=None, min_length=1, max_length=16, description=f"{purpose}: {notation}.")


class ErrorFileVolume(RequestModel):
    """The volume that an error file is imported against: its rows and pages get the files of that volume."""

    model_config = ConfigDict(populate_by_name=True)

    id: int = Field(ge=1, lt=2**63, description="The number of the volume; it must be of the same case.")
    load_file: VolumePath | None = Field(
        default=None, description="The path of its load file, from whose folder paths can start."
    )
    image_load_file: VolumePath | None = Field(default=None, description="The path of its image load file.")


class Options(RequestModel):
    """How to read the file. Every missing option is detected."""

    # `options.json` has the names in snake_case.
    model_config = ConfigDict(populate_by_name=True)

    encoding: str | None = Field(default=None, max_length=32, description="utf-8, utf-16 or cp1252.")
    delimiter: str | None = _character("The character between two cells")
    qualifier: str | None = _character("The quote character around a cell, or `none`")
    newline: str | None = _character("The character that represents a line break within a cell, or `none`")
    header: bool = Field(default=True, description="Whether the first line contains the column names.")
    header_line: int | None = Field(
        default=None,
        ge=1,
        le=MAX_HEADER_LINE,
        description="The line of the column names, if titles come before it; line 1 by default.",
    )
    cells: int | None = Field(
        default=None,
        ge=1,
        le=MAX_COLUMNS,
        description="The number of cells of a row, if there is no header; by default, those of the first row.",
    )
    line_ends: Literal["cr", "lf"] | None = Field(
        default=None, description="cr if CR ends lines, as LF and CRLF do; lf if only LF and CRLF end lines."
    )
    columns: dict[ColumnName, str] = Field(
        default_factory=dict,
        max_length=MAX_OPTION_COLUMNS,
        description="The field of a column, by column name or by number from 1, such as control_number or custodians.",
        examples=[{"Doc ID": "control_number", "Author": "custodians"}],
    )
    date_order: DateOrderName | dict[DateField, DateOrderName] | None = Field(
        default=None,
        description="Whether the day or the month comes first in dates such as 03/04/2019: of all dates, or by field.",
        examples=["DMY", {"date_sent": "DMY"}],
    )
    date_format: dict[DateField, DateFormat] | None = Field(
        default=None,
        description="The format of all dates of a field, with the letters of strptime: %Y %y %m %b %d %H %I %M %S %f "
        "%p %z %Z %a %%; or `excel` for the day numbers of Excel. Cells in another format are not dates.",
        examples=[{"date_sent": "%d.%m.%Y %H:%M"}, {"date_received": "excel"}],
    )
    time_zone: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="The IANA time zone of times without an offset. Without it they are stored as written.",
        examples=["America/New_York"],
    )
    multi_value_separator: str | None = _character(
        "The sign between two custodians or tags in a cell; ; by default. If it is given, a value in quotation marks "
        "can contain it"
    )
    nested_separator: str | None = _character(
        "The sign between the levels of a tag in a cell; the tag is named by its path, as in Hot\\Really Hot"
    )
    mode: Literal["append", "overlay", "append_overlay"] | None = Field(
        default=None,
        description="append (default): a row whose exhibit exists with other values is rejected; overlay: a row "
        "changes its exhibit, and is rejected if there is none; append_overlay: it changes its exhibit or creates one.",
    )
    overlay_key: Literal["control_number", "bates_begin"] | None = Field(
        default=None,
        description="The field that names the exhibit of a row; control_number by default, bates_begin only for "
        "overlay. With bates_begin no column may be mapped to control_number.",
    )
    blanks: Literal["keep", "clear"] | None = Field(
        default=None,
        description="For an overlay: whether a blank cell keeps the stored value (default) or clears it.",
    )
    multi_values: Literal["merge", "replace"] | None = Field(
        default=None,
        description="For an overlay: whether the custodians and tags of a row are added to those of its exhibit "
        "(default) or replace them.",
    )

    missing_files: Literal["warn", "reject"] | None = Field(
        default=None,
        description="For a volume: whether a row whose native or text file the volume lacks gets a warning (default) "
        "or is rejected.",
    )
    strip_prefix: Prefix | Annotated[list[Prefix], Field(min_length=1, max_length=MAX_PREFIXES)] | None = Field(
        default=None,
        description="For a volume: a drive, share or URL that precedes the volume's own folders in its load files, or "
        "a list of several.",
        examples=["D:\\export", ["D:\\export", "OLD001"]],
    )
    add_prefix: Prefix | None = Field(
        default=None,
        description="For a volume: the folder of the volume that the paths in its load files start from.",
        examples=["VOL001"],
    )
    verify_hashes: bool | None = Field(
        default=None,
        description="For a volume: whether its files are read for their MD5, SHA-1 and SHA-256 before the import, so "
        "that those in the load file are compared. Files of a zip always have them.",
    )
    verify_images: bool | None = Field(
        default=None,
        description="For a volume: whether the images that its image load file names are opened, and their pages "
        "counted and compared with those of the image load file.",
    )

    def as_document(self) -> dict[str, Any]:
        """Return the options as an options file contains them, without missing ones."""
        return self.model_dump(by_alias=False, exclude_none=True)

    def as_given(self) -> dict[str, Any]:
        """Return the options that the request names, as an options file contains them."""
        return self.model_dump(by_alias=False, exclude_none=True, exclude_unset=True)


class SingleFileOptions(Options):
    """How to read one file, which can be an error file. Every missing option is detected.

    To import the corrected rejected rows of an import, send the content of its `options.json` unchanged.
    """

    volume: ErrorFileVolume | None = Field(
        default=None,
        description="For an error file of a volume, as in its `options.json`: the volume whose files its rows and "
        "pages name.",
    )


class NewOptions(RequestModel):
    """The options that replace those of an import, all of them."""

    profile: Name | None = Field(
        default=None,
        description="The name of a mapping profile, which the import copies; `options` override it. Without it, the "
        "import has none any more.",
    )
    options: SingleFileOptions = SingleFileOptions.model_construct()
