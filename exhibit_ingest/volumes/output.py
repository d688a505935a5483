"""The figures of a volume: members of the JSON object, and a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exhibit_ingest.session.output import to_snake
from exhibit_ingest.volumes.path_lines import Document, describe_paths

_PAGES = ("lines_seen", "imported", "rejected", "documents", "missing_images")
# Each import has these of the whole volume, as of its end.
_OF_ALL = ("unreferenced", "of_rejected_rows")
_FILES = ("natives_linked", "natives_missing", "texts_linked", "texts_missing", "hash_mismatches", *_OF_ALL)


def build_figures(volume: Document | None, imports: Sequence[Mapping[str, Any]]) -> Document:
    """Return the members `volume`, `pages` and `files`; `imports` are those of the volume as the API has them."""
    described = volume and {
        **{name: volume[name] for name in ("id", "name", "files", "bytes")},
        "load_file": volume["loadFile"],
        "image_load_file": volume["imageLoadFile"],
        "image_load_files": volume["imageLoadFiles"],
        "late_files": volume["lateFiles"],
    }
    files = _add(imports, "files", _FILES)
    if files is not None:
        files["hashes_not_compared"] = _add_uncompared(imports)
        if paths := _list_paths(imports):
            files["paths"] = paths
    return {"volume": described, "pages": _add(imports, "pages", _PAGES), "files": files}


def _add_uncompared(imports: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return by column how many hashes of the load files were not compared."""
    counts: Counter[str] = Counter()
    for each in imports:
        counts.update({one["column"]: one["hashes"] for one in (each.get("files") or {}).get("hashesNotCompared", [])})
    return dict(counts)


def _add(imports: Sequence[Mapping[str, Any]], member: str, names: Sequence[str]) -> Document | None:
    """Return the sums over the imports; null where no import has the member, or a figure is not known of any."""
    found = [each[member] for each in imports if each.get(member)]
    if not found:
        return None
    known = {name: [each[_to_camel(name)] for each in found if each[_to_camel(name)] is not None] for name in names}
    figures: Document = {name: sum(values) if values else None for name, values in known.items()}
    return figures | {name: known[name][-1] for name in _OF_ALL if known.get(name)}


def _list_paths(imports: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Return how the paths were found, by kind of file; of an earlier version it is not known."""
    found = [one for each in imports for one in (each.get("files") or {}).get("paths") or []]
    return [to_snake(each) for each in found]


def _to_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def print_figures(figures: Document, console: Console, *, is_check: bool = False) -> None:
    """Print a table of natives, texts and images, and sentences about the rest; `is_check`: nothing was imported."""
    volume, files, pages = figures["volume"], figures["files"], figures["pages"]
    if volume:
        table = Table(box=box.SIMPLE)
        table.add_column(Text(f"{volume['name']}: {volume['files']:,} files"), overflow="fold")
        for name in ("found", "missing"):
            table.add_column(name, justify="right")
        for row in _list_rows(files, pages):
            table.add_row(*row)
        console.print(table)
    for line in _list_lines(figures, is_check=is_check):
        console.print(line, soft_wrap=True, markup=False)


def _list_rows(files: Document | None, pages: Document | None) -> Iterator[tuple[str, str, str]]:
    if files:
        for kind in ("natives", "texts"):
            yield kind, f"{files[f'{kind}_linked']:,}", f"{files[f'{kind}_missing']:,}"
    if pages:
        found = pages["lines_seen"] - pages["rejected"] - pages["missing_images"]
        yield "images", f"{found:,}", f"{pages['missing_images']:,}"


def _list_lines(figures: Document, *, is_check: bool) -> Iterator[str]:
    volume, files = figures["volume"], figures["files"]
    if volume and volume["late_files"]:
        yield f"LATE_FILE {volume['late_files']:,}: files that arrived too late and are not in the volume"
    paths = files.get("paths", []) if files else []
    yield from describe_paths(paths, is_imported=not is_check)
    if files and not paths and _lacks_all(files):
        yield (
            "No file of a row was found. If the paths of the load file begin with folders that the volume does not"
            r" have, name these: --strip-prefix VOL001, --strip-prefix D:\export."
            + ("" if is_check else " Then import it again with --mode append_overlay.")
        )
    for column, hashes in (files["hashes_not_compared"] if files else {}).items():
        are = "hash was" if hashes == 1 else "hashes were"
        compare = f"To compare {'it' if hashes == 1 else 'them'}, use --verify-hashes."
        yield f"Column {column}: {hashes:,} {are} not compared. {compare}"
    if files and files["hash_mismatches"]:
        yield f"HASH_MISMATCH {files['hash_mismatches']:,}: hashes of the load file that are not those of the natives"
    if files and files["unreferenced"]:
        yield f"UNREFERENCED_FILE {files['unreferenced']:,}: files of the volume that no row and no page names"
    if files and files["of_rejected_rows"]:
        yield f"FILE_OF_REJECTED_ROW {files['of_rejected_rows']:,}: files of the volume that only rejected rows name"


def _lacks_all(files: Document) -> bool:
    found = files["natives_linked"] + files["texts_linked"]
    return not found and files["natives_missing"] + files["texts_missing"] > 0


def describe_sent(sent: str | None) -> str:
    """Return what of a folder or zip was sent before an interruption, and how to go on; None if nothing was."""
    if sent is None:
        return "Nothing was sent."
    return f"{sent} were sent. Nothing was imported. Run the same command again to send the rest."
