# The doors of the house. `make help` lists them; each installs what it needs (packages.txt), stops
# at the first failure, and has little to say when there is little to do.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 5
SECONDS ?= 600
SEED ?= 1
DEMO_FLAGS ?=

# Debian's own Python: another one on PATH would hide Debian's modules.
PYTHON := /usr/bin/python3
STAGE := scripts/stage.sh
SOURCES = find src tests \( -name '*.h' -o -name '*.cc' \) -print0

.PHONY: help demo build test check bench bench-codecs bench-micro soak planted examples install clean packages format \
        check-format check-rooms check-tidy check-unit test-asan test-tsan test-fuzz test-dev

help:
	@echo 'make demo                 build, then train a small CNN on Fashion-MNIST with two local nodes'
	@echo 'make build                the programs, optimised: wide, wide-node and wide-chaos in build/release/bin'
	@echo 'make test                 everything CI runs: format, rooms, tidy, sanitizers, fuzz, all tests'
	@echo 'make check                the quick part of it: format, rooms, tidy, unit tests'
	@echo 'make format               lay out every file with clang-format'
	@echo 'make bench                measures this machine, ten to twelve minutes: docs/performance.md'
	@echo 'make bench-codecs         codecs for about SECONDS=600, better 3600: docs/codecs.md; bench-micro: pieces'
	@echo 'make soak SECONDS=600     tries to break runs for about so long, writes docs/reliability.md'
	@echo 'make planted              plants known defects one by one; each must be noticed'
	@echo 'make examples             trains two examples to what the README promises'
	@echo 'make install PREFIX=/usr  programs, examples and documents'
	@echo 'make clean                remove build/'

# --- Programs -------------------------------------------------------------------------------------

packages:
	@scripts/install_packages.sh

# Configuring is ninja's own business once build.ninja is there, except when a preset changes.
build/%/build.ninja: CMakePresets.json | packages
	@mkdir -p build/$*
	@cmake --preset $* >build/$*/configure.log 2>&1 || { cat build/$*/configure.log >&2; exit 1; }
	@touch $@

build: build/release/build.ninja
	@ninja -C build/release -j $(JOBS)

demo: build
	@build/release/bin/wide demo $(DEMO_FLAGS)

DOC = $(DESTDIR)$(abspath $(PREFIX))/share/doc/wide
install: build
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(abspath $(PREFIX))' --strip >/dev/null
	@install -d '$(DOC)/examples'
	@install -m 644 README.md CHANGELOG.md LICENSE '$(DOC)'
	@install -m 644 examples/*.toml '$(DOC)/examples'
	@echo 'installed wide, wide-node and wide-chaos in $(DESTDIR)$(abspath $(PREFIX))/bin'

clean:
	@rm -rf build

# --- Checks and tests -----------------------------------------------------------------------------

# The order is cheap first; ctest over everything comes last, so that its closing lines end a run.
test: packages
	@$(STAGE) 'format' $(MAKE) check-format
	@$(STAGE) 'rooms' $(MAKE) check-rooms
	@$(STAGE) 'tidy' $(MAKE) check-tidy
	@$(STAGE) 'build' $(MAKE) build-dev
	@$(STAGE) 'address and undefined-behaviour sanitizers' $(MAKE) test-asan
	@$(STAGE) 'thread sanitizer' $(MAKE) test-tsan
	@$(STAGE) 'fuzz, $(FUZZ_SECONDS) s each' $(MAKE) test-fuzz
	@echo '== tests'
	@$(MAKE) test-dev

check: packages
	@$(STAGE) 'format' $(MAKE) check-format
	@$(STAGE) 'rooms' $(MAKE) check-rooms
	@$(STAGE) 'tidy' $(MAKE) check-tidy
	@$(STAGE) 'build' $(MAKE) build-dev
	@echo '== unit tests'
	@$(MAKE) check-unit

check-format:
	@$(SOURCES) | xargs -0 clang-format-14 --dry-run -Werror

format: packages
	@$(SOURCES) | xargs -0 clang-format-14 -i

check-rooms:
	@$(PYTHON) scripts/check_rooms.py

check-tidy: build/dev/build.ninja
	@ninja -C build/dev build.ninja >/dev/null
	@$(PYTHON) scripts/tidy.py build/dev -j $(JOBS)

.PHONY: build-dev
build-dev: build/dev/build.ninja
	@ninja -C build/dev -j $(JOBS)

check-unit:
	@ctest --preset unit

# All but libtorch: unit tests, whole runs with kills and faults, and the fuzz targets.
test-asan: build/asan/build.ninja
	@ninja -C build/asan -j $(JOBS)
	@ctest --preset asan --progress

# Threads meet in net/ alone: its tests, and the programs that it drives through kills and faults.
test-tsan: build/tsan/build.ninja
	@ninja -C build/tsan -j $(JOBS) net_test kill_run_test fault_run_test chaos_run_test
	@ctest --preset tsan --progress

test-fuzz: build/asan/build.ninja
	@scripts/fuzz_briefly.sh $(FUZZ_SECONDS)

test-dev:
	@ctest --preset dev

# --- Measuring ------------------------------------------------------------------------------------

# What was measured stays in build/, so that a page can be written again. Ours beside the machine's
# limits and the peers that are installed: docs/performance.md.
bench: build
	@$(PYTHON) scripts/measure_performance.py --bin build/release/bin --facts build/performance.json

# Every codec, on floats, on slow links and by what is learnt: docs/codecs.md. An hour is little.
bench-codecs: build
	@$(PYTHON) scripts/measure_codecs.py --bin build/release/bin --seconds $(SECONDS) \
	  --facts build/codecs.json

# Pieces of code by themselves.
bench-micro: build/bench/build.ninja
	@scripts/run_benchmarks.sh

# Tries to break things for about so long, and writes docs/reliability.md from what came out.
soak: build/dev/build.ninja
	@ninja -C build/dev -j $(JOBS)
	@$(PYTHON) scripts/measure_reliability.py --bin build/dev/bin --seconds $(SECONDS) --seed $(SEED)

# Every defect of tests/planted must be noticed by the simulator or the unit tests.
planted: packages
	@$(PYTHON) scripts/planted_bugs.py

# What the README says of the examples: about seven minutes.
examples: build/dev/build.ninja
	@ninja -C build/dev -j $(JOBS)
	@ctest --preset examples
