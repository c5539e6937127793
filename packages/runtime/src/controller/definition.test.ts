import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, Namespace, Secret } from "@konverge/kinds";
import { defineKind } from "@konverge/schema";
import { z } from "zod";
import { child, own } from "../apply/child.ts";
import { controller } from "./definition.ts";
import { watch } from "./watched.ts";

const Model = defineKind({
  group: "ai.example.com",
  kind: "Model",
  versions: { v1: { spec: z.object({ secret: z.string() }), status: z.object({ ready: z.int().optional() }) } },
});

const draft: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { selector: {}, template: {} },
};

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
  const namespaces = controller(Model, { owns: [own(Namespace, { by: "label" })], reconcile: () => undefined });
  assert.equal(namespaces.finalizer, "ai.example.com/models-cleanup");
});

test("a watch must say what its changes lead to", () => {
  assert.throws(() => watch(Secret, {}), /by `to` or by `references`/);
  assert.throws(() => watch(Secret, { to: () => [], references: () => [] }), /by `to` or by `references`/);
});

test("types follow from the kinds", () => {
  // What is checked here is that it compiles, and that the marked lines do not.
  controller(Model, {
    owns: [Deployment, ConfigMap],
    watches: [
      watch(Secret, { references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.secret}`] }),
      watch(ConfigMap, { to: ({ data }) => [data?.["model"] ?? ""] }),
    ],
    async reconcile(model, { observed, cache }) {
      const deployment = { ...draft, metadata: { name: model.spec.secret } };
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
          child(deployment, { after: [deployment], readyWhen: ({ status }) => status?.replicas === 1 }),
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
});
