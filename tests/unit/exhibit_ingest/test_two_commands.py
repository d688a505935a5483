"""Two commands at once, and commands that are killed: the configuration, the refresh tokens, private files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exhibit_ingest.errors import CommandError
from exhibit_ingest.file_lock import LockTakenError, hold_lock
from exhibit_ingest.private_file import write_private_file
from exhibit_ingest.sign_in.providers import open_provider
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.stacks.configuration import Configuration, Stack, change_configuration, load_configuration
from tests.support.sign_in.fake_keyring import FakeKeyring
from tests.support.sign_in.played_issuer import CLIENT, PlayedIssuer

FIRM, OTHER = Stack("firm", "https://firm.example"), Stack("other", "https://other.example")
HOLDER = """
import sys, time
from pathlib import Path
from exhibit_ingest.file_lock import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_is_free_once_its_process_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTakenError, match=r"Another command has the lock .*a\.lock"), hold_lock(path, 0.2):
            pass
        holder.kill()
    with hold_lock(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_of_two_changes_of_the_configuration_none_is_lost(tmp_path: Path) -> None:
    began, second = threading.Event(), list[Configuration]()

    def run() -> None:
        began.set()
        second.append(change_configuration(tmp_path, lambda known: known.add(OTHER)))

    thread = threading.Thread(target=run)

    def change(known: Configuration) -> Configuration:
        thread.start()
        began.wait()
        thread.join(0.2)
        # It waits: it would write what it has read before.
        assert second == []
        return known.add(FIRM)

    change_configuration(tmp_path, change)
    thread.join()
    assert set(load_configuration(tmp_path).stacks) == {"firm", "other"}


class UnlockedStore(SecretStore):
    """The negative control: two commands read the token before either writes the next one."""

    both = threading.Barrier(2)

    @contextmanager
    def hold(self) -> Iterator[None]:
        yield

    def load(self, name: str) -> str | None:
        found = super().load(name)
        self.both.wait(60)
        return found


@pytest.mark.parametrize(("kind", "refused"), [(SecretStore, 0), (UnlockedStore, 1)])
def test_two_commands_do_not_use_one_rotated_refresh_token(
    tmp_path: Path, kind: type[SecretStore], refused: int
) -> None:
    keyring, failures = FakeKeyring(), list[str]()
    issuer = PlayedIssuer()
    issuer.is_rotating = True
    issuer.refresh_tokens.add("first")
    described = {"kind": "cognito", "client_id": CLIENT, "token": f"{issuer.url}/oauth2/token"}
    stack = Stack("firm", "https://firm.example", described, is_signed_in=True)
    SecretStore(tmp_path, keyring).save(stack.secret_name, "first")

    def command() -> None:
        try:
            open_provider(stack, {}, kind(tmp_path, keyring)).get_token()
        except CommandError as exc:
            failures.append(str(exc))

    with issuer.run():
        threads = [threading.Thread(target=command) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(failures) == refused
    assert {SecretStore(tmp_path, keyring).load(stack.secret_name)} == issuer.refresh_tokens


KILLED = """
import os, signal, sys
from pathlib import Path
from exhibit_ingest import private_file
def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)
private_file._replace = kill
private_file.write_private_file(Path(sys.argv[1]), "new token")
"""


def test_what_a_killed_command_left_half_written_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "sign-ins.json"
    write_private_file(path, "old")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    (draft,) = (each for each in tmp_path.iterdir() if each != path)
    assert (path.read_text(), stat.S_IMODE(draft.stat().st_mode)) == ("old", 0o600)
    # Another command may be writing: only what is old is removed.
    write_private_file(path, "newer")
    assert draft.exists()
    os.utime(draft, (time.time() - 120,) * 2)
    write_private_file(path, "newest")
    assert ([*tmp_path.iterdir()], path.read_text()) == ([path], "newest")


def test_a_private_file_takes_the_place_of_a_link_and_not_of_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "shared.json", tmp_path / "sign-ins.json"
    target.write_text("public")
    link.symlink_to(target)
    write_private_file(link, "token")
    assert (target.read_text(), link.is_symlink(), stat.S_IMODE(link.stat().st_mode)) == ("public", False, 0o600)


def test_a_deleted_secret_is_in_neither_place(tmp_path: Path) -> None:
    keyring = FakeKeyring()
    store = SecretStore(tmp_path, keyring)
    store.save("firm", "old, in the keyring")
    keyring.longest = 5
    assert "which only you can read" in store.save("firm", "newer, in the file")
    keyring.longest = 100
    store.delete("firm")
    assert (store.load("firm"), keyring.entries) == (None, {})


def test_parts_of_a_token_that_a_keyring_did_not_take_as_a_whole_are_removed(tmp_path: Path) -> None:
    class FullKeyring(FakeKeyring):
        def set_password(self, service: str, user: str, password: str) -> None:
            if user == "firm 2":
                raise OSError("no space")
            super().set_password(service, user, password)

    keyring = FullKeyring()
    store = SecretStore(tmp_path, keyring, part=10)
    store.save("firm", "a token of 40 characters, in four parts!")
    assert (keyring.entries, store.load("firm")) == ({}, "a token of 40 characters, in four parts!")


def test_a_keyring_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    class SilentKeyring(FakeKeyring):
        def get_password(self, service: str, user: str) -> str | None:
            threading.Event().wait()
            return None

    store = SecretStore(tmp_path, SilentKeyring(), answer_s=0.05)
    assert "which only you can read" in store.save("firm", "token")
    assert store.load("firm") == "token"
    with pytest.raises(CommandError, match="The keyring does not answer"):
        store.load("other")


@pytest.mark.parametrize("text", ["[]", "7", '{"a": ', "\xff"])
def test_a_damaged_file_of_tokens_is_named_without_its_content(tmp_path: Path, text: str) -> None:
    (tmp_path / "sign-ins.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CommandError, match=r"sign-ins\.json cannot be read \(it is damaged\)"):
        SecretStore(tmp_path, FakeKeyring()).load("firm")
