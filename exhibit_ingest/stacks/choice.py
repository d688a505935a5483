"""Which stack a command uses: the option, the variable of the environment, or the default."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.stacks.addresses import read_address
from exhibit_ingest.stacks.configuration import Configuration, Stack

STACK_VARIABLE = "EXHIBIT_INGEST_STACK"
# The name of the stack of this machine, which no other stack has.
OWN_STACK = "here"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def add_stack_argument(parser: argparse._ActionsContainer) -> None:
    """Add the option with which every command chooses its stack."""
    parser.add_argument(
        "--stack",
        metavar="NAME",
        help=f"stack to use, by its name or URL; `{OWN_STACK}` is that of this machine (default: {STACK_VARIABLE},"
        f" or the default of `stacks`, or `{OWN_STACK}`)",
    )


def is_stack_chosen(configuration: Configuration, option: str | None, environment: Mapping[str, str]) -> bool:
    """Return whether the option, the environment or the configuration names a stack other than that of this machine."""
    return (option or environment.get(STACK_VARIABLE) or configuration.default or OWN_STACK) != OWN_STACK


def choose_stack(configuration: Configuration, option: str | None, environment: Mapping[str, str]) -> Stack:
    """Return the stack of the option, of the environment or of the configuration.

    A URL is a stack, known or not. Raises WrongUsageError if none is chosen, and for an unknown name.
    """
    chosen = option or environment.get(STACK_VARIABLE) or configuration.default
    if chosen is None:
        raise WrongUsageError(_explain_missing(configuration))
    if "://" in chosen:
        url, _ = read_address(chosen)
        known = (stack for stack in configuration.stacks.values() if stack.url == url)
        return next(known, Stack(name_of(url), url))
    return find_stack(configuration, chosen)


def find_stack(configuration: Configuration, name: str) -> Stack:
    """Return the stack of a name; raise WrongUsageError, with the nearest name, if there is none."""
    if found := configuration.stacks.get(name):
        return found
    near = difflib.get_close_matches(name, configuration.stacks, 1)
    advice = f"Did you mean {near[0]}?" if near else f"To add one: {format_command('login', 'URL')}"
    raise WrongUsageError(f"There is no stack {shorten_printable(name, 80)!r}. {advice}")


def check_stack_name(name: str) -> str:
    """Return the name; raise WrongUsageError if it could not be typed everywhere."""
    if name == OWN_STACK:
        raise WrongUsageError(f"{name!r} is the name of the stack of this machine. Choose another --name.")
    if not _NAME.fullmatch(name):
        raise WrongUsageError(
            f"{shorten_printable(name, 80)!r} cannot be the name of a stack. Use up to 64 letters, digits, '.', '_' and"
            " '-', the first a letter or digit."
        )
    return name


def name_of(url: str) -> str:
    """Return the name that a stack gets without another: its host, with the port if there is one."""
    return urlsplit(url).netloc.replace(":", "-")


def _explain_missing(configuration: Configuration) -> str:
    if configuration.stacks:
        return f"No stack is the default. Choose one: {format_command('stacks', '--default', 'NAME')}"
    return (
        f"No stack is known. Sign in to one: {format_command('login', 'URL')}. Its operator has the URL; for one on"
        f" this machine, {format_command('serve')} prints it."
    )
