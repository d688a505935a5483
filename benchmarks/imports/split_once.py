"""Split the file of one import in a process that does nothing else, and print the seconds.

`python -m benchmarks.imports.split_once IMPORT_ID checkpoints|once`: with checkpoints, from the last one on, or in one
pass. Imports and settings are those of the environment. Without the lock on the file, which a killed worker would hold
until it expires.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

from core.load_file.options import ImportOptions
from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.checkpoints import SplitCheckpoints
from shell.imports.splitting.registration import register_chunks
from shell.imports.splitting.split import Checkpoints, split_file
from shell.imports.state.records import load_current_import
from shell.observability import logger


def main(import_id: int, *, has_checkpoints: bool) -> None:
    """Split and register the import, and print a JSON object."""
    logger.setLevel("CRITICAL")
    found = load_current_import(import_id)
    if found is None:
        raise SystemExit("no such import")
    began = perf_counter()
    source = ObjectVersion(found.bucket, found.object_key, None, None)
    checkpoints = SplitCheckpoints(found)
    with split_file(source, ImportOptions(), checkpoints if has_checkpoints else Checkpoints()) as split:
        if has_checkpoints:
            checkpoints.store_duplicates()
        register_chunks(import_id, split, "none", *checkpoints.place[1:])
    seconds = perf_counter() - began
    print(json.dumps({"seconds": seconds, "rows": split.rows_seen}))


if __name__ == "__main__":
    main(int(sys.argv[1]), has_checkpoints=sys.argv[2] == "checkpoints")
