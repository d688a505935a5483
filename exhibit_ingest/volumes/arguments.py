"""The arguments of `import` and `check` for a folder or zip."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from exhibit_ingest.errors import WrongUsageError

_MEMBER = re.compile(r"\b(loadFile|imageLoadFile|zipNames|stripPrefix|addPrefix|missingFiles)\b")
ZIP = ".zip"
# Options of the import itself.
_FLAGS = {
    "--verify-hashes": (
        "verify_hashes",
        "read the files of a folder and compare the natives' hashes with the load file's; for a zip always done",
    ),
    "--verify-images": ("verify_images", "open the images and compare their pages with those in the OPT or LFP file"),
}
FILE_OPTIONS = ("strip_prefix", "add_prefix", "missing_files", "verify_hashes", "verify_images")
_OPTIONS = {
    "--load-file": ("load_file", "P", "path of the load file in the folder or zip (default: the only one)"),
    "--image-load-file": ("image_load_file", "P", "path of the OPT or LFP file in it (default: all of one format)"),
    "--add-prefix": ("add_prefix", "P", "the folder in it that the paths of the load files start from, such as VOL001"),
    "--zip-names": ("zip_names", "E", "encoding of names in the zip that do not state theirs, such as cp932"),
}

VOLUME_HELP = """\
A folder or zip is a volume: a DAT, CSV or TXT file and perhaps an OPT or LFP file, in its root or in DATA/, and the
natives, texts and images that these name. It is sent whole, then its load file is imported, then its images. Files that
are missing are warnings of their rows (NATIVE_MISSING, TEXT_MISSING, IMAGE_MISSING). If there are several load files,
the command lists them, and --load-file chooses; of several OPT files, or LFP files, all are imported in the order of
their paths, and --image-load-file chooses one. A folder that holds several volumes, each in a
folder or zip of its own, stands for these: they are imported one after another, in the order of their names. Nothing of
a folder or zip is sent twice: after an interruption, for the import after a check, or for an import with other options,
run the command again. Once all of it is sent, a file that was changed is noticed by its size or time.
docs/volumes.md has the procedure.
With --json: {"volume": {"id", "name", "files", "bytes", "load_file", "image_load_file", "image_load_files",
  "late_files"}, "imports": [the load file, the image load files], "pages": {"lines_seen", "imported", "rejected",
  "documents", "missing_images"}, "files": {"natives_linked", "natives_missing", "texts_linked", "texts_missing",
  "hash_mismatches", "hashes_not_compared": {column: hashes}, "unreferenced", "of_rejected_rows", "paths": [{"kind",
  "found", "found_by_rule": [{"rule", "files", "line", "path", "file"}], "missing", "elsewhere", "first_missing",
  "advice": {"strip_prefix", "add_prefix", "files"}}]}, "found": {"documents", "pages", "natives", "texts", "bates":
  {"first", "last"}}, "error"}; a check has "checks" in place of "imports". "found" is what a sender's letter states.
  "hash_mismatches" is null where no hash was compared. docs/load-files.md lists the rules by which the file of a path
  is found. Several volumes: {"volumes": [such an object for each], "not_sent": [paths beside them], "error"}."""


def add_volume_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a volume is read."""
    group = parser.add_argument_group("options for a folder or zip")
    for option, (name, metavar, text) in _OPTIONS.items():
        group.add_argument(option, dest=name, metavar=metavar, help=text)
    group.add_argument(
        "--strip-prefix",
        metavar="P",
        action="append",
        help=r"what precedes its folders in the load files, such as D:\export; several: repeat the option",
    )
    group.add_argument(
        "--missing-files",
        choices=["warn", "reject"],
        help="whether a row without its native or text, or a document that lacks one of its images, is rejected "
        "(default: warn)",
    )
    for option, (name, text) in _FLAGS.items():
        group.add_argument(option, dest=name, action="store_const", const=True, help=text)


def build_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the members of the request to import a volume that the options name."""
    members = {"loadFile": options.load_file, "imageLoadFile": options.image_load_file, "zipNames": options.zip_names}
    return {name: value for name, value in members.items() if value is not None}


def name_arguments(message: str) -> str:
    """Return a message of the application with the arguments of the command in place of the API's members."""
    return _MEMBER.sub(lambda found: "--" + re.sub("[A-Z]", lambda end: f"-{end[0].lower()}", found[1]), message)


def is_volume(path: Path) -> bool:
    """Return whether the path is a folder or a zip."""
    return path.is_dir() or path.suffix.lower() == ZIP


def check_volume_arguments(options: argparse.Namespace) -> bool:
    """Return whether the command is for volumes.

    Raises WrongUsageError for a volume beside other files, and for options of a volume without one.
    """
    volumes = [path for path in options.files if is_volume(path)]
    if volumes and len(options.files) > len(volumes):
        raise WrongUsageError(f"{volumes[0]} is a folder or zip; {options.command} it with a command of its own")
    names = [
        *(name for name, _, _ in _OPTIONS.values()),
        "strip_prefix",
        "missing_files",
        *(name for name, _ in _FLAGS.values()),
    ]
    given = next((name for name in names if getattr(options, name) is not None), None)
    if given and not volumes:
        raise WrongUsageError(f"--{given.replace('_', '-')} is only for a folder or zip")
    if volumes and options.zip_names and volumes[0].is_dir():
        raise WrongUsageError(f"--zip-names is for a zip, and {volumes[0]} is a folder")
    return bool(volumes)
