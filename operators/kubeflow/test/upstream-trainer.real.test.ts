import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  ClusterTrainingRuntime,
  type RuntimeSpec,
  runtimeProblems,
  TrainingRuntime,
  TrainJob,
} from "@konverge/kubeflow-operator";
import {
  applyDefaults,
  crdsFromYaml,
  parseYaml,
  pruneUnknownFields,
  type Schema,
  validateValue,
} from "konverge/schema";
import { trainerModule } from "./upstream/trainer-module.ts";

const upstream = trainerModule();
const read = (...path: string[]) => readFileSync(join("folder" in upstream ? upstream.folder : "", ...path), "utf8");

/** The schema of an upstream CRD's only version. */
const schemaOf = (plural: string): Schema =>
  crdsFromYaml(read("manifests", "base", "crds", `trainer.kubeflow.org_${plural}.yaml`))[0]!.spec.versions[0]!.schema!
    .openAPIV3Schema as Schema;

/** What must be the same in both schemas, wherever both have a field. */
const SAME = ["type", "format", "default", "enum", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"] as const;

/** What differs between two schemas, as lines with the paths of the fields. */
function differences(ours: Schema, theirs: Schema, path = ""): string[] {
  const found: string[] = SAME.flatMap((keyword) => {
    const [mine, other] = [ours[keyword], theirs[keyword]].map((value) => JSON.stringify(value));
    return mine === other ? [] : [`${path}: ${keyword} is ${mine}, not ${other}`];
  });
  if (ours["x-kubernetes-preserve-unknown-fields"]) return found;
  const rules = new Set(ours["x-kubernetes-validations"]?.map(({ rule }) => rule));
  for (const { rule } of theirs["x-kubernetes-validations"] ?? []) {
    if (!rules.has(rule)) found.push(`${path}: no rule ${rule}`);
  }
  for (const field of new Set([...(ours.required ?? []), ...(theirs.required ?? [])])) {
    if (!ours.required?.includes(field)) found.push(`${path}.${field}: not required`);
    if (!theirs.required?.includes(field)) found.push(`${path}.${field}: required`);
  }
  for (const field of new Set([...Object.keys(ours.properties ?? {}), ...Object.keys(theirs.properties ?? {})])) {
    const [mine, other] = [ours.properties?.[field], theirs.properties?.[field]];
    if (!mine) found.push(`${path}.${field}: missing`);
    else if (!other) found.push(`${path}.${field}: added`);
    else found.push(...differences(mine, other, `${path}.${field}`));
  }
  const inside = (schema: Schema) => schema.items ?? (schema.additionalProperties as Schema | undefined);
  const [mine, other] = [inside(ours), inside(theirs)];
  if (mine && other) found.push(...differences(mine, other, `${path}[]`));
  return found;
}

/** What differs on purpose, in all kinds, and why. */
const DIFFERENCES: readonly RegExp[] = [
  // A spec is required here; a runtime without Jobs is of no use.
  /^\.spec(\.template(\.spec(\.replicatedJobs)?)?)?: required$/,
  /^\.spec\.template\.spec\.volumeClaimPolicies\[\]\.templates(\[\]\.(metadata|spec))?: required$/,
  // Only labels and annotations of a template have an effect.
  /\.metadata\.(finalizers|name|namespace): missing$/,
  /\.volumeClaimPolicies\[\]\.templates\[\]\.(apiVersion|kind|status): missing$/,
  /\.volumeClaimPolicies\[\]: no rule self\.templates\.all/,
  // Volcano has a Go int without a format; here its range is stated.
  /^\.spec\.podGroupPolicy\.volcano\.networkTopology\.highestTierAllowed: format is "int64", not undefined$/,
  // The same as an enum.
  /^\.spec\.managedBy: (enum is|no rule self in)/,
  // Jobs are created again when a TrainJob is resumed: a patch that is changed meanwhile has an effect.
  /^\.spec\.runtimePatches\[\]\..*: no rule self == oldSelf$/,
  // Rules of JobSets, which the CRDs of runtimes contain; a running TrainJob has a copy of its runtime.
  /^\.spec\.template\.spec\.(replicatedJobs\[\]\.dependsOn|network|successPolicy|volumeClaimPolicies): no rule self == oldSelf$/,
  // startupPolicy is refused; the others are set by upstream's operator.
  /^\.spec\.template\.spec: no rule .*startupPolicy/,
  /^\.spec\.template\.spec\.(managedBy|suspend): missing$/,
  // Of Kubeflow Trainer 2.1.
  /^\.spec\.podTemplateOverrides: added$/,
  /^\.status\.observedGeneration: added$/,
  // An alpha feature of upstream's.
  /^\.status\.trainerStatus: missing$/,
];

describe("Kubeflow Trainer", { skip: "why" in upstream ? upstream.why : false }, () => {
  for (const kind of [TrainJob, TrainingRuntime, ClusterTrainingRuntime]) {
    test(`the fields of a ${kind.kind} have upstream's types, defaults, keys and rules`, () => {
      const found = differences(kind.schema as Schema, schemaOf(kind.plural));
      assert.deepEqual(
        found.filter((line) => !DIFFERENCES.some((known) => known.test(line))),
        [],
      );
    });
  }

  test("upstream's own runtimes are accepted", () => {
    const folder = ["manifests", "base", "runtimes"];
    const files = readdirSync(join("folder" in upstream ? upstream.folder : "", ...folder), {
      recursive: true,
      encoding: "utf8",
    });
    const manifests = files
      .filter((file) => file.endsWith(".yaml"))
      .flatMap((file) => parseYaml(read(...folder, file)));
    const runtimes = (manifests as { kind: string; metadata: { name: string }; spec: RuntimeSpec }[]).filter(
      ({ kind }) => kind === ClusterTrainingRuntime.kind,
    );
    assert.ok(runtimes.length > 5, "upstream's runtimes are not there");
    const refused = runtimes.flatMap((runtime) => {
      const schema = ClusterTrainingRuntime.schema as Schema;
      assert.deepEqual(pruneUnknownFields(schema, runtime), [], runtime.metadata.name);
      applyDefaults(schema, runtime);
      assert.deepEqual(validateValue(schema, runtime), [], runtime.metadata.name);
      return runtimeProblems(runtime.spec).map(({ field }) => `${runtime.metadata.name} ${field}`);
    });
    assert.deepEqual(refused, []);
  });
});
