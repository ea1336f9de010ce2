#!/usr/bin/env bash
# Installs the servers and programs that tests need, each unless it is there: PostgreSQL with pgvector, Chroma, and the rest.
# With RAG_REQUIRE_SERVICES set no test skips for want of them; tests start and end the servers themselves.
set -euo pipefail
cd "$(dirname "$0")"
for install in ./install-*; do
	"$install"
done
