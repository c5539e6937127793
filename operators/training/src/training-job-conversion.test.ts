import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lostInConversion } from "konverge/schema";
import { TrainingJob } from "./training-job.ts";

const name = fc.stringMatching(/^[a-z]{1,8}$/);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

/** Specs of v1alpha1, each field there or not. */
const specs = fc
  .record({
    framework: fc.constantFrom("pytorch" as const, "tensorflow" as const),
    workers: fc.integer({ min: 1, max: 100 }),
    gpuPerWorker: maybe(fc.integer({ min: 0, max: 8 })),
    gpuType: maybe(name),
    image: name,
    command: fc.array(name, { minLength: 1, maxLength: 3 }),
    args: maybe(fc.array(name, { maxLength: 3 })),
    env: maybe(fc.array(fc.record({ name, value: name }), { maxLength: 2 })),
    resources: maybe(fc.record({ limits: fc.constant({ cpu: "1" }) })),
    dataVolume: maybe(fc.record({ claimName: name })),
    checkpointDir: maybe(name.map((path) => `/${path}`)),
    hyperparameters: maybe(fc.dictionary(name, fc.oneof(name, fc.integer(), fc.boolean()))),
    hyperparametersFrom: maybe(fc.record({ configMapName: name })),
    passHyperparameters: maybe(fc.constantFrom(["args"], ["env", "args"], [])),
    parameterServers: maybe(fc.record({ count: fc.integer({ min: 1, max: 5 }) })),
    elastic: maybe(fc.constant({ minWorkers: 1, maxWorkers: 9 })),
    restartPolicy: maybe(fc.constantFrom("Never", "ExitCode")),
    backoffLimit: maybe(fc.nat(9)),
    activeDeadlineSeconds: maybe(fc.nat(9)),
    startDeadlineSeconds: maybe(fc.nat(9)),
    ttlSecondsAfterFinished: maybe(fc.nat(9)),
    cleanPodPolicy: maybe(fc.constantFrom("All", "None")),
    successPolicy: maybe(fc.constant("Chief")),
    suspend: maybe(fc.boolean()),
    scheduling: maybe(fc.record({ queue: name })),
    nodeSelector: maybe(fc.dictionary(name, name)),
    tolerations: maybe(fc.constant([{ operator: "Exists" }])),
    serviceAccountName: maybe(name),
    imagePullSecrets: maybe(fc.constant([{ name: "pull" }])),
    podMetadata: maybe(fc.record({ labels: fc.dictionary(name, name) })),
    template: maybe(fc.constant({ spec: { hostNetwork: true } })),
  })
  .map((spec) => JSON.parse(JSON.stringify(spec)) as object)
  .map((spec: { checkpointDir?: string }) =>
    spec.checkpointDir ? { ...spec, checkpointVolume: { size: "1Gi", onDelete: "Delete" } } : spec,
  );

test("nothing is lost between the versions, in either direction", () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const alpha = {
        ...TrainingJob.new({ metadata: { name: "a" }, spec: spec as never }),
        status: { phase: "Running", attempt: 1 },
      } as TrainingJob;
      assert.deepEqual(lostInConversion(TrainingJob, alpha, "v1beta1"), []);
      const beta = TrainingJob.convert(alpha, "v1beta1");
      assert.deepEqual(lostInConversion(TrainingJob, beta, "v1alpha1"), []);
    }),
    { numRuns: 200 },
  );
});

test("every field of v1alpha1 has its place in v1beta1", () => {
  const [alpha] = TrainingJob.crd({ conversionWebhook: { url: "https://a.example.com" } }).spec.versions;
  const fields = Object.keys(alpha?.schema?.openAPIV3Schema?.properties?.["spec"]?.properties ?? {});
  const written = new Set(fc.sample(specs, 100).flatMap((spec) => Object.keys(spec)));
  assert.ok(fields.length > 0);
  assert.deepEqual(
    fields.filter((field) => !written.has(field)),
    [],
  );
});
