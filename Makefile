# What a contributor runs: `make test` while at work, `make fmt lint test` before a commit, `make ci` as continuous integration
# does, `make check` before a release.

GO ?= go

# The linter is built from source by the go command, once for each version, and kept in bin/ (not in git).
LINT_VERSION := v2.15.0
LINT := bin/golangci-lint-$(LINT_VERSION)/golangci-lint

# How long each fuzz target runs in `make fuzz`, and how often each benchmark in `make bench`.
FUZZTIME ?= 30s
BENCHCOUNT ?= 6

# The platforms that releases are built for besides the one at hand.
PLATFORMS := linux/arm64 darwin/arm64 windows/amd64

# Optional providers that bring too much for everybody, each with a go.mod of its own; one stands after those it requires.
MODULES := internal/onnx embed/hugot rerank/hugot vectorstore/coderhnsw sparse/gse bench/sparse loader/unipdf loader/nguyendocx trace/otel dashboard/browser postgres examples/cardstack scripts/release

.PHONY: check test race torture torture-postgres soak soak-race soak-memory fmt lint arch docscheck docs update fuzz coverage mutation bench cross purego tidy modules modules-cgo work ci mcp-conformance cluster release release-check changelog apidiff vuln

# All that must hold, but for the soak.
check: ci torture torture-postgres release-check mutation

test:
	$(GO) test ./...

# Data races need a C compiler; nothing else here does. Compiled code runs several times slower under the detector.
# Left out is what only drives the built command, which is built without it.
DRIVERS := /(internal/(arch|docscheck|systemtest)|examples)$$
race:
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $$($(GO) list ./... | grep -vE '$(DRIVERS)')

# Processes killed a hundred times, ten thousand operations against a model, and five thousand documents shared by workers
# that are killed; the ordinary tests do a part of it.
torture:
	RAG_TEST_KILLS=100 $(GO) test -count=1 -timeout 20m -run 'TestKilledAnywhere' .
	RAG_TEST_OPERATIONS=10000 CGO_ENABLED=1 $(GO) test -race -count=1 -timeout 20m -run 'TestModel' .

# The same over PostgreSQL: processes killed at each of 25 places, and 5,000 documents that three workers share.
torture-postgres:
	cd postgres && RAG_TEST_KILLS=25 RAG_TEST_QUEUED=5000 GOWORK=off $(GO) test -count=1 -timeout 20m -run 'TestKilledAnywhere|TestWorkers' .

# Half an hour of everything at once under a memory limit, with the race detector and without it; what grows fails it. SOAK=1m SOAKREPORT= to
# try it, -j2 for both at once.
SOAK ?= 30m
SOAKREPORT ?= bench
soak: soak-race soak-memory
soak-race:
	GOMEMLIMIT=512MiB CGO_ENABLED=1 $(GO) run -race ./bench/soak -for $(SOAK) -report "$(SOAKREPORT)"
soak-memory:
	GOMEMLIMIT=512MiB $(GO) run ./bench/soak -for $(SOAK) -report "$(SOAKREPORT)"

fmt:
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted, run gofmt -w: $$files"; exit 1; }

# All that go vet looks for is among it.
lint: $(LINT)
	$(LINT) run --allow-parallel-runners ./...

$(LINT):
	GOBIN=$(CURDIR)/$(@D) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Import directions. Not cached: the test reads the whole module through go list, which the test cache does not see.
arch:
	$(GO) test -count=1 ./internal/arch

# Whether the documentation is what the code says.
docscheck:
	$(GO) test -count=1 ./internal/docscheck

# Rewrite the generated parts of the documentation: code blocks of README.md and of the book, docs/cli.md, llms.txt.
docs:
	$(GO) test -count=1 ./internal/docscheck -run 'CodeBlocks|CommandHelp|TheBook' -update

# Rewrite golden files and generated documentation; look at the difference before you commit it.
update: docs
	@for p in $$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -r -n1 dirname | sort -u | grep -v internal/docscheck); do \
		$(GO) test -count=1 $$p -update || exit 1; done

