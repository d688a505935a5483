"""Units of the application whose server turns read-only under them, at any statement, and stays away for a while."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from samples.generator import generate
from samples.spec import Spec
from shell.db import retry
from shell.imports.chunks.failed_chunks import handle_failed_chunk
from shell.utils.idempotency import once_per_key
from shell.work.messages import ChunkMessage
from tests.support.application.driver import World
from tests.support.faults.commit_proxy import CommitProxy, Loss
from tests.support.faults.refusing_proxy import RefusingProxy
from tests.support.faults.tcp_proxy import application_behind
from tests.support.imports.accounting import assert_accounted
from tests.support.utils.counted_effects import Effects, asking, effect

pytestmark = pytest.mark.slow

# A failover takes longer than the attempts that are made against a deadlock.
LOGINS = 7


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the refused logins take on a busy machine, the application goes on trying."""
    monkeypatch.setattr(retry, "FAILOVER_PATIENCE", 10_000)


@pytest.fixture
def effects(world: World) -> Effects:
    """The effects of a clean world."""
    return Effects(world)


@pytest.fixture
def proxy(world: World) -> Iterator[RefusingProxy]:
    """The application's way to the database."""
    with application_behind(RefusingProxy, world.engine.url) as made:
        yield made


def delivered(world: World, proxy: RefusingProxy, number: int, refused: int) -> int:
    """Import a file whose chunk loses the writer at that statement, if at any; returns how many statements it took."""
    made = generate(Spec(rows=6))
    import_id = world.start(made.data, case=f"Case {number}")
    (message,) = world.chunk_messages()
    before = proxy.statements
    proxy.refuse(refused, break_logins=LOGINS)
    assert world.import_chunk(message)
    taken = proxy.statements - before
    assert_accounted(world, import_id, made.truth)
    return taken


def test_a_chunk_is_imported_once_at_whichever_statement_the_writer_is_lost(
    world: World, proxy: RefusingProxy, race_counts: int
) -> None:
    # The first chunk of a process asks once for what it remembers.
    statements = [delivered(world, proxy, -each, refused=0) for each in range(2)][-1]
    tried = range(1, statements + 1, 1 + race_counts // 2)
    for number, statement in enumerate(tried, 1):
        logins = proxy.logins
        delivered(world, proxy, number, refused=statement)
        assert len(proxy.refused) == number
        assert proxy.logins == logins + LOGINS + 1, "the next attempt runs on a new connection"
    assert statements > 20


@pytest.fixture
def losing(world: World) -> Iterator[CommitProxy]:
    """A way to the database on which COMMITs are lost."""
    with application_behind(CommitProxy, world.engine.url) as made:
        yield made


# What is looked up, the names, and the rows with the chunk's own state.
@pytest.mark.parametrize("commits_before", range(4))
@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_a_chunk_is_imported_once_whichever_commit_is_lost(
    world: World, losing: CommitProxy, loss: Loss, commits_before: int
) -> None:
    made = generate(Spec(rows=6))
    import_id = world.start(made.data)
    (message,) = world.chunk_messages()
    losing.lose_next(loss, after=commits_before)
    assert world.import_chunk(message)
    assert losing.lost == 1
    assert_accounted(world, import_id, made.truth)


# What is looked up is read; of what gives the chunk up, the answer is what an operator reads.
@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_a_chunk_is_given_up_and_reported_once_whether_its_commit_or_the_answer_is_lost(
    world: World, losing: CommitProxy, loss: Loss, capsys: pytest.CaptureFixture[str]
) -> None:
    world.start(generate(Spec(rows=6)).data)
    (message,) = world.chunk_messages()
    losing.lose_next(loss)
    handle_failed_chunk(ChunkMessage.read(message | {"redrive": 1}))
    assert losing.lost == 1
    assert capsys.readouterr().out.count('"ChunksFailed":[1.0]') == 1
    assert world.query("SELECT status, rejected FROM import_chunks") == [("failed", 6)]


@pytest.mark.parametrize("statement", range(1, 9))
def test_a_request_has_one_effect_at_whichever_statement_the_writer_is_lost(
    effects: Effects, proxy: RefusingProxy, statement: int
) -> None:
    logins = proxy.logins
    proxy.refuse(statement, break_logins=LOGINS)
    first = once_per_key(asking(), effect())
    again = once_per_key(asking(), effect())
    assert (len(proxy.refused), proxy.logins - logins) == (1, LOGINS + 1)
    assert (again.body, again.is_replay) == (first.body, True)
    assert effects.count() == 1
