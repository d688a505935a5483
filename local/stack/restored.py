"""Put restored data into the place of the present ones, as far as an earlier process has not.

Guaranteed: once the folder READY exists, each call goes on where the last one was interrupted, and in the end the
directory has the restored data alone. Without it, nothing is changed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local.stack.places import DATABASE, OBJECTS

READY = "restored"
_REPLACED = "replaced"


def finish_restore(state_dir: Path) -> None:
    """Move the restored folders to their places; the caller has the lock of the directory, and no server runs."""
    ready, replaced = state_dir / READY, state_dir / _REPLACED
    if not ready.exists():
        shutil.rmtree(replaced, ignore_errors=True)
        return
    replaced.mkdir(mode=0o700, exist_ok=True)
    for name in (DATABASE, OBJECTS):
        if not (ready / name).exists():
            continue
        if (state_dir / name).exists():
            shutil.rmtree(replaced / name, ignore_errors=True)
            (state_dir / name).rename(replaced / name)
        (ready / name).rename(state_dir / name)
    ready.rmdir()
    shutil.rmtree(replaced)
