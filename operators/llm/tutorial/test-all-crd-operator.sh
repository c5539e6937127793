#!/usr/bin/env bash
# Both parts, one after the other.
set -euo pipefail
cd "$(dirname "$0")"
./01-test-crd.sh
./02-test-operator.sh
printf '\n== All of it works. ./cleanup-all-crd-operator.sh takes it away again.\n'
