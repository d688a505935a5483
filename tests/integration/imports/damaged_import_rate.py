"""The benchmark of imports with an ORM that loses a link of the last exhibit that has one."""

from __future__ import annotations

import sys

from sqlalchemy import create_engine, text

from benchmarks.import_rate import main
from benchmarks.imports.baselines import FinishedRows, orm_tutorial
from benchmarks.imports.contenders import BASELINES


def losing(url: str, finished: FinishedRows) -> None:
    """Everything but one link."""
    orm_tutorial(url, finished)
    made = create_engine(url)
    with made.begin() as connection:
        connection.execute(text("DELETE FROM taggings ORDER BY exhibit_id DESC LIMIT 1"))
    made.dispose()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], baselines={**BASELINES, "orm": losing}))
