"""Tests with one id are refused: pytest-xdist would run the first alone, and nothing would tell."""

from __future__ import annotations

import pytest

from tests.conftest import pytest_xdist_node_collection_finished


def test_tests_with_one_id_are_refused() -> None:
    pytest_xdist_node_collection_finished(["a.py::one", "a.py::two"])
    with pytest.raises(pytest.UsageError, match=r"a\.py::one"):
        pytest_xdist_node_collection_finished(["a.py::one", "a.py::two", "a.py::one"])
