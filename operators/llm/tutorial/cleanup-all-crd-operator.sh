#!/usr/bin/env bash
# Takes away all that the tutorial made: first the models, while the operator is there, then the operator, then the kinds.
set -euo pipefail
cd "$(dirname "$0")"
if kubectl get crd llmmodels.ai.example.com >/dev/null 2>&1; then
  kubectl delete llmmodels --all --timeout=60s
fi
kubectl delete -f 02-simple-operator.yaml --ignore-not-found --timeout=120s
kubectl delete secret llm-operator-certificates --namespace default --ignore-not-found
kubectl delete -f 01-what-is-crd.yaml --ignore-not-found --timeout=120s
