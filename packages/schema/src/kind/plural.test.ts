import assert from "node:assert/strict";
import { test } from "node:test";
import { pluralOf } from "./plural.ts";

const PLURALS = {
  Database: "databases",
  Policy: "policies",
  Gateway: "gateways",
  Box: "boxes",
  Class: "classes",
  Mesh: "meshes",
  Batch: "batches",
  LLMModel: "llmmodels",
};

for (const [kind, plural] of Object.entries(PLURALS)) {
  test(`several of ${kind} are ${plural}`, () => assert.equal(pluralOf(kind), plural));
}
