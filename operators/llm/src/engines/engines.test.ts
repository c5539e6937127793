import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "../llm-model.ts";
import { deploymentFor } from "../llm-model-children.ts";
import { ModelDeployment } from "../model-deployment.ts";
import { configMapsFor, statefulSetFor } from "../model-deployment-children.ts";
import { servingErrors } from "../serving-admission.ts";

type Spec = Parameters<typeof LLMModel.new>[0]["spec"];
const modelWith = (spec: Spec) => LLMModel.new({ metadata: { name: "m", namespace: "ns" }, spec });
const podSpec = (spec: Spec) => deploymentFor(modelWith(spec)).spec!.template.spec!;
const container = (spec: Spec) => podSpec(spec).containers[0]!;
const problems = (spec: Spec) => LLMModel.validate(modelWith(spec)).map(({ message }) => message);

test("SGLang is started as a module, with its own flags and metrics", () => {
  const { command, args, image, readinessProbe } = container({ engine: "SGLang", gpuCount: 4, modelName: "llama" });
  assert.deepEqual(command, ["python3", "-m", "sglang.launch_server"]);
  assert.equal(image, "lmsysorg/sglang:latest");
  assert.equal(
    args?.join(" "),
    "--model-path llama --served-model-name llama --host 0.0.0.0 --port 8000 --enable-metrics --tp-size 4",
  );
  assert.equal(readinessProbe?.httpGet?.path, "/health");
});

test("SGLang divides experts over all GPUs, in which attention runs as copies", () => {
  const args = (parallelism: object) => container({ engine: "SGLang", gpuCount: 8, parallelism }).args!.join(" ");
  assert.match(args({ tensor: 2, pipeline: 2, data: 2 }), /--tp-size 2 --pp-size 2 --dp-size 2$/);
  assert.match(args({ data: 8, expert: true }), /--tp-size 8 --dp-size 8 --ep-size 8 --enable-dp-attention$/);
  assert.match(args({ expert: true }), /--tp-size 8 --ep-size 8$/);
});

test("adapters have the flags of each engine", () => {
  const lora = { adapters: [{ name: "sql", source: { claim: { name: "c" } } }], maxRank: 32 as const, maxCpuLoras: 4 };
  assert.match(
    container({ engine: "SGLang", lora }).args!.join(" "),
    /--enable-lora --lora-paths sql=\/mnt\/adapters\/sql --max-loras-per-batch 1 --max-lora-rank 32 --max-loaded-loras 4$/,
  );
  assert.match(container({ lora }).args!.join(" "), /--lora-modules sql=\/mnt\/adapters\/sql --max-loras 1/);
});

test("llama.cpp serves a GGUF file or a repository, and has an image for each kind of GPU", () => {
  const source = { claim: { name: "weights", path: "llama/q4.gguf" } };
  assert.equal(
    container({ engine: "LlamaCpp", gpuCount: 0, modelName: "llama", source }).args?.join(" "),
    "--model /mnt/models/llama/q4.gguf --alias llama --host 0.0.0.0 --port 8000 --metrics",
  );
  const args = container({ engine: "LlamaCpp", modelName: "ggml-org/gemma-3-1b-it-GGUF" }).args?.join(" ");
  assert.match(args ?? "", /^--hf-repo ggml-org\/gemma-3-1b-it-GGUF .*--n-gpu-layers 999$/);
  const image = (spec: Spec) => container({ engine: "LlamaCpp", ...spec }).image;
  assert.equal(image({ gpuCount: 0 }), "ghcr.io/ggml-org/llama.cpp:server");
  assert.equal(image({}), "ghcr.io/ggml-org/llama.cpp:server-cuda");
  assert.equal(image({ accelerator: { vendor: "Intel" } }), "ghcr.io/ggml-org/llama.cpp:server-intel");
});

test("Ollama pulls its model before it serves it, and is ready when the model is loaded", () => {
  const spec: Spec = { engine: "Ollama", gpuCount: 0, modelName: "llama3.2:1b", startupTimeout: "10m" };
  const { initContainers = [], containers, volumes } = podSpec(spec);
  const [pull] = initContainers;
  assert.equal(pull?.name, "download-model");
  assert.match(pull?.command?.at(-1) ?? "", /ollama pull "\$PULLED"/);
  assert.equal(pull?.env?.find(({ name }) => name === "PULLED")?.value, "llama3.2:1b");
  assert.deepEqual(containers[0]?.args, ["serve"]);
  assert.equal(containers[0]?.env?.find(({ name }) => name === "OLLAMA_HOST")?.value, "0.0.0.0:8000");
  assert.deepEqual(
    [containers[0]?.startupProbe?.timeoutSeconds, containers[0]?.startupProbe?.failureThreshold],
    [600, 1],
  );
  assert.ok(volumes?.some(({ name }) => name === "cache"));
  for (const one of [pull, containers[0]]) {
    assert.ok(one?.volumeMounts?.some(({ name, mountPath }) => name === "cache" && mountPath.endsWith("/huggingface")));
  }
});

