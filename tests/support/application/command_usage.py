"""Commands that are called wrongly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest


def assert_refused(
    main: Callable[[Sequence[str]], int], arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with 2 before it does anything, and names the argument that it could not read."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err
