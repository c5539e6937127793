import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalQuantity, type Schema } from "@konverge/core";
import fc from "fast-check";
import { firstDifference, sameApplied } from "./applied-equality.ts";

const omitted = { go: { omitEmpty: true } };
const text: Schema = { type: "string" };
const quantities: Schema = {
  type: "object",
  additionalProperties: { "x-kubernetes-int-or-string": true, go: { message: "Quantity" } },
};
const atomic = { "x-kubernetes-list-type": "atomic" } as const;
const keyed = (...keys: string[]) => ({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys }) as const;

const container: Schema = {
  type: "object",
  properties: {
    name: text,
    image: text,
    args: { type: "array", items: text, ...atomic },
    tty: { type: "boolean", ...omitted },
    resources: { type: "object", properties: { limits: quantities } },
    ports: {
      type: "array",
      ...keyed("containerPort", "protocol"),
      items: {
        type: "object",
        properties: {
          containerPort: { type: "integer" },
          protocol: { type: "string", default: "TCP" },
          name: { ...text, ...omitted },
        },
      },
    },
  },
};
const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer", default: 1, go: { omitEmpty: true, pointer: true } },
        paused: { type: "boolean", ...omitted },
        interval: { type: "string", go: { message: "Duration" } },
        since: { type: "string", format: "date-time", go: { message: "Time" } },
        maxSurge: { "x-kubernetes-int-or-string": true, go: { message: "IntOrString" } },
        containers: { type: "array", items: container, ...keyed("name") },
        finalizers: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        nodeSelector: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
        volumes: {
          type: "array",
          ...keyed("name"),
          items: {
            type: "object",
            properties: {
              name: text,
              emptyDir: { type: "object", properties: { medium: text } },
              hostPath: { type: "object", properties: { path: text } },
            },
          },
        },
        rules: {
          type: "array",
          ...atomic,
          items: { type: "object", properties: { host: text, weight: { type: "integer", default: 1 }, uid: text } },
        },
      },
    },
  },
};

const differs = (desired: object, live: object) => firstDifference({ spec: desired }, { spec: live }, schema);

test("what desired does not mention is not looked at", () => {
  assert.equal(differs({ replicas: 3 }, { replicas: 3, paused: true, other: 1 }), undefined);
  assert.equal(differs({}, { replicas: 3 }), undefined);
  assert.ok(sameApplied(undefined, { a: 1 }));
  assert.equal(differs({ replicas: 3 }, { replicas: 2 }), "spec.replicas");
  assert.equal(differs({ replicas: 3 }, {}), "spec.replicas");
  assert.equal(firstDifference({ spec: {} }, undefined), ".");
});

test("null and what is empty are nothing, but an empty struct is something", () => {
  assert.equal(differs({ replicas: null, containers: [], nodeSelector: {} }, {}), undefined);
  assert.equal(
    differs({ volumes: [{ name: "a", emptyDir: {} }] }, { volumes: [{ name: "a", hostPath: { path: "/" } }] }),
    "spec.volumes[name=a].emptyDir",
  );
  assert.equal(
    differs({ volumes: [{ name: "a", emptyDir: {} }] }, { volumes: [{ name: "a", emptyDir: {} }] }),
    undefined,
  );
});

test("a value that the server omits or fills in is not missed", () => {
  assert.equal(differs({ paused: false }, {}), undefined);
  assert.equal(differs({ paused: false }, { paused: true }), "spec.paused");
  assert.equal(differs({ replicas: 1 }, {}), undefined, "the default");
  assert.equal(differs({ replicas: 0 }, {}), "spec.replicas", "a pointer: zero is written");
});

test("quantities, durations and times compare by value", () => {
  const limits = (cpu: string | number, memory: string) => ({
    containers: [{ name: "a", resources: { limits: { cpu, memory } } }],
  });
  assert.equal(differs(limits("1000m", "1024Mi"), limits("1", "1Gi")), undefined);
  assert.equal(differs(limits(0.5, "1Gi"), limits("500m", "1Gi")), undefined);
  assert.equal(differs(limits("1", "1G"), limits("1", "1Gi")), "spec.containers[name=a].resources.limits.memory");
  assert.equal(differs(limits("x", "1Gi"), limits("1", "1Gi")), "spec.containers[name=a].resources.limits.cpu");
  assert.equal(differs({ interval: "60s" }, { interval: "1m0s" }), undefined);
  assert.equal(differs({ interval: "61s" }, { interval: "1m0s" }), "spec.interval");
  assert.equal(differs({ since: "2026-01-01T01:00:00.5+01:00" }, { since: "2026-01-01T00:00:00Z" }), undefined);
  assert.equal(differs({ since: "never" }, { since: "2026-01-01T00:00:00Z" }), "spec.since");
  assert.equal(differs({ maxSurge: "1" }, { maxSurge: 1 }), undefined);
  assert.equal(differs({ maxSurge: "25%" }, { maxSurge: 25 }), "spec.maxSurge");
});

test("lists with keys are matched by them, with the defaults of missing keys, in any order", () => {
  const live = {
    containers: [
      { name: "sidecar", image: "s" },
      {
        name: "a",
        image: "i",
        ports: [
          { containerPort: 80, protocol: "UDP" },
          { containerPort: 80, protocol: "TCP", name: "http" },
        ],
      },
    ],
  };
  const ports = (...list: object[]) => ({ containers: [{ name: "a", ports: list }] });
  assert.equal(differs(ports({ containerPort: 80, name: "http" }), live), undefined);
  assert.equal(differs(ports({ containerPort: 80, protocol: "UDP" }, { containerPort: 80 }), live), undefined);
  assert.equal(
    differs(ports({ containerPort: 81 }), live),
    "spec.containers[name=a].ports[containerPort=81,protocol=TCP]",
  );
  assert.equal(
    differs(ports({ containerPort: 80, name: "web" }), live),
    "spec.containers[name=a].ports[containerPort=80,protocol=TCP].name",
  );
});

