# Needs Python 3.11 or later, make and a C compiler. Everything is installed into environments named .venv*, nothing elsewhere.
#
#   make demo        train a small regression, show which leaves got which gradient, draw the graph
#   make train-NAME  train a network of examples/training, with a bar of progress and a plot, NAME.png: classifier, character_model,
#                    lstm_waves, autoencoder, policy_gradient, lbfgs_fit
#   make check       lint and test-fast: what to run after every change, in less than a minute
#   make lint        ruff, mypy, and what mypy and pyright say of users' programs; in the versions of pyproject.toml
#   make format      let ruff put right what it can
#   make test-fast   the tests that are not marked slow, in plain Python from the source tree: nothing is built
#   make test        all tests, against the compiled and against the plain Python form
#   make test-torch  the tests that compare with an installed PyTorch (downloads it: about 200 MB)
#   make test-browser the tests that open the page of a graph in Chromium, which is installed if that can be done
#   make test-oldest the tests of test-fast with the oldest NumPy that pyproject.toml allows
#   make bench       leafgrad and PyTorch side by side, a quarter of an hour; writes docs/benchmarks.md if the machine was quiet
#   make docs        the pages of docs/ as a site, in site/
#   make dist        what is published, in dist/, and checked: a source distribution, a compiled wheel for this
#                    platform (on Linux one for many), and a wheel in plain Python for any
#   make clean       remove environments and everything that was built
#
# ARGS= is passed on to pytest and to the benchmarks: make test-fast ARGS="-k softmax", make bench ARGS="operations --quick"
# Another interpreter, which gets environments of its own: make PYTHON=python3.13 test

PYTHON ?= python3
ARGS ?=
WORKERS ?= 2
TORCH ?= torch==2.13.0
# Where pip's usual index has PyTorch with CUDA only (several GB), name the index of its CPU builds here:
# make test-torch TORCH_PIP="--index-url ..."
TORCH_PIP ?=
FAST := -m "not slow" --durations=5 --durations-min=1

OWN := $(filter-out -python3,-$(notdir $(PYTHON)))
VENV := .venv$(OWN)
VENV_TORCH := .venv-torch$(OWN)
VENV_OLDEST := .venv-oldest$(OWN)
VENV_BROWSER := .venv-browser$(OWN)
VENV_LINT := .venv-lint
VENV_SANITIZE := .venv-sanitize$(OWN)
VENV_DIST := .venv-dist$(OWN)
VENV_DOCS := .venv-docs$(OWN)
WHEELS := build/wheels$(OWN)
SOURCES := pyproject.toml setup.py README.md LICENSE $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.c' -o -name '*.h')

.PHONY: demo check lint format test-fast test test-torch test-browser test-oldest sanitize bench docs dist clean \
  clean-inplace environments
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	@echo "==> training the regression of examples/regression.py"
	@$(VENV)/bin/python examples/regression.py

train-%: $(VENV)/installed $(VENV)/examples
	@$(VENV)/bin/python examples/training/$*.py $(ARGS)

check: lint test-fast

lint: $(VENV_LINT)/tools
	@echo "==> ruff check, ruff format --check, mypy"
	@$(VENV_LINT)/bin/ruff check .
	@$(VENV_LINT)/bin/ruff format --check .
	@$(VENV_LINT)/bin/mypy
	@echo "==> users' programs, mypy and pyright"
	@PYTHONPATH=src $(VENV_LINT)/bin/python tests/typing/check.py

format: $(VENV_LINT)/tools
	@$(VENV_LINT)/bin/ruff check --fix .
	@$(VENV_LINT)/bin/ruff format .

# The slowest are named, so that a test which should be marked is noticed.
test-fast: $(VENV)/tools clean-inplace
	@echo "==> fast tests, leafgrad in plain Python"
	@PYTHONPATH=src $(VENV)/bin/python -m pytest -n $(WORKERS) $(FAST) $(ARGS)

test: $(VENV)/installed clean-inplace
	@echo "==> tests, leafgrad as installed:"
	@$(VENV)/bin/python -m leafgrad config
	@$(VENV)/bin/python -m pytest -n $(WORKERS) $(ARGS)
	@echo "==> tests, leafgrad in plain Python:"
	@PYTHONPATH=src $(VENV)/bin/python -m leafgrad config
	@PYTHONPATH=src $(VENV)/bin/python -m pytest -n $(WORKERS) $(ARGS)

