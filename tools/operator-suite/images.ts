/**
 * The images that the operators choose by default, as their registries have them; those without a tag with any. It is
 * written independently of the operators: an operator that misspells one leaves its pods in ImagePullBackOff, and its tests
 * fail.
 */
export const OPERATOR_IMAGES: readonly string[] = [
  "ghcr.io/ggml-org/llama.cpp:server",
  "ghcr.io/ggml-org/llama.cpp:server-cuda",
  "lmsysorg/sglang:latest",
  "mysql",
  "ollama/ollama:latest",
  "postgres",
  "prom/mysqld-exporter:v0.17.2",
  "quay.io/prometheuscommunity/postgres-exporter:v0.17.1",
  "nvcr.io/nvidia/tritonserver:21.08-py3",
  "rclone/rclone:1.71.0",
  "seldonio/alibiexplainer:1.18.2",
  "seldonio/mlflowserver:1.18.2",
  "seldonio/mlserver:1.3.5-alibi-explain",
  "seldonio/mlserver:1.3.5-huggingface",
  "seldonio/mlserver:1.3.5-mlflow",
  "seldonio/mlserver:1.3.5-sklearn",
  "seldonio/mlserver:1.3.5-slim",
  "seldonio/mlserver:1.3.5-xgboost",
  "seldonio/sklearnserver:1.18.2",
  "seldonio/tfserving-proxy:1.18.2",
  "seldonio/xgboostserver:1.18.2",
  "tensorflow/serving:2.1.0",
  "vllm/vllm-openai:latest",
];
