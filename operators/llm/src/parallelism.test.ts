import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel } from "./llm-model.ts";
import { parallelArgs, parallelOptions } from "./parallelism.ts";

const errors = (spec: Parameters<typeof LLMModel.new>[0]["spec"]) =>
  LLMModel.validate(LLMModel.new({ metadata: { name: "m" }, spec })).map(({ message }) => message);

test("without the field, a model is split across all GPUs of a replica", () => {
  assert.deepEqual(parallelArgs({ gpuCount: 8 }), ["--tensor-parallel-size", "8"]);
  assert.deepEqual(parallelArgs({ gpuCount: 0 }), ["--tensor-parallel-size", "1"]);
});

test("data and expert parallelism on eight GPUs take eight, not sixty-four", () => {
  const parallelism = { pipeline: 1, data: 8, expert: true };
  assert.deepEqual(parallelArgs({ gpuCount: 8, parallelism }), [
    ...["--tensor-parallel-size", "1", "--data-parallel-size", "8"],
    "--enable-expert-parallel",
  ]);
  assert.deepEqual(parallelOptions({ gpuCount: 8, parallelism: { pipeline: 2, data: 1, expert: false } }), {
    "tensor-parallel-size": 4,
    "pipeline-parallel-size": 2,
  });
});

test("what does not fit the GPUs of a replica is refused", () => {
  assert.deepEqual(errors({ gpuCount: 8, parallelism: { tensor: 2, pipeline: 2, data: 2 } }), []);
  assert.deepEqual(errors({ gpuCount: 8, parallelism: { data: 4 } }), []);
  assert.deepEqual(errors({ gpuCount: 0, parallelism: { data: 2 } }), []);
  for (const parallelism of [{ data: 3 }, { tensor: 8, data: 8 }, { tensor: 4 }])
    assert.match(errors({ gpuCount: 8, parallelism })[0]!, /must be gpuCount, the GPUs of a replica/);
});
