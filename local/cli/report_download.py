"""Download the report files of an import."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local.cli.import_status import ImportProgress

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True)
class Reports:
    """Local paths of the report files; None for a file that the import did not write."""

    rejected_rows: Path | None = None
    report: Path | None = None
    warnings: Path | None = None
    options: Path | None = None
    columns: Path | None = None


def download(s3: S3Client, bucket: str, state: ImportProgress, directory: Path) -> Reports:
    """Download the reports of an import's last generation to `directory`/<import id> and return their paths."""
    target = directory / str(state.id)
    shutil.rmtree(target, ignore_errors=True)
    paths: dict[str, Path] = {}
    prefix = f"reports/{state.id}/{state.generation}/"
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", []):
            path = target / Path(item["Key"]).name
            target.mkdir(parents=True, exist_ok=True)
            s3.download_file(bucket, item["Key"], str(path))
            paths[path.name.split(".", 1)[0]] = path
    return Reports(*(paths.get(name) for name in ("rejected_rows", "report", "warnings", "options", "columns")))
