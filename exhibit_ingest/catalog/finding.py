"""Find the case, document and names that a command is about, and say what there is instead of one that is not there."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.catalog.columns import find_near
from exhibit_ingest.catalog.values import quote
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.program import format_command
from exhibit_ingest.session.pages import build_query, iterate

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

_NEXT = 3
# By the filter of the API: the list of the names.
_NAMED = {"custodian": "custodians", "tagTree": "tags", "withoutTag": "tags"}
_NESTED = "\\"


def find_document(session: Session, case: str, control_number: str) -> dict[str, Any]:
    """Return the document as lists have it.

    Raises WrongUsageError, with those that follow in the list, if the case does not have it, and ApiError.
    """
    found = next(iterate(session.api, "/exhibits", 1, case=case, controlNumber=control_number), None)
    if found is None:
        raise WrongUsageError(_explain_document(session, case, control_number))
    return found


def _explain_document(session: Session, case: str, control_number: str) -> str:
    near = list_following(session, case, control_number)
    listed = format_command("documents", "--case", case, *session.name_options())
    return (
        f"The case {quote(case)} has no document {quote(control_number)}; control numbers are compared character by"
        f" character. {f'In the list, this is followed by {near}. ' if near else ''}All are listed by: {listed}"
    )


def list_following(session: Session, case: str, control_number: str) -> str:
    """Return the control numbers that come after one in the list, as a message has them; empty if there are none."""
    filters: dict[str, Any] = {"from": control_number}
    try:
        following = list(iterate(session.api, "/exhibits", _NEXT, case=case, **filters))
    except CommandError:
        # A number of this length or of these characters has no place in the list.
        return ""
    return ", ".join(quote(each["controlNumber"]) for each in following)


def explain_unknown_case(session: Session, case: str) -> str | None:
    """Return the sentence about a case that the caller does not have, None if there is such a case."""
    found = session.api.request("GET", f"/cases/similar{build_query({'name': case})}")
    if found["exact"]:
        return None
    similar = " or ".join(quote(each["name"]) for each in found["similar"])
    return (
        f"There is no case {quote(case)}; names of cases are compared character by character."
        f" {f'Did you mean {similar}? ' if similar else ''}All are listed by:"
        f" {format_command('cases', *session.name_options())}"
    )


def require_names(session: Session, case: str, filters: Mapping[str, Any]) -> None:
    """Raise WrongUsageError, with the nearest names, for a custodian or tag among the filters that the case lacks.

    A name that documents have is known by one request, and the database decides which names are equal; only for
    another one, all names are read.
    """
    for name, path in _NAMED.items():
        values = filters.get(name) or []
        for value in [values] if isinstance(values, str) else values:
            same: dict[str, Any] = {"tag" if name == "withoutTag" else name: value}
            if next(iterate(session.api, "/exhibits", 1, case=case, **same), None) is None:
                _require_name(session, case, path, value)


def _require_name(session: Session, case: str, path: str, value: str) -> None:
    names = [each["name"] for each in iterate(session.api, f"/{path}", case=case)]
    if not _is_among(value, names):
        near = find_near(value, names)
        listed = format_command(path, "--case", case, *session.name_options())
        raise WrongUsageError(
            f"The case {quote(case)} has no {path.removesuffix('s')} {quote(value)}."
            f" {f'Did you mean {near}? ' if near else ''}All are listed by: {listed}"
        )


def _is_among(value: str, names: Iterable[str]) -> bool:
    """Return whether a name, or one that is nested in it, is among the names."""
    folded = _fold(value)
    return any(_fold(each) == folded or _fold(each).startswith(folded + _NESTED) for each in names)


def _fold(name: str) -> str:
    """Return what names have in common that differ only in case and accents."""
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    return "".join(each for each in decomposed if not unicodedata.combining(each)).rstrip(" ")
