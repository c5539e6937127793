import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, type JsonObject, type ManagedFieldsEntry, type Schema, VirtualClock } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import fc from "fast-check";
import { withAsyncConversion } from "./async-conversion.ts";
import { excludeFields } from "./field-filter.ts";
import { FieldManager, type FieldManagerOptions, ownable } from "./field-manager.ts";
import * as fieldSet from "./field-set.ts";
import { managerNameOf } from "./manager-name.ts";
import { managedFieldsProblem } from "./managers.ts";
import { objectTypeOf } from "./merge-type.ts";
import { keepTimesOfNoop } from "./noop-times.ts";
import { parentManagedFields, scaleManagedFields } from "./scale-fields.ts";
import { takeOver } from "./take-over.ts";
import { toFieldSet } from "./to-field-set.ts";

const deployments = builtinSchema("apps", "v1", "Deployment");
const kind = { group: "apps", version: "v1", kind: "Deployment" };

function setUp(options: Partial<FieldManagerOptions> = {}) {
  const clock = new VirtualClock();
  return { clock, fields: new FieldManager({ kind, schema: deployments, clock, ...options }) };
}

function deployment(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", ...metadata },
    spec,
  };
}

const stored = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object["metadata"] as JsonObject), uid: "1" },
});

const entries = (object: JsonObject) =>
  ((object["metadata"] as JsonObject)["managedFields"] ?? []) as ManagedFieldsEntry[];

const owners = (object: JsonObject) =>
  Object.fromEntries(entries(object).map((entry) => [`${entry.manager}/${entry.operation}`, entry.fieldsV1]));

const refusal = (work: () => unknown): ApiError => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
  return assert.fail("nothing was refused");
};

test("a conflict names the manager, its version and the field", () => {
  const { fields } = setUp();
  const live = stored(fields.update(undefined, deployment({ replicas: 1 }), "kubectl-client-side-apply"));
  const error = refusal(() => fields.apply(live, deployment({ replicas: 2 }), "me"));
  assert.equal(error.code, 409);
  assert.equal(error.reason, "Conflict");
  assert.equal(
    error.message,
    'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
  );
  assert.deepEqual(error.details, {
    causes: [
      {
        reason: "FieldManagerConflict",
        message: 'conflict with "kubectl-client-side-apply" using apps/v1',
        field: ".spec.replicas",
      },
    ],
  });
});

test("conflicts are grouped by manager; appliers have no version, subresources are named", () => {
  const { fields } = setUp();
  const { fields: scale } = setUp({ subresource: "scale" });
  let live = stored(fields.apply(undefined, deployment({ replicas: 1, paused: true }), "a"));
  live = scale.update(live, deployment({ replicas: 2, paused: true }, { uid: "1" }), "hpa");
  const error = refusal(() => fields.apply(live, deployment({ replicas: 3, paused: false }), "me"));
  assert.equal(
    error.message,
    [
      'Apply failed with 2 conflicts: conflicts with "a":',
      "- .spec.paused",
      'conflicts with "hpa" with subresource "scale" using apps/v1:',
      "- .spec.replicas",
    ].join("\n"),
  );
});

test("force takes the field from its owner", () => {
  const { fields } = setUp();
  const live = stored(fields.update(undefined, deployment({ replicas: 1, paused: true }), "other"));
  const after = fields.apply(live, deployment({ replicas: 2 }), "me", { force: true });
  assert.equal((after["spec"] as JsonObject)["replicas"], 2);
  assert.deepEqual(owners(after), {
    "me/Apply": { "f:spec": { "f:replicas": {} } },
    "other/Update": { "f:spec": { "f:paused": {} } },
  });
});

test("applying the same value as the owner shares the field", () => {
  const { fields } = setUp();
  const live = stored(fields.apply(undefined, deployment({ replicas: 1 }), "a"));
  const after = fields.apply(live, deployment({ replicas: 1 }), "b");
  assert.deepEqual(owners(after), {
    "a/Apply": { "f:spec": { "f:replicas": {} } },
    "b/Apply": { "f:spec": { "f:replicas": {} } },
  });
});

