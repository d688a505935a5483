"""Brings an import's report files to this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local.import_states import ImportState

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True)
class Reports:
    """Local paths; None for a file that was not written."""

    rejected_rows: Path | None = None
    report: Path | None = None
    warnings: Path | None = None
    options: Path | None = None


def download(s3: S3Client, bucket: str, state: ImportState, directory: Path) -> Reports:
    """Download the reports of an import's last generation to a folder of its own."""
    target = directory / str(state.id)
    shutil.rmtree(target, ignore_errors=True)
    found: dict[str, Path] = {}
    prefix = f"reports/{state.id}/{state.generation}/"
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", []):
            path = target / Path(item["Key"]).name
            target.mkdir(parents=True, exist_ok=True)
            s3.download_file(bucket, item["Key"], str(path))
            found[path.name.split(".", 1)[0]] = path
    return Reports(*(found.get(name) for name in ("rejected_rows", "report", "warnings", "options")))
