# make report   create the environment if needed, run the default study and write its report
# make test     create the environment if needed, run every test except the slow ones
# make test-all run every test, including test-torch
# make test-torch  run the unit tests and a training of every strategy with the lowest supported releases of all packages
# make faults   inject every fault of docs/faults.md, and write that page
# make check    check spelling, style of all texts, formatting, lint, and types of the package
# make site     build the documentation site, build/site/index.html
# make gallery  run ready studies, and build the site with their reports; less than 30 minutes on two quiet cores
# make cast     record the default study on a terminal, as the animated picture docs/images/run.svg
# make samples  write figure, sentences and table of README.md from RESULTS; without it, from the study of make cast
# make bench    compare the instrument with other training loops; measure its stopping rule and its speed on many runs
#
# On a cluster, with the torch build that fits its drivers (pytorch.org's install page names the index):
#   make env TORCH="torch==2.9.1 --extra-index-url INDEX"
# or with the site's own torch module: make env VENV_FLAGS=--system-site-packages TORCH=

PYTHON ?= python3
VENV ?= .venv
VENV_FLAGS ?=
TORCH ?= -r constraints/torch.txt
CONFIG ?= config/config.yaml
ROUNDS ?= 20
BIN := $(VENV)/bin
BENCH := .venv-bench
LOWEST := .venv-lowest
LOWEST_INDEX ?=
CAST ?= /tmp/scalestudy-cast
RESULTS ?= $(CAST)/results/digits
QUIETLY = $(PYTHON) workflow/quiet_command.py $(VENV)/install.log

.PHONY: env report test test-all test-torch faults check site gallery cast samples bench clean-env

env: $(VENV)/ready

# Install torch first, with its own pin: a loose requirement would download gigabytes of CUDA libraries.
$(VENV)/ready: pyproject.toml constraints/base.txt constraints/torch.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) lacks the venv module. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV_FLAGS) $(VENV)
	@$(if $(TORCH),$(QUIETLY) "installing PyTorch into $(VENV)" -- \
		$(BIN)/pip install --constraint constraints/base.txt $(TORCH))
	@$(QUIETLY) "installing scalestudy into $(VENV)" -- \
		$(BIN)/pip install --constraint constraints/base.txt --editable '.[study,slurm,test,tune,site]'
	@$(BIN)/python -m compileall -q workflow
	@touch $@

# One live screen on a terminal, a line per run elsewhere; V=1 shows the log of Snakemake instead. It ends with 1 if a
# run failed, which to Snakemake is a result like any other.
report: env
	@$(BIN)/scalestudy run --study $(CONFIG)
	@$(BIN)/scalestudy summary --study $(CONFIG) > /dev/null

# Tests that check times run alone on the host. The others run in parallel; many of them mostly wait for clusters. Folders
# with few and long tests come first, so that no long test runs last. Each folder is named, since pytest drops an argument
# that is contained in another one.
test: env
	$(BIN)/pytest tests/slurm tests/e2e tests/workflow tests/publish tests/unit -m "not alone and not slow" \
		--numprocesses 4 --dist loadfile --no-loadscope-reorder --durations 20
	$(BIN)/pytest tests/e2e -m "alone and not slow"

test-all: test
	$(BIN)/pytest tests -m "slow and not alone" --numprocesses 3 --dist loadfile
	$(BIN)/pytest tests/e2e -m "slow and alone"
	$(MAKE) test-torch

# The PyPI build of torch is for CUDA; with its libraries it downloads about 3.5 GB, once. The CPU build is smaller:
#   make test-torch LOWEST_INDEX="--extra-index-url https://download.pytorch.org/whl/cpu"
$(LOWEST)/ready: pyproject.toml constraints/lowest.txt
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	@echo "Installing $$(grep ^torch== constraints/lowest.txt) and the lowest of all else into $(LOWEST): about 3.5 GB, once"
	@$(LOWEST)/bin/pip install --quiet -r constraints/lowest.txt $(LOWEST_INDEX) || { \
		echo "make test-torch: $$(grep ^torch== constraints/lowest.txt), with all else in constraints/lowest.txt, could not be" \
		"installed, so nothing was tested with it. It needs PyPI, 8 GB of disk, and a Python that it has a wheel for:" \
		"make test-torch PYTHON=python3.12"; exit 1; }
	$(LOWEST)/bin/pip install --quiet --constraint constraints/lowest.txt --editable '.[study,slurm,test,tune]'
	touch $@

