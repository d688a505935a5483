"""The errors of the local stack; each message says what happened and what to do next."""

from __future__ import annotations


class LocalError(Exception):
    """The local stack cannot continue."""


class TemplateError(LocalError):
    """The template contains something that the local stack does not support, and must not guess."""


class DatabaseServerError(LocalError):
    """The private database server is not installed, or did not start."""


class StackBusyError(LocalError):
    """Another command is using the same state directory."""


class DiskFullError(LocalError):
    """A disk has too little free space for the stack."""


class ProcessFailedError(LocalError):
    """A process that the stack depends on did not start."""


class UsageError(LocalError):
    """The command line is wrong; the message shows the correct form."""
