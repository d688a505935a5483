"""Models of what an import has found, by code, and of its report files."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import ResponseModel

MAX_CODES = 1_000


class CodeCount(ResponseModel):
    """The rejections or warnings of one code and column."""

    code: str
    column: str | None = Field(description="The column as the header names it; null: no single column.")
    count: int = Field(description="How many there are: the items that the list has with this code and column.")
    rows: int = Field(description="The rows of the file, or documents of an image load file, that they are about.")
    first_line: int = Field(description="The line of the first; 0: the whole file.")
    message: str = Field(description="The message of the first.")


class CodeCounts(ResponseModel):
    """How many rejections and warnings an import has, by code and column, most frequent first."""

    rejections: list[CodeCount]
    warnings: list[CodeCount]
    is_complete: bool = Field(description=f"Whether all are listed: at most {MAX_CODES} of each kind are.")


class BatesNumbers(ResponseModel):
    """The first and the last Bates number of the documents that an import, or another import of the same file, created.

    Numbers are compared by prefix, then as numbers. Null: no document has a Bates number.
    """

    first: str | None
    last: str | None


class ReportNames(ResponseModel):
    """The names of the report files in the bucket. `GET /imports/{id}/reports` has their URLs."""

    rejected_rows: str
    report: str
    warnings: str
    options: str
    columns: str | None = Field(description="null if an earlier version split the file.")
    deficiencies: str | None = Field(description="null if an earlier version wrote the reports.")
    deficiencies_text: str | None


class ReportFile(ResponseModel):
    """A report file, to download under a name that says of what it is."""

    file_name: str = Field(examples=["Smith v. Jones - import 7 - report.csv"])
    url: str = Field(description="A presigned URL, whose response has this name and the type of the file.")


class ReportFiles(ResponseModel):
    """The report files that are written. Each member is null until then.

    To import the rejected rows, correct the file `rejectedRows` and import it as a new file: with `corrects`, the id of
    this import, so that they count as corrected; or with the content of `options` as its options. Either way it is read
    as the original file was.
    """

    rejected_rows: ReportFile | None = Field(
        default=None,
        description="The rejected rows as in the file, but in UTF-8 with a byte order mark, and with a last column "
        "`ExhibitIngestLine`: the row's line in the original file.",
    )
    report: ReportFile | None = Field(
        default=None, description="A CSV file with every rejected row: line, column, code, message, id and more."
    )
    warnings: ReportFile | None = Field(default=None, description="A CSV file with every warning.")
    options: ReportFile | None = Field(
        default=None, description="A JSON file: the options that read the rejected rows as the file was read."
    )
    columns: ReportFile | None = Field(
        default=None,
        description="A CSV file: the field of every column, and why; null if an earlier version split the file.",
    )
    deficiencies: ReportFile | None = Field(
        default=None, description="A CSV file: what the producing party has to send or correct, by what it would do."
    )
    deficiencies_text: ReportFile | None = Field(default=None, description="The same as a text that can be sent.")
    findings: ReportFile | None = Field(default=None, description="A CSV file of all findings of a check.")
    unreferenced: ReportFile | None = Field(
        default=None,
        description="A CSV file: the files of the volume that no imported row or page names; null if there are none, "
        "for an import without a volume, and for one after which another import of the volume ended.",
    )
    expires_in_seconds: int
