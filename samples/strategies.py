"""Hypothesis strategies for specs of small files.

Guarantees: every spec drawn can be generated; examples shrink towards one row of a Concordance file without faults.
Does not guarantee: that every fault drawn is placed; `Generated.planted` lists the placed ones.
"""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from samples.columns import ALL_ROLES, IdStyle, Role
from samples.dates import DateFormat
from samples.dialects import DIALECTS, ENCODINGS, Dialect, Quoting
from samples.spec import Fault, FaultKind, Spec, supports
from samples.words import Alphabet

# A fault of 70,000 characters makes examples slow to print and to shrink.
FAULT_KINDS = tuple(kind for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY)


def quotings(dialect: Dialect) -> list[Quoting]:
    """Return the quoting styles in which every cell of the dialect can be written."""
    if not dialect.qualifier:
        return [Quoting.MINIMAL]
    return list(Quoting) if dialect.delimiter not in ",;" else [Quoting.ALL, Quoting.MINIMAL]


def role_sets() -> st.SearchStrategy[frozenset[Role]]:
    """Return a strategy for column sets: the id, three fixed columns, and any others; family begin and end together."""
    loose = sorted(ALL_ROLES - {Role.ID, Role.TITLE, Role.FAMILY_BEGIN, Role.FAMILY_END}, key=lambda role: role.value)
    fixed = {Role.ID, Role.TITLE, Role.CUSTODIAN, Role.DOCUMENT_DATE}
    families = st.sampled_from([frozenset[Role](), frozenset({Role.FAMILY_BEGIN, Role.FAMILY_END})])
    return st.builds(lambda some, family: frozenset(fixed | some | family), st.sets(st.sampled_from(loose)), families)


@st.composite
def specs(
    draw: st.DrawFn,
    *,
    max_rows: int = 8,
    dialects: Sequence[Dialect] = DIALECTS,
    encodings: Sequence[str] = ENCODINGS,
    fault_kinds: Sequence[FaultKind] = FAULT_KINDS,
    headers: Sequence[bool] = (True, False),
    db_charset: str = "utf8mb3",
) -> Spec:
    """Draw a spec of up to `max_rows` rows; pass `fault_kinds=()` for files without faults."""
    dialect = draw(st.sampled_from(dialects))
    header = draw(st.sampled_from(headers))
    shape = draw(_shapes(max_rows, draw(st.sampled_from(quotings(dialect))), header and draw(st.booleans())))
    encoding = draw(st.sampled_from(encodings))
    bare = replace(shape, dialect=dialect, encoding=encoding, header=header, db_charset=db_charset)
    return draw(_with_faults(bare, fault_kinds))


_FLAGS = (
    "final_newline",
    "blank_lines",
    "padded_ids",
    "spaced_values",
    "ambiguous_dates",
    "date_order_given",
    "newline_marks",
    "embedded_newlines",
    "embedded_lf",
    "explicit_dialect",
)


def _shapes(max_rows: int, quoting: Quoting, trailing_delimiter: bool) -> st.SearchStrategy[Spec]:
    return st.builds(
        Spec,
        rows=st.integers(1, max_rows),
        seed=st.integers(0, 2**32),
        quoting=st.just(quoting),
        newline=st.sampled_from(["\r\n", "\n", "\r"]),
        trailing_delimiter=st.just(trailing_delimiter),
        roles=role_sets(),
        id_style=st.sampled_from(IdStyle),
        id_position=st.integers(0, 2),
        properties=st.integers(0, 4),
        alphabets=st.frozensets(st.sampled_from(Alphabet)),
        custodians=st.integers(0, 6),
        hot_custodian=st.sampled_from([None, "Hot, Harriet"]),
        date_format=st.sampled_from(DateFormat),
        convert_marks=st.sampled_from([None, True, False]),
        spice=st.sampled_from([0.0, 0.5, 1.0]),
        **{flag: st.booleans() for flag in _FLAGS},
    )


def _with_faults(spec: Spec, kinds: Sequence[FaultKind]) -> st.SearchStrategy[Spec]:
    possible = [kind for kind in kinds if supports(spec, kind)]
    if not possible:
        return st.just(spec)
    faults = st.lists(st.sampled_from(possible).map(Fault), max_size=spec.rows)
    return faults.map(lambda drawn: replace(spec, faults=tuple(drawn)))
