import assert from "node:assert/strict";
import { test } from "node:test";
import type { OperatorVersion, Parameter } from "./kudo-kinds.ts";
import { plannedBy } from "./schedule-plan.ts";

function versionOf(name: string, plans: readonly string[], parameters: readonly Parameter[]): OperatorVersion {
  const spec = { plans: Object.fromEntries(plans.map((plan) => [plan, {}])), parameters };
  return {
    apiVersion: "kudo.dev/v1beta1",
    kind: "OperatorVersion",
    metadata: { name, namespace: "default" },
    spec,
  } as OperatorVersion;
}

const PARAMETERS: readonly Parameter[] = [
  { name: "SIZE", default: "1" },
  { name: "TARGET", trigger: "backup" },
  { name: "COLOR", trigger: "paint" },
  { name: "DISK", default: "small", immutable: true },
];
const v1 = versionOf("cache-1", ["deploy", "backup", "paint"], PARAMETERS);

test("a changed parameter runs the plan of its trigger, else update, else deploy", () => {
  const from = { version: v1, parameters: { SIZE: "1" } };
  assert.equal(plannedBy(from, from), undefined);
  assert.equal(plannedBy(from, { version: v1, parameters: { SIZE: "2" } }), "deploy");
  assert.equal(plannedBy(from, { version: v1, parameters: {} }), "deploy");
  assert.equal(plannedBy(from, { version: v1, parameters: { SIZE: "1", TARGET: "there" } }), "backup");
  const updated = versionOf("cache-1", ["deploy", "update"], PARAMETERS);
  assert.equal(
    plannedBy({ version: updated, parameters: {} }, { version: updated, parameters: { SIZE: "2" } }),
    "update",
  );
});

test("changes that would run two plans, of what is immutable, or of what does not exist are refused", () => {
  const refused = (parameters: Record<string, string>, message: RegExp) =>
    assert.throws(() => plannedBy({ version: v1, parameters: {} }, { version: v1, parameters }), message);
  refused({ TARGET: "there", COLOR: "red" }, /triggering multiple plans: \[backup paint\] at once is not allowed/);
  refused({ DISK: "large" }, /parameter 'DISK' is immutable but was changed from '' to 'large'/);
  refused({ SIZES: "2" }, /failed to find parameter "SIZES"/);
});

test("another version runs upgrade, else update, else deploy, and needs values for what becomes immutable", () => {
  const from = { version: v1, parameters: { DISK: "small" } };
  const to = (plans: readonly string[], parameters = PARAMETERS) => versionOf("cache-2", plans, parameters);
  assert.equal(plannedBy(from, { ...from, version: to(["deploy", "update", "upgrade"]) }), "upgrade");
  assert.equal(plannedBy(from, { ...from, version: to(["deploy"]) }), "deploy");
  const fixed = to(["deploy"], [...PARAMETERS, { name: "ZONE", immutable: true, default: "a" }]);
  assert.throws(
    () => plannedBy(from, { ...from, version: fixed }),
    /parameter 'ZONE' was added in operator version cache-2, but no value was provided \(default would be a\)/,
  );
});
