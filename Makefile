# Two commands do all the set-up: `make demo` and `make test`. Each makes .venv once and reuses it afterwards.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
VLM := $(VENV)/vlm
STAMP := $(VENV)/.installed
PYTEST := HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q
ROOMS := audit builders hub_cards metrics perturbations reports runner teacher

.PHONY: demo test lint typecheck format bench docs teach clean help

help:
	@echo "make demo       score the packaged models on the shapes world and print the table"
	@echo "make test       lint, type-check and run every test (ROOM=metrics: those of one room)"
	@echo "make bench      run the benchmarks and print their tables"
	@echo "make teach      repair the plain temporal checkpoint with LLM-teacher on the shapes world"

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(STAMP)

# The generative classes need torchvision, whose wheel is a CUDA build: it is kept apart from the CPU torch, and only
# the tests of those classes see it (tests/support/torchvision_shim lets the two work together).
$(VLM)/.installed: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VLM) \
		torchvision==0.28.0 timm==1.0.31 num2words docopt
	@touch $(VLM)/.installed

demo: $(STAMP)
	$(BIN)/video-contrast metrics install
	HF_HUB_OFFLINE=1 $(BIN)/video-contrast demo --output demo

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers read packages from folders, so the rooms are linked into the shape they are installed in.
typecheck: $(STAMP)
	@rm -rf build/types && mkdir -p build/types/video_contrast
	@for path in video_contrast/*; do ln -s "$(CURDIR)/$$path" build/types/video_contrast/; done
	@for room in $(ROOMS); do ln -s "$(CURDIR)/$$room" build/types/video_contrast/$$room; done
	cd build/types && MYPYPATH=. $(abspath $(BIN))/mypy --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache -p video_contrast

# `make test ROOM=metrics` runs the tests of one room alone.
test: lint typecheck $(VLM)/.installed
ifneq ($(filter-out runner,$(ROOM)),)
	$(PYTEST) -n 2 --dist loadscope tests/$(ROOM)
else
	PYTHONPATH=tests/support/torchvision_shim:$(VLM) $(PYTEST) tests/runner/vlm
	$(PYTEST) -n 2 --dist loadscope --ignore tests/runner/vlm tests/$(ROOM)
endif

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

teach: $(STAMP)
	HF_HUB_OFFLINE=1 $(BIN)/video-contrast teach --demo --output teach

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
