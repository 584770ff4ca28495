# The commands of a checkout. Each installs what is missing, configures and builds what changed,
# and runs; `make help` lists them.
PACKAGES := g++ cmake ninja-build ccache python3 libfmt-dev libmimalloc-dev libcli11-dev \
  nlohmann-json3-dev libgtest-dev libmpfr-dev libgmp-dev liblemon-dev graphviz \
  llvm-19-dev liblld-19-dev libdnnl-dev libsodium-dev libzstd-dev \
  libflatbuffers-dev flatbuffers-compiler libhiredis-dev libssl-dev redis-server openssl
PYTHON_PACKAGES := python3-dev python3-venv
CHECK_PACKAGES := clang-format-19 python3
FUZZ_PACKAGES := clang-19 libclang-rt-19-dev
JOBS ?= $(shell nproc)
# What the thread sanitizer runs: the pool, the engine, captured functions. It cannot follow a fork, nor OpenMP,
# and native code, which the cache keeps and pages explain, is not made under it.
TSAN_TESTS ?= base_test $(if $(wildcard tests/autograd/*.cpp),autograd_test) compile_test cache_test
TSAN_FILTER ?= -*fork*:*Fork*:OpenMp*:Explain*:Cached*:*smaller_block

# What a second compiler reads.
CLANG_FLAGS ?= -std=c++20 -Wall -Wextra -Werror -Wno-psabi -Wno-deprecated-declarations -DFOREGRAD_LIBRARY -DFOREGRAD_VERSION='""' -DFOREGRAD_GENERATOR='""'

.PHONY: help build command run test python check format clang aarch64 sanitize fuzz bench clean packages
help:
	@echo "make run       train a small GPT on the documentation (foregrad train); ARGS=... for options"
	@echo "make test      build everything and run all tests"
	@echo "make python    the Python package in build/venv"
	@echo "make check     formatting, layers, sizes, promises"
	@echo "make format    let clang-format write all C++ files"
	@echo "make clang     let clang 19 read all sources of the library"
	@echo "make aarch64   let a compiler for aarch64 read all sources of the library"
	@echo "make sanitize  tests under the address, undefined and thread sanitizers"
	@echo "make fuzz      libFuzzer on what the cache reads and on graphs, ten minutes each"
	@echo "make bench     every bench/*/run"
	@echo "make clean     remove build/"

packages:
	@tools/install_packages $(PACKAGES)

# Configures once; after that the build itself notices changed CMake files and new sources.
build/%/CMakeCache.txt: | packages
	@cmake --preset $* $$(command -v ninja >/dev/null && echo -G Ninja)

build = cmake --build build/$(1) -j $(JOBS)

build: packages build/release/CMakeCache.txt
	@$(call build,release) --target libraries

command: packages build/release/CMakeCache.txt
	@$(call build,release) --target libraries foregrad_cli

run: command
	@build/release/foregrad train $(ARGS)

test: packages build/release/CMakeCache.txt
	@tools/install_packages $(FUZZ_PACKAGES)
	@$(call build,release)
	@ctest --test-dir build/release --output-on-failure -j $(JOBS)
	@$(MAKE) --no-print-directory build/venv/installed
	@build/venv/bin/python -m pytest -q

# The Python package in a virtual environment of its own: the library and the command are there
# already, only the binding is compiled.
build/venv/bin/python:
	@tools/install_packages $(PYTHON_PACKAGES)
	@python3 -m venv build/venv
	@build/venv/bin/pip install --quiet scikit-build-core nanobind pytest numpy ml_dtypes mypy tensorboard
build/venv/installed: build/venv/bin/python build/release/libforegrad.so build/release/foregrad \
    pyproject.toml \
    $(wildcard build/release/libforegrad-*.so) \
    $(shell find python src/python -type f ! -name '*.so' ! -name '*.pyc')
	@build/venv/bin/pip install --quiet --no-build-isolation --no-deps --force-reinstall \
	  -C cmake.define.FOREGRAD_BUILD=$(CURDIR)/build/release .
	@touch $@

python: command build/venv/installed

cpp_files = find src apps tests examples $(wildcard bench) \( -name '*.h' -o -name '*.cpp' \) -print0

check:
	@tools/install_packages $(CHECK_PACKAGES)
	@$(cpp_files) | xargs -0 -r clang-format-19 --dry-run -Werror
	@python3 tools/check_layers.py
	@python3 tools/check_sizes.py
	@python3 tools/check_promises.py
	@python3 tools/check_words.py

format:
	@tools/install_packages $(CHECK_PACKAGES)
	@$(cpp_files) | xargs -0 -r clang-format-19 -i

# What the schemas become: src/LAYER/NAME.fbs is <LAYER/NAME_generated.h>.
GENERATED := $(patsubst src/%.fbs,build/generated/%_generated.h,$(wildcard src/*/*.fbs))
build/generated/%_generated.h: src/%.fbs | packages
	@flatc --cpp --scoped-enums --gen-object-api -o $(@D) $<

clang: packages $(GENERATED)
	@tools/install_packages clang-19
	@find src -name '*.cpp' ! -path 'src/python/*' -print0 \
	  | xargs -0 -n 1 -P $(JOBS) clang++-19 -fsyntax-only -Isrc -isystem build/generated \
	    -isystem /usr/lib/llvm-19/include $(CLANG_FLAGS)

# Headers of libraries, which are the same everywhere, come from this machine.
aarch64: packages $(GENERATED)
	@tools/install_packages g++-aarch64-linux-gnu
	@find src -name '*.cpp' ! -path 'src/python/*' ! -path 'src/cli/*' ! -path 'src/codegen/llvm/*' \
	  ! -path 'src/cache/redis/*' -print0 \
	  | xargs -0 -n 1 -P $(JOBS) aarch64-linux-gnu-g++ -fsyntax-only -Isrc -isystem build/generated -idirafter /usr/include \
	    -std=c++20 -Wall -Wextra -Wno-psabi -Werror -DFOREGRAD_LIBRARY -DFOREGRAD_VERSION='""' -DFOREGRAD_GENERATOR='""'

sanitize: packages build/asan/CMakeCache.txt build/tsan/CMakeCache.txt
	@$(call build,asan)
	@ctest --test-dir build/asan --output-on-failure -j $(JOBS)
	@$(call build,tsan) --target $(TSAN_TESTS)
	@GTEST_FILTER='$(TSAN_FILTER)' FOREGRAD_BACKEND=interpreter ctest --test-dir build/tsan --output-on-failure -j $(JOBS) \
	  -R '^($(subst $() ,|,$(strip $(TSAN_TESTS))))$$'

# Ten minutes for each reader; `make test` gives each five seconds.
FUZZ_SECONDS ?= 600
fuzz: build
	@tools/install_packages $(FUZZ_PACKAGES)
	@tests/fuzz/run $(FUZZ_SECONDS)

bench: packages build/release/CMakeCache.txt
	@$(call build,release)
	@for question in bench/*/run; do [ ! -x $$question ] || $$question || exit 1; done

clean:
	@rm -rf build
