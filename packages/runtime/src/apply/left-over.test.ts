import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@konverge/core";
import { withoutLeftOver } from "./left-over.ts";

const refused = (...fields: string[]) =>
  new ApiError({
    code: 422,
    reason: "Invalid",
    message: "no",
    details: { causes: fields.map((field) => ({ field })) },
  });

const desired = { spec: { strategy: { type: "Recreate" }, replicas: 1 } };
const live = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } }, replicas: 2 } };

test("what is left of another choice goes with that choice", () => {
  assert.deepEqual(withoutLeftOver(refused("spec.strategy.rollingUpdate"), desired, live), {
    spec: { strategy: { type: "Recreate", rollingUpdate: null } },
  });
});

test("what is wanted, what is not there and what is in lists stays", () => {
  assert.equal(withoutLeftOver(refused("spec.strategy.type"), desired, live), undefined);
  assert.equal(
    withoutLeftOver(refused("spec.strategy.other", "spec.template.x", "metadata"), desired, live),
    undefined,
  );
  assert.equal(withoutLeftOver(refused("spec.containers[0].image"), desired, live), undefined);
  assert.equal(withoutLeftOver(new Error("no"), desired, live), undefined);
});

test("values of other managers stay, and lists are not replaced", () => {
  const scaled = { spec: { replicas: 7, volumes: [{ name: "theirs" }], other: { by: "choice" } } };
  const draft = { spec: { kind: "plain", volumes: [{ name: "ours" }] } };
  assert.equal(withoutLeftOver(refused("spec.replicas"), draft, scaled), undefined);
  assert.deepEqual(withoutLeftOver(refused("spec.other"), draft, scaled), { spec: { kind: "plain", other: null } });
});
