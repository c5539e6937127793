import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AnyObject, type FieldError, isObject, parseJson, resourcePath, stringifyJson } from "@konverge/core";
import { findControlPlane } from "@konverge/real";
import fc from "fast-check";
import { mutationOf, valuesOf } from "../../test/arbitrary.ts";
import { CORPUS } from "../../test/corpus/corpus.ts";
import { Database } from "../../test/corpus/operators.ts";
import { Frozen, Optional } from "../../test/corpus/rules.ts";
import { CRDS, RealServer } from "../../test/real-server.ts";
import { coerce } from "../structural/coerce.ts";
import { applyDefaults } from "../structural/defaulting.ts";
import { validateValue } from "../validation/validate.ts";

/**
 * The corpus on a real API server: every CRD is accepted, and generated objects are accepted or refused there exactly as
 * here, for the same reasons, with the same result. KONVERGE_SEED and KONVERGE_RUNS choose other objects and more.
 */
const plane = findControlPlane();
const skip = plane.available ? false : plane.why;
const seed = Number(process.env["KONVERGE_SEED"] ?? 1);
const numRuns = Number(process.env["KONVERGE_RUNS"] ?? 30);

const webhook = { conversionWebhook: { url: "https://127.0.0.1:1/convert" } };
const crdOf = (kind: (typeof CORPUS)[number]) => kind.crd(kind.definition.conversion ? webhook : {});

let server: RealServer;
const established = new Map<string, Promise<void>>();

before(async () => {
  if (!plane.available) return;
  server = await RealServer.start();
  // All at once: a new resource keeps its first callers waiting.
  for (const kind of CORPUS) established.set(kind.kind, server.establish(crdOf(kind)));
  await Promise.allSettled(established.values());
});
after(async () => await server?.[Symbol.asyncDispose]());

test("the corpus has at least 30 kinds", () => assert.ok(CORPUS.length >= 30, String(CORPUS.length)));

for (const kind of CORPUS) {
  test(`${kind.kind}: its CRD is accepted and established`, { skip }, async () => {
    await established.get(kind.kind);
    const { body } = await server.ask("GET", `${CRDS}/${kind.plural}.${kind.group}`);
    const { conditions = [] } = body["status"] as { conditions?: { type: string; status: string }[] };
    const isTrue = (type: string) =>
      conditions.some((condition) => condition.type === type && condition.status === "True");
    assert.ok(isTrue("Established") && isTrue("NamesAccepted"), JSON.stringify(conditions));
  });

  test(`${kind.kind}: objects are judged alike`, { skip }, async () => {
    const outcomes = { accepted: 0, refused: 0 };
    const specs = valuesOf(kind.schema.properties!["spec"]!);
    const candidates = fc.oneof(specs, specs.chain(mutationOf), specs.chain(mutationOf).chain(mutationOf));
    for (const spec of [{}, ...fc.sample(candidates, { seed, numRuns })]) {
      const object = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name: "a" }, spec };
      const ours = judge(kind, object as AnyObject);
      const theirs = await judgeReal(kind, object);
      assert.deepEqual(ours, theirs, `${stringifyJson(spec)}`);
      outcomes[theirs.problems.length > 0 ? "refused" : "accepted"]++;
    }
    // A generator that only ever made one sort would prove nothing.
    assert.ok(outcomes.accepted > 0 && outcomes.refused > 0, `${kind.kind}: ${JSON.stringify(outcomes)}`);
  });
}

/** Objects of kinds with rules about transitions, as they are stored and as a client changes them. */
const UPDATES: [kind: (typeof CORPUS)[number], old: object, specs: object[]][] = [
  [
    Frozen,
    { required: "a", optional: "b", growing: 3, object: { a: 1 } },
    [
      { required: "a", optional: "b", growing: 4, object: { a: 1 } },
      { required: "x", optional: "b", growing: 2, object: { a: 1 } },
      { required: "a", growing: 3, object: { a: 2 } },
      { required: "a", optional: "y", once: "o", "dashed-name": 1, growing: 3, object: { a: 1 } },
      { required: "a", optional: "b", defaulted: "other", growing: 3 },
    ],
  ],
  [
    Database,
    { engine: "postgres", version: "16", storage: { size: "1Gi" } },
    [
      { engine: "postgres", version: "17", storage: { size: "2Gi" } },
      { engine: "mysql", version: "8", storage: { size: "1Gi", className: "fast" } },
      { engine: "postgres", version: "16", storage: { size: 5 }, users: [{ name: "a" }, { name: "a" }] },
    ],
  ],
  [Optional, { size: 50 }, [{ size: 60 }, { size: 500 }, { size: 40 }, {}]],
];

for (const [kind, old, specs] of UPDATES) {
  test(`${kind.kind}: updates are judged alike`, { skip }, async () => {
    const path = resourcePath(kind, { namespace: "default" });
    const draft = {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { name: "stored" },
      spec: old,
    };
    const { status, body: stored } = await server.ask("POST", path, draft);
    assert.equal(status, 201, stringifyJson(stored));
    for (const spec of specs) {
      const object: AnyObject = { ...draft, ...structuredClone(stored), spec: structuredClone(spec) };
      const theirs = await server.ask("PUT", `${path}/stored?dryRun=All`, object);
      const ours = judge(kind, object, stored);
      assert.deepEqual(
        ours.problems,
        (theirs.body.details?.causes ?? []).map((cause) => causeText(cause as FieldError)).sort(),
      );
    }
  });
}

interface Judgement {
  problems: string[];
  spec?: unknown;
}

function judge(kind: (typeof CORPUS)[number], object: AnyObject, old?: unknown): Judgement {
  const { error } = coerce(kind.schema, object);
  if (error) return { problems: ["cannot be decoded"] };
  applyDefaults(kind.schema, object);
  const errors = validateValue(kind.schema, object, { scale: kind.scale, old });
  if (errors.length > 0) return { problems: errors.map(causeText).sort() };
  return { problems: [], spec: object["spec"] ?? null };
}

async function judgeReal(kind: (typeof CORPUS)[number], object: object): Promise<Judgement> {
  const path = resourcePath(kind, kind.namespaced ? { namespace: "default" } : {});
  const { status, body } = await server.ask("POST", `${path}?dryRun=All&fieldValidation=Ignore`, object);
  if (status === 422)
    return { problems: (body.details?.causes ?? []).map((cause) => causeText(cause as FieldError)).sort() };
  if (status === 400) return { problems: ["cannot be decoded"] };
  assert.equal(status, 201, stringifyJson(body));
  return {
    problems: [],
    spec: parseJson(stringifyJson(isObject(body["spec"]) ? body["spec"] : (body["spec"] ?? null))),
  };
}

function causeText({ reason, field, message }: Pick<FieldError, "reason" | "field" | "message">): string {
  return `${reason} ${field}: ${message}`;
}
