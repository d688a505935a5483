"""Which calls of AWS each function can get to, read from the sources: code that names something may call it.

Guarantees that no call is missed which is written `client().method(...)` with a client of shell.aws.clients, as a
paginator's name, as an operation that is signed for another client, or as a secret that is looked up. More is found
than is ever called: a method counts as soon as its class is named.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

CLIENTS = {"s3": "s3", "sqs": "sqs", "wake_sqs": "sqs", "sns": "sns", "lambda_client": "lambda"}


class Named(NamedTuple):
    """Something at the top of a module."""

    module: str
    name: str


class Sources:
    """The modules below some folders, which are roots of imports."""

    def __init__(self, *roots: Path) -> None:
        self._trees = {
            ".".join(path.relative_to(root).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
            for root in roots
            for path in root.rglob("*.py")
        }
        # Handlers share most of what they name.
        self._known_by: dict[Named, list[Named]] = {}
        self._called_by: dict[Named, set[str]] = {}

    def calls_from(self, module: str) -> set[str]:
        """Every call, as in s3.get_object, that something in the module can get to."""
        reached, waiting = set[Named](), [each for each in self._tops if each.module == module]
        while waiting:
            at = waiting.pop()
            if at not in reached:
                reached.add(at)
                waiting += self._named_by(at)
        return {call for at in reached for call in self._called_in(at)}

    def every_call(self) -> set[str]:
        """Every call that is written anywhere."""
        return {call for tree in self._trees.values() for call in calls_in(tree)}

    def kept_clients(self) -> list[str]:
        """Where a client's attribute is not used at once: what is done with it is not seen."""
        return sorted(f"{module}: {place}" for module, tree in self._trees.items() for place in _keeping(tree))

    @cached_property
    def _tops(self) -> Mapping[Named, list[ast.stmt]]:
        found: dict[Named, list[ast.stmt]] = {}
        for module, tree in self._trees.items():
            for statement in tree.body:
                for name in _names_of(statement):
                    found.setdefault(Named(module, name), []).append(statement)
        return found

    @cached_property
    def _imported(self) -> Mapping[str, Mapping[str, str]]:
        """By module: what its names stand for, as in shell.aws.clients.s3; also those that functions import."""
        return {module: dict(_imports(tree)) for module, tree in self._trees.items()}

    def _called_in(self, at: Named) -> set[str]:
        if at not in self._called_by:
            self._called_by[at] = {call for node in self._tops[at] for call in calls_in(node)}
        return self._called_by[at]

    def _named_by(self, at: Named) -> list[Named]:
        if at not in self._known_by:
            self._known_by[at] = list(self._names_in(at))
        return self._known_by[at]

    def _names_in(self, at: Named) -> Iterator[Named]:
        imported = self._imported[at.module]
        for statement in self._tops[at]:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    yield from self._known(imported.get(node.id, f"{at.module}.{node.id}"))
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    yield from self._known(f"{imported.get(node.value.id, '')}.{node.attr}")

    def _known(self, path: str) -> Iterator[Named]:
        named = Named(*path.rpartition(".")[::2])
        if named in self._tops:
            yield named


def _keeping(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        children = () if isinstance(node, ast.Attribute) else ast.iter_child_nodes(node)
        for child in children:
            match child:
                case ast.Call(func=ast.Name(id=client)) if client in CLIENTS:
                    yield ast.unparse(node)


def _names_of(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif not isinstance(statement, ast.Import | ast.ImportFrom):
        stored = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
        yield from stored or [""]


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)


def calls_in(tree: ast.AST) -> Iterator[str]:
    """The calls of AWS that are written there."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Name(id=client)), attr="get_paginator"),
                args=[ast.Constant(value=str(method))],
            ) if client in CLIENTS:
                yield f"{CLIENTS[client]}.{method}"
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id=client)), attr=method)) if (
                client in CLIENTS
            ):
                yield f"{CLIENTS[client]}.{method}"
            case ast.Call(func=ast.Name(id="_presign"), args=[ast.Constant(value=str(method))]):
                yield f"s3.{method}"
            case ast.Call(func=ast.Name(id="SecretsProvider") | ast.Attribute(attr="SecretsProvider")):
                yield "secretsmanager.get_secret_value"


def never_made(handler: Path) -> set[str]:
    """Calls that a handler only seems to get to: where none of its requests writes events, the relay is not woken."""
    text = handler.read_text(encoding="utf-8")
    writes_events = "WRITES_EVENTS" in text or "writes_events=True" in text
    return {"sqs.send_message_batch"} if "run_idempotent(" in text and not writes_events else set()
