import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf } from "@konverge/core";
import { LLMModel, ModelDeployment } from "@konverge/llm-operator";
import { TrainingJob } from "@konverge/training-operator";
import { laneManifests } from "./lane-manifests.ts";

test("the objects of the lane are what its operators serve", () => {
  const files = { "training.yaml": TrainingJob, "llm-model.yaml": LLMModel, "model.yaml": ModelDeployment };
  for (const [file, kind] of Object.entries(files)) {
    const { apiVersion, kind: name, metadata, spec } = laneManifests(file)[0]!;
    assert.deepEqual({ apiVersion, kind: name }, { apiVersion: apiVersionOf(kind), kind: kind.kind }, file);
    const parsed = (kind.new as (given: object) => { spec: object })({ metadata, spec });
    assert.deepEqual(
      Object.keys(spec).filter((field) => !(field in parsed.spec)),
      [],
      `${file} has unknown fields`,
    );
  }
});
