import assert from "node:assert/strict";
import { test } from "node:test";
import { flagSetBy, modelArgs } from "./server-args.ts";

const FLAGS = ["--model", "--tensor-parallel-size", "--data-parallel-size", "--port"];

test("a flag is recognized in each form that vLLM accepts", () => {
  for (const arg of [
    "--tensor-parallel-size",
    "--tensor-parallel-size=4",
    "--tensor_parallel_size",
    "--tensor_parallel_size=4",
    "--tensor-parallel",
    "-tp",
    "-tp=4",
  ]) {
    assert.equal(flagSetBy(arg, FLAGS), "--tensor-parallel-size", arg);
  }
  for (const arg of ["--max-model-len", "--data-parallel-size-local", "4", "--", "-O3", "tensor-parallel-size"]) {
    assert.equal(flagSetBy(arg, FLAGS), undefined, arg);
  }
});

test("the model comes first where `vllm serve` is started, and with its flag where that is not known", () => {
  for (const image of ["vllm/vllm-openai", "vllm/vllm-openai:latest", "mirror:5000/x/vllm-openai:v0.32.0-cu130"])
    assert.deepEqual(modelArgs(image, "m"), ["m"], image);
  for (const image of [
    "vllm/vllm-openai:v0.9",
    "vllm/vllm-openai@sha256:1",
    "vllm/vllm-openai-xpu:latest",
    "my/vllm:1",
  ])
    assert.deepEqual(modelArgs(image, "m"), ["--model", "m"], image);
  assert.deepEqual(modelArgs("vllm/vllm-openai:v0.32.0@sha256:1", "m"), ["m"]);
});
