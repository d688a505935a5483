"""Whatever decides the values of rows is in the identity of their reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import core
from shell.imports.rows.reader_identity import list_sources

ROOT = Path(str(core.__file__)).parent.parent
# Of what reads rows: packages without code, what makes no value of a cell, and what only stores values.
WITHOUT_VALUES = {
    *("core", "core.codes", "core.error_chain", "core.errors", "core.pagination"),
    *("core.tenants", "core.tenants.labels"),
    *("shell", "shell.db", "shell.db.bulk_insert", "shell.db.errors", "shell.db.session_variables"),
    *("shell.db.sql_literals", "shell.db.value_lists", "shell.imports", "shell.observability", "shell.settings"),
    *("shell.tables", "shell.tables.base", "shell.tables.chunks", "shell.utils"),
}
READ = """
import sys
import core.load_file.chunk_reader, core.load_file.rows
import shell.imports.rows.columnar_rows, shell.imports.rows.coercion, shell.imports.rows.column_effects
print(*(name for name in sys.modules if name.partition(".")[0] in ("core", "shell")))
"""


def test_the_identity_covers_all_that_reads_rows() -> None:
    run = subprocess.run([sys.executable, "-c", READ], cwd=ROOT, capture_output=True, text=True, check=True)
    covered = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in list_sources()}
    covered = {name.removesuffix(".__init__") for name in covered}
    assert set(run.stdout.split()) - covered == WITHOUT_VALUES
