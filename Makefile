# make setup   everything that is needed, installed where it is missing
# make demo    the main job on kernels that the book has never met
# make farm-demo   what nobody knew is learnt: server, PostgreSQL, a cluster, docc's own client
# make test    lint and all tests (make lint and make pytest, side by side)
# make explorer   the explorer's pages, where their sources are newer
# make docs    the documentation as a site, in out/site
# make lock    renews requirements.lock, from which setup installs
# VENV=path and PYTHON=python choose the virtual environment and what it is made with.

VENV ?= .venv
PYTHON ?=
export VENV PYTHON
BIN = $(VENV)/bin

# Tests start hundreds of Python processes, which are not to compile the package again each.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo farm-demo explorer test pytest lint format docs lock clean

setup:
	@tools/setup.sh

explorer: setup
	@$(BIN)/python hatch_build.py

demo: setup
	@$(BIN)/python examples/demo.py

farm-demo: setup
	@$(BIN)/python examples/farm_demo.py

# Types are checked beside the tests: that takes a minute, and one process only.
test:
	@$(MAKE) --no-print-directory -j2 lint pytest

# Five processes for two cores: tests often wait for processes, servers and limits on time.
pytest: setup
	$(BIN)/python -m pytest -n 5 --dist worksteal

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'docs: python -m http.server -d out/site 8000, then http://localhost:8000'

lock:
	@tools/lock.sh

# The virtual environment stays: delete it by hand to begin afresh.
clean:
	rm -rf build dist out .pytest_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find loopbook tests examples benchmarks -name __pycache__ -type d -exec rm -rf {} +
