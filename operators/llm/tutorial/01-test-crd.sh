#!/usr/bin/env bash
# Part 1: a new kind, and an object of it, without anybody who acts on them.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "The kind is made known"
kubectl apply -f 01-what-is-crd.yaml
kubectl wait --for=condition=Established crd/llmmodels.ai.example.com --timeout=60s

say "kubectl knows it, also by its short name"
kubectl get llmmodels
kubectl get llm

say "An object of it is stored"
kubectl apply -f my-model.yaml
kubectl get llmmodels
kubectl describe llmmodel llama-3-70b-serving

say "What contradicts the schema is refused"
if kubectl apply -f - <<EOF
apiVersion: ai.example.com/v1
kind: LLMModel
metadata:
  name: impossible
spec:
  replicas: -1
EOF
then
  echo "it was accepted, which is wrong" >&2
  exit 1
fi

say "There are no Deployments and no pods of it"
if kubectl get deployments llmmodel-llama-3-70b-serving 2>/dev/null; then
  echo "an operator is at work already: clean up first with ./cleanup-all-crd-operator.sh" >&2
  exit 1
fi
echo "nothing runs: a kind and an object are only data. Part 2 brings the operator."
