# make report   the environment if needed, then the default study and its report
# make test     the environment if needed, then every test
# make check    formatting and lint of Python and Snakemake code
#
# On a cluster, with the torch build that fits its drivers (pytorch.org's install page names the index):
#   make env TORCH="torch==2.9.1 --extra-index-url INDEX"
# or with the site's own torch module: make env VENV_FLAGS=--system-site-packages TORCH=

PYTHON ?= python3
VENV ?= .venv
VENV_FLAGS ?=
TORCH ?= -r constraints/torch.txt
CONFIG ?= config/config.yaml
BIN := $(VENV)/bin

.PHONY: env report test check clean-env

env: $(VENV)/ready

# Torch first and by its own pin: a loose one would pull gigabytes of CUDA libraries.
$(VENV)/ready: pyproject.toml constraints/base.txt constraints/torch.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) lacks the venv module. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV_FLAGS) $(VENV)
	$(if $(TORCH),$(BIN)/pip install --quiet --constraint constraints/base.txt $(TORCH))
	$(BIN)/pip install --quiet --constraint constraints/base.txt --editable '.[slurm,test]'
	touch $@

report: env
	$(BIN)/snakemake --configfile $(CONFIG) --quiet host reason
	@$(BIN)/scalestudy summary --study $(CONFIG)

test: env
	$(BIN)/pytest

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile rules
	$(BIN)/snakemake --lint

clean-env:
	rm -rf $(VENV)
