# Each target does its own set-up; nothing has to be installed by hand before.
# ARGS is handed on:            make run ARGS="--port 8000"    make test ARGS="tests/model"
# CPU build of torch on Linux:  make run TORCH_INDEX=https://download.pytorch.org/whl/cpu

VENV := .venv
MODELS ?= shakespeare shakespeare-64 korean
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip install -q --disable-pip-version-check
ifneq ($(TORCH_INDEX),)
PIP += --extra-index-url $(TORCH_INDEX)
endif

export GRADIO_ANALYTICS_ENABLED := False

.DEFAULT_GOAL := help
.PHONY: help setup setup-train setup-test run test bench train losses exact practise lessons lint screenshots clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile

run: setup ## open the playground on http://127.0.0.1:7860
	@$(PYTHON) app.py $(ARGS)

test: setup-test ## run the tests, those in a browser too
	@$(PYTHON) -m pytest $(ARGS)

bench: setup-test ## print each headline figure beside a peer
	@$(PYTHON) -m benchmarks $(ARGS)

train: setup-train ## train the shipped models again (hours); MODELS="korean" for one of them
	@for name in $(MODELS); do $(PYTHON) -m model train $$name $(ARGS) || exit 1; done

losses: setup ## compute the losses on the models' cards again
	@$(PYTHON) -m model losses $(ARGS)

exact: setup-test ## print how far our modules lie from PyTorch's, and gradients from finite differences
	@$(PYTHON) -m scripts.exactness

practise: setup ## write a function yourself and have it judged; ARGS="9" for station 9
	@$(PYTHON) -m lessons practise $(ARGS)

lessons: setup ## check the lessons: both languages, every link, each generated question for 1,000 seeds
	@$(PYTHON) -m lessons check $(ARGS)

lint: setup-test ## check style and formatting
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .

screenshots: setup-test ## take the pictures in docs/ again
	@$(PYTHON) -m scripts.screenshots $(ARGS)

clean: ## remove what set-up and the tools made
	rm -rf $(VENV) .uv build dist *.egg-info .pytest_cache .ruff_cache .gradio
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(VENV)/.runs ## .venv with what the app needs
setup-train: $(VENV)/.trains ## the same and what `make train` needs
setup-test: $(VENV)/.tests ## the same, what the tests need, and a browser

# The stamps: a second `make run` starts at once, a changed pyproject.toml installs again.
$(VENV)/.created: scripts/venv.sh
	@sh scripts/venv.sh $(VENV)
	@touch $@

$(VENV)/.runs: $(VENV)/.created pyproject.toml scripts/dependencies.py
	@echo "Installing the packages of the app (a few minutes the first time)"
	@packages=$$($(PYTHON) scripts/dependencies.py) && $(PIP) $$packages
	@touch $@

$(VENV)/.trains: $(VENV)/.runs
	@packages=$$($(PYTHON) scripts/dependencies.py train) && $(PIP) $$packages
	@touch $@

$(VENV)/.tests: $(VENV)/.runs scripts/browser.py
	@echo "Installing what the tests need"
	@packages=$$($(PYTHON) scripts/dependencies.py test) && $(PIP) $$packages
	@$(PYTHON) -m scripts.browser
	@touch $@
