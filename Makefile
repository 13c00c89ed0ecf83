# Two commands do all the set-up. `make demo` installs what runs, `make test` adds what developers need; each step is
# done once and reused afterwards. torch comes first: where pip is configured to fetch packages from somewhere (a
# mirror, a folder of wheels) pip installs it; elsewhere uv chooses the build for this machine's GPU, or the one for CPUs
# where there is none. UV_TORCH_BACKEND=cpu (cu128 ...) chooses by hand. The rest is uv's, or pip's where uv fails.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
VLM := $(VENV)/vlm
STAMP := $(VENV)/.installed
DEVELOP := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
UV := $(BIN)/uv pip install --python $(BIN)/python -c constraints.txt
# Two processes run the tests of the rooms, a third those of the generative classes: each imports the libraries once.
PARALLEL := -n 2 --dist loadscope --no-loadscope-reorder
PYTEST := HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --durations=10
BENCHMARKS := $(basename $(notdir $(wildcard benchmarks/*.py)))
ROOMS := audit builders hub_cards metrics perturbations reports runner teacher

.PHONY: demo test rooms generative lint typecheck format bench docs teach clean help

help:
	@echo "make demo       score the packaged models on the shapes world and print the table"
	@echo "make test       lint, type-check and run every test (ROOM=metrics: those of one room)"
	@echo "make bench      run the benchmarks and print their tables"
	@echo "make teach      repair the plain temporal checkpoint with LLM-teacher on the shapes world"

# Bytecode is written when a module is first imported, not for every module of every package at installation.
unexport PYTHONDONTWRITEBYTECODE
# uv trusts its own list of authorities unless it is told to take the machine's, as a proxy needs.
export UV_SYSTEM_CERTS ?= true
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif

$(STAMP): pyproject.toml constraints.txt
	@echo "installing into $(VENV): minutes the first time, seconds once the packages are cached"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(PIP) --quiet uv || echo "uv could not be installed: pip goes on alone, slower"
	@if [ -z "$$UV_TORCH_BACKEND" ] && $(BIN)/python -m pip config list | grep -E "find-links|index-url" >/dev/null; \
	then $(PIP) -c constraints.txt torch; \
	else UV_TORCH_BACKEND=$${UV_TORCH_BACKEND:-auto} $(UV) torch || { \
		echo "uv found no torch for UV_TORCH_BACKEND=$${UV_TORCH_BACKEND:-auto}: pip takes the build of its own index"; \
		$(PIP) -c constraints.txt torch; }; fi
	@$(UV) --quiet -e ".[all]" || { echo "uv failed: pip goes on alone, for minutes"; $(PIP) --quiet -c constraints.txt -e ".[all]"; }
	@touch $(STAMP)

# Imported once, so that their bytecode is there before three processes of tests would each make it.
COMPILED := accelerate, datasets, evaluate, hypothesis.strategies, matplotlib.pyplot, peft, scipy.stats, sentence_transformers, \
	sklearn.linear_model, spacy, statsmodels.api, torchmetrics, transformers

$(DEVELOP): $(STAMP)
	@$(UV) --quiet -e ".[dev]" || { echo "uv failed: pip goes on alone, for minutes"; $(PIP) --quiet -c constraints.txt -e ".[dev]"; }
	@$(BIN)/python -c "import $(COMPILED)"
	@touch $(DEVELOP)

# The generative classes need torchvision, whose wheel is a CUDA build: it is kept apart from the CPU torch, and only
# the tests of those classes see it (tests/support/torchvision_shim lets the two work together).
$(VLM)/.installed: $(STAMP)
	@$(PIP) --quiet --no-deps --upgrade --target $(VLM) torchvision==0.28.0 timm==1.0.31 num2words docopt
	@touch $(VLM)/.installed

demo: $(STAMP)
	$(BIN)/video-contrast metrics install
	HF_HUB_OFFLINE=1 $(BIN)/video-contrast demo --output demo

lint: $(DEVELOP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers read packages from folders, so the rooms are linked into the shape they are installed in.
typecheck: $(DEVELOP)
	@rm -rf build/types && mkdir -p build/types/video_contrast
	@for path in video_contrast/*; do ln -s "$(CURDIR)/$$path" build/types/video_contrast/; done
	@for room in $(ROOMS); do ln -s "$(CURDIR)/$$room" build/types/video_contrast/$$room; done
	cd build/types && MYPYPATH=.:$(CURDIR)/benchmarks:$(CURDIR)/tools $(abspath $(BIN))/mypy --config-file ../../pyproject.toml \
		--cache-dir ../../.mypy_cache -p video_contrast -p parts -m shapes_training $(BENCHMARKS:%=-m %)

# `make test ROOM=metrics` runs the tests of one room alone.
test: lint typecheck $(DEVELOP) $(VLM)/.installed
	@$(MAKE) --no-print-directory --jobs 2 rooms $(if $(filter-out runner,$(ROOM)),,generative)

rooms: $(DEVELOP)
	$(PYTEST) $(PARALLEL) --ignore tests/runner/vlm tests/$(ROOM)

# Other kernels than those of `rooms`, so that no figure hangs on how a processor rounds: torch's plainest, which every
# processor has. Its lines come together when it ends, among those of `rooms`.
OTHER_KERNELS := ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41
generative: $(DEVELOP) $(VLM)/.installed
	@PYTHONPATH=tests/support/torchvision_shim:$(VLM) $(OTHER_KERNELS) $(PYTEST) tests/runner/vlm tests/teacher/test_guards.py \
		tests/runner/test_kinds.py >$(VLM)/tests.log 2>&1; \
	code=$$?; echo "tests of the generative classes:"; cat $(VLM)/tests.log; exit $$code

format: $(DEVELOP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What needs data or arguments says so and is left out; one that fails does not stop the others, only the command.
bench: $(DEVELOP)
	@failed=; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || failed="$$failed $$file"; done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

teach: $(STAMP)
	HF_HUB_OFFLINE=1 $(BIN)/video-contrast teach --demo --output teach

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
