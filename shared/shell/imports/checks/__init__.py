"""Check a load file before it is imported, whatever its size: what needs the whole file, the result, and the run after.

Each chunk packs the facts of the rows that it would import, and one reduction reads the facts of all chunks, in any
order, and yields the findings:

    columns = FactColumns.find(layout)                          # core.checks.fact_columns; once for a file
    packed = pack_facts(filter(None, map(columns.read_row, rows)))      # core.checks.facts; bytes of one chunk

    for finding in find_file_findings(chunks, case_rows, find_in_case, folder, columns.names):
        ...                                                     # shell.imports.checks.file_findings

`chunks` is an iterable of such bytes. `case_rows` yields the case's CaseRow (control number, first and last Bates
number), in any order; it may leave out exhibits without Bates numbers. `find_in_case` returns which of up to 1,000
control numbers the case holds. `folder` is an empty folder for temporary files, which the caller deletes.

Guaranteed: the findings are exact and the same in whatever order the chunks come; they are yielded one by one, so that
a million gaps are a million findings. Control numbers are unique in the facts: rows that the import rejects are left
out. Names and dates have functions of their own: `shell.imports.checks.similar_names`, `core.checks.dates`.

The findings of a kind come together, in no order that means anything. A row takes about DISK_BYTES_PER_ROW bytes of
disk in `folder`, an exhibit of the case half of that: 2 GB are enough for 6 million rows.
"""
