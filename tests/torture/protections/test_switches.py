"""Every protection can be turned off: its switch replaces something that the product has, and its keys are there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import lru_cache

import pytest

from local.stack.options import REPOSITORY
from shell.tables import metadata
from tests.torture.protections.registry import SWITCHES
from tests.torture.stack.application import _roots

# Each in a process of its own, for it is for good; they share what was imported before.
EACH = """
import json, os
import shell.custody.commands, shell.exhibits.commands, shell.imports.start, shell.imports.twins.writer
from tests.torture.protections import registry, switch
import shell.imports.checks.commands, shell.imports.checks.queries, shell.imports.completing.completion
import shell.imports.corrections.commands, shell.imports.profiles, shell.imports.steps, shell.imports.undo.parts
import shell.imports.images.writer, shell.outbox.relay, shell.productions.steps, shell.volumes.listing
import shell.volumes.units

for name in registry.SWITCHES:
    if not os.fork():
        try:
            registry.turn_off(name)
            replaced = [name, switch.replaced]
        except Exception as error:
            replaced = [name, repr(error)]
        print(json.dumps(replaced), flush=True)
        os._exit(0)
    os.wait()
"""


@lru_cache
def replaced() -> dict[str, list[str] | str]:
    """What each switch replaced, or the error that it failed with."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(_roots())}
    done = subprocess.run([sys.executable, "-c", EACH], env=given, capture_output=True, text=True, check=True)
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", SWITCHES)
def test_a_protection_can_be_turned_off(name: str) -> None:
    switch = SWITCHES[name]
    found = replaced()[name]
    assert isinstance(found, list), found
    assert found or switch.keys, "nothing was turned off"


@pytest.mark.parametrize("name", [name for name, switch in SWITCHES.items() if switch.keys])
def test_its_keys_are_unique_keys_of_the_schema(name: str) -> None:
    for key in SWITCHES[name].keys:
        table, _, index = key.partition(".")
        assert index in {each.name for each in metadata().tables[table].constraints}


def test_the_guarantees_say_which_seed_of_forty_finds_that_it_is_off() -> None:
    """In the rows that `python -m tests.torture.hunt` prints."""
    document = (REPOSITORY / "docs" / "guarantees.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z-]+) \| (.+?) \| (.+?) \| \d+ of 40 \|", document, re.MULTILINE)
    assert sorted(rows) == sorted((name, each.description, each.rests_on) for name, each in SWITCHES.items())
