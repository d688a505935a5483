"""Imports of the same bytes again, without what keeps their chunks from being completed by what was there once."""

from __future__ import annotations

from tests.torture.protections.switch import Switch, instead


def _version() -> None:
    instead("shell.imports.chunks.exhibit_store:_AS_MADE", "TRUE")


OF_TWINS = {
    "twin-version": Switch(
        "a chunk is completed by its twin though exhibits of that were changed since",
        "imports.twins.writer, imports.chunks.exhibit_store",
        _version,
    ),
}
