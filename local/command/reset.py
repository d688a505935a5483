"""`exhibit-ingest reset`: show what the command keeps on this machine, ask, and delete it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from exhibit_ingest.confirmation import ask, require_terminal
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.uploads import journal
from local.backup.backup import FOLDER
from local.command import sam_local
from local.command.workspace import Workspace
from local.gateway.tokens import SECRET_FILE
from local.services.state_lock import ADDRESS_FILE, lock_state_directory
from local.stack.places import OBJECTS, list_storages

_CONTENTS = {
    "database": "the private database with all imported documents",
    OBJECTS: "the files of all imports and volumes, and the work that is queued",
    "reports": "the report files and rejected rows of all imports",
    "logs": "the logs of the last command",
    "demo": "the files of the demo",
    journal.FOLDER: "which uploads were interrupted",
    SECRET_FILE: "the secret of the tokens: tokens that were printed are no longer valid",
}
# The journal of imports of earlier versions.
_FORMER_JOURNAL = "running"
# What a backup or a restore that was killed has left.
_DRAFTS = ("restoring", "restored", "replaced")
_OTHERS = (sam_local.FOLDER, _FORMER_JOURNAL, ADDRESS_FILE, "lock", *_DRAFTS)


def reset(workspace: Workspace, *, confirmed: bool) -> int:
    """Stop the private server and delete all files of the command, after a yes unless it is `confirmed`.

    Raises UsageError where it is not confirmed and standard input is not a terminal, StackBusyError while another
    command uses the files.
    """
    if not workspace.state_dir.exists():
        print(f"There is nothing to delete in {workspace.state_dir}.")
        return DONE
    with lock_state_directory(workspace.state_dir):
        print("\n".join(_describe_contents(workspace)))
        if not (confirmed or _ask()):
            print("Nothing was deleted.")
            return DONE
        workspace.server().stop()
        others = [workspace.state_dir / name for name in (*_CONTENTS, *_OTHERS)]
        others += workspace.state_dir.glob(f"{FOLDER}-*")
        for path in (*list_storages(workspace.state_dir), *others):
            _remove(path)
    with contextlib.suppress(OSError):
        workspace.state_dir.rmdir()
    print("Deleted.")
    return DONE


def _describe_contents(workspace: Workspace) -> Iterator[str]:
    yield "This will be deleted and cannot be restored:"
    for name, content in _CONTENTS.items():
        path = workspace.state_dir / name
        if path.exists():
            yield f"  {path} ({_measure(path) / 1_000_000:,.0f} MB): {content}"
    if workspace.database_url:
        yield "DATABASE_URL is set. The database that it names is not touched."


def _measure(path: Path) -> int:
    """Return the size of a file or folder in bytes; a running server may delete files of it meanwhile."""
    size = 0
    for file in (path, *path.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            size += file.lstat().st_size
    return size


def _ask() -> bool:
    require_terminal("reset deletes data: run it in a terminal, or confirm it with --yes")
    return ask("Delete all of this?")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
