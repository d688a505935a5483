"""Custodians by their names."""

from __future__ import annotations

from typing import Any

from exhibit_ingest.catalog.values import quote
from exhibit_ingest.client.api import Api
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.session.pages import iterate

_NAMED = 5
_LONGEST_SEARCH = 255


def find_custodian(api: Api, name: str, case: str | None, *, is_new: bool = False) -> int:
    """Return the id of a custodian; with `is_new`, of one that the case gets if it has none of this name.

    Raises WrongUsageError for a name that no case has, and for one that several have.
    """
    if is_new:
        if case is None:
            raise WrongUsageError("--new-custodian needs --case, the case that gets the custodian.")
        # An unknown case is refused here; the API would create it with its custodian.
        list(iterate(api, "/custodians", 1, case=case))
        return int(api.request("POST", "/custodians", {"case": case, "name": name})["id"])
    found = list(iterate(api, "/custodians", case=case, search=name[:_LONGEST_SEARCH]))
    # Names that differ in case alone are one custodian of a case.
    exact = [each for each in found if each["name"].casefold() == name.casefold()]
    if len(exact) == 1:
        return int(exact[0]["id"])
    raise WrongUsageError(_explain_several(name, exact) if exact else _explain_missing(name, case, found))


def _explain_several(name: str, exact: list[dict[str, Any]]) -> str:
    cases = ", ".join(quote(each["case"]) for each in exact[:_NAMED])
    return f"{len(exact)} cases have a custodian {quote(name)}: {cases}. Say which with --case."


def _explain_missing(name: str, case: str | None, found: list[dict[str, Any]]) -> str:
    place = f"The case {quote(case)} has" if case else "Your cases have"
    near = ", ".join(quote(each["name"]) for each in found[:_NAMED])
    advice = (
        f"Similar names: {near}."
        if near
        else "Check the spelling, or add the custodian with --case NAME --new-custodian."
    )
    return f"{place} no custodian {quote(name)}. {advice}"
