# make demo      set up, train an SVM, compile it for a Cortex-M7, verify it, print the report;
#                print what an SVM for digits can be compiled to with samples and a risk
# make test      set up, then lint, type check and run the tests: 8 minutes on two idle cores
# make test-rest set up, then all other tests: every combination, every float32 argument, and
#                the fuzzers for a minute; with MINUTES=60 the tests that are not begun by then
#                are skipped and counted
# make test-all  both
# make fuzz      set up, then fuzz the readers of model files for an hour
# make evidence  set up, then let tools of others look at the emitted C, into build/evidence: an
#                hour on two cores; make evidence SHARE=0.1 a tenth of it
# make bench     set up, then measure other generators' C beside ours, on the host and three boards,
#                and Python's predict beside other libraries: hours; make bench MODELS=bc a quarter
# make site      the manual as web pages with a search, into build/site; links are checked
# make rtl       set up Verilator and the logic of two open cores in build/rtl, then run programs of
#                the tests on it beside QEMU: half an hour; make rtl PROGRAMS=5 about five of them
# make offline   fill build/wheelhouse, from which kmcompile installs without a network
# make lock      fit the locked versions to pyproject.toml; make lock UPGRADE=1 takes the newest
# make lint      ruff, mypy and import-linter only
# make clean     remove what the others made
#
# make demo TARGET=leon3 compiles for another target. make test TARGETS=cortex-m7,leon3 installs
# the tools of these targets only, and skips the tests of others.

TARGET := cortex-m7
TARGETS := all
BIN := .venv/bin
BENCH := build/bench
PEERS := examples/benchmark/peers
DEMO := build/demo

# One thread a process: the tests run side by side, and sums keep their order.
export OPENBLAS_NUM_THREADS := 1

# Else each of a thousand processes of the tests would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Without any compiler the C is still written; the report says that it was not verified.
UNVERIFIED = $(shell command -v gcc > /dev/null || echo --verify none)

.PHONY: demo test test-rest test-all quick exhaustive fuzz fuzz-short bench rtl lint evidence site \
	offline lock setup-demo setup-test clean

demo: setup-demo
	$(BIN)/python examples/demo/train.py $(DEMO)
	$(BIN)/kmcompile $(DEMO)/breast_cancer.pkl --target $(TARGET) \
		--test-data $(DEMO)/test.npz --out $(DEMO)/breast_cancer-$(TARGET) $(UNVERIFIED)
	$(BIN)/kmcompile choices $(DEMO)/digits.pkl --target $(TARGET) \
		--data $(DEMO)/held_out.npz --risk 0.02

PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

# The type checker and the fuzzers take a minute of one core, beside the tests.
test: setup-test
	$(MAKE) --no-print-directory -j2 lint quick

test-rest: setup-test
	$(MAKE) --no-print-directory -j2 fuzz-short exhaustive

test-all: test
	$(MAKE) --no-print-directory test-rest

quick: setup-test
	$(PYTEST) -m "not exhaustive"

exhaustive: setup-test
	$(PYTEST) -m exhaustive -rs $(if $(MINUTES),--minutes $(MINUTES))

fuzz: setup-test
	$(BIN)/python tests/fuzz/fuzz_run.py --seconds 3600

fuzz-short: setup-test
	$(BIN)/python tests/fuzz/fuzz_run.py --seconds 60

evidence:
	@.ci/setup evidence host,cortex-m7
	PYTHONPATH=tests $(BIN)/python -m evidence.gather build/evidence $(if $(SHARE),--share $(SHARE))

bench:
	@.ci/setup demo host,cortex-m7,cortex-m4,cortex-m0
	@$(PEERS)/setup.sh $(BENCH)
	$(BENCH)/venv/bin/python $(PEERS)/bench.py $(BENCH) $(if $(MODELS),--models $(MODELS))
	$(BENCH)/venv/bin/python $(PEERS)/predict.py $(if $(MODELS),--models $(MODELS))

SITE := build/site-venv/bin

site:
	test -x $(SITE)/mkdocs || (python3 -m venv build/site-venv && \
		$(SITE)/pip install -q "mkdocs-material~=9.7")
	rm -rf build/pages && mkdir -p build/pages/kmcompile/manual
	cp README.md build/pages/index.md
	cp LICENSE build/pages
	cp kmcompile/manual/*.md build/pages/kmcompile/manual
	NO_MKDOCS_2_WARNING=1 $(SITE)/mkdocs build --strict --config-file .ci/site.yml
	@echo "written to build/site: open build/site/index.html"

RTL := build/rtl
RTL_CORES := pythondata-cpu-ibex==0.0.post2937 pythondata-cpu-cv32e40p==1.0.1.post1909

rtl:
	@.ci/setup rtl rv32imac
	test -d $(RTL)/python/pythondata_cpu_cv32e40p || \
		$(BIN)/python -m pip install -q --target $(RTL)/python $(RTL_CORES)
	for core in ibex cv32e40p; do PYTHONPATH=tests:$(RTL)/python $(BIN)/python tests/rtl_programs.py \
		$(RTL) --core $$core --programs $(or $(PROGRAMS),30) || exit 1; done

offline:
	@.ci/offline build/wheelhouse

lock:
	@.ci/lock $(if $(UPGRADE),--upgrade)

lint: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file .ci/mypy_examples.ini
	$(BIN)/lint-imports --no-cache --no-logo

setup-demo:
	@.ci/setup demo host,$(TARGET)

setup-test:
	@.ci/setup test $(TARGETS)

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
