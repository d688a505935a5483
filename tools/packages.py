"""The packages of this repository and what each of them may import.

`python -m tools.packages` prints the packages, figures of the tree and counts of its words; `--root PATH` measures
another tree, such as an older commit unpacked by `git archive`. tests/unit/test_architecture.py enforces ALLOWED.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.measures import format_figures, format_packages
from tools.sources import ROOT, Source, all_sources
from tools.words import format_words

# What may import what, from the lowest package to the highest: `package: packages and modules that it may import`.
# A word in capitals is a line of its own above.
_RULES = """
BASE: shell.settings shell.observability shell.deadline core core.tenants
UTILS: shell.utils shell.db shell.aws BASE
DOMAIN: shell.activity_log shell.case_state shell.exhibits shell.families core.families shell.outbox shell.tables
  shell.work shell.zones shell.tenants core.contracts UTILS
core:
core.cells: core
core.dates: core
core.texts: core
core.load_file: core core.cells core.dates core.texts
core.explanations: core
core.image_load_file: core core.load_file
core.families: core core.cells core.load_file
core.imports: core core.cells core.dates core.image_load_file core.load_file core.texts
core.productions: core core.load_file
core.checks: core core.cells core.load_file core.families core.productions
core.exports: core
core.tenants: core core.imports.uploads
core.volumes: core core.load_file core.checks
core.contracts: core core.tenants core.dates core.exports core.load_file core.families core.imports core.productions
core.purges: core core.contracts
shell.settings: core
shell.deadline:
shell.observability: core core.tenants
shell.prefetch:
shell.lambda_handlers: shell.aws shell.prefetch BASE
shell.tables: core
shell.migrations: shell.tables shell.db core
shell.aws: shell.prefetch BASE
shell.db: shell.aws BASE
shell.utils: shell.db shell.aws core.image_load_file.tiff BASE
shell.sns: shell.aws BASE
shell.work: UTILS
shell.outbox: shell.sns shell.work UTILS
shell.activity_log: UTILS
shell.tenants: shell.work UTILS
shell.custodian_ops: shell.tables UTILS
shell.taggings_ops: shell.tables UTILS
shell.families: core.families shell.tables UTILS
shell.zones: shell.tables UTILS
shell.case_state: shell.activity_log shell.tables UTILS
shell.exhibits: shell.activity_log shell.case_state shell.families shell.custodian_ops shell.taggings_ops shell.tables
  shell.zones core.contracts core.families core.imports.overlay UTILS
shell.cases: DOMAIN
shell.exhibit_files: shell.exhibits core.productions DOMAIN
shell.volume_files: core.contracts core.load_file core.volumes shell.tables UTILS
shell.imports.state: core.imports core.load_file DOMAIN
shell.imports.splitting: shell.imports.state
  core.dates core.imports core.load_file core.image_load_file shell.prefetch DOMAIN
shell.imports.rows: core.dates core.imports core.load_file core.texts core.cells shell.tables UTILS
shell.imports.overlays: shell.imports.rows core.imports core.load_file core.texts DOMAIN
shell.imports.chunks: shell.imports.rows shell.imports.overlays shell.imports.state shell.imports.corrections
  shell.volume_files shell.custodian_ops shell.taggings_ops
  core.cells core.checks core.dates core.imports core.load_file core.texts core.volumes DOMAIN
shell.imports.twins: shell.imports.rows shell.imports.state shell.imports.chunks core.imports core.load_file DOMAIN
shell.imports.images: shell.imports.state shell.imports.splitting shell.imports.chunks shell.volume_files
  core.cells core.checks core.image_load_file core.imports core.load_file core.volumes DOMAIN
shell.imports.undo: shell.imports.state shell.imports.chunks shell.volume_files core.imports core.load_file DOMAIN
shell.imports.pages: shell.imports.state core.checks core.load_file DOMAIN
shell.imports.corrected_images: shell.imports.state shell.imports.splitting
  core.image_load_file core.load_file core.volumes DOMAIN
shell.imports.completing: shell.imports.state shell.imports.pages shell.imports.corrected_images shell.volume_files
  core.checks core.image_load_file core.imports core.load_file core.volumes DOMAIN
shell.imports.checks: shell.imports.state shell.imports.completing shell.imports.pages shell.volume_files
  core.cells core.checks core.imports core.load_file core.volumes DOMAIN
shell.imports.corrections: shell.imports.state shell.volume_files core.cells core.imports core.load_file DOMAIN
shell.imports: shell.imports.state shell.imports.splitting shell.imports.rows shell.imports.chunks shell.imports.images
  shell.imports.pages shell.imports.corrected_images shell.imports.corrections
  shell.imports.undo shell.imports.completing shell.imports.checks shell.imports.twins shell.volume_files
  core.image_load_file core.imports core.load_file core.volumes shell.prefetch DOMAIN
