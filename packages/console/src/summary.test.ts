import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@konverge/core";
import { summaryOf } from "./summary.ts";

const WIDGET = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets" };

function widget(status: unknown): KubeObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", uid: "1" }, status } as KubeObject;
}

test("conditions that are null, as in a new CustomResourceDefinition, or no conditions at all are left out", () => {
  for (const conditions of [null, {}, "Ready", [null], ["Ready"], [{ status: "False" }]]) {
    assert.equal(summaryOf(WIDGET, widget({ conditions }), 0).state, "ready", JSON.stringify(conditions));
  }
});

test("a false Ready condition says why an object is not ready", () => {
  const conditions = [{ type: "Ready", status: "False", reason: "Waiting", message: "waits for a volume" }];
  const { state, message } = summaryOf(WIDGET, widget({ conditions }), 0);
  assert.deepEqual({ state, message }, { state: "progressing", message: "waits for a volume" });
});
