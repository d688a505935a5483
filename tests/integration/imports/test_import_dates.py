"""The dates of a file in the database: with their times, zones and precisions, and as earlier versions left them."""

from __future__ import annotations

from datetime import datetime

from tests.support.application.driver import World

FILE = b"""DOCID,Title,Date Sent,Time Sent,Date Received
A-1,Memo,5/21/2001,14:30,21/6/2001
A-2,,,,22/6/2001 10:00
A-3,,10/28/2001,1:30,
A-4,,10/28/2001,noon,
A-5,,,,
A-6,,10/28/2001 00:00,,
"""
STORED = (
    "SELECT document_date, date_sent, date_received, date_created, date_modified, document_date_source, date_precision "
    "FROM exhibits ORDER BY control_number"
)
# The row hash of A-1 as the version before these dates computed it.
EARLIER_HASH = "27d85ec3e0bf61458aec75e0aa97f08cf2dc127719f195906d5e00069ea8cd5f"


def test_each_date_is_stored_with_its_precision_and_where_the_document_date_is_from(world: World) -> None:
    import_id = world.run(FILE, time_zone="America/New_York")
    sent, received = datetime(2001, 5, 21, 18, 30), datetime(2001, 6, 22, 14)
    autumn, day = datetime(2001, 10, 28, 5, 30), datetime(2001, 10, 28)
    assert [tuple(row) for row in world.query(STORED)] == [
        (sent, sent, datetime(2001, 6, 21), None, None, "date_sent", "UUD--"),
        (received, None, received, None, None, "date_received", "U-U--"),
        (autumn, autumn, None, None, None, "date_sent", "UU---"),
        (day, day, None, None, None, "date_sent", "DD---"),
        (None, None, None, None, None, None, None),
        (day, day, None, None, None, "date_sent", "DD---"),
    ]
    warnings = world.query("SELECT line_no, code, column_name, original FROM import_warnings ORDER BY line_no")
    assert [tuple(row) for row in warnings] == [
        (4, "AMBIGUOUS_TIME", "Date Sent", b"10/28/2001"),
        (5, "INVALID_TIME", "Time Sent", b"noon"),
    ]
    orders = world.query("SELECT date_orders FROM imports WHERE id = :id", id=import_id)
    assert orders == [('{"document_date": "MDY", "date_sent": "MDY", "date_received": "DMY"}',)]


def test_the_same_file_again_is_unchanged_and_with_another_zone_it_is_not(world: World) -> None:
    world.run(FILE, time_zone="America/New_York")
    counts = "SELECT unchanged, rejected FROM imports WHERE id = :id"
    assert world.query(counts, id=world.run(FILE, time_zone="America/New_York")) == [(6, 0)]
    # The rows that have a time: the others are days, or have no date.
    assert world.query(counts, id=world.run(FILE, time_zone="Europe/Berlin")) == [(3, 3)]


def test_what_an_earlier_version_stored_is_unchanged_and_is_not_filled(world: World) -> None:
    first = FILE[: FILE.index(b"A-2")]
    world.run(first)
    erase = "date_sent = NULL, date_received = NULL, document_date_source = NULL, date_precision = NULL"
    world.query(
        f"UPDATE exhibits SET {erase}, document_date = '2001-05-21', row_hash = UNHEX(:hash)", hash=EARLIER_HASH
    )
    before = world.query("SELECT * FROM exhibits")
    import_id = world.run(first)
    assert world.query("SELECT imported, unchanged FROM imports WHERE id = :id", id=import_id) == [(0, 1)]
    assert world.query("SELECT * FROM exhibits") == before
    # Of a row that differs, the dates that could not be stored then are not among the differences.
    changed = world.run(first.replace(b"Memo", b"Letter"))
    (message,) = world.query("SELECT message FROM import_rejections WHERE import_id = :id", id=changed)[0]
    assert "Title" in message
    assert "Date Received" not in message


def test_a_column_without_a_clear_order_is_named_in_its_own_warning(world: World) -> None:
    world.run(b"DOCID,Date Sent,Date Received,Date Created\nA,1/2/2001,21/2/2001,21/2/2001\nB,,1/2/2001,2/21/2001\n")
    warnings = world.query("SELECT code, column_name FROM import_warnings WHERE line_no = 0 ORDER BY code")
    assert [tuple(row) for row in warnings] == [
        ("AMBIGUOUS_DATE_ORDER", "Date Sent"),
        ("MIXED_DATE_ORDER", "Date Created"),
    ]
