"""`exhibit-ingest login`: find out how a stack signs its users in, sign in, and keep it.

Guaranteed: a stack is kept only once its API has accepted the token; a failed or interrupted sign-in changes nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from exhibit_ingest.client.api import Api
from exhibit_ingest.client.versions import read_me
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.browser import sign_in_by_browser, sign_in_by_pasted_code
from exhibit_ingest.sign_in.device import sign_in_by_device
from exhibit_ingest.sign_in.issuers import Issuer, advise_token, find_issuer, read_sign_in
from exhibit_ingest.sign_in.local_key import advise_link, exchange_key
from exhibit_ingest.sign_in.person import describe_person
from exhibit_ingest.sign_in.providers import TOKEN_VARIABLE, open_provider, run_token_command
from exhibit_ingest.sign_in.surroundings import Surroundings
from exhibit_ingest.sign_in.token_requests import Tokens
from exhibit_ingest.stacks.addresses import read_address
from exhibit_ingest.stacks.choice import check_stack_name, name_of
from exhibit_ingest.stacks.configuration import Configuration, Stack


def login(options: argparse.Namespace, around: Surroundings) -> int:
    """Sign in, keep the stack and print who the user is. Raises CommandError, and then keeps nothing."""
    url, key = read_address(options.url)
    name = check_stack_name(options.name or name_of(url))
    _check_free(around.load(), name, url)
    stack = Stack(name, url, token_command=options.token_command or "")
    stack, tokens = _sign_in(stack, key, around, no_browser=options.no_browser)
    # The variable is left out: it would answer for the new sign-in.
    with Api(url, open_provider(stack, {}, around.store, tokens), say=around.say) as api:
        me = read_me(api)
    _keep(replace(stack, is_signed_in=tokens.refresh_token is not None), tokens.refresh_token, me, around)
    return DONE


def _check_free(configuration: Configuration, name: str, url: str) -> None:
    """Raise WrongUsageError if the name is another stack's: evidence would go to the wrong one."""
    known = configuration.stacks.get(name)
    if known and known.url != url:
        raise WrongUsageError(
            f"The stack {name} has the address {known.url}. Give this one another --name, or first run"
            f" {format_command('stacks', '--remove', name)}"
        )


def _check_own_issuer(configuration: Configuration, stack: Stack, issuer: Issuer) -> None:
    """Raise WrongUsageError if the issuer is that of a known stack with another address.

    Any server can name the sign-in page of a firm, which users trust, and would get their token for the firm's API.
    """
    for known in configuration.stacks.values():
        is_same = (known.sign_in.get("token"), known.sign_in.get("client_id")) == (issuer.token, issuer.client_id)
        if is_same and known.url != stack.url:
            remove = format_command("stacks", "--remove", known.name)
            raise WrongUsageError(
                f"{stack.url} names the sign-in of the stack {known.name} ({known.url}), and would get your token for"
                f" that one. Ask its operator. If both are addresses of one stack, first run {remove}"
            )


def _sign_in(stack: Stack, key: str | None, around: Surroundings, *, no_browser: bool) -> tuple[Stack, Tokens]:
    """Return the stack with what is to be kept of its sign-in, and the tokens."""
    if stack.token_command:
        return replace(stack, sign_in={"kind": "token-command"}), run_token_command(stack.token_command)
    sign_in = read_sign_in(stack.url)
    if sign_in.get("kind") == "local":
        key = key or _read_key(stack.url, around)
        return replace(stack, sign_in={"kind": "local"}), exchange_key(stack.url, key)
    issuer = find_issuer(sign_in, stack.url)
    _check_own_issuer(around.load(), stack, issuer)
    kept = replace(stack, sign_in=issuer.describe("issuer" if sign_in["kind"] == "issuer" else "cognito"))
    return kept, _sign_in_people(issuer, stack, around, no_browser=no_browser)


def _read_key(url: str, around: Surroundings) -> str:
    """Return the key in the link that the user pastes: as an argument, other users of the machine could see it."""
    around.say("Paste the link that `serve` printed:")
    text = around.read().strip()
    pasted, key = read_address(text) if text else (url, None)
    if not key or pasted != url:
        raise WrongUsageError(f"The address has no key. {advise_link()}")
    return key


def _sign_in_people(issuer: Issuer, stack: Stack, around: Surroundings, *, no_browser: bool) -> Tokens:
    if issuer.device:
        return sign_in_by_device(issuer, around.say, around.clock)
    if not issuer.authorize:
        raise CommandError(f"The issuer of {stack.url} offers no sign-in by a device code. {advise_token(stack.url)}")
    if no_browser:
        return sign_in_by_pasted_code(issuer, around.say, around.read)
    return sign_in_by_browser(issuer, stack.url, around.say, open_page=around.open_page, ports=around.ports)


def _keep(stack: Stack, secret: str | None, me: Mapping[str, Any], around: Surroundings) -> None:
    place = None

    def add(known: Configuration) -> Configuration:
        nonlocal place
        # While other commands wait, and before the stack is written: a stack whose token was not kept is not kept.
        _check_free(known, stack.name, stack.url)
        if secret:
            with around.store.hold():
                place = around.store.save(stack.secret_name, secret)
        return known.add(stack)

    configuration = around.change(add)
    print(f"Signed in to {stack.name} ({stack.url}) as {describe_person(me)}.")
    if place:
        around.say(f"The sign-in is kept {place}.")
    elif not stack.token_command:
        around.say("The issuer gave no refresh token: the next command needs another sign-in.")
    if configuration.default != stack.name:
        default = format_command("stacks", "--default", stack.name)
        around.say(f"The default is {configuration.default}. To use {stack.name}: --stack {stack.name}, or {default}")
    if around.environment.get(TOKEN_VARIABLE):
        around.say(f"{TOKEN_VARIABLE} is set: commands use that token and not this sign-in.")
