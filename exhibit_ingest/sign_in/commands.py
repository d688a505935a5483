"""`exhibit-ingest login`, `logout`, `whoami` and `stacks`; each function returns the exit code."""

from __future__ import annotations

# The client, with httpx, is imported by those that use it: `stacks` and wrong usage take no time.
import argparse
import json
from dataclasses import replace

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.surroundings import Surroundings
from exhibit_ingest.stacks.choice import choose_stack, find_stack
from exhibit_ingest.stacks.configuration import Stack


def run(options: argparse.Namespace, surroundings: Surroundings | None = None) -> int:
    """Run the command and return its exit code. Raises CommandError, which `--json` prints instead."""
    around = surroundings or Surroundings()
    try:
        return _run(options, around)
    except CommandError as exc:
        if not getattr(options, "json", False):
            raise
        _print_json({"error": str(exc)})
        return exc.exit_code


def _run(options: argparse.Namespace, around: Surroundings) -> int:
    match options.command:
        case "login":
            from exhibit_ingest.sign_in.login import login

            return login(options, around)
        case "logout":
            return logout(options, around)
        case _:
            return stacks(options, around)


def logout(options: argparse.Namespace, around: Surroundings) -> int:
    """End the sign-in of a stack, here in any case. Raises CommandError if the place of the token does not answer."""
    stack = choose_stack(around.load(), options.stack, around.environment)
    if stack.token_command:
        remove = format_command("stacks", "--remove", stack.name)
        raise WrongUsageError(f"Tokens of {stack.name} come from a command. To stop using it: {remove}")
    code = _end_sign_in(stack, around)
    around.change(lambda known: known.add(replace(stack, is_signed_in=False)) if stack.name in known.stacks else known)
    print(f"Signed out of {stack.name} ({stack.url}).")
    return code


def stacks(options: argparse.Namespace, around: Surroundings) -> int:
    """List the stacks, after a change of the default or the removal of one. Raises CommandError."""
    configuration, code = around.load(), DONE
    if options.default:
        configuration = around.change(lambda known: known.choose_default(find_stack(known, options.default).name))
    elif options.remove:
        code = _end_sign_in(find_stack(configuration, options.remove), around)
        configuration = around.change(lambda known: known.remove(options.remove))
    listed = sorted(configuration.stacks.values(), key=lambda stack: stack.name)
    if options.json:
        _print_json({"default": configuration.default, "stacks": [_describe(stack) for stack in listed]})
    elif listed:
        stars = {configuration.default: "*"}
        _print_table([(f"{stars.get(each.name, ' ')} {each.name}", _describe_line(each)) for each in listed])
    else:
        around.say(f"No stack is known. Sign in to one: {format_command('login', 'URL')}")
    return code


def _end_sign_in(stack: Stack, around: Surroundings) -> int:
    """Delete the refresh token here, and end it at its issuer; say so and return FAILED if that is not confirmed."""
    if not stack.is_signed_in:
        return DONE
    with around.store.hold():
        secret = around.store.load(stack.secret_name)
        around.store.delete(stack.secret_name)
    if secret is None or stack.sign_in["kind"] == "local":
        return DONE
    from exhibit_ingest.sign_in.issuers import restore_issuer
    from exhibit_ingest.sign_in.token_requests import revoke_token

    try:
        revoke_token(restore_issuer(stack.sign_in), secret)
    except CommandError as exc:
        around.say(f"The sign-in is deleted on this machine, but may be valid until its time is over: {exc}")
        return FAILED
    return DONE


def _describe(stack: Stack) -> dict[str, object]:
    kind = stack.sign_in.get("kind")
    return {"name": stack.name, "url": stack.url, "sign_in": kind, "signed_in": _is_usable(stack)}


def _describe_line(stack: Stack) -> str:
    return stack.url if _is_usable(stack) else f"{stack.url}  (signed out)"


def _is_usable(stack: Stack) -> bool:
    return stack.is_signed_in or bool(stack.token_command)


def _print_json(document: dict[str, object]) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))


def _print_table(rows: list[tuple[str, str]]) -> None:
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label.ljust(width)}  {value}")
