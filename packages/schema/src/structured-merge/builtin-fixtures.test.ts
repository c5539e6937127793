import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, apiVersionOf, type JsonObject, type ManagedFieldsEntry } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { zeroObject } from "../protobuf/decode.ts";
import { excludeFields } from "./field-filter.ts";
import { FieldManager } from "./field-manager.ts";

/** One write to an object of a built-in kind, and what the API server's field manager made of it. */
interface Step {
  verb: "apply" | "update";
  sub: string;
  manager: string;
  force?: boolean;
  body: JsonObject;
  managedFields?: ManagedFieldsEntry[];
  object?: JsonObject;
  error?: { message: string; code: number };
}

interface KindFixture {
  group: string;
  version: string;
  kind: string;
  status: boolean;
  zero: JsonObject;
  cases: Step[][];
}

const fixtures: KindFixture[] = JSON.parse(
  readFileSync(new URL("../../test/generated/structured-merge/builtin-kinds.json", import.meta.url), "utf8"),
);

/** As the server orders entries, times aside. */
function comparable(entries: ManagedFieldsEntry[] | undefined): ManagedFieldsEntry[] {
  const key = (entry: ManagedFieldsEntry) =>
    [entry.operation, entry.manager, entry.apiVersion, entry.subresource ?? "<nil>"].join("|");
  const timeless = (entries ?? []).map((entry) => (entry.time ? { ...entry, time: "T" } : entry));
  return timeless.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

for (const { group, version, kind, status, zero, cases } of fixtures) {
  test(`the owners of a ${kind}'s fields are those that the API server finds`, () => {
    const apiVersion = apiVersionOf({ group, version });
    const managers = ["", "status"].map((subresource) => {
      const reset = excludeFields([subresource === "status" ? "f:spec" : "f:status"]);
      return new FieldManager({
        kind: { group, version, kind },
        schema: builtinSchema(group, version, kind),
        clock: { now: () => 0 },
        subresource,
        ...(status && { resetFields: { [apiVersion]: reset } }),
      });
    });
    assert.deepEqual({ ...zeroObject(builtinSchema(group, version, kind)), apiVersion, kind }, zero);
    for (const steps of cases) {
      let live: JsonObject | undefined;
      for (const step of steps) {
        const { verb, sub, manager, force, body, managedFields, object, error } = step;
        const fields = managers[sub === "status" ? 1 : 0]!;
        const context = `${JSON.stringify({ ...step, object: undefined, managedFields: undefined })}\non ${JSON.stringify(live)}`;
        let result: JsonObject;
        try {
          result =
            verb === "apply"
              ? fields.apply(live, body, manager, { force: force ?? false })
              : fields.update(live, body, manager);
        } catch (thrown) {
          assert.ok(thrown instanceof ApiError && error, `${(thrown as Error).stack} for ${context}`);
          assert.equal(thrown.code, error.code);
          assert.deepEqual(thrown.message.split("\n").sort(), error.message.split("\n").sort(), context);
          continue;
        }
        assert.ok(object, `should have failed: ${error?.message} ${context}`);
        const entries = (result["metadata"] as JsonObject)["managedFields"] as ManagedFieldsEntry[] | undefined;
        assert.deepEqual(comparable(entries), managedFields, context);
        live = {
          ...object,
          metadata: { ...(object["metadata"] as JsonObject), ...(entries && { managedFields: entries }) },
        };
      }
    }
  });
}
