"""The arguments that say which stack a command uses, and as whom."""

from __future__ import annotations

import argparse
from functools import partial

from exhibit_ingest.stacks.choice import add_stack_argument

OWN_TENANT = "local"


def add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --stack, and --tenant and --user for the stack of this machine."""
    group = parser.add_argument_group("stack")
    add_stack_argument(group)
    for name, most, text in (
        ("tenant", 64, f"the tenant of the case (default: {OWN_TENANT})"),
        ("user", 255, "user that changes are recorded under (default: your login name)"),
    ):
        kind = partial(_parse_name, most=most)
        group.add_argument(
            f"--{name}", metavar=name[0].upper(), type=kind, help=f"on the stack of this machine: {text}"
        )


def _parse_name(text: str, most: int) -> str:
    """Return the name; raise argparse.ArgumentTypeError for one that no token can have."""
    if not text or text != text.strip() or "/" in text or not text.isprintable() or len(text) > most:
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be used: 1 to {most} printable characters, without a slash and without spaces around them"
        )
    return text
