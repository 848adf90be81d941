# Every command of the project. `make` alone lists them.

GO      ?= go
BIN     := bin/stoa
VERSION  = $(shell .ci/version)
LINTER  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
TESTFLAGS ?= -short
BROWSEFLAGS ?= -short
PROVEFLAGS ?=
CLUSTER := $(BIN) test-cluster --

export PATH := $(PATH):/usr/local/go/bin
# Each module is built with the versions of its own go.mod; go.work serves editors.
export GOWORK := off
# Without paths of the machine in the programs, a fresh clone finds in the build cache what another folder has compiled.
export GOFLAGS := $(strip $(shell PATH="$$PATH:/usr/local/go/bin" $(GO) env GOFLAGS 2>/dev/null) -trimpath)

.DEFAULT_GOAL := help

.PHONY: help setup build run demo seed test tools typescript race browse nightly pictures bench profile prove conformance lint fmt migration verify
.PHONY: generate generate-ent generate-graphql generate-clients
.PHONY: module-path package package-test release apt-repository reproduce

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the programs that are missing (Debian packages)
	@.ci/setup

# Without DWARF (-w) the link takes 3 s instead of 6, without symbols (-s) the program has 10 MB less; a debugger needs go build
# without either.
build: setup ## Build bin/stoa, and bin/stoa-inspect, which it starts for every file
	@[ -e $(BIN) ] || echo 'Compiling bin/stoa, which takes about two minutes on two cores the first time and seconds later.'
	@$(GO) build -ldflags '-s -w' -o $(BIN)-inspect ./cmd/inspect
	@$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/stoa

run: build ## Run the server with its own PostgreSQL in ./data
	@$(BIN) serve --welcome

demo: build ## Let five agents live a story on the running server; they and their works stay
	@$(BIN) demo

seed: build ## Fill an empty database with agents, works, services, tasks and orders; bin/stoa seed --remove takes them away
	@$(BIN) seed

# Vet runs in make verify (as govet of the linters), and a test program without debug information links in half the time. Compilers and
# test programs hold little for a short time, so the garbage collector may come late. Many tests wait most of their time, so four of a
# package run at once.
TESTS = $(GO) test -vet=off -ldflags='-s -w' -timeout 20m -parallel 4
test race: export GOGC := 400

test: build ## Run the tests of the server and of its Go client on a throw-away PostgreSQL; TESTFLAGS= also those that run every night
	@.ci/setup test
	@$(CLUSTER) $(TESTS) $(TESTFLAGS) ./...
	@cd rest/client && $(TESTS) $(TESTFLAGS) ./...

tools: build ## Build bench, browse, prove and the tools of packages, and run their short tests
	@$(CLUSTER) .ci/tools

typescript: build ## Build the TypeScript client and test it against the server
	@.ci/setup test
	@$(CLUSTER) .ci/typescript

# The packages in which goroutines of ours meet. The others run with the detector every night.
RACED := ./rest/socket ./graph/events ./graph/webhooks ./graph/keylog ./graph/attachments ./graph/orders ./graph/platform/db/... \
	./graph/platform/readpool ./graph/platform/httpserver ./jobs
race: build ## Run the short tests with the race detector where goroutines meet
	@$(CLUSTER) $(TESTS) -race -short $(RACED)

browse: build ## Walk through pages with Chromium and axe-core: three of each kind; BROWSEFLAGS= all of them
	@.ci/setup browse
	@.ci/packages cmd/browse
	@GOWORK='$(CURDIR)/go.work' $(CLUSTER) $(GO) -C cmd/browse test -tags browse -vet=off -count 1 -timeout 50m $(BROWSEFLAGS) .

nightly: build ## Run a part of the checks that take too long for every change: make nightly PART=tests; without PART it lists the parts
	@.ci/nightly '$(PART)'

pictures: build ## Take the pictures of docs/pictures
	@.ci/setup browse pictures
	@$(CLUSTER) $(GO) -C cmd/browse test -tags browse -count 1 . -run '^TestPictures$$' -write