shell.volumes: shell.imports shell.imports.state shell.volume_files core.imports core.volumes core.load_file DOMAIN
shell.activities: DOMAIN
shell.operations: DOMAIN
shell.exports: core.exports DOMAIN
shell.tagging_jobs: shell.taggings_ops DOMAIN
shell.custody: DOMAIN
shell.console: shell.settings core
shell.productions: shell.sns core.productions DOMAIN
shell.purges: core.imports core.productions core.purges core.texts core.volumes shell.case_state DOMAIN
shell.api: shell.activity_log shell.outbox shell.tenants core.tenants core.contracts core.imports.preview_ids UTILS
shell.api.routes: shell.api shell.cases shell.purges shell.imports shell.volumes shell.exhibits shell.tagging_jobs
  core.contracts UTILS
shell.maintenance: shell.purges shell.exhibits.numbers shell.exports.quiet shell.imports.upload_expiry
  shell.imports.corrections shell.outbox.relay shell.volumes.deletion UTILS
functions: shell.console shell.settings
  shell.api shell.api.routes shell.lambda_handlers shell.work shell.aws.durable_execution shell.outbox
  shell.maintenance shell.purges shell.imports.corrections
  shell.imports shell.imports.completing shell.imports.checks shell.imports.chunks shell.imports.undo
  shell.imports.images shell.imports.twins shell.activities shell.cases shell.tagging_jobs shell.exhibits
  shell.exhibit_files shell.custody shell.productions shell.volumes shell.exports shell.operations core.contracts
local.errors:
local.time_scale:
local.private_files:
RESOURCES: local.template local.errors local.private_files local.time_scale
local.template: local.errors
local.storage: RESOURCES
local.services: local.storage RESOURCES
local.lambda_runtime: local.storage local.services RESOURCES
local.event_sources: local.lambda_runtime local.services RESOURCES
local.gateway: local.services RESOURCES
local.service_unit: local.errors
local.stack: local.gateway local.event_sources local.lambda_runtime local.services RESOURCES
local.backup: local.stack local.storage local.services RESOURCES
exhibit_ingest:
exhibit_ingest.client: exhibit_ingest exhibit_ingest.stacks
exhibit_ingest.stacks: exhibit_ingest
exhibit_ingest.sign_in: exhibit_ingest exhibit_ingest.client exhibit_ingest.stacks
exhibit_ingest.catalog: exhibit_ingest exhibit_ingest.session
exhibit_ingest.acts: exhibit_ingest exhibit_ingest.client exhibit_ingest.session
exhibit_ingest.undo: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.acts
exhibit_ingest.rejections: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.acts
  exhibit_ingest.uploads
exhibit_ingest.uploads: exhibit_ingest
exhibit_ingest.session: exhibit_ingest exhibit_ingest.client exhibit_ingest.stacks exhibit_ingest.sign_in
exhibit_ingest.productions: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.acts
  exhibit_ingest.catalog
exhibit_ingest.custody: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.catalog
exhibit_ingest.volumes: exhibit_ingest exhibit_ingest.session exhibit_ingest.uploads
exhibit_ingest.importing: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.uploads
  exhibit_ingest.volumes
exhibit_ingest.preview: exhibit_ingest exhibit_ingest.client exhibit_ingest.session exhibit_ingest.importing
  exhibit_ingest.volumes
exhibit_ingest.cli: exhibit_ingest exhibit_ingest.catalog exhibit_ingest.preview exhibit_ingest.undo
  exhibit_ingest.volumes exhibit_ingest.sign_in exhibit_ingest.session exhibit_ingest.importing
  exhibit_ingest.productions exhibit_ingest.custody exhibit_ingest.acts exhibit_ingest.rejections
local.command: exhibit_ingest exhibit_ingest.session exhibit_ingest.cli exhibit_ingest.importing
  exhibit_ingest.uploads exhibit_ingest.volumes
  exhibit_ingest.preview core core.volumes core.load_file core.image_load_file
  local.stack local.gateway local.lambda_runtime local.services RESOURCES samples local.backup local.service_unit
"""


def _read_rules(rules: str) -> dict[str, set[str]]:
    read: dict[str, set[str]] = {}
    for line in rules.replace("\n  ", " ").strip().splitlines():
        package, names = line.split(":")
        read[package] = set().union(*(read[name] if name.isupper() else {name} for name in names.split()))
    return {package: names for package, names in read.items() if not package.isupper()}


# By package: the other packages of this repository that its modules may import.
ALLOWED = _read_rules(_RULES)
DEPLOYED = ("functions", "core", "shell")


def home_of(name: str) -> str | None:
    """The package of ALLOWED that a dotted name belongs to; None for a name that is not in one."""
    parts = name.split(".")
    # A module directly in `core` is the package `core`; one directly in `shell` or `local` is listed by its own name.
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in ALLOWED), None)


def home(source: Source) -> str | None:
    """The key of ALLOWED that a module belongs to."""
    return "functions" if source.folder == "functions" else home_of(source.module)


def main(arguments: list[str] | None = None) -> None:
    """Print the packages with the names that they import from each other, the figures, and the words.

    Packages are counted by folders, so that two trees compare whatever each of them allows.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.packages", description=main.__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to measure; this one if not given")
    root = parser.parse_args(arguments).root
    sources = all_sources(root)
    sys.stdout.write(f"{format_packages(sources)}\n{format_figures(sources)}\n{format_words(sources, root)}")


if __name__ == "__main__":
    main()
