"""Recognise that AWS failed because of the stack's key (AWS KMS), in every call of our clients.

Guaranteed: a response with an error of the key raises KeyRefusedError, which says which service the key refuses and
what to do, and counts the metric SettingsErrors. Such an error lasts until an operator changes the key or its policy;
it is not an outage. A throttled or failing KMS is one, and is not recognised here.
Source: the error codes of the API references of Lambda (Invoke), S3, SQS (SendMessage), SNS (Publish) and Secrets
Manager (GetSecretValue), which spell them in different ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from core.errors import SettingsError
from shell.observability import emit_counts

_Client = TypeVar("_Client")
_KEY = "Key DataKey of the stack"
# By the code in lower case without separators, prefix and suffix.
_ADVICE = {
    "accessdenied": "allow {principal} to use the key in its policy",
    "optinrequired": "activate AWS KMS in the account",
    "disabled": "enable the key",
    "invalidstate": "cancel the deletion of the key, or import its material",
    "notfound": "the key does not exist in this region and account: restore it",
    "invalidkeyusage": "use a symmetric key for encryption",
    "decryptionfailure": "allow the function's role to decrypt with the key, and enable it",
}
_PRINCIPALS = {"lambda": "lambda.amazonaws.com", "sqs": "the function's role", "sns": "the function's role"}


class KeyRefusedError(SettingsError):
    """The stack's key refuses a service of AWS; correct the key or its policy."""


def watch_key(client: _Client) -> _Client:
    """Return the client, whose calls raise KeyRefusedError from now on."""
    made: Any = client
    made.meta.events.register("after-call.*.*", _check_response)
    return client


def _check_response(parsed: Mapping[str, Any], model: Any, **_event: Any) -> None:
    for code in _list_codes(parsed):
        kind = find_refusal(code)
        if kind:
            emit_counts(SettingsErrors=1)
            service = model.service_model.service_id
            principal = _PRINCIPALS.get(service.lower(), "the function's role")
            raise KeyRefusedError(f"{_KEY} refuses {service} ({code}): {_ADVICE[kind].format(principal=principal)}")


def _list_codes(parsed: Mapping[str, Any]) -> Iterator[str]:
    """Yield the codes of a response: that of its error, or those of the entries of a batch that failed."""
    if "Error" in parsed:
        yield str(parsed["Error"].get("Code", ""))
    failed = parsed.get("Failed")
    yield from (str(each.get("Code", "")) for each in failed or () if isinstance(failed, list))


def find_refusal(code: str) -> str | None:
    """Return which refusal of the key an error code of AWS means, None for any other code."""
    name = "".join(filter(str.isalpha, code)).lower().removesuffix("exception")
    if name == "decryptionfailure":
        return name
    kind = name.removeprefix("kms").removeprefix("kms")
    return kind if name.startswith("kms") and kind in _ADVICE else None
