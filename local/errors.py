"""What can go wrong around the functions; each message says what to do."""

from __future__ import annotations


class LocalError(Exception):
    """The local stack cannot go on."""


class TemplateError(LocalError):
    """The template holds something that the local stack does not understand, and must not guess."""


class DatabaseServerError(LocalError):
    """The private database server is missing, or did not come up."""


class StackBusyError(LocalError):
    """Another command is using the same state directory."""


class ProcessFailedError(LocalError):
    """A process that the stack rests on did not come up."""


class UsageError(LocalError):
    """The command was called wrongly; the message says how to call it."""


class ImportStalledError(LocalError):
    """An import neither finished nor goes on."""