test("a field that is no longer applied is removed, unless another manager owns it", () => {
  const { fields } = setUp();
  let live = stored(fields.apply(undefined, deployment({ replicas: 1, paused: true, minReadySeconds: 3 }), "a"));
  live = fields.apply(live, deployment({ paused: true }), "b");
  const after = fields.apply(live, deployment({ minReadySeconds: 3 }), "a");
  assert.deepEqual(after["spec"], { paused: true, minReadySeconds: 3 });
});

test("an apply that changes nothing keeps the time, one that does takes the new one", async () => {
  const { clock, fields } = setUp();
  const first = stored(fields.apply(undefined, deployment({ replicas: 1 }), "me"));
  await clock.advance(5000);
  const again = fields.apply(first, deployment({ replicas: 1 }), "me");
  assert.deepEqual(again, first);
  const changed = fields.apply(first, deployment({ replicas: 2 }), "me");
  assert.equal(entries(changed)[0]!.time, "2026-01-01T00:00:05Z");
});

test("fields of an object that was never tracked belong to before-first-apply", () => {
  const { fields } = setUp();
  const live = deployment({ replicas: 1, paused: true }, { uid: "1" });
  assert.equal(entries(fields.update(live, deployment({ replicas: 2 }, { uid: "1" }), "me")).length, 0);
  const error = refusal(() => fields.apply(live, deployment({ replicas: 2 }), "me"));
  assert.match(error.message, /conflict with "before-first-apply" using apps\/v1: \.spec\.replicas/);
  const after = fields.apply(live, deployment({ replicas: 1 }), "me");
  assert.deepEqual(Object.keys(owners(after)), ["me/Apply", "before-first-apply/Update"]);
});

test("a client may drop managedFields, set them, or leave them out by mistake", () => {
  const { fields } = setUp();
  const live = stored(fields.update(undefined, deployment({ replicas: 1 }), "a"));
  for (const reset of [[], [{}]]) {
    assert.deepEqual(
      entries(fields.update(live, deployment({ replicas: 1 }, { uid: "1", managedFields: reset }), "b")),
      [],
    );
  }
  const without = fields.update(live, deployment({ replicas: 1 }, { uid: "1" }), "b");
  assert.deepEqual(entries(without), entries(live));
  const broken = [{ manager: "x", operation: "Frob" }];
  assert.deepEqual(
    entries(fields.update(live, deployment({ replicas: 1 }, { uid: "1", managedFields: broken }), "b")),
    entries(live),
  );
  const renamed = entries(live).map((entry) => ({ ...entry, manager: "new" }));
  const set = fields.update(live, deployment({ replicas: 1 }, { uid: "1", managedFields: renamed }), "b");
  assert.deepEqual(Object.keys(owners(set)), ["new/Update"]);
});

test("managedFields sent to a subresource are ignored", () => {
  const { fields } = setUp();
  const { fields: status } = setUp({ subresource: "status" });
  const live = stored(fields.update(undefined, deployment({ replicas: 1 }), "a"));
  const after = status.update(live, deployment({ replicas: 1 }, { uid: "1", managedFields: [] }), "b");
  assert.deepEqual(entries(after), entries(live));
});

test("no manager owns the fields that every object has", () => {
  const { fields } = setUp();
  const object = deployment(
    {},
    { uid: "1", generation: 1, resourceVersion: "2", creationTimestamp: "2026-01-01T00:00:00Z", labels: { a: "b" } },
  );
  assert.deepEqual(owners(fields.update(undefined, object, "a")), {
    "a/Update": { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } },
  });
});

