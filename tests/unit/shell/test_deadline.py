"""Work that goes on in another invocation stops in time, and not before it began."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shell.deadline import MARGIN_S, build_deadline_check, invocation_deadline


@dataclass
class Context:
    """A Lambda context with so much time left."""

    seconds: float

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return int(self.seconds * 1000)


@pytest.mark.parametrize(("timeout", "margin", "near_at"), [(900, 60, 60), (60, 60, 6), (6, 60, 0.6)])
def test_the_deadline_is_near_within_the_margin_or_a_tenth_of_the_time(
    monkeypatch: pytest.MonkeyPatch, timeout: float, margin: float, near_at: float
) -> None:
    now = 1000.0
    monkeypatch.setattr("shell.deadline.time.monotonic", lambda: now)
    with invocation_deadline(Context(timeout + MARGIN_S)):
        is_near = build_deadline_check(margin)
        assert not is_near()
        now += timeout - near_at - 0.01
        assert not is_near()
        now += 0.02
        assert is_near()


def test_without_an_invocation_it_is_never_near() -> None:
    assert not build_deadline_check(60)()
