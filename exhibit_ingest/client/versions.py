"""Whether this command and an API understand each other."""

from __future__ import annotations

from typing import Any

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.client.api import ME, Api
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable

# The newest major version of the API that this command was written for; its minor versions only add.
API_MAJOR = 0
_NAMES = ("userId", "tenantId", "role", "version")


def read_me(api: Api) -> dict[str, Any]:
    """Return `GET /me`: the user, the limits and the version of the API.

    Raises CommandError if the API is newer than this command understands, or so old that it does not say.
    """
    try:
        me = api.request("GET", ME)
    except ApiError as exc:
        if not exc.is_missing_route:
            raise
        raise CommandError(
            f"{api.host} has no `GET /me`: it is not the API of a stack, or older than this command. Check the address,"
            " or ask its operator to update the stack."
        ) from exc
    if not isinstance(me.get("limits"), dict) or not all(me.get(name) for name in _NAMES):
        raise CommandError(
            f"{api.host} answers `GET /me` in another form. Check the address, or install the"
            " command of the stack's version."
        )
    version = shorten_printable(str(me.get("version", "")), 40)
    major = version.partition(".")[0]
    if major.isdigit() and int(major) > API_MAJOR:
        raise CommandError(
            f"The API of {api.host} has version {version}; this command understands versions up to {API_MAJOR}."
            " Request the newer wheel from the operator of the stack, then: pipx install --force FILE.whl"
        )
    return me