test("fields that an endpoint resets cannot be owned through it", () => {
  const resetFields = { "apps/v1": excludeFields(["f:status"]) };
  const { fields } = setUp({ resetFields });
  const body = { ...deployment({ replicas: 1 }), status: { readyReplicas: 1 } };
  for (const after of [fields.update(undefined, body, "a"), fields.apply(undefined, body, "a")]) {
    assert.deepEqual(Object.keys(entries(after)[0]!.fieldsV1!), ["f:spec"]);
  }
});

test("an apply of nothing that can be owned leaves no manager behind", () => {
  const { fields } = setUp({ resetFields: { "apps/v1": () => fieldSet.EMPTY } });
  assert.deepEqual(entries(fields.apply(undefined, deployment({ replicas: 1 }), "me")), []);
});

test("what is applied must be of the endpoint's kind, without managedFields, and fit the schema", () => {
  const { fields } = setUp();
  const wrong = (body: JsonObject) => {
    const { code, message } = refusal(() => fields.apply(undefined, body, "me"));
    return [code, message];
  };
  assert.deepEqual(wrong({ apiVersion: "v1", kind: "Pod" }), [400, "invalid object type: /v1, Kind=Pod"]);
  assert.deepEqual(wrong(deployment({}, { managedFields: [] })), [400, "metadata.managedFields must be nil"]);
  assert.deepEqual(wrong(deployment({ replicas: "many" })), [
    500,
    "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string",
  ]);
  assert.deepEqual(wrong(deployment({ replcas: 1 })), [
    500,
    "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.replcas: field not declared in schema",
  ]);
});

test("a user who moves from client-side to server-side apply does not conflict with themselves", () => {
  const { fields } = setUp();
  const configuration = deployment({ replicas: 1, paused: true });
  const annotated = deployment(
    { replicas: 1, paused: true },
    {
      uid: "1",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": `${JSON.stringify(configuration)}\n` },
    },
  );
  const live = fields.update(undefined, annotated, "kubectl-client-side-apply");
  assert.equal(refusal(() => fields.apply(live, deployment({ replicas: 3 }), "somebody")).code, 409);
  const after = fields.apply(live, deployment({ replicas: 3, paused: true }), "kubectl");
  assert.equal((after["spec"] as JsonObject)["replicas"], 3);
  const { annotations } = after["metadata"] as { annotations: Record<string, string> };
  const written = JSON.parse(annotations["kubectl.kubernetes.io/last-applied-configuration"]!) as JsonObject;
  assert.deepEqual(written["spec"], { paused: true, replicas: 3 });

  const scaled = fields.update(live, { ...live, spec: { replicas: 5, paused: true } }, "hpa");
  const error = refusal(() => fields.apply(scaled, deployment({ replicas: 3, paused: false }), "kubectl"));
  assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "hpa" using apps/v1: .spec.replicas');
});

test("an applier that acquires an updater's fields can then remove them", () => {
  const { fields } = setUp();
  let live = stored(fields.update(undefined, deployment({ replicas: 1, paused: true }), "old-operator"));
  live = fields.apply(live, deployment({ replicas: 1 }), "me");
  const kept = fields.apply(live, deployment({}), "me");
  assert.deepEqual(kept["spec"], { replicas: 1, paused: true });
  const managedFields = takeOver(entries(live), "old-operator", "me");
  const mine = { ...live, metadata: { ...(live["metadata"] as JsonObject), managedFields } };
  assert.deepEqual(owners(mine), { "me/Apply": { "f:spec": { "f:paused": {}, "f:replicas": {} } } });
  assert.deepEqual(fields.apply(mine, deployment({ replicas: 1 }), "me")["spec"], { replicas: 1 });
  assert.deepEqual(takeOver(managedFields, "old-operator", "me"), managedFields);
  assert.deepEqual(takeOver(entries(kept), "nobody", "stranger"), entries(kept));
});

test("an update whose list items cannot be distinguished succeeds, and no manager owns it", () => {
  const { fields } = setUp();
  const object = deployment({ template: { spec: { containers: [null] } } });
  assert.deepEqual(entries(fields.update(undefined, object, "a")), []);
});

