"""The decoder of TIFF files of the console, run by Node, and files for it."""

from __future__ import annotations

import io
import json
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from tests.support.console.packer import CONSOLE, NODE, bundle


class Decoder:
    """A process that decodes one page after the other."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._file = process, folder / "page.tif"

    def decode(self, data: bytes, page: int = 1) -> dict[str, Any]:
        """Return the size of a page and the hash of its pixels, or the code of the fault."""
        self._file.write_bytes(data)
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"path": str(self._file), "page": page}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"code": "the process has ended"}')
        return answer


@contextmanager
def run_decoder(folder: Path) -> Iterator[Decoder]:
    """Yield a decoder that has its files in the folder."""
    module = folder / "decode.mjs"
    tests = CONSOLE / "tests" / "viewer"
    bundle(tests / "entry.ts", module, "--format", "esm", "--platform", "node")
    command = [NODE, tests / "pages.mjs", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        yield Decoder(process, folder)
        assert process.stdin
        process.stdin.close()


def draw_page(number: int, size: tuple[int, int] = (850, 1100), mode: str = "1") -> Image.Image:
    """Return a page with its number and lines of words."""
    page = Image.new(mode, size, "white")
    pen, words = ImageDraw.Draw(page), random.Random(number)
    high = size[1] // 60
    pen.text((high, high), f"Page {number}", fill="black", font_size=2 * high)
    for top in range(5 * high, size[1] - 2 * high, 2 * high):
        line = " ".join("".join(words.choices("aeilmnorst", k=words.randint(2, 9))) for _ in range(12))
        pen.text((high, top), line, fill="black", font_size=high)
    return page


def write_tiff(*pages: Image.Image, **options: Any) -> bytes:
    """Return a TIFF file of pages, with Group 4 unless something else is said."""
    written = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": pages[1:]} if len(pages) > 1 else {}
    pages[0].save(written, "TIFF", **{"compression": "group4", "dpi": (200, 200), **more, **options})
    return written.getvalue()
