"""`exhibit-ingest volume`: download the volume of a production from the S3 of a running `serve`."""

from __future__ import annotations

from pathlib import Path

from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.program import format_command
from local.errors import LocalError
from local.services.mysql_connection import connect
from local.stack.served_stack import ServedStack

_PRODUCTION = "SELECT status, volume FROM productions WHERE id = %s"


def download_volume(workspace: Workspace, production_id: int, folder: Path) -> int:
    """Write the files of a confirmed production to `folder`/<volume> and print the folder.

    Raises LocalError if `serve` is not running, or if the production has no complete volume.
    """
    stack = ServedStack.find(workspace.state_dir, workspace.template, workspace.database_url)
    if stack is None:
        raise LocalError(
            "the files of productions are in the memory of `serve`, which is not running; they are gone when it ends. "
            f"Start it and produce again: {format_command('serve')}"
        )
    volume = _read_volume(stack.database_url, production_id)
    prefix = f"productions/{production_id}/{volume}/"
    found = 0
    for page in stack.s3.get_paginator("list_objects_v2").paginate(Bucket=stack.bucket, Prefix=prefix):
        for item in page.get("Contents", []):
            target = folder / volume / item["Key"].removeprefix(prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            stack.s3.download_file(stack.bucket, item["Key"], str(target))
            found += 1
    if not found:
        raise LocalError(f"the files of production {production_id} were lost when an earlier `serve` ended")
    print(folder / volume)
    return DONE


def _read_volume(database_url: str, production_id: int) -> str:
    with connect(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_PRODUCTION, (production_id,))
        found = cursor.fetchone()
    if found is None:
        raise LocalError(f"there is no production {production_id}; GET /productions lists them")
    if found["status"] != "confirmed":
        raise LocalError(f"production {production_id} is {found['status']}; only a confirmed one has a complete volume")
    return str(found["volume"])