test("applied items come in the applied order, others stay before the item they stood before", () => {
  const { fields } = setUp();
  const containers = (...names: string[]) => ({
    template: { spec: { containers: names.map((name) => ({ name, image: "i" })) } },
  });
  const live = stored(fields.update(undefined, deployment(containers("a", "b", "c")), "x"));
  const after = fields.apply(live, deployment(containers("new", "c", "a")), "me");
  assert.deepEqual(after["spec"], containers("b", "new", "c", "a"));
});

const words = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.constantFrom("1", "2"), {
  minKeys: 1,
  maxKeys: 3,
});
const name = fc.constantFrom("x", "y", "z");
const container = fc.record(
  { name, image: fc.constantFrom("i1", "i2"), args: fc.array(name, { maxLength: 2 }) },
  { requiredKeys: ["name"], noNullPrototype: true },
);
const spec = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 3 }),
    paused: fc.boolean(),
    template: fc.record({
      spec: fc.record({
        containers: fc.uniqueArray(container, { minLength: 1, maxLength: 3, selector: (it) => it.name }),
        nodeSelector: words,
      }),
    }),
  },
  { requiredKeys: ["replicas"] },
);
/** Nothing in it is empty: what is empty is stored as missing by some kinds and as empty by others. */
const configuration = fc
  .tuple(spec, fc.option(words, { nil: undefined }))
  .map(([it, labels]) => JSON.parse(JSON.stringify(deployment(it as JsonObject, { labels }))) as JsonObject);

test("applying twice is applying once", () => {
  fc.assert(
    fc.property(configuration, configuration, (live, applied) => {
      const { fields } = setUp();
      const before = stored(fields.update(undefined, live, "other"));
      const once = fields.apply(before, applied, "me", { force: true });
      assert.deepEqual(fields.apply(once, applied, "me"), once);
    }),
  );
});

test("what a manager applies is there afterwards, and it owns exactly that", () => {
  fc.assert(
    fc.property(configuration, configuration, (live, applied) => {
      const { fields } = setUp();
      const before = stored(fields.update(undefined, live, "other"));
      const after = fields.apply(before, applied, "me", { force: true });
      const mine = entries(after).find(({ manager }) => manager === "me");
      const expected = ownable(toFieldSet(objectTypeOf(deployments), applied));
      assert.ok(fieldSet.equals(mine?.fieldsV1 ?? {}, expected));
    }),
  );
});

/** Without what is empty: a container that loses its last field is null until it is stored. */
function substance(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(substance);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const entries = Object.entries(value).map(([key, item]) => [key, substance(item)] as const);
  const kept = entries.filter(([, item]) => item !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

test("two managers that do not force never lose each other's fields", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("a", "b"), configuration), { minLength: 2, maxLength: 6 }),
      (applies) => {
        const { fields } = setUp();
        let live: JsonObject | undefined;
        const last = new Map<string, JsonObject>();
        for (const [manager, applied] of applies) {
          try {
            live = stored(fields.apply(live, applied, manager));
          } catch (error) {
            assert.equal((error as ApiError).code, 409);
            continue;
          }
          last.set(manager, applied);
        }
        for (const [manager, applied] of last) {
          // Everything that a manager applied last is still there: applying it again changes nothing.
          assert.deepEqual(substance(fields.apply(live, applied, manager)), substance(live));
        }
      },
    ),
  );
});

test("fields that no manager applies any more are removed", () => {
  fc.assert(
    fc.property(configuration, configuration, (one, two) => {
      const { fields } = setUp();
      let live = stored(fields.apply(undefined, one, "a"));
      live = fields.apply(live, two, "b", { force: true });
      const nothing = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" } };
      live = fields.apply(fields.apply(live, nothing, "a"), nothing, "b");
      assert.deepEqual(entries(live), []);
      assert.equal(JSON.stringify(live).match(/i1|i2|replicas/), null);
    }),
  );
});

