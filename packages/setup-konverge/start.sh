#!/bin/sh
# Starts a cluster for the following steps; it ends with the runner's job, or with `konverge down`.
set -eu
kubeconfig="$RUNNER_TEMP/konverge/kubeconfig"
# shellcheck disable=SC2086 # options are separated by spaces
konverge up --background --kubeconfig "$kubeconfig" $ARGS
echo "kubeconfig=$kubeconfig" >>"$GITHUB_OUTPUT"
echo "KUBECONFIG=$kubeconfig" >>"$GITHUB_ENV"
