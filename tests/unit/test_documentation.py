"""The documentation names what there is: commands, targets, codes, options."""

from __future__ import annotations

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.session import get_session

from core.codes import CheckCode, FileFailure, KeptCode, Rejection, VolumeCode, VolumeFailure, WarningCode
from core.contracts import problems
from core.contracts.problems import ProblemKind
from core.dates import written_dates as dates
from core.dates.notations import read_notation
from core.dates.written_dates import read_date
from core.explanations.tables import TABLES
from core.file_options import FILE_OPTIONS
from core.load_file.field_mapping import FIELDS
from core.load_file.list_values import LIST_OPTIONS
from core.load_file.options import ImportOptions
from core.load_mode import OVERLAY_OPTIONS
from core.volumes.paths import PathRule
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.cli.main import main
from shell.activity_log import ActKind
from shell.tables import metadata
from tools import code_tables, schema_document

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What a newcomer reads and types.
INTRODUCTION = README + (DOCS / "first-session.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DATES = re.compile(r"^\| (.+?) \| (`.+`) \| (\d.+?) \|$", re.MULTILINE)
LOAD_FILES = (ROOT / "docs" / "load-files.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
COSTS = OPERATIONS.partition("\n## What it costs\n")[2]
COMMANDS = sorted(set(re.findall(r"exhibit-ingest (\w[\w-]+)", INTRODUCTION)) - {"import"})
# Of every command of the AWS CLI, and `--cli-binary-format` of those that take bytes.
CLI_OPTIONS = {"query", "output", "cli-binary-format"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_introduction_has_a_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert command in capsys.readouterr().out


OPTIONS = [name for name in ImportOptions.__dataclass_fields__ if name not in ("load_mode", "files", "lists")]
OPTIONS += ["mode", *OVERLAY_OPTIONS, *FILE_OPTIONS, *LIST_OPTIONS]


def test_every_option_of_the_introduction_is_one_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    offered = ""
    for command in ("import", "undo", "serve", "token", "reset", "produce", "custody hold", "backup", "restore"):
        with pytest.raises(SystemExit):
            main([*command.split(), "--help"])
        offered += capsys.readouterr().out
    options = set(re.findall(r"(?<![\w-])--[a-z]+", INTRODUCTION)) - {"--guided", "--env"}
    assert options
    assert [option for option in options if option not in offered] == []


def test_every_target_of_the_introduction_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:^|`)make ([a-z-]+)", INTRODUCTION, flags=re.MULTILINE))
    assert targets >= {"demo", "local", "build"}
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)] == []


@pytest.mark.parametrize("name", ["correcting-a-load.md", "volumes.md"])
def test_every_command_of_a_page_for_people_is_understood(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    commands = re.findall(r"^\.venv/bin/exhibit-ingest (.+)$", page, flags=re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        assert build_parser().parse_args(shlex.split(command)).command == command.split()[0]


def test_every_rule_of_paths_is_explained() -> None:
    for name in ("load-files.md", "volumes.md"):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert [rule for rule in PathRule if f"\n| {rule:d} | " not in page] == []


def test_every_code_is_explained_and_every_explanation_says_what_to_do() -> None:
    codes = {*FileFailure, *Rejection, *WarningCode, *CheckCode, *VolumeCode, *VolumeFailure, *KeptCode}
    assert codes == {code for table in TABLES.values() for code in table.explanations}
    explanations = [each for table in TABLES.values() for each in table.explanations.values()]
    assert [each for each in explanations if not (each.meaning and each.advice)] == []


def test_the_tables_of_codes_are_what_the_explanations_say() -> None:
    assert code_tables.main(["--check"]) == 0, "run: python -m tools.code_tables"


@pytest.mark.parametrize("name", [*sorted(FIELDS), *OPTIONS])
def test_every_field_and_option_is_explained(name: str) -> None:
    assert f"`{name}`" in LOAD_FILES or f'"{name}"' in LOAD_FILES


def test_every_problem_is_explained() -> None:
    kinds = [*problems._KINDS.values(), *(kind for kind in vars(problems).values() if isinstance(kind, ProblemKind))]
    assert [kind for kind in kinds if f"| `{kind.name}` | {kind.status} |" not in API] == []


def test_the_role_of_every_route_is_explained() -> None:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    operations = {f"{m.upper()} {path}": each[m] for path, each in document["paths"].items() for m in each}
    roles = {route: each["security"][0]["token"][0] for route, each in operations.items()}
    explained = {route: role for route, role in roles.items() if (route[:4], role) != ("GET ", "viewer")}
    rows = {f"| `{route}` | {role} |" for route, role in explained.items()}
    assert {row for row in rows if row not in API} == set()


def list_explained_actions(page: str) -> set[str]:
    """The actions in the table of activities: of each row the object, then its actions."""
    section = page.partition("\n## Activities\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE)
    return {f"{kind}.{action}" for kind, actions in rows for action in re.findall(r"`([a-z_]+)`", actions)}


def test_every_activity_is_in_the_table_and_nothing_else() -> None:
    actions = {each.value for each in ActKind}
    assert list_explained_actions(API) == actions
    assert list_explained_actions(API.replace(", `options_changed`", "")) != actions, "it could not fail"


def broken_links(page: Path, text: str) -> list[str]:
    """The links within the repository that name no file, or no title in it."""
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    return [link for link in links if not leads_somewhere(page, *link.partition("#")[::2])]


def leads_somewhere(page: Path, file: str, title: str) -> bool:
    target = page.parent / file if file else page
    return target.exists() and (not title or title in anchors(target.read_text(encoding="utf-8")))


def anchors(text: str) -> set[str]:
    """What GitHub makes of the titles of a page."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_link_to_a_file_or_a_title_that_does_not_exist_is_found() -> None:
    links = ["docs/api.md#roles", "docs/api.md#rules", "docs/nothing.md", "#what-it-costs-a-month", "#what-it-costs"]
    text = " ".join(f"[here]({link})" for link in links)
    assert broken_links(ROOT / "README.md", text) == ["docs/api.md#rules", "docs/nothing.md", "#what-it-costs"]


@pytest.mark.parametrize(("page", "most"), [("README.md", 200), ("CONTRIBUTING.md", 120)])
def test_a_page_for_newcomers_is_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= most


def test_the_schema_document_is_what_the_models_say() -> None:
    assert schema_document.main(["--check"]) == 0, "run: python -m tools.schema_document"


def test_every_table_of_the_schema_document_belongs_to_a_subject() -> None:
    named = [name for names in schema_document.SUBJECTS.values() for name in names]
    assert sorted(named) == sorted(metadata().tables)


def test_a_schema_document_that_is_outdated_or_lacks_a_part_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = schema_document.SCHEMA_DOCUMENT.read_text(encoding="utf-8")
    monkeypatch.setattr(schema_document, "SCHEMA_DOCUMENT", tmp_path / "schema.md")
    schema_document.SCHEMA_DOCUMENT.write_text(text.replace("The case, cases.id", "A number"), encoding="utf-8")
    assert schema_document.main(["--check"]) == 1
    assert "is outdated" in capsys.readouterr().err
    assert schema_document.main([]) == 0
    assert schema_document.SCHEMA_DOCUMENT.read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match="lacks the part tables"):
        schema_document.build_schema_document(text.replace("end of tables", ""))


def aws_commands(text: str) -> list[tuple[str, str, set[str]]]:
    """Service, operation and options of every `aws ...` in the code of a document."""
    code = " ".join(re.sub(r"\\\n", " ", text).split())
    parts = re.split(r"(?:^|[`(\s])aws (?=[a-z-]+ [a-z]+-)", code)[1:]
    found = ((part.split("`")[0], part.split()) for part in parts)
    return [(words[0], words[1], set(re.findall(r"(?<=\s)--([a-z-]+)", own))) for own, words in found]


def test_every_command_of_the_aws_cli_in_the_runbooks_exists() -> None:
    commands = aws_commands(OPERATIONS)
    named = {operation for _, operation, _ in commands}
    assert {"stop-durable-execution", "describe-db-cluster-snapshots", "start-message-move-task"} <= named
    loader = get_session()
    for service, operation, options in commands:
        model = loader.get_service_model(service)
        members = {xform_name(name, "-"): name for name in model.operation_names}
        assert operation in members, f"aws {service} {operation}"
        shape = model.operation_model(members[operation]).input_shape
        known = {xform_name(name, "-") for name in (shape.members if shape else ())} | CLI_OPTIONS
        assert {option.removeprefix("no-") for option in options} <= known, f"aws {service} {operation}"


@pytest.fixture(scope="module")
def costs() -> dict[str, list[tuple[float, float]]]:
    """What each line of the two tables costs, from and to, in its columns."""
    lines = re.findall(r"^\| (.*?) \| ([\d.to |*]+) \|$", COSTS, re.MULTILINE)
    return {
        f"{position} {name}": [figures(cell) for cell in cells.split("|")]
        for position, (name, cells) in enumerate(lines)
    }


def figures(cell: str) -> tuple[float, float]:
    least, _, most = cell.strip(" *").partition(" to ")
    return float(least), float(most or least)


def test_the_costs_add_up(costs: dict[str, list[tuple[float, float]]]) -> None:
    adding: list[list[tuple[float, float]]] = []
    totals = 0
    for name, cells in costs.items():
        if "together" not in name:
            adding.append(cells)
            continue
        sums = [
            (round(sum(low for low, _ in column), 2), round(sum(high for _, high in column), 2))
            for column in zip(*adding, strict=True)
        ]
        assert sums == cells, name
        adding, totals = [], totals + 1
    assert totals == 2


def test_the_costs_of_the_readme_are_those_of_the_calculation(costs: dict[str, list[tuple[float, float]]]) -> None:
    [small, idle, large], [few, many] = (cells for name, cells in costs.items() if "together" in name)
    listed_forms = re.findall(r"^\| (?:idle|a month).* \| ([\d to]+) \|$", README, re.MULTILINE)
    added = [tuple(round(idle[0] + each) for each in some) for some in ((0.0, 0.0), few, many)]
    assert [figures(cell) for cell in listed_forms] == [added[0], small, *added[1:]]
    sizes = re.search(r"^\| US dollars of an idle month .*? \| (.*) \|$", OPERATIONS, re.MULTILINE)
    assert sizes
    assert [figures(cell) for cell in sizes[1].split("|")] == [small, idle, large]


def test_every_test_that_the_rules_of_overlays_and_undos_name_exists() -> None:
    document = (ROOT / "docs" / "overlay-and-undo.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", document))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name in named if f"def {name}(" not in sources} == set()
    assert len(named) > 40


