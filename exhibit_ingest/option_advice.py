"""Say how an option that a message of the application names is set with the command."""

from __future__ import annotations

import re

from exhibit_ingest.program import format_command

_ARGUMENTS = frozenset(
    {
        *("encoding", "delimiter", "qualifier", "time_zone", "header_line", "mode", "overlay_key", "blanks"),
        *("multi_values", "date_format", "multi_value_separator", "nested_separator"),
    }
)
# Option 'encoding', options 'a', {"columns": ...}
_NAMED = re.compile(r"option '(\w+)'|\boptions?\b|\"(\w+)\": ", re.IGNORECASE)
_MAPPING = (
    'in a JSON file that --mapping names, such as {"columns": {"Doc ID": "control_number"}}; its form is described by'
)


def advise_option(message: str) -> str | None:
    """Return a sentence with the arguments for the options of the message, None if it names none."""
    found = [first or second for first, second in _NAMED.findall(message)]
    arguments = [f"--{name.replace('_', '-')}" for name in dict.fromkeys(found) if name in _ARGUMENTS]
    if arguments:
        return f"With this command, the option is set by {' or '.join(arguments)}."
    return f"With this command, options are set {_MAPPING}: {format_command('import', '--help')}" if found else None