test("items that their keys do not tell apart are compared in order", () => {
  const twice = (...images: string[]) => ({ containers: images.map((image) => ({ name: "a", image })) });
  assert.equal(differs(twice("x", "y"), twice("x", "y")), undefined);
  assert.equal(differs(twice("x", "y"), twice("y", "x")), "spec.containers[0].image");
});

test("sets contain, atomic lists and maps are equal as a whole", () => {
  assert.equal(differs({ finalizers: ["b"] }, { finalizers: ["a", "b"] }), undefined);
  assert.equal(differs({ finalizers: ["c"] }, { finalizers: ["a", "b"] }), "spec.finalizers[0]");
  assert.equal(differs({ nodeSelector: { a: "1" } }, { nodeSelector: { a: "1", b: "2" } }), "spec.nodeSelector.b");
  const rules = (...list: object[]) => ({ rules: list });
  assert.equal(differs(rules({ host: "a" }), rules({ host: "a", weight: 1 })), undefined, "a default");
  assert.equal(differs(rules({ host: "a" }), rules({ host: "a", weight: 2 })), "spec.rules[0].weight");
  assert.equal(differs(rules({ host: "a" }), rules({ host: "a", uid: "computed" })), undefined);
  assert.equal(differs(rules({ host: "a" }), rules({ host: "a" }, { host: "b" })), "spec.rules[1]");
});

test("metadata is understood without a schema, and lists are then compared in order", () => {
  const live = {
    metadata: { name: "x", labels: { a: "1", b: "2" }, finalizers: ["f", "g"] },
    spec: { list: [{ a: 1, b: 2 }] },
  };
  assert.ok(sameApplied({ metadata: { labels: { b: "2" }, annotations: {}, finalizers: ["g"] } }, live));
  assert.equal(firstDifference({ metadata: { labels: { b: "3" } } }, live), "metadata.labels.b");
  assert.ok(sameApplied({ spec: { list: [{ a: 1 }] } }, live));
  assert.equal(firstDifference({ spec: { list: [{ a: 1 }, { a: 2 }] } }, live), "spec.list[1]");
  assert.equal(firstDifference({ spec: { constructor: "x" } }, live), "spec.constructor");
});

const desiredContainer = fc.record(
  {
    name: fc.constantFrom("a", "b", "c", "d"),
    image: fc.string(),
    args: fc.array(fc.string(), { maxLength: 3 }),
    tty: fc.boolean(),
    resources: fc.record({
      limits: fc.dictionary(fc.constantFrom("cpu", "memory"), fc.constantFrom("1", "1000m", "1.5Gi", "1024Mi", "0.5")),
    }),
    ports: fc.uniqueArray(fc.record({ containerPort: fc.nat({ max: 9 }), name: fc.string() }), {
      selector: (port) => port.containerPort,
    }),
  },
  { requiredKeys: ["name"], noNullPrototype: true },
);
const desiredSpec = fc.record(
  {
    replicas: fc.nat({ max: 5 }),
    paused: fc.boolean(),
    nodeSelector: fc.dictionary(fc.constantFrom("x", "y"), fc.string()),
    containers: fc.uniqueArray(desiredContainer, { selector: (item) => item.name }),
    finalizers: fc.uniqueArray(fc.string()),
  },
  { requiredKeys: [] },
);

type Loose = { [key: string]: Loose } & Loose[];

/** What a server would make of it: defaults, canonical quantities, nothing empty, extra fields and items. */
function stored(spec: object): object {
  const copy = JSON.parse(JSON.stringify(spec)) as Loose;
  for (const item of copy.containers ?? []) {
    const limits = (item.resources?.limits ?? {}) as unknown as Record<string, string>;
    for (const name of Object.keys(limits)) limits[name] = canonicalQuantity(limits[name]!);
    for (const port of item.ports ?? []) Object.assign(port, { protocol: "TCP" });
    item.ports?.reverse();
    if ((item.tty as unknown) === false) delete item.tty;
    if (item.args?.length === 0) delete item.args;
    Object.assign(item, { terminationMessagePath: "/dev/termination-log" });
  }
  if (copy.paused !== undefined && !copy.paused) delete copy.paused;
  if (copy.nodeSelector && Object.keys(copy.nodeSelector).length === 0) delete copy.nodeSelector;
  copy.containers?.reverse();
  copy.finalizers?.reverse();
  return copy;
}

test("whatever is applied is found again in what the server stores", () => {
  fc.assert(
    fc.property(desiredSpec, (spec) => assert.equal(differs(spec, stored(spec)), undefined)),
    { numRuns: 300 },
  );
});

test("a change in any leaf is found", () => {
  fc.assert(
    fc.property(desiredSpec, fc.nat(), (spec, choice) => {
      const changed = stored(spec) as Loose;
      const leaves: [owner: Loose, key: string][] = [];
      const visit = (part: Loose) => {
        for (const key of Object.keys(part)) {
          if (typeof part[key] === "object" && part[key] !== null) visit(part[key]);
          else if (key !== "terminationMessagePath" && key !== "protocol") leaves.push([part, key]);
        }
      };
      visit(changed);
      fc.pre(leaves.length > 0);
      const [owner, key] = leaves[choice % leaves.length]!;
      const old: unknown = owner[key];
      Object.assign(owner, {
        [key]: typeof old === "string" ? `${old}-changed` : typeof old === "number" ? old + 100 : !old,
      });
      assert.notEqual(differs(spec, changed), undefined);
    }),
    { numRuns: 300 },
  );
});
