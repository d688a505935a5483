"""The benchmark of imports with an ORM that loses a link of the last exhibit that has one."""

from __future__ import annotations

import sys

from sqlalchemy import create_engine, text

from benchmarks.import_rate import main
from benchmarks.imports.rivals import Finished, plain_orm
from benchmarks.imports.sides import RIVALS


def losing(url: str, finished: Finished) -> None:
    """Everything but one link."""
    plain_orm(url, finished)
    made = create_engine(url)
    with made.begin() as connection:
        connection.execute(text("DELETE FROM taggings ORDER BY exhibit_id DESC LIMIT 1"))
    made.dispose()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], rivals={**RIVALS, "orm": losing}))
