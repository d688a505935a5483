"""Addresses, the file of the stacks, the choice of one, and where refresh tokens are kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.stacks.addresses import read_address
from exhibit_ingest.stacks.choice import check_stack_name, choose_stack, name_of
from exhibit_ingest.stacks.configuration import Configuration, Stack, load_configuration, save_configuration
from tests.support.sign_in.fake_keyring import FakeKeyring

SECRET = "refresh token " * 200
FIRM = Stack("firm", "https://evidence.example.com", {"kind": "cognito"}, is_signed_in=True)
OTHER = Stack("other", "https://other.example.com", is_signed_in=True)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://Evidence.example.com", ("https://evidence.example.com", None)),
        ("https://evidence.example.com:8443/console/imports?case=1", ("https://evidence.example.com:8443", None)),
        ("http://127.0.0.1:8700/console/#key=a-b_c", ("http://127.0.0.1:8700", "a-b_c")),
        ("http://localhost:8700/", ("http://localhost:8700", None)),
    ],
)
def test_an_address_is_an_origin(text: str, address: tuple[str, str | None]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://evidence.example.com", "is not encrypted"),
        ("http://127.0.0.1.example.com", "is not encrypted"),
        ("evidence.example.com", "begins with https://"),
        ("file:///etc/passwd", "begins with https://"),
        ("https://ada:secret@evidence.example.com", "has a user or a password"),
        ("https://evidence.example.com/prod", "has the path /prod"),
        ("https://evidence.example.com/consolex", "has the path"),
        ("https://evidence.example.com:port", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://\x1b[2J", "is not a URL"),
    ],
)
def test_an_address_that_is_not_safe_is_refused(text: str, message: str) -> None:
    with pytest.raises(WrongUsageError, match=message) as caught:
        read_address(text)
    assert str(caught.value).isprintable()
    assert "secret" not in str(caught.value)


def test_a_configuration_is_read_as_it_was_written_and_others_cannot_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert load_configuration(folder) == Configuration({})
    written = Configuration({}).add(FIRM).add(OTHER)
    save_configuration(folder, written)
    assert load_configuration(folder) == written
    assert written.default == "firm"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()] == [0o600]
    assert written.remove("firm").default is None
    assert written.remove("other").default == "firm"


@pytest.mark.parametrize("text", ["{", "[]", '{"stacks": {}}', '{"default": null, "stacks": {"a": {"x": 1}}}'])
def test_a_damaged_configuration_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "stacks.json").write_text(text)
    with pytest.raises(WrongUsageError, match=r"stacks\.json cannot be read .*Delete it"):
        load_configuration(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongUsageError, match="cannot be written"):
        save_configuration(tmp_path / "file" / "x", Configuration({}))


def test_the_option_counts_before_the_variable_and_this_before_the_default() -> None:
    known = Configuration({}).add(FIRM).add(OTHER)
    variable = {"EXHIBIT_INGEST_STACK": "other"}
    assert choose_stack(known, None, {}) == FIRM
    assert choose_stack(known, None, variable) == OTHER
    assert choose_stack(known, "firm", variable) == FIRM
    assert choose_stack(known, "https://other.example.com/", {}) == OTHER
    assert choose_stack(known, "https://new.example.com", {}) == Stack("new.example.com", "https://new.example.com")
    with pytest.raises(WrongUsageError, match="No stack is known"):
        choose_stack(Configuration({}), None, {})


def test_the_name_of_a_stack_can_be_typed() -> None:
    assert check_stack_name(name_of("http://127.0.0.1:8700")) == "127.0.0.1-8700"
    for name in ("", "-x", "a b", "ä", "x" * 65, "a/b"):
        with pytest.raises(WrongUsageError, match="cannot be the name"):
            check_stack_name(name)


def test_a_token_that_is_too_long_for_an_entry_is_kept_in_parts(tmp_path: Path) -> None:
    keyring = FakeKeyring(longest=1280)
    store = SecretStore(tmp_path, keyring, part=1200)
    assert "keyring" in store.save("firm", SECRET)
    assert SecretStore(tmp_path, keyring).load("firm") == SECRET
    store.save("firm", "short")
    assert (store.load("firm"), len(keyring.entries), [*tmp_path.iterdir()]) == ("short", 1, [])
    store.delete("firm")
    assert (store.load("firm"), keyring.entries) == (None, {})


@pytest.mark.parametrize("keyring", [FakeKeyring(longest=10), FakeKeyring(is_forgetful=True)])
def test_where_no_keyring_keeps_it_a_file_does_that_only_the_user_reads(tmp_path: Path, keyring: FakeKeyring) -> None:
    store = SecretStore(tmp_path, keyring)
    assert "which only you can read" in store.save("firm", SECRET)
    store.save("other", "x")
    assert (store.load("firm"), stat.S_IMODE(store.path.stat().st_mode)) == (SECRET, 0o600)
    store.delete("firm")
    assert (store.load("firm"), store.load("other")) == (None, "x")


def test_a_later_sign_in_that_the_keyring_keeps_leaves_no_copy_in_the_file(tmp_path: Path) -> None:
    keyring = FakeKeyring()
    store = SecretStore(tmp_path, keyring)
    keyring.is_locked = True
    store.save("firm", "old")
    keyring.is_locked = False
    store.save("firm", "new")
    assert (store.load("firm"), store.path.read_text()) == ("new", "{}")
    keyring.is_locked = True
    for use in (store.load, store.delete):
        with pytest.raises(CommandError, match="The keyring does not answer"):
            use("firm")