test("a repository that Ollama pulls has the model's own name", () => {
  const source = { huggingFace: { repo: "bartowski/Llama-3.2-1B-Instruct-GGUF" } };
  const [pull] = podSpec({ engine: "Ollama", modelName: "llama", source }).initContainers!;
  assert.equal(pull?.env?.find(({ name }) => name === "PULLED")?.value, "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF");
  assert.match(pull?.command?.at(-1) ?? "", /ollama cp "\$PULLED" "\$MODEL_NAME"/);
});

test("a variable of the user's replaces the engine's", () => {
  const env = [{ name: "OLLAMA_KEEP_ALIVE", value: "10m" }];
  const found = container({ engine: "Ollama", env }).env!.filter(({ name }) => name === "OLLAMA_KEEP_ALIVE");
  assert.deepEqual(found, env);
});

test("a single file in a bucket is copied to its name", () => {
  const source = { s3: { uri: "s3://models/llama/q4.gguf" } };
  const { initContainers, containers } = podSpec({ engine: "LlamaCpp", modelName: "llama", source });
  assert.equal(initContainers?.[0]?.args?.[0], "copyto");
  assert.equal(containers[0]?.args?.[1], "/home/model/.cache/huggingface/s3/models/llama/q4.gguf");
});

test("only vLLM reads a configuration file", () => {
  const deployment = (spec: object) =>
    ModelDeployment.new({ metadata: { name: "m", namespace: "ns" }, spec: { model: "llama", ...spec } });
  assert.equal(configMapsFor(deployment({})).length, 1);
  const sglang = deployment({ engine: "SGLang" });
  assert.equal(configMapsFor(sglang).length, 0);
  const { spec } = statefulSetFor(sglang, { products: [], replicas: 1 }).draft as { spec: object };
  assert.match(JSON.stringify(spec), /"--model-path","llama"/);
  assert.doesNotMatch(JSON.stringify(spec), /\/etc\/vllm/);
});

test("arguments that the operator sets are refused under each of their names", () => {
  const refused = (engine: "SGLang" | "LlamaCpp", arg: string) =>
    servingErrors(modelWith({ engine, args: [arg] }).spec, "m")
      .map(({ message }) => message)
      .join();
  for (const arg of [
    "--tp",
    "--tp-size=2",
    "--tensor-parallel-size",
    "--model-path=x",
    "--model",
    "--port",
    "--ep_size",
  ]) {
    assert.match(refused("SGLang", arg), /derived from other fields/, arg);
  }
  for (const arg of ["-m", "--model=x", "-hf", "-a", "--port"])
    assert.match(refused("LlamaCpp", arg), /derived from other fields/, arg);
  assert.equal(refused("SGLang", "--mem-fraction-static=0.8"), "");
  assert.equal(refused("LlamaCpp", "--model-draft"), "");
});

test("what an engine cannot do is refused", () => {
  const lora = { adapters: [{ name: "a", source: { claim: { name: "c" } } }] };
  assert.match(problems({ engine: "LlamaCpp", lora })[0]!, /lora is for vLLM and SGLang/);
  assert.match(problems({ engine: "LlamaCpp", gpuCount: 2, parallelism: {} })[0]!, /divide a model among GPUs/);
  assert.match(problems({ engine: "Ollama", args: ["--x"] })[0]!, /takes no arguments/);
  assert.match(problems({ engine: "Ollama", source: { claim: { name: "c" } } })[0]!, /pulls its model/);
  const huggingFace = { repo: "a/b", revision: "main" };
  assert.match(problems({ engine: "LlamaCpp", source: { huggingFace } })[0]!, /revision is for vLLM/);
  assert.match(problems({ engine: "SGLang", accelerator: { vendor: "AMD" } })[0]!, /image must be set/);
  assert.deepEqual(problems({ engine: "SGLang", accelerator: { vendor: "AMD" }, image: "rocm" }), []);
  const folder = servingErrors(modelWith({ engine: "LlamaCpp", source: { claim: { name: "c" } } }).spec, "m");
  assert.match(folder[0]!.message, /ends with \.gguf/);
});
