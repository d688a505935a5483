"""The command can sign in to what the template deploys: the pool knows its ports, and it learns of other issuers."""

from __future__ import annotations

from typing import Any

from exhibit_ingest.sign_in.surroundings import PORTS
from tests.unit.template.conftest import OTHER_ISSUER, deployed_with

ORIGIN = "https://evidence.example.com"


def test_the_pool_sends_browsers_back_to_the_console_and_to_the_ports_of_the_command(
    transformed: dict[str, Any],
) -> None:
    client = deployed_with(transformed, {"ConsoleOrigin": ORIGIN}).resources["ConsoleClient"]["Properties"]
    console, *command = client["CallbackURLs"]
    assert console == {"Fn::Sub": "${ConsoleOrigin}/console/"}
    assert command == [f"http://localhost:{port}/" for port in PORTS]
    # Without these, a code could be exchanged by who reads it, and a sign-out would leave the refresh token valid.
    assert (client["AllowedOAuthFlows"], client["GenerateSecret"], client["EnableTokenRevocation"]) == (
        ["code"],
        False,
        True,
    )


def test_the_command_has_a_sign_in_before_the_address_of_the_console_is_known(transformed: dict[str, Any]) -> None:
    first = deployed_with(transformed, {})
    client = first.resources["ConsoleClient"]["Properties"]
    assert client["CallbackURLs"] == [f"http://localhost:{port}/" for port in PORTS]
    assert "LogoutURLs" not in client
    said = first.resources["ConsoleFunction"]["Properties"]["Environment"]["Variables"]
    assert (said["CONSOLE_SIGN_IN"], said["CONSOLE_CLIENT_ID"]) == ("none", {"Ref": "ConsoleClient"})
    assert "amazoncognito.com" in str(said["CONSOLE_SIGN_IN_DOMAIN"])
    assert first.of_type("AWS::Cognito::UserPoolDomain")
    other = deployed_with(transformed, OTHER_ISSUER)
    assert not other.of_type("AWS::Cognito::UserPoolDomain")
    assert "ConsoleClient" not in other.resources


def test_the_command_learns_of_another_issuer_and_of_the_client_that_its_tokens_are_for(
    transformed: dict[str, Any],
) -> None:
    function = deployed_with(transformed, OTHER_ISSUER).resources["ConsoleFunction"]["Properties"]
    said = function["Environment"]["Variables"]
    assert said["CONSOLE_SIGN_IN"] == "issuer"
    assert (said["CONSOLE_ISSUER"], said["CONSOLE_CLIENT_ID"]) == ({"Ref": "JwtIssuer"}, {"Ref": "JwtAudience"})
