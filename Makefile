# Everything runs in .venv, which is made when it is first needed: what a user needs for `make demo`, and what developers
# need besides for all else. Python 3.11 or later. Each step shows what it does: pip itself does so since 25.1.
PYTHON ?= python3
BIN = .venv/bin
USABLE = .venv/usable
INSTALLED = .venv/installed
PIP = $(BIN)/python -m pip
OPTIONS = --disable-pip-version-check -c constraints.txt
# Of `make kill`; SEED of `make fuzz`, too.
KILLS ?= 60
SEED ?= 1
# Tests that wait for servers, browsers and killed processes leave time for others.
WORKERS ?= 3
OF_KERNELS = $(shell grep -rl --include="test_*.py" "mark\.kernels" tests)
UNCOMPILED = env NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -n 2 -m "kernels and not needs_jit" --hypothesis-seed=0 $(OF_KERNELS)
WARM = .venv/warm
WARM_UP = tests/kernels/test_warm_up.py
CODE = $(shell find phrasebeam lm decoder training server -name "*.py")
SOURCES = phrasebeam/*,lm/*,decoder/*,training/*,server/*

# Compiled modules are kept whatever the environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test coverage bounds fuzz kill check docs pictures clean kenlm .venv

.venv: $(INSTALLED)

# Python compiles a module when it is first imported, which takes less than compiling all of them; developers need most.
$(USABLE): pyproject.toml constraints.txt
	$(PYTHON) phrasebeam/links.py
	$(PYTHON) -m venv --without-pip .venv
	$(BIN)/python -m ensurepip --default-pip
	$(PIP) install $(OPTIONS) pip
	$(PIP) install $(OPTIONS) --no-compile -e .
	touch $(USABLE)

$(INSTALLED): $(USABLE)
	$(PIP) install $(OPTIONS) -e '.[dev]'
	-$(BIN)/python -m compileall -qq .venv/lib
	touch $(INSTALLED)

demo: $(USABLE)
	$(BIN)/phrasebeam demo

# All kernels compiled, by the test of that, so that no two workers compile the same.
$(WARM): $(INSTALLED) $(CODE)
	$(BIN)/pytest $(WARM_UP)
	touch $(WARM)

# The whole suite; beside it, while its tests wait, the tests of kernels as plain Python, where numpy checks every index,
# with the coverage of kernels.
test: $(WARM) kenlm
	mkdir -p build
	nice $(UNCOMPILED) > build/uncompiled 2>&1 & beside=$$!; \
	$(BIN)/pytest -n $(WORKERS) --ignore $(WARM_UP); compiled=$$?; \
	wait $$beside; uncompiled=$$?; cat build/uncompiled; \
	[ $$compiled$$uncompiled = 00 ]
	$(BIN)/coverage combine --quiet
	$(BIN)/python tests/kernel_coverage.py

# The coverage of all code by both, which takes longer: kernels run as plain Python, all else in the whole suite.
coverage: $(INSTALLED) kenlm
	$(BIN)/coverage run -m pytest -n 2
	$(UNCOMPILED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --show-missing --skip-covered --skip-empty --include "$(SOURCES)"

# The tests of kernels compiled with bounds checks: those that are too slow as plain Python too. Compiles everything anew.
bounds: $(INSTALLED)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 -m kernels

# Damaged files of every kind, for SECONDS=600 or CASES=10000, of SEED=1; with BOUNDS=1 kernels check their indices.
# What fails is kept in the directory fuzz. Then hostile clients of a server.
fuzz: $(INSTALLED)
	$(if $(BOUNDS),NUMBA_BOUNDSCHECK=1) $(BIN)/python -m tests.robustness --keep fuzz --seed $(SEED) \
	$(if $(CASES),--cases $(CASES)) $(if $(SECONDS),--seconds $(SECONDS),$(if $(CASES),,--seconds 600))
	$(BIN)/python -m tests.robustness.hostile_http $(or $(CASES),500) $(SEED)

# Long commands killed at random moments, in chains, and run again: the results must be those of undisturbed runs. Then a server
# that learns segments: what it has answered must be there.
kill: $(INSTALLED)
	$(BIN)/python -m tests.robustness.kill_campaign $(KILLS) $(SEED)
	$(BIN)/python -m tests.robustness.kill_server $(KILLS) $(SEED)

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/check_house.py

# The pages that come from the code, and the site in build/site; python -m http.server -d build/site shows it.
docs: $(INSTALLED)
	$(BIN)/python -m docs.pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Pictures of the server's page in docs/pictures, by Chromium.
pictures: $(INSTALLED)
	$(BIN)/python -m docs.pages.pictures

# ufal.kenlm is the package kenlm, built: building that takes minutes. Where there is no wheel its tests are skipped.
kenlm: $(INSTALLED)
	@$(BIN)/python -c "import kenlm" 2>/dev/null \
	|| $(PIP) install $(OPTIONS) --only-binary ufal.kenlm ufal.kenlm \
	|| if [ -n "$$CI" ]; then echo "kenlm: no wheel of ufal.kenlm; CI must compare with it" >&2; exit 1; \
	else echo "kenlm: no wheel of ufal.kenlm; the tests that compare with KenLM are skipped"; fi

clean:
	rm -rf .venv build demo fuzz *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
