"""Who a user is, in words: what `GET /me` says. Names are of other systems and must not control the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exhibit_ingest.printable import shorten_printable

_LONGEST = 200


def describe_person(me: Mapping[str, Any]) -> str:
    """Return one line: the user, the tenant and the role."""
    return f"{_name(me)}, tenant {_show(me['tenantId'])}, role {_show(me['role'])}"


def list_person(me: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield labels and values for people."""
    yield "User", _name(me)
    yield "Tenant", _show(me["tenantId"])
    yield "Role", _show(me["role"])
    cases = me.get("cases")
    yield "Cases", "all" if cases is None else "; ".join(map(_show, cases)) or "none"
    yield "Token ends", _show(me.get("tokenExpiresAt") or "not known")
    yield "API version", _show(me["version"])
    for name, value in sorted(me["limits"].items()):
        yield f"Limit {_show(name)}", _show(value)


def _name(me: Mapping[str, Any]) -> str:
    known = me.get("userName")
    return f"{_show(known)} ({_show(me['userId'])})" if known and known != me["userId"] else _show(me["userId"])


def _show(value: object) -> str:
    return shorten_printable(str(value), _LONGEST)
