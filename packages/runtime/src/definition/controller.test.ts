import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataOnly } from "@konverge/client";
import { conditionFalse } from "@konverge/core";
import { ConfigMap, Deployment, Namespace, Secret } from "@konverge/kinds";
import { defineKind, z } from "@konverge/schema";
import { ownedKind, plannedChild } from "../apply/child.ts";
import { controller } from "./controller.ts";
import { cacheKind, watchKind } from "./watched.ts";

const Model = defineKind({
  group: "ai.example.com",
  kind: "Model",
  versions: { v1: { spec: z.object({ secret: z.string() }), status: z.object({ ready: z.int().optional() }) } },
});

const draft = Deployment.draft({ metadata: { name: "web" }, spec: { selector: {}, template: {} } });

test("a controller is named after its kind, and its finalizer after both", () => {
  const plain = controller(Model, { reconcile: () => undefined });
  assert.equal(plain.name, "models.ai.example.com");
  assert.equal(plain.finalizer, undefined);
  assert.equal(
    controller(Model, { reconcile: () => undefined, cleanup: () => undefined }).finalizer,
    "ai.example.com/models-cleanup",
  );
  assert.equal(
    controller(Deployment, { name: "tidy", reconcile: () => undefined, cleanup: () => undefined }).finalizer,
    "konverge.dev/tidy-cleanup",
  );
});

test("children that only a label holds bring a finalizer with them", () => {
  const namespaces = controller(Model, { owns: [ownedKind(Namespace, { by: "label" })], reconcile: () => undefined });
  assert.equal(namespaces.finalizer, "ai.example.com/models-cleanup");
});

test("a watch must say what its changes lead to", () => {
  assert.throws(() => watchKind(Secret, {}), /set `to` or `references`/);
  assert.throws(() => watchKind(Secret, { to: () => [], references: () => [] }), /set `to` or `references`/);
});

test("a controller that cannot work as it is written is refused, with what to write instead", () => {
  const reconcile = () => undefined;
  const wrong =
    (options: object, kind: unknown = Model) =>
    () =>
      controller(kind as never, { reconcile, ...options });
  const [byA, byB] = [() => ["a"], () => ["b"]];
  for (const [refused, why] of [
    [wrong({}, null), /controller\(null, …\): the first argument must be a kind/],
    [wrong({ reconcile: undefined }), /controller models.ai.example.com: `reconcile` must be a function/],
    [wrong({ name: "" }), /a `name` has 1 to 128 characters/],
    [wrong({ name: "x".repeat(129) }), /a `name` has 1 to 128 characters/],
    [wrong({ namespaces: [] }), /`namespaces` is empty: omit it/],
    [wrong({ concurrency: 0 }), /`concurrency` is 0/],
    [wrong({ concurrency: 1.5 }), /`concurrency` is 1.5/],
    [wrong({ deadline: -1 }), /`deadline` is -1: it must be more than 0/],
    [wrong({ resync: Number.NaN }), /`resync` is NaN/],
    [wrong({ backoff: { initial: 0 } }), /`backoff.initial` is 0/],
    [wrong({ rateLimit: { perSecond: 0 } }), /`rateLimit.perSecond` is 0/],
    [wrong({ cleanup: reconcile, finalizer: "cleanup" }), /finalizer cleanup must be a name with a domain/],
    [wrong({ cleanup: reconcile, needsCleanup: () => true, teardown: "ordered" }), /omit `needsCleanup`/],
    [wrong({ labelSelector: "a in b" }), /labelSelector "a in b" of Model.ai.example.com cannot be parsed/],
    [wrong({ owns: [undefined] }), /`owns`\[0\] is not a kind/],
    [wrong({ owns: [ConfigMap, ownedKind(ConfigMap, { by: "label" })] }), /`owns` lists ConfigMap twice/],
    [wrong({ owns: [metadataOnly(ConfigMap)] }), /`owns` lists the metadata of ConfigMap alone/],
    [wrong({ owns: [ownedKind(ConfigMap, { labelSelector: "=" })] }), /labelSelector "=" of ConfigMap/],
    [wrong({ watches: [Secret] }), /`watches`\[0\] is neither a watch/],
    [wrong({ watches: [undefined] }), /`watches`\[0\] is neither a watch/],
    [wrong({ watches: [cacheKind(Secret, { namespaces: [] })] }), /`namespaces` of Secret is empty/],
    [wrong({ watches: [cacheKind(Secret, { fieldSelector: "type" })] }), /fieldSelector "type" of Secret/],
    [wrong({ watches: [cacheKind(Secret), cacheKind(Secret, { project: (one) => one })] }), /different `project`/],
    [wrong({ watches: [cacheKind(Model, { project: (one) => one })] }), /different `project`/],
    [
      wrong({ watches: [cacheKind(Secret, { indexes: { by: byA } }), cacheKind(Secret, { indexes: { by: byB } })] }),
      /Secret has two indexes called by/,
    ],
  ] as const)
    assert.throws(refused, why);
  controller(Model, {
    reconcile,
    watches: [
      cacheKind(Secret, { labelSelector: "a=b", indexes: { by: byA } }),
      cacheKind(Secret, { labelSelector: "a=c", indexes: { by: byA } }),
      cacheKind(metadataOnly(Secret), { indexes: { by: byB } }),
    ],
  });
});

