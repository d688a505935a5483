"""What a volume says of the pages and files of rejected rows: that these exist, and why they were rejected."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

import write_import_report
from shell.aws import clients
from shell.imports.queries import get_import
from tests.integration.volumes.volume_requests import CALLER, finish_imports, import_rows, run, upload
from tests.support.application.driver import World, call

DAT = (
    "Control Number,Bates Begin,Native Path\r\n"
    "A-1,N-1,1.doc\r\nA-1,N-2,2.doc\r\n,N-3,3.doc\r\nA-4,N-4,gone.doc\r\nA-5,N-5,1.doc\r\n"
)
OPT = "".join(f"{key},VOL,{key}.tif,Y,,,1\r\n" for key in ("A-1", "N-3", "A-4", "A-9"))
FILES = {
    "DATA/load.csv": DAT.encode(),
    "DATA/load.opt": OPT.encode(),
    **dict.fromkeys(("1.doc", "2.doc", "3.doc", "A-1.tif", "N-3.tif", "A-4.tif", "A-9.tif", "other.txt"), b"file"),
}
ROW = "Line {} of the data file, the row of this document, was rejected: {}."
EXPECTED = [
    (2, "PAGES_OF_REJECTED_ROW", ROW.format(4, "MISSING_ID")),
    (3, "PAGES_OF_REJECTED_ROW", ROW.format(5, "NATIVE_MISSING")),
    (4, "OPT_DOC_NOT_FOUND", ""),
]


def listed(world: World, import_id: int) -> list[tuple[Any, ...]]:
    """The rows of the list of files that no accepted row and no page names."""
    assert call(write_import_report.lambda_handler, {"importId": import_id, "generation": 1})
    key = f"reports/{import_id}/1/unreferenced.csv"
    body = clients.s3().get_object(Bucket=world.bucket, Key=key)["Body"].read().decode("utf-8-sig")
    return [(row["code"], row["path"], row["line"], row["row_code"]) for row in csv.DictReader(io.StringIO(body))]


# As a spreadsheet keeps the zeros of an id.
FORMULA = DAT.replace(",N-3,", ',"=""N-3""",')


@pytest.mark.parametrize("data", [DAT, FORMULA])
@pytest.mark.parametrize("check", [False, True])
def test_pages_and_files_of_rejected_rows_are_distinguished_from_those_of_no_row(
    world: World, check: bool, data: str
) -> None:
    volume_id = upload(world, {**FILES, "DATA/load.csv": data.encode()})
    run(volume_id, dryRun=check, options={"missingFiles": "reject"})
    finish_imports(world)
    images = import_rows(world, volume_id)[1]["id"]
    table = "import_check_findings" if check else "import_rejections"
    codes = "('PAGES_OF_REJECTED_ROW', 'OPT_DOC_NOT_FOUND')"
    query = f"SELECT line_no, code, message FROM {table} WHERE import_id = :i AND code IN {codes} ORDER BY line_no"
    found = world.query(query, i=images)
    assert [(row.line_no, row.code) for row in found] == [each[:2] for each in EXPECTED]
    assert all(row.message.startswith(text) for row, (_, _, text) in zip(found, EXPECTED, strict=True))
    if not check:
        assert listed(world, images) == [
            ("FILE_OF_REJECTED_ROW", "2.doc", "3", "DUPLICATE_ID"),
            ("FILE_OF_REJECTED_ROW", "3.doc", "4", "MISSING_ID"),
            ("UNREFERENCED_FILE", "other.txt", "", ""),
        ]
        figures = get_import(CALLER, images).files
        assert figures is not None
        assert (figures.unreferenced, figures.of_rejected_rows) == (1, 2)