test-torch: $(LOWEST)/ready
	$(LOWEST)/bin/pytest tests/unit tests/e2e/test_equal_results.py \
		--numprocesses 4 --dist loadfile --no-loadscope-reorder

# Run this on a host with SLURM and as root, so that no cell is skipped.
faults: env
	$(BIN)/python tests/fault_matrix.py

check: env
	$(BIN)/codespell
	$(BIN)/python tests/prose.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile rules
	$(BIN)/snakemake --lint
	$(BIN)/mypy

# A warning is an error: a broken link, an unknown reference, a page in no list. No network is needed.
BUILD_SITE = begin=$$(date +%s); \
	$(BIN)/sphinx-build --builder html --conf-dir site --fail-on-warning --keep-going --quiet . build/site && \
	echo "build/site/index.html: $$(find build/site -name '*.html' | wc -l) pages in $$(($$(date +%s) - begin)) s"

site: env
	@$(BUILD_SITE)

# The site is built even if a study could not be run, so that the others are shown; the exit status tells.
gallery: env
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python site/gallery.py; ended=$$?; $(BUILD_SITE) && exit $$ended

# The study of the recording is also the study of the samples, so that all numbers agree: make cast samples
# Its folder is outside the checkout, whose own results would be shown otherwise.
cast: env
	rm -rf $(CAST) && mkdir -p $(CAST)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python site/cast.py --folder $(CAST)

samples: env
	PYTHONPATH=workflow $(BIN)/python site/samples.py $(RESULTS)

# The frameworks that our loop is compared with, in a separate environment. Use ROUNDS=5 for a quick comparison.
$(BENCH)/ready: pyproject.toml constraints/base.txt constraints/torch.txt
	$(PYTHON) -m venv $(BENCH)
	$(if $(TORCH),$(BENCH)/bin/pip install --quiet --constraint constraints/base.txt $(TORCH))
	$(BENCH)/bin/pip install --quiet --constraint constraints/base.txt --editable '.[study,huggingface]' \
		accelerate lightning traceml-ai
	touch $@

bench: env $(BENCH)/ready
	cd tests && ../$(BENCH)/bin/python -m bench.recorder_cost --rounds $(ROUNDS) --launches 3
	cd tests && ../$(BENCH)/bin/python -m bench.loop_cost --rounds $(ROUNDS) --launches 4
	cd tests && ../$(BENCH)/bin/python -m bench.loops --rounds $(ROUNDS)
	cd tests && ../$(BENCH)/bin/python -m bench.stopping
	cd tests && ../$(BENCH)/bin/python -m bench.blocks
	cd tests && ../$(BENCH)/bin/python -m bench.starts
	cd tests && ../$(BENCH)/bin/python -m bench.turns
	cd tests && ../$(BENCH)/bin/python -m bench.communication
	cd tests && ../$(BENCH)/bin/python -m bench.documents
	cd tests && ../$(BENCH)/bin/python -m bench.estimates
	cd tests && ../$(BENCH)/bin/python -m bench.forecast_constants
	cd tests && ../$(BENCH)/bin/python -m bench.forecasts --sixth
	cd tests && ../$(BENCH)/bin/python -m bench.attached_cost
	cd tests && ../$(BENCH)/bin/python -m bench.attached_peers
	cd tests && ../$(BIN)/python -m bench.agreement
	cd tests && ../$(BIN)/python -m bench.tune --folder ../$(BENCH)/tune --live 10

clean-env:
	rm -rf $(VENV) $(BENCH) $(LOWEST)
