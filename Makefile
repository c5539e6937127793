# The targets Kubernetes people expect; the work is done by the npm scripts of the same purpose.
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-zA-Z_-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: start
start: ## Run the demo: embedded cluster, operators, samples
	npm start

.PHONY: test
test: ## Types, lint, layering and all fast tests
	npm test

.PHONY: check
check: ## Types, lint and layering only
	npm run check

.PHONY: fmt
fmt: ## Format and fix what can be fixed
	npm run format

.PHONY: envtest
envtest: ## Build or find a real control plane for the real-cluster suites
	npm run real:build

.PHONY: test-real
test-real: envtest ## All suites that need a real control plane
	npm run test:real

.PHONY: ci
ci: ## Everything CI runs
	bash .ci/run
