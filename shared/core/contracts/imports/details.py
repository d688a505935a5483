"""What is known of an import besides its state. Counts are rows, sizes are bytes."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import (
    ResponseModel,
)
from core.contracts.imports.checks import CheckResult
from core.contracts.imports.options import SingleFileOptions
from core.contracts.imports.pages import PageCounts, PageReconciliation
from core.contracts.imports.reports import ReportNames
from core.contracts.imports.states import ImportState, ProfileUse
from core.contracts.paths import PathFigures, StoredPaths
from core.imports.columns.report import ColumnKind
from core.load_file.field_mapping import MappingReason
from core.load_mode import Blanks, Mode, MultiValues, OverlayKey

MAX_LISTED_COLUMNS = 1_000


class ImportColumn(ResponseModel):
    """How a column of the file is read."""

    name: str = Field(description="The name in the header, or `Column` and its number; cut at 255 characters.")
    field: str | None = Field(description="The field that the column feeds; null: it is kept as a property.")
    why: MappingReason = Field(
        description="given: by option `columns`; profile: by the mapping profile; synonym: a known name; "
        "pattern: a name of known words; property: not the name of a field, or another column has the field."
    )
    looks_like: ColumnKind | None = Field(
        description="What a column that is not mapped probably holds, judged by its name."
    )
    date_order: str | None = Field(description="DMY or MDY for a column of dates, else null.")
    time_zone: str | None = Field(
        description="The zone of times without an offset in a column of dates; null if they are stored as written."
    )
    time_zone_version: str | None = Field(description="The version of the IANA database that had the zone.")
    time_column: str | None = Field(description="The column whose times complete the days of a column of dates.")
    date_format: str | None = Field(description="The format that option `dateFormat` states for a column of dates.")
    separator: str | None = Field(description="The separator of custodians or tags in a cell.")


class LoadModeState(ResponseModel):
    """What the rows of an import do with existing exhibits, as `options` says or by default."""

    mode: Mode
    overlay_key: OverlayKey
    blanks: Blanks
    multi_values: MultiValues


class FileReading(ResponseModel):
    """How the file was read, as it was detected or as `options` say."""

    encoding: str
    delimiter: str = Field(description="The character between cells.")
    qualifier: str | None = Field(description="The character around cells; null: none.")
    newline: str | None = Field(description="The character that stands for a line break in a cell; null: none.")
    header: bool = Field(description="Whether the records come after a line with the names of the columns.")
    date_order: str = Field(description="DMY or MDY; a column of dates can have its own, see `columns`.")
    time_zone: str | None = Field(
        description="The zone of times without an offset; null if they are stored as written."
    )


class UncomparedHashes(ResponseModel):
    """Hashes of the load file that were not compared, because the natives were not read."""

    column: str = Field(description="The column of the load file.")
    hashes: int


class FileFigures(ResponseModel):
    """What the rows of a volume's load file have of natives and texts, as counts of rows that are in the case."""

    natives_linked: int
    natives_missing: int = Field(description="NATIVE_MISSING, or a path that is refused or ambiguous.")
    texts_linked: int
    texts_missing: int
    hash_mismatches: int | None = Field(
        description="HASH_MISMATCH: hashes that are not those of the native; null where none was compared."
    )
    hashes_not_compared: list[UncomparedHashes] = Field(
        description="The hashes of natives that were not read, by column: import with `verifyHashes` to compare them."
    )
    unreferenced: int | None = Field(
        description="UNREFERENCED_FILE: files of the volume that no row and no page names; null until all imports of "
        "the volume have ended."
    )
    of_rejected_rows: int | None = Field(
        description="FILE_OF_REJECTED_ROW: files of the volume that only rejected rows name; null until the imports of "
        "the volume have ended."
    )
    paths: list[PathFigures] | None = Field(
        default=None,
        description="How the paths were found, by kind of file, as of the end of the import or its check; null before.",
    )


class ImportDetails(ImportState):
    """An import with its columns, report files and, if it was checked, the result of the check."""

    options: SingleFileOptions | None = Field(
        description="The options as they were given last, with those of the profile but for its columns: what a "
        "request to change them can begin with. null for a file that was put into the bucket with options that a "
        "request cannot have, or whose options were not read yet."
    )
    load_mode: LoadModeState | None = Field(
        description="What the rows do with existing exhibits; null until the file is split."
    )
    reading: FileReading | None = Field(description="null until the file is split, and for an image load file.")
    columns: list[ImportColumn] | None = Field(
        description=f"The first {MAX_LISTED_COLUMNS} columns in file order; null until the file is split, "
        "or if an earlier version split it."
    )
    correctable_as: int | None = Field(
        description="The import that `corrects` names when corrected rows of `rejectedRows` are imported: this one, or "
        "the one that it corrects itself; null if no file can correct its rows, or it is not split yet."
    )
    custodians_created: int = Field(description="The custodians that the import created.")
    tags_created: int = Field(description="The tags that the import created.")
    suggested_profiles: list[ProfileUse] = Field(
        description="The profiles for files with this delimiter and header, newest first; none was applied for that."
    )
    reports: ReportNames | None = Field(description="null until the report files are written.")
    files: FileFigures | None = Field(description="null unless the load file is one of a volume.")
    stored_paths: StoredPaths | None = Field(
        description="The rows that name natives or texts although the load file is not one of a volume, so that no "
        "file is linked; null if none does. Import the volume that has the files to link them."
    )
    pages: PageCounts | None = Field(description="null unless the file is an image load file that was split.")
    reconciliation: PageReconciliation | None = Field(
        description="What the pages were compared with; null unless the file is an image load file whose import or "
        "check has ended, and was run by this version."
    )
    check: CheckResult | None = Field(description="null unless the file was checked; it stays when the import is run.")
    waits_for_undo_of: int | None = Field(
        description="An import of the same case that is being undone, while this one is splitting: no row is imported "
        "before the undo has ended. A check does not wait."
    )
