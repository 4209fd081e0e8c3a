# SPDX-License-Identifier: Apache-2.0
# Each target does its own set-up (Debian packages, if any are missing), so each can be the first.
# The work itself is CMake's; see CMakePresets.json for the builds.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
MUTATIONS ?= 100000
CAMPAIGN ?=
MUTANTS ?=
# The system's interpreter: the one that Debian's numpy and gensim belong to.
PYTHON := /usr/bin/python3 -B
SOURCES = $(shell find include src cli tests bench fuzz examples -name '*.h' -o -name '*.cc')
# The thread sanitizer of gcc 12 fails on kernels that randomise addresses widely.
NO_ASLR := $(shell setarch -R true 2>/dev/null && echo setarch -R)
# What one clone has compiled serves another, wherever it stands.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)

configure = cmake --preset $(1) --log-level=WARNING -Wno-dev >build/$(1).log || \
            { cat build/$(1).log; exit 1; }
build = mkdir -p build && { $(call configure,$(1)); } && \
        cmake --build build/$(1) -j $(JOBS) $(addprefix --target ,$(2))

.PHONY: all demo test check install deb bench bench-words bench-tables bench-ratings bench-labels bench-topics bench-sentences bench-recipes format clean help
.PHONY: test-asan test-tsan layers format-check tidy fuzz mutate campaigns mutants
.NOTPARALLEL:

all: ## build build/release/kith (what plain `make` does)
	@tools/setup.sh build
	@$(call build,release,kith)

demo: ## train on WordNet's glosses and show what was learned
	@tools/setup.sh demo
	@$(call build,release,kith)
	build/release/kith demo --folder build/demo

install: ## the program, the library and their pages; make install PREFIX=/usr [DESTDIR=folder]
	@tools/setup.sh build
	@$(call build,release,kith libkith pages)
	cmake --install build/release $(if $(PREFIX),--prefix "$(PREFIX)")

deb: ## a Debian package of all that, in build/release/package
	@tools/setup.sh deb
	@$(call build,release,kith libkith pages)
	cd build/release && cpack --config CPackConfig.cmake

test: ## layers, formatting, unit and end-to-end tests
	@tools/setup.sh test
	@$(call build,release)
	@$(MAKE) --no-print-directory layers format-check
	$(CTEST) --test-dir build/release

# A sample of the campaigns and mutants: whole they take many hours, and have targets of their own.
check: ## everything: test, sanitizers, clang-tidy, fuzzing, mutated files, 100 of each campaign, 10 mutants
	@tools/setup.sh check
	@for stage in test test-asan test-tsan tidy fuzz mutate campaigns mutants; do start=$$(date +%s); \
	  $(MAKE) --no-print-directory $$stage CAMPAIGN=$(or $(CAMPAIGN),100) \
	    MUTANTS="$(or $(MUTANTS),--sample 10)" || exit 1; \
	  took="$$took, $$stage $$(($$(date +%s) - start)) s"; echo "make check: passed$${took#,}"; done

campaigns: ## CAMPAIGN (1000) kills, as many faults of the system, tiny data, extremes, hostile files; memory
	@tools/setup.sh check
	@$(call build,release,kith)
	@$(call build,asan,kith use_many)
	cd tests/campaigns && for c in "kills release" "faults release" "tiny asan" "extremes release"; do \
	  $(PYTHON) $${c% *}.py --kith ../../build/$${c#* }/kith --count $(or $(CAMPAIGN),1000) || exit 1; done
	$(PYTHON) tests/campaigns/hostile.py --use-many build/asan/use_many --kith build/release/kith --count $(or $(CAMPAIGN),1000)
	$(PYTHON) tests/campaigns/memory.py --kith build/release/kith --count 0

bench: bench-words bench-tables bench-ratings bench-labels bench-topics bench-sentences ## speed and quality beside peers: make bench DATA=folder
bench-words: ## words beside fasttext: make bench-words DATA=folder [BENCH="--quick"]
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith bench_peak bench_read_corpus)
	$(PYTHON) bench/run.py --build build/release --data "$(DATA)" --out build/bench $(BENCH)
bench-tables: ## tables: make bench-tables DATA=folder [TABLES="--only cost"]
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith bench_make_table)
	$(PYTHON) bench/tables.py --build build/release --data "$(DATA)" --out build/bench $(TABLES)
bench-ratings: ## ratings: make bench-ratings DATA=folder [RATINGS="--only speed"]
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith bench_make_ratings)
	$(PYTHON) bench/ratings.py --build build/release --data "$(DATA)" --out build/bench $(RATINGS)
bench-labels: ## labels of texts beside fasttext: make bench-labels DATA=folder
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith)
	$(PYTHON) bench/labels.py --build build/release --data "$(DATA)" --out build/bench
bench-topics: ## topics of documents: perplexity and speed: make bench-topics DATA=folder
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith)
	$(PYTHON) bench/topics.py --build build/release --data "$(DATA)" --out build/bench
bench-sentences: ## vectors of sentences, by WordNet's glosses; needs no DATA
	@tools/setup.sh bench
	@$(call build,release,kith)
	$(PYTHON) bench/sentences.py --build build/release --out build/bench
bench-recipes: ## the commands of docs/recipes.md: make bench-recipes DATA=folder
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder; see bench/README.md" >&2; exit 2; }
	@tools/setup.sh bench
	@$(call build,release,kith)
	$(PYTHON) bench/recipes.py --build build/release --data "$(DATA)" --out build/bench

format: ## format all C++ in place
	@tools/setup.sh test
	clang-format -i $(SOURCES)

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 20

test-asan: ## the tests under the address and undefined-behaviour sanitizers
	@tools/setup.sh test
	@$(call build,asan)
	UBSAN_OPTIONS=print_stacktrace=1 $(CTEST) --test-dir build/asan

# The unit tests share work between threads; of the program only what it does beside a run is new.
test-tsan: ## the unit tests, and those of training, under the thread sanitizer
	@tools/setup.sh test
	@mkdir -p build && { $(call configure,tsan); } && $(NO_ASLR) cmake --build build/tsan -j $(JOBS)
	TSAN_OPTIONS="halt_on_error=1 detect_deadlocks=0 suppressions=$(CURDIR)/tools/tsan.supp" \
	  $(NO_ASLR) $(CTEST) --test-dir build/tsan -R '^([A-Z]|e2e_train)'

layers:
	$(PYTHON) tools/check_layers.py .

format-check:
	@clang-format --dry-run -Werror $(SOURCES)

tidy: ## clang-tidy over all sources
	@tools/setup.sh check
	@mkdir -p build && { $(call configure,release); }
	tools/tidy.sh build/release $(JOBS)

fuzz: ## each libFuzzer target for FUZZ_SECONDS (30)
	@tools/setup.sh check
	@$(call build,fuzz,fuzzers)
	@$(call build,release,read_many)
	tools/fuzz.sh build/fuzz build/release/read_many $(FUZZ_SECONDS)

mutate: ## MUTATIONS (100000) damaged model and vector files against the readers
	@tools/setup.sh check
	@$(call build,release,read_many)
	$(PYTHON) tests/mutate.py --read-many build/release/read_many --keep build/mutate $(MUTATIONS)

mutants: ## break the code line by line, and see that tests notice: make mutants [MUTANTS="--layer io"]
	@tools/setup.sh test
	$(PYTHON) tests/mutants.py --jobs $(JOBS) $(MUTANTS)