def test_dates_are_read_as_the_document_says_and_every_form_is_in_it() -> None:
    section, _, refused = LOAD_FILES.partition("\n### How dates are written\n")[2].partition("\nVersions before")
    listed = [
        (text, "DMY" if "`DMY`" in notation else "MDY", expected)
        for notation, examples, expected in DATES.findall(section)
        for text in re.findall("`(.+?)`", examples)
    ]
    assert len(listed) > 20
    assert [each for each in listed if describe_date(*each[:2]) != each[2]] == []
    table = refused.partition("| also read")[2].partition("\nAnything")[0]
    newer = re.findall(r"^\| [^|]+\| ([^|]+) \|", table, re.MULTILINE)
    added = [text for examples in newer for text in re.findall("`(.+?)`", examples)]
    assert len(added) > 10
    assert [text for text in added if read_date(text, "MDY") or not read_notation(text, "MDY")] == []
    others = re.findall("`(.+?)`", refused.partition("other zones:")[2].partition(". ")[0])
    assert [text for text in others if any(read_date(text, order) for order in ("DMY", "MDY"))] == []
    assert len(others) > 5
    listed_forms = [[match for text, *_ in listed if (match := form.fullmatch(text))] for form in dates._FORMS]
    assert all(listed_forms), "each form has an example"
    groups = {name for form in dates._FORMS for name in form.groupindex}
    assert {
        name for form in listed_forms for match in form for name, value in match.groupdict().items() if value
    } == groups


def describe_date(text: str, order: str) -> str | None:
    """The date as the document writes what is stored."""
    found = read_date(text, order)
    if found is None:
        return None
    timestamp = found.local - (found.offset or timedelta())
    zone = "" if found.offset is None else " UTC"
    return str(timestamp) + zone if found.has_time else f"{timestamp:%Y-%m-%d}"