test("types follow from the kinds", () => {
  // What is checked here is that it compiles, and that the marked lines do not.
  controller(Model, {
    owns: [Deployment, ConfigMap],
    watches: [
      watchKind(Secret, { references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.secret}`] }),
      watchKind(ConfigMap, { to: ({ data }) => [data?.["model"] ?? ""] }),
    ],
    async reconcile(model, { observed, cache }) {
      const deployment = Deployment.draft({ ...draft, metadata: { name: model.spec.secret } });
      const ready: number | undefined = observed(deployment)?.status?.readyReplicas;
      const named: Deployment | undefined = observed(Deployment, "name");
      const all: ConfigMap[] = observed.all(ConfigMap);
      const secret: Secret | undefined = cache.get(Secret, "default/s");
      // @ts-expect-error the spec has no such field
      void model.spec.other;
      void [named, all, secret];
      return {
        children: [
          deployment,
          plannedChild(deployment, { after: [deployment], readyWhen: ({ status }) => status?.replicas === 1 }),
        ],
        status: { ready },
      };
    },
  });
  // @ts-expect-error a status that the kind does not have
  controller(Model, { reconcile: () => ({ status: { wrong: 1 } }) });
  // @ts-expect-error a finalizer without a cleanup
  controller(Model, { reconcile: () => undefined, finalizer: "example.com/x" });
  controller(Model, { async reconcile() {} });
  // Several returns of different shapes, with nothing annotated.
  controller(Model, {
    async reconcile(model, { cache }) {
      if (model.metadata.deletionTimestamp) return;
      const secret = cache.get(Secret, "default/s");
      if (!secret) return { conditions: { Ready: conditionFalse("NoSecret") }, requeueAfter: 1000 };
      if (model.spec.secret === "") return { children: [], status: {} };
      const children = model.spec.secret === "a" ? [Deployment.draft(draft)] : undefined;
      return { children, status: { ready: JSON.parse("1") }, conditions: { Ready: undefined } };
    },
  });
  controller(Model, {
    reconcile(model) {
      if (!model.spec.secret) return undefined;
      if (model.spec.secret === "a") return;
      return model.spec.secret === "b" ? { requeueAfter: 5 } : { status: { ready: 0 } };
    },
  });
  // @ts-expect-error one return of several has a status that the kind does not have
  controller(Model, { reconcile: (model) => (model.spec.secret ? { requeueAfter: 5 } : { status: { redy: 0 } }) });
});
