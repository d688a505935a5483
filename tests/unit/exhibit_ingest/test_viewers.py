"""Evidence is opened only if a viewer shows it; everything that a system would run is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exhibit_ingest.catalog.viewers import build_file_name, is_opened, open_file
from exhibit_ingest.errors import CommandError

RUN_BY_SYSTEMS = (
    *("exe", "com", "bat", "cmd", "msi", "scr", "pif", "cpl", "dll", "js", "jse", "vbs", "vbe", "wsf", "wsh", "hta"),
    *("ps1", "psm1", "lnk", "url", "scf", "reg", "inf", "jar", "jnlp", "chm", "application", "appref-ms", "msc"),
    *("desktop", "sh", "run", "AppImage", "bin", "py", "pl", "rb", "php", "deb", "rpm"),
    *("app", "command", "tool", "workflow", "webloc", "terminal", "scpt", "pkg", "dmg"),
    *("html", "htm", "xhtml", "shtml", "mht", "mhtml", "svg", "xml", "xsl", "swf"),
    *("docm", "dotm", "xlsm", "xlsb", "xltm", "xlam", "xll", "pptm", "ppam", "sldm", "iqy", "slk", "csv", "tsv"),
    *("zip", "7z", "rar", "iso", "img", "vhd", "vhdx", "cab", "rdp", "library-ms", "settingcontent-ms", ""),
)


@pytest.mark.parametrize("extension", RUN_BY_SYSTEMS)
def test_a_type_that_could_run_is_not_opened(extension: str, tmp_path: Path) -> None:
    for path in (f"N\\1.{extension}", f"1.pdf.{extension}", f"N/1.{extension.upper()}"):
        assert not is_opened(path)
    file = tmp_path / f"1.{extension}"
    file.touch()
    with pytest.raises(CommandError, match="not one that viewers show"):
        open_file(file)


@pytest.mark.parametrize(
    "path", ["1.pdf ", "1.pdf.", "1.pdf\u202e", "1.exe\u200bpdf", "pdf", ".", "1.pdf:x", "a.pdf/b"]
)
def test_an_extension_that_only_looks_like_one_is_not_opened(path: str) -> None:
    assert not is_opened(path)


@pytest.mark.parametrize("path", ["N\\1.PDF", "N/1.msg", "page.TIF", "x.exe.docx", ".txt"])
def test_a_type_that_viewers_show_is_opened(path: str) -> None:
    assert is_opened(path)


@given(st.text(min_size=1), st.sampled_from(["native", "page-3"]), st.text())
def test_a_file_name_is_harmless_on_every_system(control_number: str, part: str, path: str) -> None:
    name = build_file_name(control_number, part, path)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,120}(\.[a-z0-9]{1,10})?", name)
    assert is_opened(name) == is_opened(path)


@pytest.mark.parametrize("number", ["CON", "nul", "COM1", "../../etc/passwd", "-rf", ".hidden", "a:b", "\u202e"])
def test_a_control_number_is_neither_a_device_nor_a_path_nor_an_option(number: str) -> None:
    name = build_file_name(number, "native", "1.pdf")
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*-native\.pdf", name)
