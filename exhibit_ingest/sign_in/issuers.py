"""How a stack signs its users in: what `config.json` of its console says, and the metadata of an issuer.

The clients of the command are public: they have no secret. Every address is checked before something is sent to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from exhibit_ingest.client.open_requests import get_object
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.stacks.addresses import check_safe

_CONFIG = "/console/config.json"
_METADATA = "/.well-known/openid-configuration"
_SCOPES, _OFFLINE = "openid email profile", "offline_access"


@dataclass(frozen=True)
class Issuer:
    """The endpoints of an issuer for one client; empty where it lacks one."""

    client_id: str
    token: str
    authorize: str = ""
    device: str = ""
    revoke: str = ""
    scope: str = _SCOPES

    def describe(self, kind: str) -> dict[str, Any]:
        """Return the issuer as it is stored with its stack, with the kind of sign-in."""
        return {"kind": kind, **asdict(self)}


def restore_issuer(described: Mapping[str, Any]) -> Issuer:
    """Return the issuer that was stored with a stack."""
    return Issuer(**{name: value for name, value in described.items() if name != "kind"})


def read_sign_in(url: str) -> dict[str, Any]:
    """Return what the stack says of its sign-in: its `kind`, `cognito`, `issuer`, `local` or `none`, and the client.

    The kind is that of the console's sign-in; the command may have one where that is `none`.

    Raises CommandError if the address has no such stack.
    """
    document = get_object(f"{url}{_CONFIG}")
    sign_in = document.get("signIn")
    if not isinstance(sign_in, dict):
        raise CommandError(
            f"{url}{_CONFIG} names no sign-in: this is not the address of a stack of exhibit-ingest. Ask its operator."
        )
    return sign_in


def find_issuer(sign_in: Mapping[str, Any], url: str) -> Issuer:
    """Return the issuer of a stack; raise CommandError if the stack names none, or one that cannot be used."""
    match sign_in:
        # With `none`, the user pool does not know the address of the console; it does know the ports of the command.
        case {"kind": "cognito" | "none", "domain": str(domain), "clientId": str(client)}:
            check_safe(domain)
            return Issuer(
                client, f"{domain}/oauth2/token", f"{domain}/oauth2/authorize", revoke=f"{domain}/oauth2/revoke"
            )
        case {"kind": "issuer", "issuer": str(issuer), "clientId": str(client)}:
            return _discover(issuer, client)
    kind = shorten_printable(str(sign_in.get("kind")), 40)
    raise CommandError(f"{url} has no sign-in for people (kind {kind}). {advise_token(url)}")


def advise_token(url: str) -> str:
    """Return what to do where no sign-in works."""
    return (
        "Set EXHIBIT_INGEST_TOKEN to a token of its issuer, or name a command that prints one: "
        f"{format_command('login', url, '--token-command', 'COMMAND')}"
    )


def _discover(issuer: str, client: str) -> Issuer:
    """Return the endpoints in the metadata of an issuer (OpenID Connect Discovery 1.0, section 4)."""
    metadata = get_object(f"{check_safe(issuer).rstrip('/')}{_METADATA}")
    if str(metadata.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):
        raise CommandError(f"The metadata of {issuer} names another issuer. Ask the operator of the stack.")
    names = ("token_endpoint", "device_authorization_endpoint", "revocation_endpoint")
    token, device, revoke = (str(metadata.get(name) or "") for name in names)
    if not token:
        raise CommandError(f"The metadata of {issuer} names no token endpoint. Ask the operator of the stack.")
    for each in filter(None, (token, device, revoke)):
        check_safe(each)
    supported = metadata.get("scopes_supported")
    offline = f" {_OFFLINE}" if isinstance(supported, list) and _OFFLINE in supported else ""
    return Issuer(client, token, device=device, revoke=revoke, scope=_SCOPES + offline)
