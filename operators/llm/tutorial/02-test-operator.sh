#!/usr/bin/env bash
# Part 2: the operator, which makes what objects ask for.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

# Waits until a Deployment exists and all its replicas are ready.
ready() {
  for _ in $(seq 120); do
    kubectl get deployment "$1" >/dev/null 2>&1 && break
    sleep 0.5
  done
  kubectl rollout status "deployment/$1" --timeout=120s
}

say "The kind and a model are there"
kubectl apply -f 01-what-is-crd.yaml
kubectl wait --for=condition=Established crd/llmmodels.ai.example.com --timeout=60s
kubectl apply -f my-model.yaml

say "The operator starts, in the namespace default"
kubectl apply -f 02-simple-operator.yaml
kubectl rollout status deployment/llm-operator --namespace default --timeout=120s
kubectl get pods --namespace default -l app=llm-operator

say "It finds the model that was there before it"
ready llmmodel-llama-3-70b-serving
kubectl get deployments llmmodel-llama-3-70b-serving
kubectl get pods -l ai.example.com/model=llama-3-70b-serving

say "A second model, and more of it"
kubectl apply -f - <<EOF
apiVersion: ai.example.com/v1
kind: LLMModel
metadata:
  name: my-new-model
spec:
  modelName: llama-3-8b
  replicas: 2
  gpuType: A100
EOF
ready llmmodel-my-new-model
kubectl patch llmmodel my-new-model --type=json \
  -p='[{"op": "replace", "path": "/spec/replicas", "value":5}]'
for _ in $(seq 120); do
  [ "$(kubectl get deployment llmmodel-my-new-model -o jsonpath='{.spec.replicas}')" = 5 ] && break
  sleep 0.5
done
ready llmmodel-my-new-model
kubectl get llmmodels

say "It goes, and all that was made for it goes along"
kubectl delete llmmodel my-new-model
kubectl wait --for=delete deployment/llmmodel-my-new-model --timeout=60s

say "What the operator said"
kubectl get events --sort-by='.lastTimestamp' | tail -20
