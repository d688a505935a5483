"""Download the report files of an import."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from exhibit_ingest.cli.import_journal import RunningImport
from exhibit_ingest.cli.import_status import ImportProgress
from exhibit_ingest.stack_parts import HasBucket, HasStateFolder
from local.private_files import make_private_folder

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_UPLOAD_ID_CHARACTERS = 8
# A table and a text of one name.
_NAMES = {"deficiencies.txt": "deficiencies_text"}


@dataclass(frozen=True)
class Reports:
    """Local paths of the report files; None for a file that the import did not write."""

    rejected_rows: Path | None = None
    report: Path | None = None
    warnings: Path | None = None
    options: Path | None = None
    columns: Path | None = None
    findings: Path | None = None
    unreferenced: Path | None = None
    deficiencies: Path | None = None
    deficiencies_text: Path | None = None


class ReportStack(HasBucket, HasStateFolder, Protocol):
    """The part of a stack that has reports."""


def build_folder_name(import_id: int, key: str) -> str:
    """Return the name of the folder for the reports of an import: its id, and the beginning of its upload's id.

    The id alone is not unique: another database, or a new private one, can have an import with the same id.
    """
    return f"{import_id}-{key.split('/')[3][:_UPLOAD_ID_CHARACTERS]}"


def download(s3: S3Client, bucket: str, state: ImportProgress, directory: Path) -> Reports:
    """Download the reports of an import's last generation to a directory and return their paths."""
    paths: dict[str, Path] = {}
    prefix = f"reports/{state.id}/{state.generation}/"
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", []):
            make_private_folder(directory.parent)
            path = make_private_folder(directory) / Path(item["Key"]).name
            s3.download_file(bucket, item["Key"], str(path))
            path.chmod(0o600)
            paths[_NAMES.get(path.name) or path.name.split(".", 1)[0]] = path
    return Reports(**{field.name: paths.get(field.name) for field in fields(Reports)})


def download_reports(stack: ReportStack, upload: RunningImport, state: ImportProgress) -> Reports:
    """Download the reports of an upload's import to the state directory and return their paths."""
    folder = stack.state_dir / "reports" / build_folder_name(state.id, upload.key)
    return download(stack.s3, stack.bucket, state, folder)
