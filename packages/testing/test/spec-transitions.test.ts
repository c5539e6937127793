import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "@konverge/kinds";
import { controller, type Operator, operator, permission } from "@konverge/runtime";
import { cel, defineKind, type ObjectOf, z } from "@konverge/schema";
import { type Exploration, explore, type Scenario } from "@konverge/testing";
import { specVariants } from "../src/explorer/spec-variants.ts";

const Tank = defineKind({
  group: "example.com",
  kind: "Tank",
  versions: {
    v1: {
      spec: z.object({
        level: z.int().min(1).max(5),
        mode: z.enum(["open", "closed"]),
        label: z.string().max(10).optional(),
        zones: z.array(z.string()).optional(),
      }),
      rules: [cel("self.level < 5 || self.mode == 'open'", "a full tank has to be open")],
      status: z.object({ phase: z.string().optional() }),
    },
  },
});
type Tank = ObjectOf<typeof Tank>;

const tank = {
  apiVersion: "example.com/v1",
  kind: "Tank",
  metadata: { name: "t" },
  spec: { level: 4, mode: "closed" },
};

const tankOperator = (reconcile: (tank: Tank) => { phase: string }): Operator =>
  operator({
    name: "tank-operator",
    description: "Keeps ConfigMaps.",
    kinds: [Tank],
    create: () => ({
      controllers: [
        controller(Tank, {
          owns: [ConfigMap],
          reconcile: (one) => ({
            children: [ConfigMap.draft({ metadata: { name: one.metadata.name }, data: dataOf(one) })],
            status: reconcile(one),
          }),
        }),
      ],
    }),
  });

const dataOf = ({ spec: { level, label } }: Tank) => ({ level: `${level}`, ...(label && { label }) });

const isLow = ({ spec }: Tank) => spec.level < 2;
const recovering = tankOperator((one) => ({ phase: isLow(one) ? "Failed" : "Running" }));
/** Failed is thought to be final: what the user corrects later is not looked at. */
const stuck = tankOperator((one) => ({ phase: isLow(one) || one.status?.phase === "Failed" ? "Failed" : "Running" }));

/** Adds to its ConfigMap what the spec says, and never removes what the spec no longer says. */
const sticky: Operator = operator({
  ...recovering,
  create: () => ({
    controllers: [
      controller(Tank, {
        permissions: [permission(ConfigMap, ["create", "patch"])],
        async reconcile(one, { client }) {
          const { name, namespace, uid } = one.metadata;
          const owner = { apiVersion: "example.com/v1", kind: "Tank", name, uid: uid!, controller: true };
          const data = dataOf(one);
          const map = { metadata: { name, namespace, ownerReferences: [owner] }, data };
          await client.create(ConfigMap, map).catch(() => {
            return client.patch(ConfigMap, `${namespace}/${name}`, { merge: { data } });
          });
          return { status: { phase: "Running" } };
        },
      }),
    ],
  }),
});

const runs =
  (which: Operator): Scenario =>
  async (environment) => {
    await environment.start(which);
    await environment.apply(tank);
    await environment.until("it runs", async () => (await environment.get(Tank, "t")).status?.phase === "Running");
  };

const messages = ({ findings }: Exploration) => findings.map(({ message }) => message);

test("specs are generated from the schema: other values within bounds, enums and rules, and some that are rejected", () => {
  const variants = specVariants(Tank, tank).map(({ what, isValid }) => `${isValid ? "valid" : "bad"}: ${what}`);
  assert.deepEqual(variants, [
    "bad: spec.level set to 5",
    "valid: spec.level set to 1",
    'valid: spec.mode set to "open"',
    'bad: spec.mode set to "no-such-value"',
    'valid: spec.label set to "sample"',
    'valid: spec.zones set to ["sample"]',
  ]);
});

test("an operator that recovers from bad specs, and removes what the spec no longer says, passes", async () => {
  const exploration = await explore(runs(recovering), { faults: ["spec"] });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried.spec, 6);
});

test("an operator that does not recover from a bad spec is found", async () => {
  const exploration = await explore(runs(stuck), { faults: ["spec"] });
  assert.deepEqual(messages(exploration), [
    'Tank t, spec.level set to 1, and back: Tank t differs: status.phase: expected "Running", but it is "Failed"',
  ]);
  const [finding] = exploration.findings;
  assert.equal(finding?.timeline[0]?.what, "Tank t, spec.level set to 1");
});

test("fields that are excepted are not changed", async () => {
  const except = (_: object, pointer?: string) => pointer === "/spec/level";
  const exploration = await explore(runs(stuck), { faults: ["spec"], except });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried.spec, 4);
});

test("a field that stays in a child after it was removed from the spec is found", async () => {
  const found = messages(await explore(runs(sticky), { faults: ["spec"] }));
  assert.equal(found.length, 1, found.join("\n"));
  assert.match(
    found[0] ?? "",
    /^Tank t, spec\.label set to "sample", and back: ConfigMap t differs: data\.label: expected nothing, but it is "sample"/,
  );
});
