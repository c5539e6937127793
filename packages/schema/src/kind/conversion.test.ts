import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject, KubeObject, ObjectMeta, ObjectOf } from "@konverge/core";
import fc from "fast-check";
import { z } from "zod";
import { valuesOf } from "../../test/arbitrary.ts";
import { TrainingJob } from "../../test/corpus/operators.ts";
import { Evolving } from "../../test/corpus/surfaces.ts";
import { lostInConversion } from "./conversion.ts";
import { conversionAnnotation } from "./conversion-annotation.ts";
import { defineKind } from "./define-kind.ts";
import type { VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";

const TrainingJobBeta = TrainingJob.atVersion("v1beta1");

test("objects are converted to the stored version and back, with the target's defaults", () => {
  const beta = TrainingJobBeta.new({
    metadata: { name: "a", labels: { team: "x" } },
    spec: { image: "i", roles: [{ name: "worker", replicas: 3 }] },
  });
  const stored = TrainingJob.convert({ ...beta, status: { succeeded: 1 } }, "v1alpha1");
  assert.deepEqual(stored, {
    apiVersion: "ai.example.com/v1alpha1",
    kind: "TrainingJob",
    metadata: { name: "a", labels: { team: "x" } },
    spec: { image: "i", framework: "pytorch", workers: 3 },
    status: { succeeded: 1 },
  });
  assert.deepEqual(TrainingJob.convert(stored, "v1beta1").spec, {
    image: "i",
    framework: "pytorch",
    roles: [{ name: "worker", replicas: 3 }],
  });
});

test("the types say which version comes out", () => {
  const beta = TrainingJob.convert(TrainingJob.new({ metadata: { name: "a" }, spec: { image: "i" } }), "v1beta1");
  const replicas: number | undefined = beta.spec.roles[0]?.replicas;
  assert.equal(replicas, 1);
  // @ts-expect-error v1beta1 has no workers
  assert.equal(beta.spec.workers, undefined);
  // @ts-expect-error there is no such version
  assert.throws(() => TrainingJob.convert(beta, "v2"), /TrainingJob has no version v2: only v1alpha1, v1beta1/);
  const object: ObjectOf<typeof TrainingJobBeta> = beta;
  assert.equal(object.kind, "TrainingJob");
});

test("a version without functions keeps the shape", () => {
  const old = Evolving.atVersion("v1beta1").new({ metadata: { name: "a" }, spec: { a: "x" } });
  const stored = Evolving.convert(old, "v1");
  assert.deepEqual([stored.apiVersion, stored.spec], ["surfaces.example.com/v1", { a: "x", b: 1 }]);
  assert.deepEqual(Evolving.convert(stored, "v1alpha2").spec, { a: "x", b: 1 });
});

test("served versions with other fields need a conversion", () => {
  const define = (other: VersionDefinition, conversion?: object) =>
    defineKind({
      group: "a.example.com",
      kind: "Thing",
      stored: "v2",
      versions: { v1: other, v2: { spec: z.object({ size: z.int().max(5) }), status: z.object({}) } },
      ...(conversion && { conversion: { v1: conversion as never } }),
    });
  const status = z.object({});
  const renamed = { spec: z.object({ replicas: z.int() }), status };
  assert.throws(
    () => define(renamed),
    new DefinitionError(
      "versions.v1",
      "differs from the stored version v2 in `spec.size: integer` and has no conversion: " +
        "add conversion: { v1: { toStored, fromStored } }, declare the same fields or set served: false",
      'defineKind("Thing")',
    ),
  );
  assert.throws(() => define({ spec: z.object({ size: z.string() }), status }), /`spec\.size: integer`/);
  assert.throws(() => define({ spec: z.object({ size: z.int() }) }), /`status: object`/);
  define(renamed, { toStored: () => ({ spec: { size: 1 } }), fromStored: () => ({ spec: { replicas: 1 } }) });
  define({ ...renamed, served: false });
  define({ spec: z.object({ size: z.int().max(9).default(3) }), status });
});

test("a conversion may rewrite labels and annotations, and nothing else of the metadata", () => {
  const Thing = defineKind({
    group: "a.example.com",
    kind: "Thing",
    stored: "v2",
    versions: { v1: { spec: z.object({}) }, v2: { spec: z.object({}) } },
    conversion: {
      v1: {
        toStored: () => ({ spec: {}, metadata: { annotations: { from: "v1" } } }),
        fromStored: ({ metadata }) => ({ spec: {}, metadata: { ...metadata, name: "other" } }),
      },
    },
  });
  const stored = Thing.convert(Thing.atVersion("v1").new({ metadata: { name: "a", labels: { l: "1" } } }), "v2");
  assert.deepEqual(stored.metadata, { name: "a", labels: { l: "1" }, annotations: { from: "v1" } });
  assert.equal(Thing.convert(stored, "v1").metadata.name, "a");
});

const Renamed = (
  functions: Partial<Record<"toStored" | "fromStored", (metadata: ObjectMeta) => Partial<ObjectMeta> | undefined>>,
) => {
  const step = (way: "toStored" | "fromStored") => (object: KubeObject) => {
    const metadata = functions[way]?.(object.metadata);
    return { spec: {}, ...(metadata && { metadata }) };
  };
  return defineKind({
    group: "a.example.com",
    kind: "Thing",
    stored: "v2",
    versions: { v1: { spec: z.object({}) }, v2: { spec: z.object({}) } },
    conversion: { v1: { toStored: step("toStored"), fromStored: step("fromStored") } },
  });
};

test("a conversion can remove the last label and the last annotation, as empty or as undefined", () => {
  const old = { metadata: { name: "a", labels: { l: "1" }, annotations: { a: "1" } }, spec: {} };
  for (const none of [
    { annotations: {}, labels: {} },
    { annotations: undefined, labels: undefined },
  ]) {
    const Thing = Renamed({ toStored: () => none as object });
    assert.deepEqual(Thing.convert(Thing.atVersion("v1").new(old), "v2").metadata, { name: "a" });
  }
});

test("no annotations and an empty map of them are the same, so none is lost", () => {
  const Thing = Renamed({ fromStored: () => ({ annotations: { from: "v2" } }), toStored: () => ({ annotations: {} }) });
  assert.deepEqual(lostInConversion(Thing, Thing.new({ metadata: { name: "a" }, spec: {} }), "v1"), []);
  const empty = { metadata: { name: "a", annotations: {}, labels: {} }, spec: {} };
  assert.deepEqual(lostInConversion(Thing, Thing.new(empty), "v1"), []);
});

test("what a version cannot hold is kept in an annotation, and taken back", () => {
  const kept = conversionAnnotation<{ name?: string | undefined }>("example.com/message-v2");
  const Message = defineKind({
    group: "a.example.com",
    kind: "Message",
    stored: "v2",
    versions: {
      v1: { spec: z.object({ text: z.string() }) },
      v2: { spec: z.object({ greeting: z.string(), name: z.string().optional() }) },
    },
    conversion: {
      v1: {
        toStored({ spec, metadata }) {
          const { value, rest } = kept.take(metadata);
          return { spec: { greeting: spec.text, ...value }, metadata: rest };
        },
        fromStored: ({ spec: { greeting, name }, metadata }) => ({
          spec: { text: greeting },
          metadata: kept.keep(metadata, { name }),
        }),
      },
    },
  });
  const named = Message.new({ metadata: { name: "m" }, spec: { greeting: "Hello", name: "Ann" } });
  const annotations = { "example.com/message-v2": '{"name":"Ann"}' };
  assert.deepEqual(Message.convert(named, "v1").metadata, { name: "m", annotations });
  assert.deepEqual(lostInConversion(Message, named, "v1"), []);
  const nameless = Message.new({ metadata: { name: "m", annotations: { a: "1" } }, spec: { greeting: "Hello" } });
  assert.deepEqual(Message.convert(nameless, "v1").metadata.annotations, { a: "1" });
  assert.deepEqual(lostInConversion(Message, nameless, "v1"), []);
  // A user has edited it.
  const edited = { name: "m", annotations: { "example.com/message-v2": "{" } };
  assert.deepEqual(kept.take(edited), { value: undefined, rest: { annotations: {} } });
  assert.throws(() => conversionAnnotation("message"), /"message" cannot be the name .* your domain/);
});

test("a CRD with conversion functions needs to know where the webhook is", () => {
  assert.throws(() => TrainingJob.crd(), /TrainingJob has conversion functions.*conversionWebhook/);
  const service = { name: "operator", namespace: "ai", path: "/convert" };
  assert.deepEqual(TrainingJob.crd({ conversionWebhook: { service } }).spec.conversion, {
    strategy: "Webhook",
    webhook: { clientConfig: { service }, conversionReviewVersions: ["v1"] },
  });
  assert.equal(Evolving.crd().spec.conversion, undefined);
});

test("what is lost on the way there and back is named", () => {
  const kept = TrainingJob.new({ metadata: { name: "a" }, spec: { image: "i", workers: 2 } });
  assert.deepEqual(lostInConversion(TrainingJob, kept, "v1beta1"), []);
  const roles = [{ name: "master" as const }, { name: "worker" as const }];
  assert.deepEqual(
    lostInConversion(
      TrainingJob,
      TrainingJobBeta.new({ metadata: { name: "a" }, spec: { image: "i", roles } }),
      "v1alpha1",
    ),
    ["spec.roles"],
  );
});

test("no stored object loses anything by a visit to another version", () => {
  fc.assert(
    fc.property(valuesOf(TrainingJob.schema.properties!["spec"]!), (spec) => {
      const object: AnyObject = {
        apiVersion: "ai.example.com/v1alpha1",
        kind: "TrainingJob",
        metadata: { name: "a" },
        spec,
      };
      assert.deepEqual(lostInConversion(TrainingJob, object as never, "v1beta1"), []);
    }),
  );
});
