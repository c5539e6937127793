import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "@konverge/kinds";
import { admissionWebhook, controller, fieldInvalid, type Operator, operator } from "@konverge/runtime";
import { cel, defineKind, z } from "@konverge/schema";
import { checkOperator, findingText, replay, type Scenario } from "@konverge/testing";
import { forgetful, sound } from "./widgets.ts";

test("an operator that infers all from the cluster passes without a scenario", async () => {
  const { findings, tried } = await checkOperator(sound, { faults: ["crash", "deletion", "rbac"] });
  assert.deepEqual(findings.map(findingText), []);
  assert.ok((tried.crash ?? 0) > 8 && (tried.deletion ?? 0) > 0 && (tried.rbac ?? 0) > 0, JSON.stringify(tried));
});

test("an operator that keeps its progress in memory is found without a scenario", async () => {
  const { findings } = await checkOperator(forgetful, { faults: ["crash"], findings: 1 });
  assert.equal(findings[0]?.message, "ConfigMap sample-b is missing");
});

/** With conversion functions, a pattern and a rule. */
const Lamp = defineKind({
  group: "example.com",
  kind: "Lamp",
  stored: "v1",
  versions: {
    v1: {
      spec: z.object({
        size: z.int().min(3),
        schedule: z.string().regex(/^[0-9*]+( [0-9*]+){4}$/),
        secret: z.string().optional(),
        url: z.string().optional(),
      }),
      rules: [cel("has(self.secret) != has(self.url)", "set either secret or url")],
      status: z.object({}),
    },
    v1beta1: { spec: z.object({ power: z.int() }), status: z.object({}) },
  },
  conversion: {
    v1beta1: {
      toStored: ({ spec: { power } }) => ({ spec: { size: power, schedule: "0 0 * * *", url: "a" } }),
      fromStored: ({ spec: { size } }) => ({ spec: { power: size } }),
    },
  },
});

const sample = {
  apiVersion: "example.com/v1",
  kind: "Lamp",
  metadata: { name: "sample" },
  spec: { size: 5, schedule: "0 0 * * *", url: "b" },
};

/** Keeps a ConfigMap for each lamp of at least this size. */
const lampOperator = (smallest: number): Operator =>
  operator({
    name: "lamp-operator",
    description: "Keeps ConfigMaps.",
    kinds: [Lamp],
    create: () => ({
      controllers: [
        controller(Lamp, {
          owns: [ConfigMap],
          reconcile: ({ metadata: { name }, spec: { size } }) => ({
            children: [ConfigMap.draft({ metadata: { name }, data: { size: `${size}` } })],
          }),
        }),
      ],
      conversions: [Lamp],
      admissions: [
        admissionWebhook(Lamp, {
          validate: ({ spec: { size } }) => (size < smallest ? [fieldInvalid("spec.size", size, "is too small")] : []),
        }),
      ],
    }),
  });

test("objects are generated for kinds with conversion functions, patterns and CEL rules", async () => {
  const { findings, tried } = await checkOperator(lampOperator(3), { faults: ["crash"], runs: 4 });
  assert.deepEqual(findings.map(findingText), []);
  assert.ok((tried.crash ?? 0) > 0);
});

test("a generated object that a webhook rejects is no finding: valid ones have to be passed", async () => {
  const options = { faults: ["crash"], runs: 1 } as const;
  await assert.rejects(checkOperator(lampOperator(5), options), {
    message:
      'an object that was generated from its schema is rejected: admission webhook "validate.lamps.example.com" denied the ' +
      'request: Lamp.example.com "sample" is invalid: spec.size: Invalid value: 3: is too small; pass valid objects',
  });
  const { findings } = await checkOperator(lampOperator(5), { ...options, objects: [sample] });
  assert.deepEqual(findings.map(findingText), []);
});

test("an outage of a minute while the operator starts is survived, and webhooks are not asked about their own configuration", async () => {
  const scenario: Scenario = async (environment) => {
    await environment.start(lampOperator(3));
    await environment.apply({ ...sample, metadata: { name: "a" } });
    await environment.until("there is a ConfigMap", async () => (await environment.list(ConfigMap)).length > 1);
  };
  const what = "patch validatingwebhookconfigurations.admissionregistration.k8s.io/lamp-operator";
  const at = { on: "request", what, nth: 1 } as const;
  for (const fault of [
    { type: "missed events", at, ms: 60_000, expired: false },
    { type: "webhook down", at, ms: 30_000 },
  ] as const) {
    const { faults, failure } = await replay(scenario, { faults: [fault], seed: 1 });
    assert.deepEqual(faults, [fault]);
    assert.equal(failure, undefined);
  }
});
