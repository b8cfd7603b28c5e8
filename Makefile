# Everything is set up in .venv, .nox and build; pip's cache is the only thing outside this folder.
# CONTRIBUTING.md says what each lane of tests needs.
SHELL := bash
.DEFAULT_GOAL := help
run := python3 -E -X utf8 tests/lanes/run.py

.PHONY: help
help: ## this list
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'
	@echo "A single lane:  make $$($(run) --list | paste -sd' ')"

.PHONY: demo
demo: ## a rehearsed maintenance of four machines on this one, as any user, in two minutes (the first time five)
	@tests/lanes/with-demo python tests/demo/run

.PHONY: check
check: ## format, lint, types, and unit tests on one Python and one ansible-core, in two minutes
	@AZM_CHECK=true $(run) lint unit-core-2.21 unit-3.6

.PHONY: format
format: ## format the Python code, and fix what the linter can
	@tests/lanes/format

.PHONY: test
test: ## every lane of tests, and a summary
	@$(run)

.PHONY: unit sanity integration test-windows
unit: ## unit tests on every Python and ansible-core, also those that make test leaves out
	@$(run) 'unit*' 'plays*'
sanity: ## ansible-test sanity on the oldest and the newest ansible-core
	@$(run) 'sanity*'
integration: ## the modules against the emulator, by ansible-test
	@$(run) 'integration*'
test-windows: ## the Windows way, where there is a PowerShell 7 (PWSH=/path/to/pwsh)
	@$(run) 'windows*'

.PHONY: coverage
coverage: ## unit tests with the lines of plugins/ that none of them runs
	@AZM_COVERAGE=true tests/lanes/unit-core 2.21

.PHONY: bench
bench: ## the figures of docs/performance.md, measured anew
	@tests/lanes/with-demo tests/bench/run

.PHONY: figure
figure: ## what is written out of the code: the figure of its rooms, the guide's list of reasons
	@python3 tests/unit/rooms.py
	@python3 tests/unit/reasons_table.py

.PHONY: build
build: ## the collection's tarball, in build
	@tests/lanes/build

.PHONY: clean
clean: ## remove .venv and build
	@! grep -F " $(CURDIR)/build/" /proc/mounts || { echo "Fleet machines are on: end them first (tests/fleet)"; exit 1; }
	rm -rf --one-file-system .venv .nox .ruff_cache build

LANES := $(shell $(run) --list)
.PHONY: $(LANES)
$(LANES):
	@$(run) $@
