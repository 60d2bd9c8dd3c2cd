# Needs Python 3.11 or later, make and a C compiler. Everything is installed into .venv (and .venv-torch), nothing elsewhere.
#
#   make demo        train a small regression, show which leaves got which gradient, draw the graph
#   make test        all tests, against the compiled and against the plain Python form
#   make test-torch  the tests that compare with an installed PyTorch (downloads it: about 200 MB)
#   make lint        ruff and mypy
#   make bench       leafgrad and PyTorch side by side; ARGS= is passed on
#   make clean       remove environments and everything that was built
#
# Another interpreter: make PYTHON=python3.13 demo

PYTHON ?= python3
ARGS ?=
WORKERS ?= 2
TORCH ?= torch==2.13.0
# Where pip's usual index has PyTorch with CUDA only (several GB), name the index of its CPU builds here:
# make test-torch TORCH_PIP="--index-url ..."
TORCH_PIP ?=

VENV := .venv
VENV_TORCH := .venv-torch
WHEELS := build/wheels
SOURCES := pyproject.toml setup.py README.md LICENSE $(shell find src -name '*.py' -o -name '*.c' -o -name '*.h')

.PHONY: demo test test-torch lint bench clean clean-inplace
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	@echo "==> training the regression of examples/regression.py"
	@$(VENV)/bin/python examples/regression.py

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

lint: $(VENV)/lint-tools
	@echo "==> ruff"
	@$(VENV)/bin/ruff check .
	@echo "==> mypy"
	@$(VENV)/bin/mypy

bench: $(VENV_TORCH)/installed
	@echo "==> benchmarks, leafgrad and PyTorch side by side"
	@$(VENV_TORCH)/bin/python benchmarks/run.py $(ARGS)
	@$(VENV_TORCH)/bin/python benchmarks/import_time.py

clean: clean-inplace
	@echo "==> removing environments, builds and caches"
	@rm -rf $(VENV) $(VENV_TORCH) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@rm -f regression_graph.svg

# A compiled module beside its source (from an editable install) would be imported instead of the source.
clean-inplace:
	@find src \( -name '*.so' -o -name '*.pyd' \) -print -delete | sed 's/^/==> removed in-place build /'

# The environments. Files named after what has been done say when it has to be done again.

$(VENV)/bin/python $(VENV_TORCH)/bin/python:
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

$(VENV_TORCH)/torch: | $(VENV_TORCH)/bin/python
	@echo "==> installing $(TORCH) into $(VENV_TORCH)"
	@$(VENV_TORCH)/bin/python -m pip install -q --disable-pip-version-check $(TORCH_PIP) '$(TORCH)'
	@touch $@

$(VENV)/lint-tools: $(VENV)/installed
	@echo "==> installing ruff and mypy into $(VENV)"
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check ruff mypy
	@touch $@

# The wheel again each time (its version does not change between edits), its dependencies only when they are missing.
install_wheel = $(1)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEELS)/*.whl \
	&& $(1)/bin/python -m pip install -q --disable-pip-version-check "$$(echo $(WHEELS)/*.whl)[test]"
