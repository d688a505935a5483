"""What the worker of exports requests of S3 where an export does not go as it mostly does."""

from __future__ import annotations

from shell.aws.new_objects import find_object
from shell.exports import objects
from tests.artifact.observed_stack import Watched


def give_an_export_up(watched: Watched) -> None:
    """Its upload, after a look for the file."""
    bucket, key = watched.sender.world.bucket, "exports/tenant/1/1/documents.csv"
    with watched.acting_as("WriteImportReportFunction"):
        upload = objects.begin_upload(bucket, key, "text/csv")
        assert find_object(bucket, key) is None
        objects.abort_upload(upload)
