# The targets Kubernetes people expect; the work is done by the npm scripts of the same purpose.
.DEFAULT_GOAL := help

# The image with all operators. make docker-build docker-push deploy IMG=registry.example.com/operators:v1
IMG ?= konverge/operators:0.1.0
# Which operators: all, or names with commas between them.
OPERATORS ?= all
# Where they are deployed.
NAMESPACE ?= default
# More options for the command: make run ARGS="--log-level debug"
ARGS ?=
# Anything that builds images as docker does: make docker-build CONTAINER_TOOL=podman
CONTAINER_TOOL ?= docker

KONVERGE := node scripts/run.mjs packages/cli/src/main.ts

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

.PHONY: manifests
manifests: ## Write CRDs, roles, webhooks and Deployments to config/
	$(KONVERGE) manifests --output config

.PHONY: install
install: ## Install the operators' kinds into the current cluster
	$(KONVERGE) install --operators $(OPERATORS) --namespace $(NAMESPACE) $(ARGS)

.PHONY: uninstall
uninstall: ## Remove the operators' kinds, with all their objects (ARGS=--force)
	$(KONVERGE) uninstall --operators $(OPERATORS) --namespace $(NAMESPACE) $(ARGS)

.PHONY: run
run: ## Run the operators here, against the current cluster; no image is needed
	$(KONVERGE) run --operators $(OPERATORS) $(ARGS)

.PHONY: docker-build
docker-build: container-tool ## Build the image IMG
	$(CONTAINER_TOOL) build --tag $(IMG) .

.PHONY: docker-push
docker-push: container-tool ## Push the image IMG
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: deploy
deploy: ## Install the operators as Deployments of IMG into the current cluster
	$(KONVERGE) deploy --image $(IMG) --operators $(OPERATORS) --namespace $(NAMESPACE) $(ARGS)

.PHONY: undeploy
undeploy: ## Remove the operators' Deployments and roles; kinds and objects stay
	$(KONVERGE) undeploy --operators $(OPERATORS) --namespace $(NAMESPACE) $(ARGS)

.PHONY: container-tool
container-tool:
	@command -v $(CONTAINER_TOOL) >/dev/null || { \
	  echo "$(CONTAINER_TOOL) is not installed. Install it, choose another with CONTAINER_TOOL=podman, or run the operators without an image: make run" >&2; \
	  exit 1; }
