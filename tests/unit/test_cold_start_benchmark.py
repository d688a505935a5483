"""The benchmark of cold starts: what it measures, what it says, and when it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.cold_start import GOAL, Figures, main
from benchmarks.import_timing import ImportedModules, SourceTree


class Scripted(SourceTree):
    """SourceTree whose handlers are imported for once, and then take so many milliseconds."""

    def milliseconds(self, statements: str) -> float:
        return {"import light": 130.0, "import heavy": 110.0}.get(statements, 100.0)

    def together(self, handler: str, imported: ImportedModules) -> float:
        return {"light": 1.15, "heavy": 1.16}[handler]


@pytest.fixture
def sources(tmp_path: Path) -> SourceTree:
    made = Scripted(tmp_path / "functions", tmp_path / "a shared folder")
    made.functions.mkdir()
    made.shared.mkdir()
    for name in ("light", "heavy"):
        (made.functions / f"{name}.py").write_text("import yaml\n")
    return made


def test_a_handler_over_the_goal_is_named_and_ends_it_with_an_error(
    sources: SourceTree, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("--json", "--rounds", "2", "--handlers", "light"), sources) == 0
    [light] = json.loads(capsys.readouterr().out)["handlers"]
    assert (light["ratio"], light["ratio_apart"], light["bare"]) == (1.15, 1.3, ["import yaml"])
    assert main(("--rounds", "1"), sources) == 1
    out, err = capsys.readouterr()
    assert [row.split()[1] for row in out.splitlines()[2:]] == ["heavy", "light"]
    assert "above the goal of 1.15: heavy (1.16);" in err


def test_what_our_own_code_does_when_it_is_imported_is_counted(sources: SourceTree) -> None:
    (sources.functions / "busy.py").write_text("import yaml\nsum(range(5_000_000))\n")
    measured = Figures("busy", sources.imported("busy"))
    measured.measure(SourceTree(sources.functions, sources.shared), bare_first=True)
    assert min(measured.ratio, measured.apart) > GOAL
    assert min(measured.bare) > 0


def test_the_ratios_are_the_medians_of_the_rounds_own() -> None:
    ours, bare, together = [110.0, 220.0, 900.0], [100.0, 200.0, 300.0], [1.0, 1.2, 3.0]
    figures = Figures("any", ImportedModules({}, frozenset()), ours, bare, together)
    assert figures.apart == pytest.approx(1.1)
    assert figures.ratio == 1.2