test("a write that only moves times is no write", () => {
  const live = deployment({ replicas: 1 }, { managedFields: [{ manager: "a", time: "T1" }] });
  const later = deployment({ replicas: 1 }, { managedFields: [{ manager: "a", time: "T2" }] });
  assert.deepEqual(keepTimesOfNoop(live, later), live);
  for (const changed of [
    deployment({ replicas: 2 }, { managedFields: [{ manager: "a", time: "T2" }] }),
    deployment({ replicas: 1 }, { managedFields: [{ manager: "b", time: "T2" }] }),
    deployment({ replicas: 1 }, { managedFields: [{ manager: "a", time: "T2" }, { manager: "b" }] }),
  ]) {
    assert.equal(keepTimesOfNoop(live, changed), changed);
  }
});

test("the name of a manager is given, or the printable start of the user agent", () => {
  assert.equal(managerNameOf("me", "kubectl/1.36"), "me");
  assert.equal(managerNameOf("", "kubectl/v1.36 (linux)"), "kubectl");
  assert.equal(managerNameOf(undefined, "my\tagent\u200b é"), "myagent é");
  assert.equal(Buffer.byteLength(managerNameOf("", "é".repeat(100))), 128);
});

test("broken managedFields are distinguished from valid ones", () => {
  assert.equal(managedFieldsProblem(undefined), undefined);
  const entry = { manager: "a", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} } as const;
  assert.equal(managedFieldsProblem([entry]), undefined);
  assert.equal(managedFieldsProblem([{}]), "operation must be `Apply` or `Update`");
  assert.equal(managedFieldsProblem([{ ...entry, apiVersion: "" }]), "apiVersion must not be empty");
  assert.equal(
    managedFieldsProblem([{ manager: "a", operation: "Update", apiVersion: "v1" }]),
    "missing fieldsType in managed fields entry 0",
  );
});

test("a Scale's managedFields are those of the object's replicas, both ways", () => {
  interface ScaleCase {
    parent: ManagedFieldsEntry[];
    scale: ManagedFieldsEntry[] | null;
    written: ManagedFieldsEntry[];
    result: ManagedFieldsEntry[] | null;
  }
  const cases: ScaleCase[] = JSON.parse(
    readFileSync(new URL("../../test/generated/structured-merge/scale.json", import.meta.url), "utf8"),
  );
  const replicas = { "apps/v1": ["f:spec", "f:replicas"], "apps/v1beta1": ["f:spec", "f:size"], "apps/none": null };
  for (const { parent, scale, written, result } of cases) {
    assert.deepEqual(scaleManagedFields(parent, replicas) ?? null, scale);
    assert.deepEqual(parentManagedFields(parent, written, "apps/v1", replicas) ?? null, result);
  }
});

test("conversions may take their time", async () => {
  const schema: Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
  };
  const asked: string[] = [];
  const toVersion = (object: JsonObject, apiVersion: string): JsonObject => ({ ...object, apiVersion });
  const managerOf = (version: string, convert: (object: JsonObject, apiVersion: string) => JsonObject) =>
    new FieldManager({
      kind: { group: "x", version, kind: "Thing" },
      schema,
      clock: new VirtualClock(),
      version: (apiVersion) => ({ schema, convert: (object) => convert(object, apiVersion) }),
    });
  const thing = (version: string, size: number) => ({
    apiVersion: `x/${version}`,
    kind: "Thing",
    metadata: { name: "t", uid: "1" },
    spec: { size },
  });
  const first = managerOf("v1", toVersion).update(undefined, thing("v1", 1), "a");
  const live = { ...first, apiVersion: "x/v2" };
  const work = (convert: typeof toVersion) => managerOf("v2", convert).apply(live, thing("v2", 2), "b");
  await assert.rejects(
    withAsyncConversion(async (object, apiVersion) => {
      asked.push(apiVersion);
      return toVersion(object, apiVersion);
    }, work),
    /conflict with "a" using x\/v1: \.spec\.size/,
  );
  assert.deepEqual(asked, ["x/v1", "x/v1"]);
});
