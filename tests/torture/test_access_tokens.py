"""A whole stack behind its gateway: without a token that counts nothing is read, done, or told from what there is not.

Every route of the template; the twins are gateways that leave out one check each.
"""

from __future__ import annotations

import http.client
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from local.gateway.server import ApiGateway
from local.gateway.tokens import SECRET_FILE
from local.stack import LocalStack, StackOptions
from tests.support import servers
from tests.support.servers import RUN, SERVER
from tests.torture.access_attacks import NEW_IDS, NOBODYS_ID, Attack, alike, attacks, comparable, leaked
from tests.torture.access_matrix import OUR_IDS, THEIR_IDS
from tests.torture.access_requests import requests_of
from tests.torture.access_rows import Kept, rows_not_of
from tests.torture.access_sites import Asked, Said, through
from tests.torture.access_tenants import SHARED_CASE, SHARED_HOLDER, Tenant, claim_ids, settle_briefly
from tests.torture.access_tokens import Lax, Signer, no_tenants, no_tokens

Ask = Callable[[Asked, Sequence[str]], Said]


@dataclass
class Stack:
    """A local stack with two tenants; `invoked` are the functions that its gateway asked."""

    running: LocalStack
    engine: Engine
    ours: Tenant = field(default_factory=lambda: Tenant("ZQACME", 2024, 7))
    theirs: Tenant = field(default_factory=lambda: Tenant("ZQBETA", 2025, 5, more=1))
    invoked: list[str] = field(default_factory=list)

    def ask(self, asked: Asked, tenant: str, user: str) -> Said:
        """Make a request under a token of the tenant."""
        return self.send(asked, [f"Bearer {self.running.tokens.issue(tenant, user)}"])

    def send(self, asked: Asked, authorizations: Sequence[str]) -> Said:
        """Make a request with these Authorization headers, over a socket."""
        connection = http.client.HTTPConnection(self.running.api_url.removeprefix("http://"), timeout=60)
        target = f"{asked.path}?{asked.query}" if asked.query else asked.path
        connection.putrequest(asked.method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in asked.headers(authorizations):
            connection.putheader(name, value.encode("utf-8"))
        connection.putheader("content-length", str(len(asked.body)))
        connection.endheaders(asked.body)
        found = connection.getresponse()
        said = Said.of(found.status, found.getheaders(), found.read())
        connection.close()
        return said

    def put(self, key: str, data: bytes) -> None:
        """Put an object; nothing follows from it here."""
        self.running.s3.put_object(Bucket=self.running.bucket, Key=key, Body=data)

    def produce(self, production_id: int) -> None:
        """It is not carried out here."""

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Rows of a statement, past the application."""
        with self.engine.begin() as connection:
            found = connection.execute(text(statement), values)
            return found.all() if found.returns_rows else []

    @property
    def signer(self) -> Signer:
        """Who signs the tokens that count."""
        secret = (self.running.state_dir / SECRET_FILE).read_text(encoding="ascii")
        return Signer.of(secret, self.running.tokens.issue(self.ours.name, self.ours.user))

    def settle(self) -> None:
        """Both tenants, with one of everything that can be had at once."""
        claim_ids(self, OUR_IDS)
        settle_briefly(self, self.ours)
        claim_ids(self, THEIR_IDS)
        settle_briefly(self, self.theirs)
        claim_ids(self, NEW_IDS)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    url = servers.fresh_schema(os.environ[SERVER], f"exhibits_access_{os.environ[RUN]}_{worker_id}")
    address = url.render_as_string(hide_password=False)
    engine = create_engine(url)
    state = tmp_path_factory.mktemp("access")
    # Whatever is done is done by requests alone.
    with (
        LocalStack(state, StackOptions(workers=1, database_url=address, poll_events=False)) as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        made = Stack(running, engine)
        made.settle()
        invoke = running.runtime.invoke

        def counted(function: str, payload: object) -> Any:
            made.invoked.append(function)
            return invoke(function, payload)

        patch.setattr(running.runtime, "invoke", counted)
        yield made
    engine.dispose()
    servers.drop_schema(url)


def routes(stack: Stack) -> dict[str, Asked]:
    """A request of one's own for every route of the template; a route without one fails."""
    found = {each.route: each for each in requests_of(stack.ours)}
    assert {route.key for route in stack.running.template.routes} == set(found)
    return found


def answered(ask: Ask, asked: Sequence[Asked], sent: dict[str, list[str]], allowed: int) -> list[str]:
    """The tokens that were answered otherwise than with that status, or not in the same way for every route."""
    wrong = []
    for name, authorizations in sent.items():
        found = {ask(each, authorizations) for each in asked}
        if {each.status for each in found} != {allowed} or len(found) > 1:
            wrong.append(name)
    return wrong


def same_route(asked: Asked, stack: Stack) -> list[Asked]:
    """The request with one's own ids, another's, and ids that nobody has."""
    theirs = {each.route: each for each in requests_of(stack.theirs)}[asked.route]
    ids = {place: value for place, value in theirs.values.items() if place.startswith("path:")}
    return [asked, asked.with_values(ids), asked.with_values(dict.fromkeys(ids, NOBODYS_ID))]


def test_without_a_token_that_counts_no_route_does_or_tells_anything(stack: Stack) -> None:
    before, asked = Kept.of(stack.engine), list(routes(stack).values())
    stack.invoked.clear()
    assert answered(stack.send, asked, no_tokens(stack.signer), 401) == []
    assert stack.invoked == []
    assert before.changed(stack.engine) == {}


def test_without_a_tenant_no_route_does_or_tells_anything(stack: Stack) -> None:
    before, asked = Kept.of(stack.engine), list(routes(stack).values())
    assert answered(stack.send, asked, no_tenants(stack.signer, stack.ours.name), 403) == []
    assert before.changed(stack.engine) == {}


def test_who_is_refused_cannot_tell_what_there_is(stack: Stack) -> None:
    signer = stack.signer
    refused = {"401": no_tokens(signer)["expired"], "403": no_tenants(signer, stack.ours.name)["tenant missing"]}
    for asked in routes(stack).values():
        for status, authorizations in refused.items():
            [said] = {stack.send(each, authorizations) for each in same_route(asked, stack)}
            assert str(said.status) == status


def test_a_scheme_in_lower_case_and_a_number_for_a_tenant_mean_what_they_say(stack: Stack) -> None:
    asked = Asked("GET /imports", {})
    good, number = stack.signer.sign(), stack.signer.of_tenant(OUR_IDS)
    assert stack.send(asked, [f"bearer {good}"]) == stack.send(asked, [f"BEARER {good}"])
    assert stack.ours.mark in stack.send(asked, [f"bearer {good}"]).text
    assert stack.send(asked, [f"Bearer {number}"]).json == {"items": [], "next": None}


def test_over_the_stack_what_is_anothers_is_answered_as_what_there_is_not(stack: Stack) -> None:
    wholes = {each.foreign.route: each for each in attacks(stack.ours, stack.theirs) if each.where == "everything"}
    assert len(wholes) >= len(routes(stack)) - 2
    before = rows_not_of(Kept.of(stack.engine).rows, stack.ours.name)
    for attack in wholes.values():
        assert wrong_with(stack, attack) == [], str(attack)
    assert rows_not_of(Kept.of(stack.engine).rows, stack.ours.name) == before


def wrong_with(stack: Stack, attack: Attack) -> list[str]:
    """How the answers to what is another's and to what there is not differ, and what is told."""
    user = (stack.ours.name, stack.ours.user)
    missing, foreign = (stack.ask(each, *user) for each in (attack.missing, attack.foreign))
    told = leaked(foreign, attack, stack.theirs, THEIR_IDS)
    unlike = [] if alike(foreign, attack) == comparable(missing) else [f"{foreign} is not {missing}"]
    return told + unlike


def test_the_same_request_under_the_same_key_is_each_tenants_own(stack: Stack) -> None:
    said = {"body:case": SHARED_CASE, "body:name": SHARED_HOLDER, "header:Idempotency-Key": "of both"}
    asked = Asked("POST /custodians", said)
    first, again = ([stack.ask(asked, each.name, each.user) for each in (stack.theirs, stack.ours)] for _ in range(2))
    assert [dict(each.headers).get("x-idempotent-replayed") for each in (*first, *again)] == [
        None,
        None,
        "true",
        "true",
    ]
    assert [each.text for each in first] == [each.text for each in again]
    assert first[0].json["id"] != first[1].json["id"]


@pytest.mark.parametrize(
    ("unchecked", "found"),
    [
        (
            {"verify_signature": False, "verify_exp": False},
            {"alg none", "foreign secret", "another payload", "expired"},
        ),
        ({"verify_exp": False}, {"expired", "expired a day ago"}),
        ({"verify_nbf": False}, {"not valid yet"}),
        ({"verify_iat": False}, {"issued tomorrow"}),
        ({}, {"another issuer", "another audience", "no audience", "never expires"}),
    ],
    ids=["signature", "expiry", "begin", "issue", "issuer and audience"],
)
def test_a_gateway_that_leaves_out_a_check_is_found(stack: Stack, unchecked: dict[str, bool], found: set[str]) -> None:
    lax = ApiGateway(stack.running.template.routes, stack.running.invoke, Lax(stack.signer.secret, **unchecked))
    asked = [routes(stack)["GET /imports/{importId}"]]
    sent = no_tokens(stack.signer)
    wrong = answered(lambda *request: through(lax, *request), asked, sent, 401)
    assert found <= set(wrong)
    assert stack.ours.mark in through(lax, asked[0], sent[min(found)]).text
