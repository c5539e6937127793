import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { type Schema, stringifyJson } from "@konverge/core";
import { findControlPlane } from "@konverge/real";
import type { CrdObject } from "../../src/kind/crd-object.ts";
import { CRDS, RealServer } from "../real-server.ts";
import { allCases, type Case, resource } from "./cases.ts";
import { FORMAT_SCHEMA } from "./format-cases.ts";
import { causeText, type Observation, RECORDING_FILE, type Recording, readRecording } from "./recording.ts";
import { OLD_SPEC, updateSchema } from "./update-cases.ts";
import { VALUE_SCHEMA } from "./value-cases.ts";

/**
 * Puts every case to a real API server and compares with the recording that the fast tests rely on. With
 * KONVERGE_RECORD=1 the recording is written again instead.
 */
const plane = findControlPlane();

test("kube-apiserver still says what was recorded", { skip: plane.available ? false : plane.why }, async () => {
  await using server = await RealServer.start();
  await server.establish(crd("values", VALUE_SCHEMA));
  await server.establish(crd("formats", FORMAT_SCHEMA));
  const stored = await storeThenTighten(server);
  const recording: Recording = {};
  for (const aCase of allCases()) recording[aCase.name] = await observe(server, aCase, stored);
  if (process.env["KONVERGE_RECORD"]) writeFileSync(RECORDING_FILE, `${stringifyJson(recording, 1)}\n`);
  assert.deepEqual(recording, readRecording());
});

async function observe(server: RealServer, aCase: Case, stored: object): Promise<Observation> {
  if (aCase.kind === "schema")
    return observation(await server.ask("POST", `${CRDS}?dryRun=All`, crd("schemas", aCase.schema)));
  if (aCase.kind === "update") {
    return observation(await server.ask("PUT", `${path("updates")}/a?dryRun=All`, { ...stored, spec: aCase.spec }));
  }
  const plural = aCase.schema === VALUE_SCHEMA ? "values" : "formats";
  const object = { ...resource(aCase.spec), kind: kindOf(plural) };
  const answer = await server.ask("POST", `${path(plural)}?dryRun=All&fieldValidation=Strict`, object);
  return { ...observation(answer), ...(answer.status === 201 && { spec: answer.body["spec"] }) };
}

function observation({ status, body }: Awaited<ReturnType<RealServer["ask"]>>): Observation {
  if (status === 400) {
    return {
      status,
      problems: [...(body.message ?? "").matchAll(/unknown field "[^"]*"/g)].map(([text]) => text).sort(),
    };
  }
  const causes = body.details?.causes ?? [];
  // A dry run stores no version, and says so.
  const relevant = causes.filter(({ field }) => !field?.startsWith("status.storedVersions"));
  return { status, problems: relevant.map((cause) => causeText(cause as Parameters<typeof causeText>[0])).sort() };
}

/** Stores an object under the lenient schema, makes the schema strict, and returns the object. */
async function storeThenTighten(server: RealServer): Promise<object> {
  await server.establish(crd("updates", updateSchema(false)));
  const object = { ...resource(OLD_SPEC), kind: kindOf("updates") };
  const { status, body } = await server.ask("POST", path("updates"), object);
  assert.equal(status, 201);
  const name = `${CRDS}/updates.structural.example.com`;
  const current = await server.ask("GET", name);
  (current.body["spec"] as CrdObject["spec"]).versions[0]!.schema = { openAPIV3Schema: updateSchema(true) };
  assert.equal((await server.ask("PUT", name, current.body)).status, 200);
  await server.until("the stricter schema to be enforced", async () => {
    const attempt = await server.ask("PUT", `${path("updates")}/a?dryRun=All`, { ...body, spec: {} });
    return attempt.status === 422;
  });
  return body;
}

function path(plural: string): string {
  return `/apis/structural.example.com/v1/${plural}`;
}

function kindOf(plural: string): string {
  return `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`;
}

function crd(plural: string, schema: Schema): CrdObject {
  const group = "structural.example.com";
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind: kindOf(plural), plural, singular: plural.slice(0, -1), listKind: `${kindOf(plural)}List` },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}