# Run each fuzz target for FUZZTIME; the go command takes one at a time.
fuzz:
	@grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort | while IFS=: read -r file func; do \
		name=$${func#func }; echo "$$name in $$(dirname $$file)"; \
		(cd $$(dirname $$file) && $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; done

# Statements that the tests run, package by package, into docs/coverage.md. What nobody links is left out.
UNLISTED := (bench|examples|scripts|internal/(arch|docscheck|systemtest))(/|$$)
coverage:
	@profiles=$$(mktemp -d) && trap 'rm -rf "$$profiles"' EXIT && $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | \
		sed -e 's,^$(CURDIR)$$,rag,' -e 's,^$(CURDIR)/,,' | grep -vE '^$$|^$(UNLISTED)' | while read -r p; do \
			[ "$$p" = rag ] && dir=. || dir=./$$p; \
			$(GO) test -timeout 20m -coverpkg=./... -coverprofile="$$profiles/$$(echo $$p | tr / _).out" $$dir || exit 1; done && \
		$(GO) run ./scripts/coverage "$$profiles"

# Changes that the tests of a few packages must notice; the outcome goes into bench/mutation.md.
mutation:
	$(GO) run ./scripts/mutate

bench:
	$(GO) test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) ./...

# Programs and tests must compile for each platform, without a C compiler. To compile all that they stand on for each of
# them would take ten times as long as reading its declarations. The command is linked for the platform that has assembly
# of its own, and for all of them in a release.
cross:
	$(GO) build -o bin/typecheck ./scripts/typecheck
	@for m in . $(MODULES); do for p in $(PLATFORMS); do echo $$p $$m; \
		GOWORK=off GOOS=$${p%/*} GOARCH=$${p#*/} $(CURDIR)/bin/typecheck -C $$m || exit 1; done; done
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/rag
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) vet ./internal/simd ./internal/encoder

# Packages with assembly without it: what runs on processors that they have no kernel for.
purego:
	$(GO) test -tags purego ./internal/encoder/... ./internal/simd/...

# A package that one module starts to use stands in the go.mod of every module above it.
tidy:
	$(GO) mod verify
	@for m in . $(MODULES); do (cd $$m && GOWORK=off $(GO) mod tidy -diff) || { echo "run go mod tidy in $$m"; exit 1; }; done

# The optional modules, each by itself: a go.work would hide what a go.mod lacks. Tests that leave nothing out under the race
# detector run there alone, in modules-cgo; those of programs, which are built without it, here alone.
WHOLE_IN_RACE := internal/onnx embed/hugot rerank/hugot sparse/gse loader/unipdf loader/nguyendocx trace/otel dashboard/browser
PROGRAMS := examples/cardstack scripts/release
modules: $(LINT)
	@for m in $(MODULES); do echo $$m; (cd $$m && export GOWORK=off && \
		$(CURDIR)/$(LINT) run ./... && \
		case " $(WHOLE_IN_RACE) " in *" $$m "*) ;; *) $(GO) test -timeout 20m ./...;; esac) || exit 1; done

# What of them needs a C compiler: races, and the build for ONNX Runtime, which is not linked here.
ORT := internal/onnx embed/hugot rerank/hugot
modules-cgo:
	@for m in $(ORT); do (cd $$m && GOWORK=off CGO_ENABLED=1 $(GO) vet -tags ORT ./...) || exit 1; done
	@for m in $(MODULES); do echo $$m; (cd $$m && export GOWORK=off CGO_ENABLED=1 && \
		case " $(PROGRAMS) " in *" $$m "*) ;; *) $(GO) test -race -timeout 20m ./...;; esac) || exit 1; done

# One workspace of all modules, for an editor; not in git.
work:
	$(GO) work init . $(MODULES)

# Clients and suites for the Model Context Protocol that others wrote, against the command. Needs python3 and npm.
mcp-conformance:
	scripts/mcp-conformance

# The stores of Weaviate against three nodes on this machine, of which some are killed; more of it with RAG_CLUSTER_LONG=1. The
# first time it builds the server, 15 CPU minutes.
cluster:
	scripts/weaviate-cluster sh -c '$(GO) test -count=1 -timeout 60m -run OnACluster ./vectorstore/weaviate && \
		GOWORK=off $(GO) test -C postgres -count=1 -timeout 60m -run OnACluster .'

# What a release consists of, into dist/: static binaries for each platform, an image, bills of materials, checksums.
# How one is cut: docs/release.md.
release:
	. scripts/release/toolchain && cd scripts/release && GOWORK=off $(GO) run . -root ../.. -out ../../dist -version $(VERSION)

# The entries of changelog/unreleased become the section of VERSION.
changelog:
	cd scripts/release && GOWORK=off $(GO) run . -root ../.. -changelog -version $(VERSION)

# Whether two releases of one commit are the same bytes, and what is in them works.
release-check:
	cd scripts/release && GOWORK=off $(GO) test -count=1 -run TestRelease -release ./...

# What the public packages of the last release lost or changed.
apidiff:
	scripts/apidiff

# Known vulnerabilities in what the commands reach.
vuln:
	scripts/vulncheck

ci:
	.ci/run
