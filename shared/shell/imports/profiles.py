"""Mapping profiles: named options and columns of a tenant, for load files of one kind.

Guaranteed: no call reads or changes another tenant's profiles; a change applies only to the version that the client
saw. A profile belongs to the whole tenant: a caller who is limited to cases can neither use nor see any.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.caller import Caller
from core.contracts.imports.options import MAX_OPTION_COLUMNS, Options
from core.contracts.imports.states import ProfileUse
from core.contracts.profiles import NewProfile, Profile, ProfilePage
from core.contracts.queries import ProfileQuery
from core.errors import (
    FileRefusedError,
    ForbiddenError,
    InvalidInputError,
    NameTakenError,
    NotFoundError,
    StaleVersionError,
    WrongStateError,
)
from core.imports.profile_options import build_profile_options
from core.load_file.layout import Layout
from core.load_file.options import parse_options
from core.pagination import build_page, open_window
from shell.activity_log import Act, ActKind, record_act
from shell.db.keyset import select_window
from shell.db.session import session
from shell.tables.profiles import ImportProfiles
from shell.utils.db_helpers import insert_or_get, is_exactly, rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names

MAX_SUGGESTED = 5
_NAME_TAKEN = "A profile with this name exists; change it with PUT, or use another name."
_IMPORT = text("SELECT layout, options FROM imports WHERE id = :import_id AND tenant_id = :tenant_id")
_NO_IMPORT = "importId: you have no such import; GET /imports lists yours."
_NOT_SPLIT = "importId: the file of the import is not read yet, so that its columns are not known; try again later."


def create_profile(transaction: Session, caller: Caller, body: NewProfile) -> Profile:
    """Create a profile.

    Raises NameTakenError; InvalidInputError for invalid options, NotFoundError for an import that the tenant does not
    have, WrongStateError for one whose file is not split.
    """
    _require_whole_tenant(caller)
    values = {**_build_values(transaction, caller, body), "created_by": caller.user_id}
    key = {"tenant_id": caller.tenant_id, "name": body.name}
    row, created = insert_or_get(transaction, ImportProfiles, key, values, unique_key="uq_import_profiles_name")
    if not created:
        raise NameTakenError(_NAME_TAKEN)
    transaction.refresh(row)
    record_act(transaction, caller, Act(ActKind.PROFILE_CREATED, row.id, None, {"version": row.version}))
    return _describe(transaction, row)


def replace_profile(
    transaction: Session, caller: Caller, profile_id: int, versions: Container[int], body: NewProfile
) -> Profile:
    """Replace all members of a profile that is at one of `versions`; imports keep the copy that they have.

    Raises NotFoundError, StaleVersionError with the current version, and the errors of `create_profile`.
    """
    row = _load_at_version(transaction, caller, profile_id, versions)
    values = {**_build_values(transaction, caller, body), "name": body.name, "updated_at": func.now(6)}
    taken = select(ImportProfiles.id).where(
        ImportProfiles.tenant_id == caller.tenant_id, ImportProfiles.name == body.name, ImportProfiles.id != row.id
    )
    if transaction.execute(taken).first() is not None:
        raise NameTakenError(_NAME_TAKEN)
    for name, value in values.items():
        setattr(row, name, value)
    # Without a net change there would be no UPDATE, and the version would not be compared.
    flag_modified(row, "options")
    transaction.flush()
    transaction.refresh(row)
    record_act(transaction, caller, Act(ActKind.PROFILE_REPLACED, row.id, None, {"version": row.version}))
    return _describe(transaction, row)


def delete_profile(transaction: Session, caller: Caller, profile_id: int, versions: Container[int]) -> Profile:
    """Delete a profile that is at one of `versions`, and return it as it was; imports keep the copy that they have.

    Raises NotFoundError, and StaleVersionError with the current version.
    """
    row = _load_at_version(transaction, caller, profile_id, versions)
    deleted = _describe(transaction, row)
    transaction.delete(row)
    record_act(transaction, caller, Act(ActKind.PROFILE_DELETED, row.id, None, {"version": row.version}))
    return deleted


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_profile(caller: Caller, profile_id: int) -> Profile:
    """Return the profile; raise NotFoundError if the tenant has no such profile."""
    with session() as reading:
        return _describe(reading, _load(reading, caller, profile_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_profiles(caller: Caller, query: ProfileQuery) -> ProfilePage:
    """Return a page of the profiles in the order of their names; raises InvalidInputError for an unknown cursor."""
    _require_whole_tenant(caller)
    table, window = ImportProfiles, open_window(query, (str,))
    statement = select(table).where(table.tenant_id == caller.tenant_id)
    if query.name is not None:
        statement = statement.where(is_exactly(table.name, [query.name]))
    if query.header_fingerprint is not None:
        statement = statement.where(table.header_fingerprint == bytes.fromhex(query.header_fingerprint))
    counted = statement.with_only_columns(func.count(), maintain_column_froms=True)
    with session() as reading:
        page = build_page(reading.scalars(select_window(statement, window, table.name)).all(), window, _cursor_of)
        total = reading.execute(counted).scalar_one() if query.count else None
        items = _describe_all(reading, page.items)
        return ProfilePage(items=items, next=page.next, prev=page.prev, total=total)


def _cursor_of(row: ImportProfiles) -> tuple[str]:
    return (row.name,)


def find_profile(reading: Session, caller: Caller, name: str) -> ImportProfiles:
    """Return the tenant's profile with this name; raise NotFoundError if there is none."""
    _require_whole_tenant(caller)
    own = (ImportProfiles.tenant_id == caller.tenant_id, is_exactly(ImportProfiles.name, [name]))
    query = select(ImportProfiles).where(*own)
    found = reading.scalars(query.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise NotFoundError("You have no profile with this name; GET /profiles lists yours.")
    return found


def suggest_profiles(reading: Session, caller: Caller, header_fingerprint: str | None) -> list[ProfileUse]:
    """Return the newest profiles for files with this delimiter and header; none for a caller limited to cases."""
    if header_fingerprint is None or caller.cases is not None:
        return []
    table = ImportProfiles
    own = (table.tenant_id == caller.tenant_id, table.header_fingerprint == bytes.fromhex(header_fingerprint))
    newest = select(table.name, table.version).where(*own).order_by(table.updated_at.desc(), table.id.desc())
    return [ProfileUse(name=row.name, version=row.version) for row in reading.execute(newest.limit(MAX_SUGGESTED))]


def _require_whole_tenant(caller: Caller) -> None:
    if caller.cases is not None:
        raise ForbiddenError("Profiles belong to the whole tenant, and your token is limited to cases.")


def _build_values(transaction: Session, caller: Caller, body: NewProfile) -> dict[str, Any]:
    document, fingerprint = dict(body.options.as_given()), body.header_fingerprint
    if body.import_id is not None:
        if document.get("columns"):
            raise InvalidInputError("options/columns: the columns are those of the import; remove them, or importId.")
        layout, stored = _load_layout(transaction, caller, body.import_id)
        document = build_profile_options(layout, {**stored, **document})
        fingerprint = fingerprint or layout.fingerprint_header()
    _check_options(document)
    return {
        "options": json.dumps(document, ensure_ascii=False),
        "header_fingerprint": bytes.fromhex(fingerprint) if fingerprint else None,
        "updated_by": caller.user_id,
    }


def _load_layout(transaction: Session, caller: Caller, import_id: int) -> tuple[Layout, Mapping[str, Any]]:
    """Return the layout of an import, and the options with which its file was split."""
    place = {"import_id": import_id, "tenant_id": caller.tenant_id}
    found = transaction.execute(_IMPORT, place).one_or_none()
    if found is None:
        raise NotFoundError(_NO_IMPORT)
    if found.layout is None:
        raise WrongStateError(_NOT_SPLIT)
    return Layout.from_json(found.layout), json.loads(found.options or "{}")


def _check_options(document: Mapping[str, Any]) -> None:
    try:
        options = parse_options(document)
    except FileRefusedError as refused:
        raise InvalidInputError(f"options: {refused}") from refused
    if options.files.volume is not None:
        raise InvalidInputError("options/volume is for one error file alone; remove it.")
    if len(options.columns) > MAX_OPTION_COLUMNS:
        raise InvalidInputError(f"options/columns: a profile can name at most {MAX_OPTION_COLUMNS} columns.")
    try:
        # An options file can write a value in a way that the API does not take.
        Options.model_validate(document)
    except ValidationError as refused:
        first = refused.errors()[0]
        place = "/".join(map(str, first["loc"]))
        raise InvalidInputError(f"options/{place}: {first['msg']}; give another value in options.") from refused


def _load(reading: Session, caller: Caller, profile_id: int) -> ImportProfiles:
    _require_whole_tenant(caller)
    own = (ImportProfiles.id == profile_id, ImportProfiles.tenant_id == caller.tenant_id)
    query = select(ImportProfiles).where(*own).execution_options(populate_existing=True)
    found = reading.scalars(query).one_or_none()
    if found is None:
        raise NotFoundError("You have no such profile; GET /profiles lists yours.")
    return found


def _load_at_version(transaction: Session, caller: Caller, profile_id: int, versions: Container[int]) -> ImportProfiles:
    found = _load(transaction, caller, profile_id)
    if found.version not in versions:
        raise StaleVersionError(found.version)
    return found


def _describe(reading: Session, row: ImportProfiles) -> Profile:
    return _describe_all(reading, [row])[0]


def _describe_all(reading: Session, rows: Sequence[ImportProfiles]) -> list[Profile]:
    """Return profiles of one tenant, with the names of their users."""
    users = [user for row in rows for user in (row.created_by, row.updated_by)]
    names = read_user_names(reading, rows[0].tenant_id, users) if rows else {}
    return [_build_profile(row, names) for row in rows]


def _build_profile(row: ImportProfiles, names: Mapping[str, str]) -> Profile:
    return Profile(
        id=row.id,
        name=row.name,
        version=row.version,
        options=Options.model_validate(json.loads(row.options)),
        header_fingerprint=None if row.header_fingerprint is None else bytes(row.header_fingerprint).hex(),
        created_by=row.created_by,
        created_by_name=names.get(row.created_by),
        created_at=row.created_at,
        updated_by=row.updated_by,
        updated_by_name=names.get(row.updated_by),
        updated_at=row.updated_at,
    )
