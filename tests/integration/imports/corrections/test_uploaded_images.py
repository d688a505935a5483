"""Images follow the rows of an uploaded correction, also those that a retry of it imports."""

from __future__ import annotations

from typing import Any

import complete_import
import handle_failed_chunk
import start_import
from tests.integration.imports.corrections.test_uploaded_corrections import announce, give_ids, put, read_error_file
from tests.integration.imports.corrections.test_uploaded_corrections import upload as upload_file
from tests.integration.volumes.test_corrected_images import check_open, import_volume, list_followed
from tests.integration.volumes.volume_requests import finish_imports
from tests.support.application.driver import World, call, completion_messages
from tests.support.imports.corrected_rows import CLIENT
from tests.support.imports.image_load_files import page_counts, results


def test_images_follow_an_uploaded_correction(world: World) -> None:
    rows, images = import_volume(world)
    correction = upload_file(world, rows, give_ids(read_error_file(world, rows), {3: "A-2"}))
    finish_imports(world)
    (followed,) = list_followed(world, correction)
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-4": 1}
    check_open(world, images, 2)


def test_images_follow_the_chunk_that_is_retried(world: World, chunk_rows: Any) -> None:
    rows, images = import_volume(world)
    # The id of line 4 is one that another row has.
    text = give_ids(read_error_file(world, rows), {3: "A-2", 4: "A-3"}).replace("A-3A-1", "A-3")
    chunk_rows(1)
    announced = announce(rows)
    assert call(start_import.lambda_handler, put(world, announced.json, text))
    correction = int(announced.json["id"])
    first, second = world.chunk_messages()
    assert world.import_chunk(first)
    assert call(handle_failed_chunk.lambda_handler, {**second, "redrive": 1})
    for message in completion_messages():
        assert call(complete_import.lambda_handler, message)
    finish_imports(world)
    assert len(list_followed(world, correction)) == 1
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-4": 1}
    assert CLIENT.post(f"/imports/{correction}/retry").status == 200
    finish_imports(world)
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    finish_imports(world)
    assert len(list_followed(world, correction)) == 2
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-3": 1, "A-4": 1}
    check_open(world, images, 1)
