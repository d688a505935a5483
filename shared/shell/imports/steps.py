"""Change the options of an import that is held or checked, and have it checked or run.

Guaranteed: each request is decided and carried out under the lock on the import's row, with the version of the options
that its caller has seen; what runs has options that a caller has confirmed. A request before the upload is a wish,
which the event of the upload fulfils (`upload_matching`): both lock the row, so their order does not matter. Each step
raises `generation`: a worker that still reads the file for earlier options registers nothing.
Images that come after a data file take its steps, in its transaction: the data file's row is locked first.

What is left of a former split is deleted by the worker that splits the file next
(`shell.imports.splitting.former_split`), not here.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.options import NewOptions
from core.contracts.imports.states import ImportState
from core.errors import WrongStateError
from core.imports.steps import ImportAction, describe_refusal, find_next
from core.imports.uploads import PREFIX
from core.statuses import ImportStatus, Wish
from shell.activity_log import Act, ActKind, record_act
from shell.aws.sqs import send_messages
from shell.imports.checks.commands import run_checked
from shell.imports.state.access import enter_import, refuse_during_undo
from shell.imports.state.codes import CARRY_CODES
from shell.imports.state.dependents import hold_back, refuse_beside_dependents
from shell.imports.state.facts import build_facts, lock_import, require_version
from shell.imports.state.import_states import read_state
from shell.imports.uploads import check_options
from shell.settings import settings
from shell.volume_files.deleted import refuse_without_volume
from shell.volume_files.error_files import require_volume
from shell.work.messages import ImportMessage

_CASE_ID = text("SELECT case_id FROM imports WHERE id = :import_id")
# Those that a user has cancelled stay cancelled.
_LOCK_IMAGES = text(
    "SELECT id FROM imports WHERE after_import_id = :import_id AND (status IN ('uploaded', 'waiting', 'blocked', "
    "'checked') OR (status = 'failed' AND layout IS NULL)) ORDER BY id FOR UPDATE"
)
_SET_OPTIONS = text(
    "UPDATE imports SET options = :options, profile_name = :profile_name, profile_version = :profile_version, "
    "options_version = :version, volume_id = IF(object_key LIKE :alone, NULL, volume_id) WHERE id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_WISH = text(
    f"UPDATE imports SET {CARRY_CODES}, wanted = :wanted, generation = generation + 1 WHERE id = :import_id"  # noqa: S608
)
# The phase is that of the chunks: of those that are left of a former split, until they are deleted.
_RESET = text(
    f"UPDATE imports SET {CARRY_CODES}, status = :status, wanted = :wanted, phase = 'check', "  # noqa: S608
    "generation = generation + 1, "
    "layout = NULL, sha256 = NULL, encoding = NULL, delimiter = NULL, qualifier = NULL, date_orders = NULL, "
    "split_checkpoint = NULL, rows_seen = 0, imported = 0, unchanged = 0, updated = 0, rejected = 0, warnings = 0, "
    "chunk_count = 0, chunks_left = 0, chunks_failed = 0, failure_code = NULL, failure_message = NULL, "
    "started_at = NOW(6), finished_at = NULL WHERE id IN :ids"
).bindparams(bindparam("ids", expanding=True))


def change_options(
    transaction: Session, caller: Caller, import_id: int, versions: Container[int], body: NewOptions
) -> ImportState:
    """Replace the options of an import whose file has not arrived, is held or checked, or could not be read.

    Unless its file is still awaited, the import is then held. Raises NotFoundError for an import, a profile or a volume
    that the caller does not have, StaleVersionError if the options have another version, InvalidInputError for
    invalid options, and WrongStateError, which says what is possible.
    """
    enter_import(transaction, caller, import_id)
    refuse_without_volume(transaction, import_id)
    options, profile, _, volume = check_options(transaction, caller, body.options, body.profile)
    if volume is not None:
        case_id = transaction.execute(_CASE_ID, {"import_id": import_id}).scalar_one()
        require_volume(transaction, caller.tenant_id, case_id, volume.id)
    found = _decide(transaction, caller, import_id, versions, ImportAction.OPTIONS)
    ids = [import_id, *_lock_images(transaction, import_id)]
    values = {
        "options": options,
        "profile_name": profile and profile.name,
        "profile_version": profile and profile.version,
        "version": found.options_version + 1,
        # Of an error file, which names the volume in its options.
        "alone": f"{PREFIX}/%",
    }
    transaction.execute(_SET_OPTIONS, {**values, "ids": ids})
    if found.status == ImportStatus.AWAITING_UPLOAD:
        transaction.execute(_WISH, {"import_id": import_id, "wanted": found.wanted})
    else:
        _reset(transaction, ids, ImportStatus.UPLOADED, Wish.HOLD)
    summary = {"optionsVersion": found.options_version + 1}
    record_act(transaction, caller, Act(ActKind.IMPORT_OPTIONS_CHANGED, import_id, found.case_id, summary))
    return read_state(transaction, caller, import_id)


def check_import(
    transaction: Session, caller: Caller, import_id: int, versions: Container[int] | None = None
) -> ImportState:
    """Have the file of an import checked that is held or was checked, or that is awaited: then once it is there.

    Raises NotFoundError, PreconditionMissingError and StaleVersionError unless the caller has seen the options,
    WrongStateError and QueueUnavailableError.
    """
    enter_import(transaction, caller, import_id)
    refuse_without_volume(transaction, import_id)
    found = _decide(transaction, caller, import_id, versions, ImportAction.CHECK)
    return _start(transaction, caller, found, Wish.CHECK)


def run_import(
    transaction: Session,
    caller: Caller,
    import_id: int,
    body: RunRequest,
    versions: Container[int] | None = None,
) -> ImportState:
    """Have the file of an import imported that is held, checked or awaited.

    Raises the errors of `check_import`; WrongStateError also if the check of the file found something that `body` does
    not accept, or another import of the case is being undone; SourceChangedError.
    """
    enter_import(transaction, caller, import_id, alone=True)
    refuse_during_undo(transaction, import_id)
    refuse_without_volume(transaction, import_id)
    found = _decide(transaction, caller, import_id, versions, ImportAction.RUN)
    if found.status == ImportStatus.CHECKED:
        return run_checked(transaction, caller, import_id, body)
    if body.require_unchanged:
        raise WrongStateError("The file was not checked with these options; check it, or leave out requireUnchanged.")
    return _start(transaction, caller, found, Wish.IMPORT)


def run_images(transaction: Session, caller: Caller, import_id: int, body: RunRequest) -> bool:
    """Run images of a data file that were checked, or are held although it is not; return whether they were.

    They wait for the data file while it is under way. Raises WrongStateError if that one failed or was cancelled, and
    the errors of `run_import`.
    """
    waits = hold_back(transaction, import_id)
    found = lock_import(transaction, caller, import_id)
    if found.status == ImportStatus.CHECKED:
        run_checked(transaction, caller, import_id, body)
    elif found.status == ImportStatus.UPLOADED:
        _reset(transaction, [import_id], waits or ImportStatus.SPLITTING, Wish.IMPORT)
        _record(transaction, caller, found, Wish.IMPORT)
        _request(found)
    return found.status in (ImportStatus.CHECKED, ImportStatus.UPLOADED)


def _decide(
    transaction: Session, caller: Caller, import_id: int, versions: Container[int] | None, action: ImportAction
) -> Any:
    """Lock the import and return its row; raise unless the caller has seen its options and its status allows this."""
    found = lock_import(transaction, caller, import_id)
    require_version(found, versions)
    facts = build_facts(found, is_incomplete=False)
    if facts.follows:
        raise WrongStateError(
            f"The images of a volume take the steps of its data file: send this for import {found.after_import_id}, "
            "or run the volume."
        )
    if find_next(action, facts) is None:
        raise WrongStateError(describe_refusal(action, facts))
    # To run a file that was checked leaves its images as they are.
    if (action, facts.status) != (ImportAction.RUN, ImportStatus.CHECKED):
        refuse_beside_dependents(transaction, import_id)
    return found


def _start(transaction: Session, caller: Caller, found: Any, wanted: Wish) -> ImportState:
    """Have the file split, or note the wish for its arrival; the caller has locked the import."""
    _record(transaction, caller, found, wanted)
    if found.status == ImportStatus.AWAITING_UPLOAD:
        transaction.execute(_WISH, {"import_id": found.id, "wanted": wanted.value})
        return read_state(transaction, caller, found.id)
    images = _lock_images(transaction, found.id)
    _reset(transaction, [found.id], ImportStatus.SPLITTING, wanted)
    if images:
        _reset(transaction, images, ImportStatus.WAITING, wanted)
    _request(found)
    return read_state(transaction, caller, found.id)


def _record(transaction: Session, caller: Caller, found: Any, wanted: Wish) -> None:
    kind = ActKind.IMPORT_RUN if wanted is Wish.IMPORT else ActKind.IMPORT_CHECK_REQUESTED
    summary = {"generation": found.generation + 1, "optionsVersion": found.options_version}
    record_act(transaction, caller, Act(kind, found.id, found.case_id, summary))


def _request(found: Any) -> None:
    """Have the file split. It is sent before the commit, as for a retry (`shell.imports.commands`)."""
    request = ImportMessage(found.id, found.generation + 1)
    send_messages(settings().import_requests_queue_url, [request], tenant_id=found.tenant_id)


def _lock_images(transaction: Session, import_id: int) -> list[int]:
    return list(transaction.scalars(_LOCK_IMAGES, {"import_id": import_id}))


def _reset(transaction: Session, ids: Sequence[int], status: ImportStatus, wanted: Wish) -> None:
    transaction.execute(_RESET, {"ids": ids, "status": status.value, "wanted": wanted.value})
