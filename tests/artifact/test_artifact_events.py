"""Every built function does its work when AWS's emulator hands it the event of events/; judged by the effect alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType

import pytest

from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from tests.artifact import document_effects, import_effects
from tests.artifact.sending import Sender, logical_id

Effect = Callable[[Sender], None]
HANDLERS = {name: each.handler.partition(".")[0] for name, each in Template.load(DEFAULT_TEMPLATE).functions.items()}
MODULES = (import_effects, document_effects)


def effects_in(modules: Iterable[ModuleType]) -> dict[str, Effect]:
    """The functions of the modules whose name is that of a handler."""
    return {name: effect for module in modules for name, effect in vars(module).items() if name in HANDLERS.values()}


def without_effect(modules: Iterable[ModuleType]) -> list[str]:
    """The template's functions of which nobody says what they must have done."""
    return [function for function, handler in HANDLERS.items() if handler not in effects_in(modules)]


@pytest.mark.slow
@pytest.mark.parametrize("function", HANDLERS)
def test_a_built_function_does_what_its_event_asks(sender: Sender, function: str) -> None:
    failed_before = len(sender.stack.failures())
    effects_in(MODULES)[HANDLERS[function]](sender)
    assert sender.stack.failures(failed_before) == []


def test_every_function_of_the_template_is_sent_its_event() -> None:
    assert without_effect(MODULES) == []
    assert [name for name, handler in HANDLERS.items() if logical_id(handler) != name] == []


def test_a_function_that_is_sent_nothing_is_found() -> None:
    assert "ImportChunkFunction" in without_effect([document_effects])
