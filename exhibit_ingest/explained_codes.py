"""Counts by code with what each code means and what to do about it, as the command prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.explanations.tables import Consequence, get_explanation


def explain_codes(counts: Mapping[str, int], consequence: Consequence, *, of_images: bool = False) -> Iterator[str]:
    """Yield a line for each code; that of a code of a newer version of the stack has its count alone."""
    for code, count in counts.items():
        yield f"  {code} {count:,}{_explain(code, consequence, of_images=of_images)}"


def _explain(code: str, consequence: Consequence, *, of_images: bool) -> str:
    try:
        explanation = get_explanation(code, consequence, of_images=of_images)
    except KeyError:
        return ""
    return f": {explanation.plain_meaning}. What to do: {explanation.plain_advice}."