bench: build ## Compare the server with plain SQL, AGAINST=COMMIT, or NAKAMA=PROGRAM, in turns; BENCHFLAGS='--only me,feed'
	@[ -z '$(AGAINST)' ] || .ci/older '$(AGAINST)' bin/against
	@$(GO) -C cmd/bench build -o ../../bin/bench .
	@bin/bench $(if $(AGAINST),--against bin/against/stoa) $(if $(NAKAMA),--nakama '$(NAKAMA)') $(BENCHFLAGS)
	@$(GO) -C cmd/bench tool benchstat -col by ../../bin/bench.txt

profile: build ## Show where the time of operations goes, in the server and in PostgreSQL; BENCHFLAGS='--only me,feed' of these
	@$(GO) -C cmd/bench build -o ../../bin/bench .
	@bin/bench --while cmd/bench/profile $(BENCHFLAGS)

prove: build ## Torture servers with faults and judge what they did: make prove PROVEFLAGS='--minutes 3', or self-test
	@.ci/setup prove $(findstring failover,$(PROVEFLAGS))
	@$(GO) -C cmd/prove build -o ../../bin/prove .
	@[ -z '$(OLDER)' ] || .ci/older '$(OLDER)' bin/older
	@[ -z '$(findstring --clocks,$(PROVEFLAGS))' ] || GO='$(GO)' .ci/clocks bin/stoa-clocks
	@bin/prove $(PROVEFLAGS) $(if $(OLDER),--older bin/older/stoa) $(if $(findstring --clocks,$(PROVEFLAGS)),--server bin/stoa-clocks)

conformance: build ## Check /mcp and the proxy of the package for npm with the published checks of the Model Context Protocol
	@$(CLUSTER) .ci/conformance

lint: ## Run the linters
	@.ci/modules $(GO) run $(LINTER) run

fmt: ## Format the code
	@gofmt -l -w .

generate: generate-ent generate-graphql generate-clients ## Generate code again: ent from its schema, the GraphQL layer, both clients' records, the playground

generate-ent:
	@$(GO) -C cmd/generate build -o ../../bin/generate-ent ./ent
	@bin/generate-ent

generate-graphql:
	@$(GO) tool gqlgen generate

generate-clients:
	@$(GO) run ./rest/records
	@.ci/playground
	@.ci/packages rest/client/typescript
	@cd rest/client/typescript && npm run --silent describe >/dev/null
	@.ci/npm

migration: build ## Write a migration from the schema's changes: make migration name=add_something
	@$(CLUSTER) .ci/migration '$(name)'

verify: build ## Check everything that needs no test: generated code, migrations, modules, format, vet, lint
	@$(CLUSTER) .ci/verify

module-path: ## Rename the module, for those who publish it: make module-path PATH=example.org/you/stoa
	@/bin/sh .ci/module-path '$(PATH)'

package: setup ## Build the Debian package and the images, each twice, into bin/package; as root
	@.ci/setup package
	@.ci/package/build
	@.ci/package/images
	@.ci/package/check

package-test: ## Install, upgrade and purge the package that make package has built, and run its image; as root
	@.ci/setup package repository
	@.ci/package/test
	@dpkg-deb --fsys-tarfile bin/package/stoa_$(VERSION)-1_$$(dpkg --print-architecture).deb | \
		tar -x --strip-components 3 -C bin/package ./usr/bin/stoa ./usr/bin/stoa-inspect
	@.ci/package/filter bin/package/stoa
	@.ci/package/serve-image bin/package/stoa-postgresql_$(VERSION)_$$(dpkg --print-architecture).oci.tar

release: setup ## Build everything that is published, for amd64 and arm64, into bin/release, and sign it (docs/packages.md); as root
	@.ci/setup package cross
	@.ci/package/release --once

apt-repository: ## Make an apt repository of the packages in bin/release, as files in bin/apt
	@.ci/setup repository
	@.ci/package/apt-repository

reproduce: setup ## Prove that a release is the same wherever it is built: twice by other users on other hosts; as root
	@.ci/setup package
	@.ci/package/reproduce
