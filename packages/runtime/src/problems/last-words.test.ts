import assert from "node:assert/strict";
import { test } from "node:test";
import { lastWords } from "./last-words.ts";

test("the end of an output is reported, in whole lines", () => {
  assert.equal(lastWords("loading\nCUDA error: no device\n"), "loading\nCUDA error: no device");
  const long = [
    ...Array.from({ length: 50 }, (_, i) => `usage: option ${i}`),
    "vllm: error: unrecognized arguments: --no",
  ];
  const words = lastWords(long.join("\n"));
  assert.ok(words.endsWith("unrecognized arguments: --no") && words.startsWith("usage: option "), words);
  assert.ok(words.length <= 300);
  assert.equal(lastWords("x".repeat(1000)), `…${"x".repeat(299)}`);
  assert.equal(lastWords("\n"), "");
});

test("of a traceback, the exception is reported, with its whole message", () => {
  const output = `
(APIServer pid=1)   File "/venv/lib/python3.12/site-packages/vllm/engine/arg_utils.py", line 1200, in create_model_config
(APIServer pid=1)     return ModelConfig(
(APIServer pid=1) pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
(APIServer pid=1)   Value error, Invalid repository ID or local directory specified: '/models/none'.
(APIServer pid=1) [W1118 10:00:00.0 ProcessGroup.cpp:1] Warning: destroy_process_group() was not called
`;
  assert.equal(
    lastWords(output),
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n" +
      "Value error, Invalid repository ID or local directory specified: '/models/none'.",
  );
});

test("an exception that refers to the root cause above gives way to it", () => {
  const output = `
(EngineCore_DP0 pid=46) Process EngineCore_DP0:
(EngineCore_DP0 pid=46) Traceback (most recent call last):
(EngineCore_DP0 pid=46)   File "/venv/vllm/v1/worker/cpu_worker.py", line 80, in determine_available_memory
(EngineCore_DP0 pid=46)     raise ValueError(
(EngineCore_DP0 pid=46) ValueError: Not enough memory for the KV cache: 4.0 GiB requested, 1.2 GiB available
(APIServer pid=1) ERROR 11-18 10:00:00 [launcher.py:12] the engine has died
(APIServer pid=1) Traceback (most recent call last):
(APIServer pid=1)   File "/venv/vllm/v1/engine/utils.py", line 900, in wait_for_engine_startup
(APIServer pid=1)     raise RuntimeError(
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
`;
  assert.equal(
    lastWords(output),
    "ValueError: Not enough memory for the KV cache: 4.0 GiB requested, 1.2 GiB available",
  );
  const cut = output.slice(output.indexOf("(APIServer pid=1) Traceback"));
  assert.match(lastWords(cut), /^RuntimeError: Engine core initialization failed/);
});