test-torch: $(VENV_TORCH)/installed
	@echo "==> tests against PyTorch"
	@$(VENV_TORCH)/bin/python -m pytest -n $(WORKERS) tests/torch $(ARGS)

test-browser: $(VENV_BROWSER)/tools clean-inplace
	@$(has_chromium) || [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || { \
	  echo "==> installing Chromium" && { apt-get update -q && apt-get install -y -q chromium; } > /dev/null; }
	@$(has_chromium) || { \
	  echo "error: these tests need Chromium: install it, or name one in the environment variable CHROMIUM" >&2; exit 1; }
	@echo "==> tests in a browser"
	@PYTHONPATH=src $(VENV_BROWSER)/bin/python -m pytest tests/browser $(ARGS)

test-oldest: $(VENV_OLDEST)/tools clean-inplace
	@echo "==> fast tests, leafgrad in plain Python, NumPy $$($(VENV_OLDEST)/bin/python -c 'import numpy; print(numpy.__version__)')"
	@PYTHONPATH=src $(VENV_OLDEST)/bin/python -m pytest -n $(WORKERS) $(FAST) $(ARGS)

# The sanitizers are loaded before Python, which was built without them. What the interpreter leaves behind at its end is
# no leak of ours.
sanitize: $(VENV_SANITIZE)/installed
	@echo "==> tests of kernels under sanitizers"
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  $(VENV_SANITIZE)/bin/python -m pytest -n $(WORKERS) -m "not slow" -p no:cacheprovider tests/kernels $(ARGS)

bench: $(VENV_TORCH)/installed clean-inplace
	@echo "==> benchmarks, leafgrad and PyTorch side by side"
	@$(VENV_TORCH)/bin/python -m benchmarks $(ARGS)

# Their programs are run by the tests.
docs: $(VENV_DOCS)/tools
	@echo "==> building the site"
	@NO_MKDOCS_2_WARNING=1 $(VENV_DOCS)/bin/mkdocs build --quiet --strict
	@echo "    site/index.html"

# auditwheel finds out how old a Linux may be for the compiled wheel, and names it so.
dist: $(VENV_DIST)/tools clean-inplace
	@echo "==> building the source distribution and two wheels"
	@rm -rf dist build/dist && mkdir -p dist build/dist
	@$(call logged,$(VENV_DIST)/bin/python -m build --sdist --outdir dist .)
	@$(call logged,LEAFGRAD_COMPILE=0 $(VENV_DIST)/bin/python -m build --wheel --outdir dist .)
	@$(call logged,LEAFGRAD_COMPILE=1 $(VENV_DIST)/bin/python -m build --wheel --outdir build/dist .)
	@if [ "$$(uname)" != Linux ]; then cp build/dist/*.whl dist; else \
	  $(call logged,PATH="$(CURDIR)/$(VENV_DIST)/bin:$$PATH" auditwheel repair -w dist build/dist/*.whl); fi
	@echo "==> checking them"
	@$(VENV_DIST)/bin/python tools/check_dist.py dist

clean: clean-inplace
	@echo "==> removing environments, builds and caches"
	@rm -rf .venv .venv-* build dist site src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@rm -f regression_graph.html

# A compiled module beside its source (from an editable install) would be imported instead of the source.
clean-inplace:
	@find src \( -name '*.so' -o -name '*.pyd' \) -print -delete | sed 's/^/==> removed in-place build /'

# The environments. Files named after what has been done say when it has to be done again.

# Those of all tests, without that of the sanitizers: two builds at once would be in each other's way in build/.
environments: $(VENV)/installed $(VENV_TORCH)/installed $(VENV_OLDEST)/tools $(VENV_BROWSER)/tools

$(foreach venv,$(VENV) $(VENV_SANITIZE) $(VENV_TORCH) $(VENV_OLDEST) $(VENV_BROWSER) $(VENV_LINT) $(VENV_DIST) $(VENV_DOCS),$(venv)/bin/python):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: leafgrad needs Python 3.11 or later, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "       Name another one, for instance: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "==> creating $(patsubst %/bin/python,%,$@) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(WHEELS)/built: $(SOURCES) | $(VENV)/bin/python
	@echo "==> building leafgrad (mypyc compiles the hot modules; about a minute)"
	@rm -rf $(WHEELS) && mkdir -p $(WHEELS)
	@$(VENV)/bin/python -m pip wheel -q --disable-pip-version-check --no-deps -w $(WHEELS) .
	@touch $@

$(VENV)/installed: $(WHEELS)/built
	@echo "==> installing leafgrad, NumPy and the test tools into $(VENV)"
	@$(call install_wheel,$(VENV))
	@touch $@

$(VENV_TORCH)/installed: $(WHEELS)/built $(VENV_TORCH)/torch
	@echo "==> installing leafgrad, NumPy and the test tools into $(VENV_TORCH)"
	@$(call install_wheel,$(VENV_TORCH))
	@touch $@

$(VENV_SANITIZE)/installed: $(SOURCES) | $(VENV_SANITIZE)/bin/python
	@echo "==> building leafgrad with sanitizers"
	@rm -rf build/sanitized && mkdir -p build/sanitized
	@LEAFGRAD_SANITIZE=1 LEAFGRAD_COMPILE=1 \
	  $(VENV_SANITIZE)/bin/python -m pip wheel -q --disable-pip-version-check --no-deps -w build/sanitized .
	@$(VENV_SANITIZE)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps build/sanitized/*.whl
	@$(VENV_SANITIZE)/bin/python -m pip install -q --disable-pip-version-check "$$(echo build/sanitized/*.whl)[test]"
	@touch $@

$(VENV_TORCH)/torch: | $(VENV_TORCH)/bin/python
	@echo "==> installing $(TORCH) into $(VENV_TORCH)"
	@$(VENV_TORCH)/bin/python -m pip install -q --disable-pip-version-check $(TORCH_PIP) '$(TORCH)'
	@touch $@

$(VENV)/tools: pyproject.toml | $(VENV)/bin/python
	@echo "==> installing NumPy and the test tools into $(VENV)"
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV)) test)
	@touch $@

$(VENV)/examples: pyproject.toml | $(VENV)/bin/python
	@echo "==> installing tqdm and matplotlib into $(VENV)"
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV)) examples)
	@touch $@

$(VENV_OLDEST)/tools: pyproject.toml | $(VENV_OLDEST)/bin/python
	@echo "==> installing the oldest NumPy and the test tools into $(VENV_OLDEST)"
	@$(VENV_OLDEST)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV_OLDEST)) test | sed 's/numpy>=/numpy==/')
	@touch $@

$(VENV_BROWSER)/tools: pyproject.toml | $(VENV_BROWSER)/bin/python
	@echo "==> installing NumPy and the tools that drive a browser into $(VENV_BROWSER)"
	@$(VENV_BROWSER)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV_BROWSER)) browser)
	@touch $@

$(VENV_DIST)/tools: pyproject.toml | $(VENV_DIST)/bin/python
	@echo "==> installing the tools that build packages into $(VENV_DIST)"
	@$(VENV_DIST)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV_DIST)) dist)
	@touch $@

$(VENV_DOCS)/tools: pyproject.toml | $(VENV_DOCS)/bin/python
	@echo "==> installing mkdocs into $(VENV_DOCS)"
	@$(VENV_DOCS)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV_DOCS)) docs)
	@touch $@

$(VENV_LINT)/tools: pyproject.toml | $(VENV_LINT)/bin/python
	@echo "==> installing ruff and mypy into $(VENV_LINT)"
	@$(VENV_LINT)/bin/python -m pip install -q --disable-pip-version-check $$($(call extras,$(VENV_LINT)) lint)
	@touch $@

has_chromium = { command -v "$${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome; } > /dev/null

# A command that says nothing unless it fails.
logged = { $(1) > build/dist/log 2>&1 || { cat build/dist/log >&2; exit 1; }; }

# What leafgrad needs, and the extra that is named behind it, as pyproject.toml has them; without leafgrad itself.
extras = $(1)/bin/python -c 'import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*project["dependencies"], *project["optional-dependencies"][sys.argv[1]])'

# The wheel again each time (its version does not change between edits), its dependencies only when they are missing.
install_wheel = $(1)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEELS)/*.whl \
	&& $(1)/bin/python -m pip install -q --disable-pip-version-check "$$(echo $(WHEELS)/*.whl)[test]"
