"""Cases that are closed, held or purged without what keeps requests out of them."""

from __future__ import annotations

from tests.torture.protections.switch import Switch, instead, reword

_FENCE = "shell.case_state.fence"


def _refusals() -> None:
    instead(f"{_FENCE}:find_refusal", lambda *_, **__: None)


def _lock() -> None:
    reword(f"{_FENCE}:_SHARED", " LOCK IN SHARE MODE", "")


OF_CASES = {
    "case-fence": Switch(
        "a request changes a case that is closed, held or being purged", "case_state.fence", _refusals
    ),
    "case-lock": Switch("a request reads without a lock whether its case is open", "case_state.fence", _lock),
}
