"""Sample files whose truth nobody could argue about, and that show their dialect or come with it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from samples.dialects import PIPE_QUOTE, Quoting
from samples.generator import Generated, generate
from samples.spec import Spec
from samples.strategies import specs


def clear_files() -> st.SearchStrategy[Generated]:
    """Files of all dialects, encodings and faults."""
    return specs().map(lambda spec: generate(told(spec)))


def told(spec: Spec) -> Spec:
    """The spec, with its dialect in the options where a few rows cannot show it."""
    hidden = spec.dialect is PIPE_QUOTE and spec.quoting is Quoting.MINIMAL
    return replace(spec, explicit_dialect=spec.explicit_dialect or hidden or not spec.header)
